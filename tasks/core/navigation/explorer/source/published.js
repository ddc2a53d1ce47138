/**
 * The released count of a value together with what is chosen elsewhere: the *actual* bar.
 *
 * Of a fitted release it is what all noisy tables together say, by least squares: one number of the file of counts
 * (`least_squares`), or the same estimate of several values. Elsewhere it is one published count, or the sum of several.
 * No record is read here: this runs for every bar.
 */
import { outwards, TAIL, whole } from "./answers/answer.js";
import { boxOf, cellsOf, cellsOfCodes } from "./answers/cells.js";
import { asksForValues, publishedSum, rowOf, UNMEASURED } from "./answers/counts.js";
import { rangeOfBox, sumOver } from "./answers/fitted.js";
import { rangeByLengths } from "./answers/lengths.js";
import { certainRange } from "./answers/rounded.js";
import { withColumn } from "./selection.js";

/**
 * SynDiffix: rows of the smallest released table that holds the columns asked for. Less is suppressed there than in the
 * table of all columns, whose rows are the records.
 * @param {Payload} payload @param {Selected} selection
 * @returns {(column: number, code: number) => number | null} the count of a value within the others' choices; null where
 * the records are the smallest table
 */
export function tableCounts(payload, selection) {
  if (payload.meta.protection !== "syndiffix") return () => null;
  const { columns, tables } = payload;
  return (column, code) => {
    const asked = new Map(selection).set(column, [code]);
    const table = tables.find((one) => one.columns.length === asked.size && one.columns.every((place) => asked.has(place)));
    if (!table) return null;
    const box = new Map([...asked].map(([place, codes]) => [place, cellsOfCodes(columns[place], codes)]));
    return table.shape.every((size, axis) => size === cellsOf(columns[table.columns[axis]])) ? sumOver(table, box) : null;
  };
}

/**
 * The row of a selection that has one value in each column, among the published counts.
 * @param {Payload} payload @param {Selected} selection
 * @returns {number | null} -1 where it is not among them; null where the selection is not of single values
 */
function rowOfSingles(payload, selection) {
  const ids = [];
  for (const [column, codes] of selection) {
    if (codes.length > 1 || codes[0] === 0) return null;
    ids.push(payload.columns[column].first + codes[0] - 1);
  }
  return rowOf(payload, ids.sort((a, b) => a - b));
}

/** What noisy tables say. @param {Payload} payload @param {Selected} selection @returns {Published} */
function ofFitted(payload, selection) {
  const row = rowOfSingles(payload, selection);
  const { estimate, low, high } = payload.counts[selection.size - 1] ?? {};
  if (row !== null && row >= 0 && estimate && low && high)
    return { value: estimate[row] === UNMEASURED ? null : estimate[row], low: low[row], high: high[row] };
  const range = rangeOfBox(payload, boxOf(payload, selection), TAIL);
  const [least, most] = outwards(range);
  return { value: range.estimate === null ? null : whole(range.estimate), low: least, high: most };
}

/**
 * One published count, or the sum of several; a sum with a hole in it is none.
 * @param {Payload} payload @param {Selected} selection @returns {Published | null}
 */
function ofCounts(payload, selection) {
  const row = rowOfSingles(payload, selection);
  if (row === null) return summed(payload, selection);
  if (row < 0) return null;
  const { count, low, high } = payload.counts[selection.size - 1];
  const step = payload.meta.resolution;
  const value = count[row];
  return { value, low: low ? low[row] : step ? value : null, high: high ? high[row] : step ? value + step - 1 : null };
}

/** @param {Payload} payload @param {Selected} selection @returns {Published | null} */
function summed(payload, selection) {
  if (!asksForValues(payload, selection)) return null;
  const { value, published, combinations } = publishedSum(payload, selection);
  if (published < combinations) return null;
  const [low, high] = outwards(
    payload.meta.protection === "lengths" ? rangeByLengths(payload, selection, TAIL) : certainRange(payload, selection),
  );
  return { value, low, high };
}

/** @param {Payload} payload @param {Selected} selection @returns {(column: number, code: number) => Published | null} */
export function publishedWith(payload, selection) {
  const { protection } = payload.meta;
  if (protection === "syndiffix") return () => null;
  const widest = Math.max(payload.counts.length, ...payload.tables.map(({ columns }) => columns.length));
  return (column, code) => {
    const asked = withColumn(selection, column, [code]);
    if (asked.size > widest) return null;
    return protection === "fitted" ? ofFitted(payload, asked) : ofCounts(payload, asked);
  };
}
