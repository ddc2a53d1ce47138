/**
 * The noisy tables of a fitted release as they are read here, once for each release.
 *
 * Of a set of columns, several tables may tell something. Each *contributes* to the set by its sum over its other
 * columns, unless one of these is multi-valued: a person is in several of its cells, so nothing adds up over them.
 *
 * @typedef {Object} Table
 * @property {number[]} columns ascending; one that stands twice is a table of pairs of items
 * @property {number[]} shape
 * @property {ArrayLike<number>} cells
 * @property {number} variance of the noise of each cell; rounding to whole numbers adds a twelfth
 *
 * @typedef {{values: Float64Array, variance: number}} Margin the sum of a table over all columns but some
 *
 * @typedef {Object} Evidence
 * @property {Table[]} whole tables that have all cells of their columns, the number of records among them
 * @property {Map<number, Table[]>} alone of an open column the tables of its values without `other`
 * @property {Table[]} pairs tables that hold a column twice
 * @property {Map<string, Margin[]>} margins by their columns
 * @property {number} share of all records that was counted
 */
import { isItems } from "./cells.js";

/** Half the width of the middle 95 of 100, in standard deviations. */
export const WITHIN_95 = 1.959963984540054;

/** The density of the standard normal. @param {number} x */
export const density = (x) => Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);

/**
 * How often a standard normal is above a value, to within 2e-13 of itself: a series near 0, a fraction beyond.
 * @param {number} x @returns {number}
 */
export function above(x) {
  if (x < 0) return 1 - above(-x);
  if (x < 3) {
    let [term, sum] = [x, x];
    for (let n = 3; Math.abs(term) > 1e-17; n += 2) sum += term *= (x * x) / n;
    return 0.5 - density(x) * sum;
  }
  let fraction = x;
  for (let n = 120; n >= 1; n--) fraction = x + n / fraction;
  return density(x) / fraction;
}

/** The value that a standard normal exceeds so often, by halving; for 0 < share <= 1/2. @param {number} share */
export function exceeded(share) {
  let [low, high] = [0, 40];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (above(middle) > share) low = middle;
    else high = middle;
  }
  return high;
}

const known = /** @type {WeakMap<Payload, Evidence>} */ (new WeakMap());

/** @param {Payload} payload of a fitted release @returns {Evidence} */
export function evidenceOf(payload) {
  let found = known.get(payload);
  if (!found) known.set(payload, (found = read(payload)));
  return found;
}

/** Standard deviation of the noise of the number of records, before rounding. @param {Payload} payload */
export function deviationOfNumber({ meta }) {
  const { number } = meta;
  if (!number) return 0;
  return number.sd ?? ((number.high - number.value) + 0.5) / WITHIN_95;
}

/** @param {Payload} payload @returns {Evidence} */
function read(payload) {
  const { meta, columns } = payload;
  const share = meta.sampled_share ?? 1;
  /** @type {Evidence} */
  const found = { whole: [], alone: new Map(), pairs: [], margins: new Map(), share };
  for (const { columns: places, shape, cells, scale, without_other: isAlone } of payload.tables) {
    const table = { columns: places, shape, cells, variance: scale ** 2 + 1 / 12 };
    if (isAlone) found.alone.set(places[0], [...(found.alone.get(places[0]) ?? []), table]);
    else if (new Set(places).size < places.length) found.pairs.push(table);
    else found.whole.push(table);
  }
  const hasTotals = found.whole.some((table) => !table.columns.some((place) => isItems(columns[place])));
  if (meta.number && (share === 1 || !hasTotals)) {
    const { value } = meta.number;
    const variance = share ** 2 * (deviationOfNumber(payload) ** 2 + 1 / 12) + value * share * (1 - share);
    found.whole.push({ columns: [], shape: [], cells: [share * value], variance });
  }
  return found;
}

/**
 * What each table that contributes to a set says of it.
 * @param {Payload} payload @param {number[]} chosen columns, ascending @returns {Margin[]}
 */
export function marginsOf(payload, chosen) {
  const evidence = evidenceOf(payload);
  const key = chosen.join();
  let found = evidence.margins.get(key);
  if (!found) {
    found = evidence.whole.filter((table) => contributes(payload, table, chosen)).map((table) => marginOf(table, chosen));
    evidence.margins.set(key, found);
  }
  return found;
}

/** @param {Payload} payload @param {Table} table @param {number[]} chosen */
function contributes({ columns }, table, chosen) {
  return (
    chosen.every((place) => table.columns.includes(place)) &&
    table.columns.every((place) => chosen.includes(place) || !isItems(columns[place]))
  );
}

/** @param {Table} table @param {number[]} chosen @returns {Margin} */
function marginOf({ columns, shape, cells, variance }, chosen) {
  const sizes = chosen.map((place) => shape[columns.indexOf(place)]);
  const size = sizes.reduce((product, each) => product * each, 1);
  const values = new Float64Array(size);
  let [step, steps] = [1, /** @type {number[]} */ ([])];
  for (let axis = sizes.length - 1; axis >= 0; axis--) [steps[axis], step] = [step, step * sizes[axis]];
  const strides = columns.map((place) => (chosen.includes(place) ? steps[chosen.indexOf(place)] : 0));
  const at = new Int32Array(columns.length);
  let target = 0;
  for (let cell = 0; cell < cells.length; cell++) {
    values[target] += cells[cell];
    for (let axis = columns.length - 1; axis >= 0; axis--) {
      target += strides[axis];
      if (++at[axis] < shape[axis]) break;
      target -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
  return { values, variance: (variance * cells.length) / size };
}
