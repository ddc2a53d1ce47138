/**
 * What a chart is made of: a row a value, with its estimated and its actual count.
 *
 * @import { Payload, Selection, Visual } from "./payload.js"
 * @import { Published } from "./published.js"
 * @import { Say } from "./messages.js"
 *
 * @typedef {Object} Place a value of a column; code 0 is "missing"
 * @property {number} column
 * @property {number} code
 * @property {string} label
 *
 * @typedef {Place & {estimated: number | null, actual: Published | null}} Row
 *
 * @typedef {"listed" | "count" | "name"} Order
 */
import { inTime } from "./moments.js";
import { publishedWith } from "./published.js";
import { ofAllRecords } from "./sample.js";
import { tableCounts } from "./synthetic_tables.js";
import { columnText, heldText, valueText } from "./words.js";

/** Rows whose published counts decide how long the longest bar is. */
const SCALED_BY = 60;

/** The pages as laid out; one of all columns where nothing is laid out. @param {Payload} payload */
export function pagesOf({ meta, columns }) {
  const pages = meta.layout?.pages ?? [];
  if (pages.length) return pages;
  return [{ name: "", visuals: columns.map(({ name }, column) => ({ name, column })) }];
}

/**
 * The column of an attribute id, and the code of its value.
 * @param {Payload} payload
 * @param {number} id
 */
export function placeOf({ columns }, id) {
  const column = columns.findLastIndex(({ first }) => first <= id);
  return { column, code: id - columns[column].first + 1 };
}

/**
 * The values of a visual, in the order they are listed in; missing is the last.
 * @param {Payload} payload
 * @param {Visual} visual
 * @param {Say} say
 * @returns {Place[]}
 */
export function placesOf(payload, visual, say) {
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
 * @param {Payload} payload
 * @param {Place[]} places
 * @param {Selection} selection
 * @param {(column: number) => Uint32Array} counts in the page's records
 * @returns {Row[]} rows with estimates; `actual` is read when it is looked at
 */
export function rowsOf(payload, places, selection, counts) {
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

/**
 * @param {Row[]} rows
 * @param {Order} order
 * @param {string} language
 */
export function sorted(rows, order, language) {
  if (order === "listed") return rows;
  const missingLast = (/** @type {Row} */ a, /** @type {Row} */ b) => Number(a.code === 0) - Number(b.code === 0);
  if (order === "count") {
    const sizes = new Map(rows.map((row) => [row, size(row)]));
    return [...rows].sort((a, b) => missingLast(a, b) || Number(sizes.get(b)) - Number(sizes.get(a)));
  }
  const { compare } = new Intl.Collator(language, { numeric: true });
  return [...rows].sort((a, b) => missingLast(a, b) || compare(a.label, b.label));
}

/**
 * Rows whose label has the text in it, whatever its case and accents.
 * @param {Row[]} rows
 * @param {string} text
 */
export function searched(rows, text) {
  const wanted = folded(text.trim());
  return wanted ? rows.filter(({ label }) => folded(label).includes(wanted)) : rows;
}

const folded = (/** @type {string} */ text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * No record holds it, and no count of it was published. What noisy tables say of it is not looked at: they tell of
 * thousands of values that perhaps nobody holds.
 * @param {Payload} payload
 * @param {Row} row
 */
export const isEmpty = ({ meta }, row) =>
  meta.protection === "fitted" && row.estimated !== null ? row.estimated === 0 : !row.estimated && !row.actual?.value;

/**
 * The number that the longest bar of a chart stands for.
 * @param {Row[]} rows
 */
export function longest(rows) {
  let most = 0;
  for (const { estimated } of rows) most = Math.max(most, estimated ?? 0);
  const largest = rows.length > SCALED_BY ? sorted(rows, "count", "en").slice(0, SCALED_BY) : rows;
  for (const { actual } of largest) if (actual && actual.value !== null) most = Math.max(most, actual.high ?? actual.value);
  return most;
}
