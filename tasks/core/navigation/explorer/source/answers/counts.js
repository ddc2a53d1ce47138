/** Published counts of combinations of values: which row is whose. */
import { isItems } from "./cells.js";
import { holds } from "../counting.js";
import { isSampled } from "../payload.js";

/** In place of a noisy count, or of an estimate, that there is none of. */
export const UNMEASURED = -2147483648;

/** The most combinations that are looked up for one answer. */
export const MOST_COMBINATIONS = 50_000;

/** The row of a combination among those of its length, or -1. @param {Payload} payload @param {number[]} ids attribute ids, ascending */
export function rowOf({ counts }, ids) {
  const table = counts[ids.length - 1];
  if (!table) return -1;
  let [from, to] = [0, table.n - 1];
  while (from <= to) {
    const middle = (from + to) >> 1;
    let order = 0;
    for (let place = 0; place < ids.length && order === 0; place++) order = table.ids[place][middle] - ids[place];
    if (order === 0) return middle;
    if (order < 0) from = middle + 1;
    else to = middle - 1;
  }
  return -1;
}

/**
 * Whether each column is asked for values alone, so that published counts can add up to the answer.
 * @param {Payload} payload @param {Selected} selection
 */
export function asksForValues({ columns, meta }, selection) {
  if (selection.size > meta.reporting_length || selection.size === 0) return false;
  let number = 1;
  for (const [place, codes] of selection) {
    const { values, kind } = columns[place];
    if (kind === "items" && codes.length > 1) return false;
    if (codes.some((code) => code < 1 || code > values.length)) return false;
    number *= codes.length;
  }
  return number <= MOST_COMBINATIONS;
}

/**
 * The first column of several values a record that is asked for more than one: counts of these don't add up to people.
 * @param {Payload} payload @param {Selected} selection @returns {number | undefined}
 */
export const columnOfSeveral = ({ columns }, selection) =>
  [...selection].find(([place, codes]) => isItems(columns[place]) && codes.filter(Boolean).length > 1)?.[0];

/** Whether a code of a column is of no value that is published. @param {Column} column @param {number} code */
const isSpecial = ({ values }, code) => code === 0 || code > values.length;

/**
 * The first column that is asked for missing, or for values that were not published.
 * @param {Payload} payload @param {Selected} selection @returns {number | undefined}
 */
export const columnWithoutValue = ({ columns }, selection) =>
  [...selection].find(([place, codes]) => codes.some((code) => isSpecial(columns[place], code)))?.[0];

/**
 * What such a column is asked for: `special` codes and `values`; the `rest` of its values, and whether all but these is
 * meant.
 * @param {Column} column @param {number[]} codes
 */
export function partsOf(column, codes) {
  const values = codes.filter((code) => !isSpecial(column, code));
  const rest = column.values.map((_, value) => value + 1).filter((code) => !values.includes(code));
  const isAll = codes.includes(0) && (!column.open || codes.length > values.length + 1);
  return { values, special: codes.filter((code) => isSpecial(column, code)), rest, isAll };
}

/**
 * Every combination of one value a column, as ascending attribute ids.
 * @param {Payload} payload @param {Selected} selection of values alone @returns {number[][]}
 */
export function combinationsOf({ columns }, selection) {
  let found = /** @type {number[][]} */ ([[]]);
  for (const place of [...selection.keys()].sort((a, b) => a - b)) {
    const codes = /** @type {number[]} */ (selection.get(place));
    found = found.flatMap((ids) => codes.map((code) => [...ids, columns[place].first + code - 1]));
  }
  return found;
}

/**
 * The sum of the published counts of a selection, and of how many combinations a count was published.
 * @param {Payload} payload @param {Selected} selection of values alone
 */
export function publishedSum(payload, selection) {
  const { count } = payload.counts[selection.size - 1] ?? { count: [] };
  let [value, published] = [0, 0];
  const combinations = combinationsOf(payload, selection);
  for (const ids of combinations) {
    const row = rowOf(payload, ids);
    if (row >= 0) [value, published] = [value + count[row], published + 1];
  }
  return { value, published, combinations: combinations.length };
}

/** How many records of the page meet a selection. @param {Payload} payload @param {Selected} selection */
export function heldThatMeet({ columns, records }, selection) {
  if ([...selection.keys()].some((place) => !columns[place].codes.length)) return 0;
  const held = [...selection].map(([place, codes]) => holds(columns[place], codes, records));
  if (!held.length) return records;
  const [first, ...rest] = held;
  for (const each of rest) for (let row = 0; row < records; row++) first[row] &= each[row];
  let count = 0;
  for (let row = 0; row < records; row++) count += first[row];
  return count;
}

/**
 * What the records say of the whole table: their count, where there are as many records as people.
 * @param {Payload} payload @param {Selected} selection
 */
export function countInRecords(payload, selection) {
  const { meta, records } = payload;
  if (!records) return null;
  // The published counts of a fitted release are those of all its records, scaled: they need no sample.
  if (isSampled(payload) && meta.protection === "fitted" && asksForValues(payload, selection)) return publishedSum(payload, selection).value;
  const factor = meta.number ? meta.number.value : meta.records;
  return Math.round(heldThatMeet(payload, selection) * (factor / records));
}
