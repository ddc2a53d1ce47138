/** What a chart is made of: a row a value, with its estimated and its actual count. */
import { signal } from "@preact/signals";
import { nice, ticks } from "d3-array";

import { ofAllRecords } from "./payload.js";
import { publishedWith, tableCounts } from "./published.js";
import { isChosen } from "./selection.js";
import { columnText, heldText, valueText } from "./words.js";

const YEAR = String.raw`(?:1[6-9]|20|21)\d\d`;
const MONTHLY = new RegExp(`^(${YEAR})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\\d|3[01]))?)?$`);
const QUARTERLY = new RegExp(`^(${YEAR})[ -]?Q([1-4])$|^(?:Q([1-4])|([1-4])\\. ?Quartal)[ /-]?(${YEAR})$`, "i");

/** Something that is larger the later a date is; null if it is none. @param {string} text */
function momentOf(text) {
  const date = MONTHLY.exec(text.trim());
  if (date) return place(date[1], Number(date[2] ?? 0), Number(date[3] ?? 0));
  const quarter = QUARTERLY.exec(text.trim());
  if (!quarter) return null;
  return place(quarter[1] ?? quarter[5], 3 * Number(quarter[2] ?? quarter[3] ?? quarter[4]) - 2, 0);
}

/** @param {string} year @param {number} month @param {number} day */
const place = (year, month, day) => (Number(year) * 13 + month) * 32 + day;

/** Whether all values of a column are dates, of which there are two at least. @param {string[]} values */
const areDates = (values) => values.length > 1 && values.every((value) => momentOf(value) !== null);

/** The places of values: in time where all are dates, else as they are. @param {string[]} values */
function inTime(values) {
  const places = values.map((_, index) => index);
  return areDates(values) ? places.sort((a, b) => Number(momentOf(values[a])) - Number(momentOf(values[b]))) : places;
}

/** Marks of an axis, about. */
const TICKS = 3;

/** An axis from 0 to at least `most`, of `width`; what lies beyond is cut off at its end. @param {number} most @param {number} width */
export function axis(most, width) {
  const [, end] = nice(0, Math.max(most, 1), TICKS);
  return {
    end,
    at: (/** @type {number} */ value) => (Math.min(Math.max(value, 0), end) / end) * width,
    ticks: ticks(0, end, TICKS).filter(Number.isInteger),
  };
}

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** A number beside an axis, short. @param {number} value */
export const tickText = (value) => SHORT.format(value);

/**
 * @typedef {{order: Order, search: string, empty: boolean}} View how a person looks at a chart; `empty`: also at
 *   values that nobody holds
 */

const views = /** @type {WeakMap<Visual, Signal<View>>} */ (new WeakMap());

/** @param {State} state @param {Visual} visual @returns {Signal<View>} */
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
 * @param {State} state @param {Visual} visual
 * @returns {{rows: Row[], all: number, empty: number, most: number}} of `all` that may be seen; `empty` are held by
 * nobody; `most` is what the longest bar stands for
 */
export function seen(state, visual) {
  const { payload, say } = state;
  const selection = state.selection.value;
  const { order, search, empty } = viewOfChart(state, visual).value;
  const places = placesOf(payload, visual, say);
  const rows = rowsOf(payload, places, selection, (column) => state.counts[column].value);
  const held = rows.filter((row) => !isEmpty(payload, row) || isChosen(selection, row.column, row.code));
  const kept = sorted(searched(empty ? rows : held, search), order);
  return { rows: kept, all: empty ? rows.length : held.length, empty: rows.length - held.length, most: longest(held) };
}

const { compare } = new Intl.Collator("en", { numeric: true });

/** Rows whose published counts decide how long the longest bar is. */
const SCALED_BY = 60;

/** The column of an attribute id, and the code of its value. @param {Payload} payload @param {number} id */
function placeOf({ columns }, id) {
  const column = columns.findLastIndex(({ first }) => first <= id);
  return { column, code: id - columns[column].first + 1 };
}

/**
 * The values of a visual, in the order they are listed in; missing is the last.
 * @param {Payload} payload @param {Visual} visual @param {Say} say @returns {Place[]}
 */
function placesOf(payload, visual, say) {
  const { columns } = payload;
  if (visual.column !== undefined) {
    const column = visual.column;
    const places = inTime(columns[column].values).map((index) => ({ column, code: index + 1, label: valueText(payload, column, index + 1, say) }));
    return [...places, { column, code: 0, label: heldText(payload, column, 0, say) }];
  }
  const places = (visual.attributes ?? []).map((id) => placeOf(payload, id));
  const several = new Set(places.map(({ column }) => column)).size > 1;
  return places.map(({ column, code }) => {
    const value = valueText(payload, column, code, say);
    return { column, code, label: several ? `${columnText(payload, column, say)}: ${value}` : value };
  });
}

/**
 * @param {Payload} payload @param {Place[]} places @param {Selected} selection
 * @param {(column: number) => Uint32Array} counts in the page's records
 * @returns {Row[]} rows with estimates; `actual` is read when it is looked at
 */
function rowsOf(payload, places, selection, counts) {
  const lookUp = publishedWith(payload, selection);
  const inTables = tableCounts(payload, selection);
  return places.map((place) => {
    /** @type {Published | null | undefined} */
    let actual;
    const fromTable = inTables(place.column, place.code);
    const estimated = fromTable ?? (payload.records ? ofAllRecords(payload, counts(place.column)[place.code]) : null);
    return {
      ...place,
      estimated,
      get actual() {
        if (actual === undefined) actual = lookUp(place.column, place.code);
        return actual;
      },
    };
  });
}

/** @param {Row} row */
const size = (row) => row.estimated ?? row.actual?.value ?? 0;

/** @param {Row[]} rows @param {Order} order */
export function sorted(rows, order) {
  if (order === "listed") return rows;
  const missingLast = (/** @type {Row} */ a, /** @type {Row} */ b) => Number(a.code === 0) - Number(b.code === 0);
  if (order === "count") {
    const sizes = new Map(rows.map((row) => [row, size(row)]));
    return [...rows].sort((a, b) => missingLast(a, b) || Number(sizes.get(b)) - Number(sizes.get(a)));
  }
  return [...rows].sort((a, b) => missingLast(a, b) || compare(a.label, b.label));
}

/** Rows whose label has the text in it, whatever its case and accents. @param {Row[]} rows @param {string} text */
function searched(rows, text) {
  const wanted = folded(text.trim());
  return wanted ? rows.filter(({ label }) => folded(label).includes(wanted)) : rows;
}

const folded = (/** @type {string} */ text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * No record holds it, and no count of it was published. What noisy tables say of it is not looked at: they tell of
 * thousands of values that perhaps nobody holds.
 * @param {Payload} payload @param {Row} row
 */
const isEmpty = ({ meta }, row) =>
  meta.protection === "fitted" && row.estimated !== null ? row.estimated === 0 : !row.estimated && !row.actual?.value;

/** The number that the longest bar of a chart stands for. @param {Row[]} rows */
export function longest(rows) {
  let most = 0;
  for (const { estimated } of rows) most = Math.max(most, estimated ?? 0);
  const largest = rows.length > SCALED_BY ? sorted(rows, "count").slice(0, SCALED_BY) : rows;
  for (const { actual } of largest) if (actual && actual.value !== null) most = Math.max(most, actual.high ?? actual.value);
  return most;
}
