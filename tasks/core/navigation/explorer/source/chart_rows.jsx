/** The rows of a chart, as a list that arrow keys walk through. Of a long one only what is in sight is drawn. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { ChartRow } from "./chart_row.jsx";
import { axis } from "./scale.js";
import { isChosen } from "./selection.js";
import { useExplorer } from "./state.js";
import { useVirtual } from "./virtual.js";

/** @import { Row } from "./rows.js" */

/** Rows up to which all are drawn; many more on paper, where nothing scrolls. */
const DRAWN = 30;
const PRINTED = 400;
/** The height of a row, in the page's letters: `--row` of the style sheet. */
const ROW = 2.625;

const pixelsOf = (/** @type {number} */ rem) => rem * parseFloat(getComputedStyle(document.documentElement).fontSize);

/**
 * Where a key leads in a list.
 * @param {string} key
 * @param {number} place
 * @param {number} last
 */
function placeAfter(key, place, last) {
  const steps = { ArrowDown: place + 1, ArrowUp: place - 1, PageDown: place + 10, PageUp: place - 10, Home: 0, End: last };
  const next = Object.hasOwn(steps, key) ? steps[/** @type {keyof typeof steps} */ (key)] : undefined;
  return next === undefined ? undefined : Math.min(Math.max(next, 0), last);
}

/** @param {{rows: Row[], most: number, label: string}} props */
export function ChartRows({ rows, most, label }) {
  const { printing, selection, say } = useExplorer();
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [active, setActive] = useState(0);
  const toFocus = useRef(false);
  const [height] = useState(() => pixelsOf(ROW));
  const virtual = useVirtual({ count: rows.length, height, box });
  const whole = rows.length <= (printing.value ? PRINTED : DRAWN);
  const places = whole ? rows.map((_, place) => place) : virtual.getVirtualItems().map(({ index }) => index);
  const tabbed = places.includes(active) ? active : places[0];

  useLayoutEffect(() => {
    if (!toFocus.current) return;
    const button = box.current?.querySelector(`[data-place="${active}"] button`);
    if (!(button instanceof HTMLElement)) return;
    toFocus.current = false;
    button.focus();
  });

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const next = placeAfter(event.key, tabbed, rows.length - 1);
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    toFocus.current = true;
    setActive(next);
    if (!whole) virtual.scrollToIndex(next);
  }

  const { at, end } = axis(most, 100);
  return (
    <div class="rows" ref={box}>
      <ul aria-label={label} onKeyDown={walk} class={whole ? "whole" : "long"} style={whole ? undefined : { height: `${virtual.getTotalSize()}px` }}>
        {places.map((place) => {
          const row = rows[place];
          return row && (
            <li key={`${row.column}/${row.code}`} data-place={place} aria-setsize={rows.length} aria-posinset={place + 1}
              style={whole ? undefined : { transform: `translateY(${place * height}px)` }}>
              <ChartRow row={row} at={at} end={end} chosen={isChosen(selection.value, row.column, row.code)} inTab={place === tabbed} onFocus={() => setActive(place)} />
            </li>
          );
        })}
      </ul>
      {rows.length > DRAWN && <p class="unseen">{say.value("chart_scrolls", { n: rows.length })}</p>}
    </div>
  );
}
