/**
 * Least squares estimates from all noisy tables of a fitted release, in closed form, with their exact noise.
 *
 * A table splits into independent parts, one for each subset of its columns: the subset's margin, centred along
 * each column. All tables that contribute to a subset are averaged there by their variances. The count of a box is
 * a weighted sum over the subsets of its columns. So the noise that two counts share is known as exactly as that of
 * one: counts can be added and subtracted, and cells that both hold cancel.
 *
 *     people aged 60 to 69, town Lyon  =  total + age + town + (age with town)
 *
 * @import { Payload } from "../payload.js"
 * @import { Box } from "./cells.js"
 *
 * @typedef {{weight: number, box: Box}} Part
 * @typedef {{weight: number, place: string, variance: number, value: number}} Drawn one cell of a table that is read as
 *   it was drawn, apart from all others; `place` names it
 *
 * @typedef {Object} Estimator a weighted sum of counts of boxes and of single noisy counts
 * @property {Part[]} parts
 * @property {Drawn[]} drawn
 * @property {{weight: number, of: Estimator}[]} people the counts that it is made of, each once however many tables
 *   tell it: of a sample, each varies by chance
 */
import { cellsOf, isItems, shared, subsets } from "./cells.js";
import { evidenceOf, marginsOf } from "./noise.js";

/** @param {Box} box @returns {Estimator} */
export const estimatorOfBox = (box) => ofPeople({ parts: [{ weight: 1, box }], drawn: [], people: [] });

/** One count of people, whatever it is estimated by. @param {Estimator} estimator @returns {Estimator} */
export const ofPeople = ({ parts, drawn }) => ({ parts, drawn, people: [{ weight: 1, of: { parts, drawn, people: [] } }] });

/**
 * A weighted sum of estimators.
 * @param {[number, Estimator][]} terms
 * @returns {Estimator}
 */
export function combined(terms) {
  return {
    people: terms.flatMap(([factor, { people }]) => people.map(({ weight, of }) => ({ weight: factor * weight, of }))),
    parts: terms.flatMap(([factor, { parts }]) => parts.map(({ weight, box }) => ({ weight: factor * weight, box }))),
    drawn: terms.flatMap(([factor, { drawn }]) => drawn.map((each) => ({ ...each, weight: factor * each.weight }))),
  };
}

/**
 * The subsets of a box's columns that its count is made of: those that hold each multi-valued column.
 * @param {Payload} payload
 * @param {Box} box
 */
function termsOf({ columns }, box) {
  const kept = [...box.keys()].filter((place) => isItems(columns[place]));
  return subsets([...box.keys()]).filter((subset) => kept.every((place) => subset.includes(place)));
}

/**
 * Whether noisy tables tell the count of a box: it needs a table of all of its columns.
 * @param {Payload} payload
 * @param {Box} box with one cell at most in a multi-valued column
 */
export function isMeasured(payload, box) {
  return termsOf(payload, box).every((subset) => marginsOf(payload, subset).length > 0);
}

/**
 * How much a subset weighs in the count of a box: what the box takes of the columns that the subset leaves out.
 * @param {Payload} payload
 * @param {Box} box
 * @param {number[]} subset
 */
function evenShare({ columns }, box, subset) {
  let share = 1;
  for (const [place, cells] of box) if (!subset.includes(place)) share *= cells.length / cellsOf(columns[place]);
  return share;
}

/**
 * The sum of a margin over a box, each column's cells centred.
 * @param {Payload} payload
 * @param {Float64Array} values
 * @param {number[]} subset
 * @param {Box} box
 */
function centredSum({ columns }, values, subset, box) {
  let rest = values;
  for (const place of [...subset].reverse()) {
    const cells = /** @type {number[]} */ (box.get(place));
    const size = cellsOf(columns[place]);
    const mean = isItems(columns[place]) ? 0 : cells.length / size;
    const next = new Float64Array(rest.length / size);
    for (let row = 0; row < next.length; row++) {
      let [chosen, every] = [0, 0];
      const start = row * size;
      for (const cell of cells) chosen += rest[start + cell];
      if (mean) for (let cell = 0; cell < size; cell++) every += rest[start + cell];
      next[row] = chosen - mean * every;
    }
    rest = next;
  }
  return rest[0];
}

/**
 * The estimate of a box's count from what is measured of it.
 * @param {Payload} payload
 * @param {Box} box
 */
function valueOfBox(payload, box) {
  let value = 0;
  for (const subset of termsOf(payload, box)) {
    const margins = marginsOf(payload, subset);
    const whole = margins.reduce((sum, { variance }) => sum + 1 / variance, 0);
    const mean = margins.reduce((sum, margin) => sum + centredSum(payload, margin.values, subset, box) / margin.variance, 0);
    value += (evenShare(payload, box, subset) * mean) / whole;
  }
  return value;
}

/**
 * The noise that the counts of two boxes share.
 * @param {Payload} payload
 * @param {Box} one
 * @param {Box} other
 */
function covarianceOfBoxes(payload, one, other) {
  const { columns } = payload;
  let covariance = 0;
  for (const subset of termsOf(payload, one)) {
    const isTerm = subset.every((place) => other.has(place)) &&
      [...other.keys()].every((place) => !isItems(columns[place]) || subset.includes(place));
    if (!isTerm) continue;
    const precision = marginsOf(payload, subset).reduce((sum, { variance }) => sum + 1 / variance, 0);
    let product = evenShare(payload, one, subset) * evenShare(payload, other, subset);
    for (const place of subset) {
      const [a, b] = [/** @type {number[]} */ (one.get(place)), /** @type {number[]} */ (other.get(place))];
      const mean = isItems(columns[place]) ? 0 : (a.length * b.length) / cellsOf(columns[place]);
      product *= shared(a, b) - mean;
    }
    covariance += product / precision;
  }
  return covariance;
}

/**
 * @param {Payload} payload
 * @param {Estimator} estimator of measured boxes
 */
export function valueOf(payload, { parts, drawn }) {
  return (
    parts.reduce((sum, { weight, box }) => sum + weight * valueOfBox(payload, box), 0) +
    drawn.reduce((sum, { weight, value }) => sum + weight * value, 0)
  );
}

/**
 * @param {Payload} payload
 * @param {Estimator} one
 * @param {Estimator} other of the same release
 */
export function covarianceOf(payload, one, other) {
  let covariance = 0;
  for (const a of one.parts)
    for (const b of other.parts) {
      const weight = a.weight * b.weight;
      if (weight) covariance += weight * covarianceOfBoxes(payload, a.box, b.box);
    }
  for (const a of one.drawn)
    for (const b of other.drawn) if (a.place === b.place) covariance += a.weight * b.weight * a.variance;
  return covariance;
}

/** @param {Payload} payload @param {Estimator} estimator */
export const varianceOf = (payload, estimator) => Math.max(0, covarianceOf(payload, estimator, estimator));

/**
 * The mean of two estimators of one count that has the least noise, whatever noise they share.
 * @param {Payload} payload
 * @param {Estimator} one
 * @param {Estimator} other
 */
export function bestMean(payload, one, other) {
  const both = covarianceOf(payload, one, other);
  const [first, second] = [varianceOf(payload, one), varianceOf(payload, other)];
  const whole = first + second - 2 * both;
  const share = whole > 1e-9 ? (second - both) / whole : 1;
  return ofPeople(combined([[share, one], [1 - share, other]]));
}

/**
 * Single noisy counts of an open column's values, which were drawn before `other` was known; null where none help.
 * @param {Payload} payload
 * @param {Box} box
 * @returns {Estimator | null}
 */
export function drawnAlone(payload, box) {
  if (box.size !== 1) return null;
  const [[place, cells]] = [...box];
  const column = payload.columns[place];
  const tables = evidenceOf(payload).alone.get(place);
  if (!tables) return null;
  const withOther = cells.includes(column.values.length);
  if (withOther && isItems(column)) return null;
  const every = Array.from({ length: cellsOf(column) }, (_, cell) => cell);
  const read = withOther ? every.filter((cell) => !cells.includes(cell)) : cells;
  const sign = withOther ? -1 : 1;
  // Its cells skip `other`: `absent` stands right after the values.
  const at = (/** @type {number} */ cell) => (cell > column.values.length ? cell - 1 : cell);
  const drawn = tables.flatMap((table, number) =>
    read.map((cell) => ({
      weight: sign / tables.length,
      place: `${place}/${number}/${at(cell)}`,
      variance: table.variance,
      value: table.cells[at(cell)],
    })),
  );
  return ofPeople({ parts: withOther ? [{ weight: 1, box: new Map() }] : [], drawn, people: [] });
}
