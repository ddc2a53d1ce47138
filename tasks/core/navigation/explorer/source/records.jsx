/** The records behind a selection, as a table of which only what is in sight is drawn. */
import { useRef, useState } from "preact/hooks";

import { recordCell, saveRecords } from "./save.js";
import { useExplorer } from "./state.js";
import { useVirtual } from "./virtual.js";

/** The height of a line, in the page's letters: `--line` of the style sheet. */
const LINE = 2;

export function Records() {
  const state = useExplorer();
  const { payload, passes } = state;
  const say = state.say.value;
  const { size } = passes.value;
  return (
    <div class="records">
      <h3 id="explorer-records">{say("records_title")}</h3>
      <p class="note">{say("records_note")} {say("records_scroll")}</p>
      <button type="button" disabled={size === 0} onClick={() => saveRecords(state)}>{say("save_records")}</button>
      {size > 0 ? <Table /> : <p class="none">{say(payload.records ? "records_none" : "no_records")}</p>}
    </div>
  );
}

function Table() {
  const { payload, passes, number } = useExplorer();
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [height] = useState(() => LINE * parseFloat(getComputedStyle(document.documentElement).fontSize));
  const { rows, size } = passes.value;
  const virtual = useVirtual({ count: size, height, box, more: 10 });
  const places = virtual.getVirtualItems();
  const before = places.length ? places[0].index * height : 0;
  const after = places.length ? (size - 1 - places[places.length - 1].index) * height : 0;
  return (
    // The box scrolls, so that keys must reach it.
    <div class="scroll" ref={box} tabIndex={0} role="region" aria-labelledby="explorer-records">
      <table aria-rowcount={size + 1} aria-labelledby="explorer-records">
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" class="place">{useExplorer().say.value("record")}</th>
            {payload.columns.map(({ name }, column) => <th key={column} scope="col" dir="auto" title={name}>{name}</th>)}
          </tr>
        </thead>
        <tbody>
          <Filler height={before} />
          {places.map(({ index }) => (
            <tr key={index} aria-rowindex={index + 2}>
              <th scope="row" class="place">{number.value(index + 1)}</th>
              {payload.columns.map((column, place) => {
                const text = recordCell(column, rows ? rows[index] : index);
                return <td key={place} dir="auto" title={text}>{text}</td>;
              })}
            </tr>
          ))}
          <Filler height={after} />
        </tbody>
      </table>
    </div>
  );
}

/** Room for the lines that are not drawn. @param {{height: number}} props */
const Filler = ({ height }) => (height > 0 ? <tr aria-hidden="true" class="filler"><td style={{ height: `${height}px` }} /></tr> : null);
