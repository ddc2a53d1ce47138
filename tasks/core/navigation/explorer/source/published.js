/**
 * The published count of a value together with what is chosen elsewhere: the *actual* bar.
 *
 * One published count where each column has one value, the sum of several where a column has more. Of a fitted
 * release the noisy tables also tell of those who hold no value. No record is read here: this runs for every bar.
 *
 * @import { Payload, Selection } from "./payload.js"
 *
 * @typedef {Object} Published
 * @property {number} value
 * @property {number | null} low range of the true count, at 95 % or certain
 * @property {number | null} high
 */
import { TAIL, outwards } from "./answers/answer.js";
import { boxOf } from "./answers/cells.js";
import { asksForValues, publishedSum, rowOf } from "./answers/counts.js";
import { rangeOfBox } from "./answers/fitted.js";
import { rangeByLengths } from "./answers/lengths.js";
import { certainRange } from "./answers/rounded.js";
import { withColumn } from "./selection.js";

/**
 * The one published count of a selection that has one value in each column.
 * @param {Payload} payload
 * @param {Selection} selection
 * @returns {Published | null | undefined} undefined where several counts, or tables, would have to be read
 */
function single(payload, selection) {
  const ids = [];
  for (const [column, codes] of selection) {
    if (codes.length > 1 || codes[0] === 0) return undefined;
    ids.push(payload.columns[column].first + codes[0] - 1);
  }
  const row = rowOf(payload, ids.sort((a, b) => a - b));
  if (row < 0) return null;
  const { count, low, high } = payload.counts[ids.length - 1];
  const step = payload.meta.resolution;
  const value = count[row];
  return { value, low: low ? low[row] : step ? value : null, high: high ? high[row] : step ? value + step - 1 : null };
}

/**
 * @param {Payload} payload
 * @param {Selection} selection
 * @returns {Published | null}
 */
function summed(payload, selection) {
  const { value, published, combinations } = publishedSum(payload, selection);
  const { protection } = payload.meta;
  // Of fitted records every count that is not 0 is published; elsewhere a sum with a hole in it is none.
  if (protection !== "fitted" && published < combinations) return null;
  const range =
    protection === "fitted" ? rangeOfBox(payload, boxOf(payload, selection), TAIL)
    : protection === "lengths" ? rangeByLengths(payload, selection, TAIL)
    : certainRange(payload, selection);
  const [low, high] = outwards(range);
  return { value, low, high };
}

/**
 * Cells of noisy tables; the number is that of the fitted records, as far as the noise allows.
 * @param {Payload} payload
 * @param {Selection} selection
 * @param {number} estimated
 * @returns {Published | null}
 */
function measured(payload, selection, estimated) {
  const range = rangeOfBox(payload, boxOf(payload, selection), TAIL);
  if (range.estimate === null) return null;
  const [low, high] = outwards(range);
  return { value: Math.min(Math.max(estimated, low), high), low, high };
}

/**
 * @param {Payload} payload
 * @param {Selection} selection
 * @returns {(column: number, code: number, estimated: number | null) => Published | null} `estimated`: how many records
 *   hold the value; sums are costly, and are not made for thousands of values that no record holds
 */
export function publishedWith(payload, selection) {
  const tables = Math.max(0, ...payload.tables.map(({ columns }) => columns.length));
  return (column, code, estimated) => {
    const whole = withColumn(selection, column, [code]);
    if (whole.size > Math.max(payload.counts.length, tables)) return null;
    const found = single(payload, whole);
    if (found !== undefined || estimated === 0) return found ?? null;
    if (asksForValues(payload, whole)) return summed(payload, whole);
    return whole.size <= tables && estimated !== null ? measured(payload, whole, estimated) : null;
  };
}
