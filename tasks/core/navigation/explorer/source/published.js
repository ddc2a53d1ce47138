/**
 * The published count of a value together with what is chosen elsewhere: the *actual* bar.
 *
 * @import { Counts, Payload, Selection } from "./payload.js"
 *
 * @typedef {Object} Published
 * @property {number} value
 * @property {number | null} low 95 % range of the true count
 * @property {number | null} high
 */
import { withColumn } from "./selection.js";

/**
 * @param {Counts} counts
 * @param {number[]} ids ascending
 * @returns {number} the row, or -1
 */
function find(counts, ids) {
  let [from, to] = [0, counts.n - 1];
  while (from <= to) {
    const middle = (from + to) >> 1;
    let order = 0;
    for (let place = 0; place < ids.length && order === 0; place++) order = counts.ids[place][middle] - ids[place];
    if (order === 0) return middle;
    if (order < 0) from = middle + 1;
    else to = middle - 1;
  }
  return -1;
}

/**
 * @param {Payload} payload
 * @param {Selection} selection
 * @returns {(column: number, code: number) => Published | null}
 */
export function publishedWith(payload, selection) {
  return (column, code) => {
    const ids = [];
    for (const [other, codes] of withColumn(selection, column, [code])) {
      if (codes.length > 1 || codes[0] === 0) return null;
      ids.push(payload.columns[other].first + codes[0] - 1);
    }
    const counts = payload.counts[ids.length - 1];
    const row = counts ? find(counts, ids.sort((a, b) => a - b)) : -1;
    if (row < 0) return null;
    const value = counts.count[row];
    const step = payload.meta.resolution;
    const high = counts.high ? counts.high[row] : step ? value + step - 1 : null;
    return { value, low: counts.low ? counts.low[row] : value, high };
  };
}
