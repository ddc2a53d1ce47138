/**
 * The rows of a chart as they are seen now: searched, ordered, without the values that nobody holds.
 *
 * @import { Row, Order } from "./rows.js"
 * @import { State } from "./state.js"
 * @import { Visual } from "./payload.js"
 * @import { Signal } from "@preact/signals"
 *
 * @typedef {{order: Order, search: string, empty: boolean}} View how a person looks at a chart; `empty`: also at
 *   values that nobody holds
 */
import { signal } from "@preact/signals";

import { areDates } from "./moments.js";
import { isChosen } from "./selection.js";
import { isEmpty, longest, placesOf, rowsOf, searched, sorted } from "./rows.js";

/** @type {WeakMap<Visual, Signal<View>>} */
const views = new WeakMap();

/**
 * @param {State} state
 * @param {Visual} visual
 * @returns {Signal<View>}
 */
export function viewOfChart(state, visual) {
  let view = views.get(visual);
  if (!view) {
    const column = visual.column === undefined ? undefined : state.payload.columns[visual.column];
    const listed = !column || column.order === "listed" || areDates(column.values);
    view = signal(/** @type {View} */ ({ order: listed ? "listed" : "count", search: "", empty: false }));
    views.set(visual, view);
  }
  return view;
}

/**
 * @param {State} state
 * @param {Visual} visual
 * @returns {{rows: Row[], all: number, empty: number, most: number}} of `all` that may be seen; `empty` are held by
 *   nobody; `most` is what the longest bar stands for
 */
export function seen(state, visual) {
  const { payload, say, language } = state;
  const selection = state.selection.value;
  const { order, search, empty } = viewOfChart(state, visual).value;
  const places = placesOf(payload, visual, say.value);
  const rows = rowsOf(payload, places, selection, (column) => state.counts[column].value);
  const held = rows.filter((row) => !isEmpty(payload, row) || isChosen(selection, row.column, row.code));
  const kept = sorted(searched(empty ? rows : held, search), order, language.value);
  return { rows: kept, all: empty ? rows.length : held.length, empty: rows.length - held.length, most: longest(held) };
}
