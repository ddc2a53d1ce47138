/**
 * Where the true count of a selection lies in a fitted release: noisy tables in, a range out.
 *
 * Where a noisy table holds all chosen columns, the count is estimated with the noise alone. Where none does, noisy
 * counts of fewer columns still bound it: those who meet all conditions are no more than those who meet some, and no
 * fewer than two groups must share.
 */
import { cellsOf, isItems, pairsOf, shared, subsets, within, without } from "./cells.js";
import { evidenceOf, exceeded, marginsOf } from "./noise.js";

/**
 * Least squares estimates from all noisy tables of a fitted release, in closed form, with their exact noise.
 *
 * A table splits into independent parts, one for each subset of its columns: the subset's margin, centred along
 * each column. All tables that contribute to a subset are averaged there by their variances. The count of a box is
 * a weighted sum over the subsets of its columns. So the noise that two counts share is known as exactly as that of
 * one: counts can be added and subtracted, and cells that both hold cancel.
 *
 *     people aged 60 to 69, town Lyon  =  total + age + town + (age with town)
 */

/** One count of people, whatever it is estimated by. @param {Estimator} estimator @returns {Estimator} */
const ofPeople = ({ parts, drawn }) => ({ parts, drawn, people: [{ weight: 1, of: { parts, drawn, people: [] } }] });

/** A weighted sum of estimators. @param {[number, Estimator][]} terms @returns {Estimator} */
export function combined(terms) {
  return {
    people: terms.flatMap(([factor, { people }]) => people.map(({ weight, of }) => ({ weight: factor * weight, of }))),
    parts: terms.flatMap(([factor, { parts }]) => parts.map(({ weight, box }) => ({ weight: factor * weight, box }))),
    drawn: terms.flatMap(([factor, { drawn }]) => drawn.map((each) => ({ ...each, weight: factor * each.weight }))),
  };
}

/**
 * The subsets of a box's columns that its count is made of: those that hold each multi-valued column.
 * @param {Payload} payload @param {Box} box
 */
function termsOf({ columns }, box) {
  const kept = [...box.keys()].filter((place) => isItems(columns[place]));
  return subsets([...box.keys()]).filter((subset) => kept.every((place) => subset.includes(place)));
}

/**
 * Whether noisy tables tell the count of a box: it needs a table of all of its columns.
 * @param {Payload} payload @param {Box} box with one cell at most in a multi-valued column
 */
function isMeasured(payload, box) {
  return termsOf(payload, box).every((subset) => marginsOf(payload, subset).length > 0);
}

/**
 * How much a subset weighs in the count of a box: what the box takes of the columns that the subset leaves out.
 * @param {Payload} payload @param {Box} box @param {number[]} subset
 */
function evenShare({ columns }, box, subset) {
  let share = 1;
  for (const [place, cells] of box) if (!subset.includes(place)) share *= cells.length / cellsOf(columns[place]);
  return share;
}

/**
 * The sum of a margin over a box, each column's cells centred.
 * @param {Payload} payload @param {Float64Array} values @param {number[]} subset @param {Box} box
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

/** The estimate of a box's count from what is measured of it. @param {Payload} payload @param {Box} box */
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

/** The noise that the counts of two boxes share. @param {Payload} payload @param {Box} one @param {Box} other */
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

/** @param {Payload} payload @param {Estimator} estimator of measured boxes */
export function valueOf(payload, { parts, drawn }) {
  return (
    parts.reduce((sum, { weight, box }) => sum + weight * valueOfBox(payload, box), 0) +
    drawn.reduce((sum, { weight, value }) => sum + weight * value, 0)
  );
}

/** @param {Payload} payload @param {Estimator} one @param {Estimator} other of the same release */
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
 * @param {Payload} payload @param {Estimator} one @param {Estimator} other
 */
function bestMean(payload, one, other) {
  const both = covarianceOf(payload, one, other);
  const [first, second] = [varianceOf(payload, one), varianceOf(payload, other)];
  const whole = first + second - 2 * both;
  const share = whole > 1e-9 ? (second - both) / whole : 1;
  return ofPeople(combined([[share, one], [1 - share, other]]));
}

/**
 * Single noisy counts of an open column's values, which were drawn before `other` was known; null where none help.
 * @param {Payload} payload @param {Box} box @returns {Estimator | null}
 */
function drawnAlone(payload, box) {
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

/** The most columns whose subsets are all tried, and how many a subset holds at most where there are more. */
const MOST_COLUMNS = 8;
const MOST_OF_MANY = 3;

/**
 * The estimator of the people in a box; null where noisy tables don't tell it.
 * @param {Payload} payload @param {Box} box @returns {Estimator | null}
 */
export function estimatorOf(payload, box) {
  const unions = [...box.keys()].filter((place) => isItems(payload.columns[place]));
  const place = unions.find((each) => /** @type {number[]} */ (box.get(each)).length > 1);
  return place === undefined ? estimatorOfSingles(payload, box) : estimatorOfUnion(payload, box, place);
}

/** @param {Payload} payload @param {Box} box with one cell at most in a multi-valued column */
function estimatorOfSingles(payload, box) {
  const whole = isMeasured(payload, box) ? ofPeople({ parts: [{ weight: 1, box }], drawn: [], people: [] }) : null;
  const alone = drawnAlone(payload, box);
  return whole && alone ? bestMean(payload, whole, alone) : (whole ?? alone);
}

/**
 * People who hold one of several items may hold two: the counts of items add up less those of pairs.
 * @param {Payload} payload @param {Box} box @param {number} place of a multi-valued column with several cells
 * @returns {Estimator | null}
 */
function estimatorOfUnion(payload, box, place) {
  const column = payload.columns[place];
  const cells = /** @type {number[]} */ (box.get(place));
  const absent = column.absent ? cellsOf(column) - 1 : -1;
  const items = cells.filter((cell) => cell !== absent);
  const of = (/** @type {number} */ cell) => estimatorOf(payload, new Map(box).set(place, [cell]));
  if (column.absent && items.length === cells.length && items.length === cellsOf(column) - 1)
    return difference(estimatorOf(payload, without(box, place)), of(absent));
  /** @type {[number, Estimator | null][]} */
  const terms = cells.map((cell) => [1, of(cell)]);
  if (items.length === 2) terms.push([-1, pairOf(payload, box, place, items)]);
  else if (items.length > 2) return null;
  return terms.every(([, term]) => term) ? combined(/** @type {[number, Estimator][]} */ (terms)) : null;
}

/** @param {Estimator | null} whole @param {Estimator | null} part */
const difference = (whole, part) => (whole && part ? combined([[1, whole], [-1, part]]) : null);

/**
 * The people who hold two items of a column, where exactly that was measured.
 * @param {Payload} payload @param {Box} box @param {number} place @param {number[]} items two of them @returns {Estimator | null}
 */
function pairOf(payload, box, place, items) {
  const tables = evidenceOf(payload).pairs.filter(({ columns }) => columns.join() === [place, place].join());
  if (box.size > 1 || !tables.length) return null;
  const whole = tables.reduce((sum, { variance }) => sum + 1 / variance, 0);
  const drawn = tables.map(({ cells, shape, variance }, number) => ({
    weight: 1 / variance / whole,
    place: `pair/${place}/${number}/${items.join()}`,
    variance,
    value: cells[items[0] * shape[1] + items[1]],
  }));
  return ofPeople({ parts: [], drawn, people: [] });
}

/**
 * The standard deviation of an estimate; of a sample, chance is added to the noise.
 * @param {Payload} payload @param {Estimator} estimator
 */
export function deviationOf(payload, estimator) {
  const { share } = evidenceOf(payload);
  let chance = 0;
  if (share < 1) {
    for (const { weight, of } of estimator.people) chance += weight ** 2 * Math.max(0, valueOf(payload, of));
    chance *= 1 - share;
  }
  return Math.sqrt(varianceOf(payload, estimator) + chance) / share;
}

/**
 * How far the true count may be from its estimate. The chance of a sample is itself estimated, from a count that may
 * be too low: the ends are those of the score interval, on the side where they are further.
 * @param {number} sd @param {number} tail how often it may be further on each side
 * @param {number} share of all records that was counted
 */
export function halfWidth(sd, tail, share) {
  const z = exceeded(tail);
  const skew = (z * z * (1 - share)) / 2;
  return (skew + Math.hypot(z * sd * share, skew)) / share;
}

/** @param {Payload} payload @param {Estimator} estimator */
export const estimateOf = (payload, estimator) => valueOf(payload, estimator) / evidenceOf(payload).share;

/**
 * The range of a box's count.
 * @param {Payload} payload @param {Box} box @param {number} tail how often the true count may lie below it, and how often above
 * @returns {CountRange}
 */
export function rangeOfBox(payload, box, tail) {
  const exact = estimatorOf(payload, box);
  if (!exact) return bounded(payload, box, tail);
  const [estimate, sd] = [estimateOf(payload, exact), deviationOf(payload, exact)];
  const half = halfWidth(sd, tail, evidenceOf(payload).share);
  return { low: estimate - half, high: estimate + half, estimate, sd };
}

/**
 * Bounds from what is measured of fewer columns; each is given its part of the tail, so that all hold together.
 * @param {Payload} payload @param {Box} box @param {number} tail @returns {CountRange}
 */
function bounded(payload, box, tail) {
  const { atMost, atLeast } = boundsOf(payload, box);
  const { share } = evidenceOf(payload);
  const ends = (/** @type {Estimator[]} */ estimators, /** @type {1 | -1} */ sign) =>
    estimators.map((each) => {
      const half = halfWidth(deviationOf(payload, each), tail / estimators.length, share);
      return estimateOf(payload, each) + sign * half;
    });
  return { low: Math.max(0, ...ends(atLeast, -1)), high: Math.min(...ends(atMost, 1)), estimate: null, sd: null };
}

/** Estimators of counts that are at least, and at most, that of a box. @param {Payload} payload @param {Box} box */
function boundsOf(payload, box) {
  const [atMost, atLeast] = /** @type {Estimator[][]} */ ([[], []]);
  const columns = [...box.keys()];
  const isMany = columns.length > MOST_COLUMNS;
  const measured = subsets(columns, isMany ? MOST_OF_MANY : columns.length)
    .map((subset) => ({ subset, exact: estimatorOf(payload, within(box, subset)) }))
    .filter(({ exact }) => exact);
  const largest = measured.filter(
    ({ subset }) => !measured.some((other) => other.subset.length > subset.length && holds(other.subset, subset)),
  );
  for (const { exact } of largest) atMost.push(/** @type {Estimator} */ (exact));
  if (!isMany)
    for (const [one, other] of pairsOf(largest)) {
      if (new Set([...one.subset, ...other.subset]).size < columns.length) continue;
      const both = measured.find(({ subset }) => subset.join() === one.subset.filter((c) => other.subset.includes(c)).join());
      if (both?.exact && one.exact && other.exact) atLeast.push(combined([[1, one.exact], [1, other.exact], [-1, both.exact]]));
    }
  const singles = singlesOf(payload, box);
  if (singles && singles.every(Boolean)) {
    atMost.push(combined(singles.map((each) => [1, /** @type {Estimator} */ (each)])));
    atLeast.push(.../** @type {Estimator[]} */ (singles));
    const overlap = overlapsOf(payload, box);
    if (overlap) {
      const sum = atMost[atMost.length - 1];
      atLeast.push(combined([[1, sum], ...overlap.flat().map((pair) => /** @type {[number, Estimator]} */ ([-0.5, pair]))]));
      for (const pairs of overlap) atMost.push(combined([[1, sum], ...pairs.map((pair) => /** @type {[number, Estimator]} */ ([-1, pair]))]));
    }
  }
  return { atMost, atLeast };
}

/**
 * Of each item that is asked for, the pairs that it makes with the others: those who hold both were counted twice.
 * @param {Payload} payload @param {Box} box
 */
function overlapsOf(payload, box) {
  const [[place, cells]] = [...box];
  const column = payload.columns[place];
  const items = cells.filter((cell) => !column.absent || cell !== cellsOf(column) - 1);
  const pairs = items.map((one) =>
    items.filter((other) => other !== one).map((other) => pairOf(payload, box, place, one < other ? [one, other] : [other, one])),
  );
  return pairs.flat().every(Boolean) ? /** @type {Estimator[][]} */ (pairs) : null;
}

/** Of people who hold one of several items, those who hold each one. @param {Payload} payload @param {Box} box */
function singlesOf(payload, box) {
  const several = [...box].filter(([place, cells]) => isItems(payload.columns[place]) && cells.length > 1);
  if (several.length !== 1) return null;
  const [[place, cells]] = several;
  return cells.map((cell) => estimatorOf(payload, new Map(box).set(place, [cell])));
}

/** @param {number[]} whole @param {number[]} part */
const holds = (whole, part) => part.every((each) => whole.includes(each));

/**
 * The noisy counts, as drawn, that add up to a box: those of the table with the least noise in their sum.
 * @param {Payload} payload @param {Box} box @returns {{number: number, value: number, sd: number, sdOfSum: number} | null}
 */
export function sumAsDrawn(payload, box) {
  const { whole, alone, share } = evidenceOf(payload);
  const places = [...box.keys()];
  let best = null;
  for (const table of [...whole, ...(places.length === 1 ? (alone.get(places[0]) ?? []) : [])]) {
    const isAlone = !whole.includes(table);
    const [first] = places;
    if (!places.every((place) => table.columns.includes(place))) continue;
    if (table.columns.some((place) => isItems(payload.columns[place]) && (box.get(place) ?? [0, 1]).length > 1)) continue;
    if (isAlone && /** @type {number[]} */ (box.get(first)).some((cell) => cell >= payload.columns[first].values.length)) continue;
    const number = table.columns.reduce((product, place, axis) => product * (box.get(place)?.length ?? table.shape[axis]), 1);
    if (!best || number * table.variance < best.number * best.table.variance) best = { table, number };
  }
  if (!best) return null;
  const { table, number } = best;
  const sd = Math.sqrt(table.variance) / share;
  return { number, value: sumOver(table, box) / share, sd, sdOfSum: sd * Math.sqrt(number) };
}

/** The sum of a table's cells over a box. @param {{columns: number[], shape: number[], cells: ArrayLike<number>}} table @param {Box} box */
export function sumOver({ columns, shape, cells }, box) {
  let places = [0];
  columns.forEach((column, axis) => {
    const chosen = box.get(column) ?? Array.from({ length: shape[axis] }, (_, cell) => cell);
    places = places.flatMap((place) => chosen.map((cell) => place * shape[axis] + cell));
  });
  return places.reduce((sum, place) => sum + cells[place], 0);
}
