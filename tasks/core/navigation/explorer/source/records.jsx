/** The records behind a selection, a page at a time, as a table of which only what is in sight is drawn. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";

import { useVirtual } from "./chart.jsx";
import { isSampled } from "./payload.js";
import { saveRecords } from "./save.js";
import { useExplorer } from "./state.js";
import { columnText, noRecordsText, number, recordText, sampleText, valueText } from "./words.js";

/** Records of a page. A browser ends an element at some 16 million pixels, half a million lines. */
const PAGE_OF_RECORDS = 1000;

/**
 * @param {number} size how many records there are @param {number} asked the page that is asked for, from 0
 * @returns {{page: number, pages: number, first: number, number: number}} `first` of `number` records, from 0
 */
function pageOfRecords(size, asked) {
  const pages = Math.max(1, Math.ceil(size / PAGE_OF_RECORDS));
  const page = Math.min(Math.max(0, Math.trunc(asked) || 0), pages - 1);
  const first = page * PAGE_OF_RECORDS;
  return { page, pages, first, number: Math.min(PAGE_OF_RECORDS, size - first) };
}

/** The height of a line, in the page's letters: `--line` of the style sheet. */
const LINE = 2;

/** @typedef {ReturnType<typeof pageOfRecords>} Listed */

export function Records() {
  const state = useExplorer();
  const { payload, passes } = state;
  const say = state.say;
  const { size } = passes.value;
  const asked = useSignal(0);
  const listed = pageOfRecords(size, asked.value);
  const { page, pages, first, number } = listed;
  const turn = (/** @type {number} */ to) => (asked.value = to);
  return (
    <div class="records">
      <h3 id="explorer-records">{say("records_title")}</h3>
      <p class="note">{say("records_note")} {say("records_scroll")}</p>
      {isSampled(payload) && <p class="note sampled">{sampleText(payload, say)}</p>}
      <div class="acts">
        <button type="button" disabled={size === 0} onClick={() => saveRecords(state)}>{say("save_records")}</button>
        <p class="note" role="status">{size > 0 && say("records_listed", { first: first + 1, last: first + number, of: size })}</p>
        {pages > 1 && <Turning page={page} pages={pages} onTurn={turn} />}
      </div>
      {size > 0 ? <Table listed={listed} /> : <p class="none">{noRecordsText(payload, say)}</p>}
    </div>
  );
}

/** @param {{page: number, pages: number, onTurn: (page: number) => void}} props */
function Turning({ page, pages, onTurn }) {
  const say = useExplorer().say;
  return (
    <div class="choice" role="group" aria-label={say("records_pages")}>
      <button type="button" disabled={page === 0} onClick={() => onTurn(0)}>{say("page_first")}</button>
      <button type="button" disabled={page === 0} onClick={() => onTurn(page - 1)}>{say("page_before")}</button>
      <label>
        <span class="title">{say("page_number")}</span>
        <input type="number" min={1} max={pages} value={page + 1} onChange={(event) => onTurn(Number(event.currentTarget.value) - 1)} />{" "}
        <span class="title">{say("page_of", { of: pages })}</span>
      </label>
      <button type="button" disabled={page === pages - 1} onClick={() => onTurn(page + 1)}>{say("page_after")}</button>
      <button type="button" disabled={page === pages - 1} onClick={() => onTurn(pages - 1)}>{say("page_last")}</button>
    </div>
  );
}

/** @param {{listed: Listed}} props */
function Table({ listed }) {
  const { payload, passes, say } = useExplorer();
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [height] = useState(() => LINE * parseFloat(getComputedStyle(document.documentElement).fontSize));
  const { rows, size } = passes.value;
  const virtual = useVirtual({ count: listed.number, height, box, more: 10 });
  useEffect(() => box.current?.scrollTo({ top: 0 }), [listed.page, rows]);
  const places = virtual.getVirtualItems().filter(({ index }) => index < listed.number);
  const before = places.length ? places[0].index * height : 0;
  const after = places.length ? (listed.number - 1 - places[places.length - 1].index) * height : 0;
  return (
    // The box scrolls, so that keys must reach it.
    <div class="scroll" ref={box} tabIndex={0} role="region" aria-labelledby="explorer-records">
      <table aria-rowcount={size + 1} aria-labelledby="explorer-records">
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" class="place">{say("record")}</th>
            {payload.columns.map((_, column) => <Head key={column} column={column} />)}
          </tr>
        </thead>
        <tbody>
          <Filler height={before} />
          {places.map(({ index }) => {
            const place = listed.first + index;
            return (
              <tr key={place} aria-rowindex={place + 2}>
                <th scope="row" class="place">{number(place + 1)}</th>
                {payload.columns.map((about, column) => {
                  const text = recordText(about, rows ? rows[place] : place, (code) => valueText(payload, column, code, say));
                  return <td key={column} dir="auto" title={text}>{text}</td>;
                })}
              </tr>
            );
          })}
          <Filler height={after} />
        </tbody>
      </table>
    </div>
  );
}

/** A column's name, and what the data contract says of it. @param {{column: number}} props */
function Head({ column }) {
  const { payload, say } = useExplorer();
  const name = columnText(payload, column, say);
  const { about } = payload.columns[column];
  return (
    // With every cell of the column, a screen reader says the name alone.
    <th scope="col" abbr={name}>
      <span class="name" dir="auto" title={name}>{name}</span>
      {about && <span class="about" dir="auto" title={about}>{about}</span>}
    </th>
  );
}

/** Room for the lines that are not drawn. @param {{height: number}} props */
const Filler = ({ height }) => (height > 0 ? <tr aria-hidden="true" class="filler"><td style={{ height: `${height}px` }} /></tr> : null);
