/**
 * Where the true count of a selection lies in a release by lengths: published noisy counts in, a range out.
 *
 * Each combination of a length carries noise of its own, so a sum over m of them has the root of m times the noise.
 * A combination that was drawn but not published stayed below its length's threshold; one that was not even drawn
 * holds a part that did. Both only bound the sum. What was published just above the threshold is luckier than the
 * rest: the lower end allows for that.
 *
 * @typedef {Object} Level what is known of a length
 * @property {number} sd of the noise of one count
 * @property {number} least no count that was drawn below it was published
 *
 * @typedef {Object} Sum
 * @property {number} value the sum of the noisy counts that were published
 * @property {number} published how many
 * @property {number} near how many of these may have been lucky
 * @property {number} hidden drawn, and not published
 * @property {number} bound what those may hold together that were not drawn
 * @property {Level} level
 */
import { pairsOf, subsets, within, without } from "./cells.js";
import { columnOfSeveral, columnWithoutValue, combinationsOf, MOST_COMBINATIONS, partsOf, rowOf, UNMEASURED } from "./counts.js";
import { above, density, deviationOfNumber, exceeded } from "./noise.js";

/** So many standard deviations above the threshold, luck plays no part. */
const FAR = 4;

/**
 * What is known of a length's counts. A declared value alone has no threshold: it is published where it is above 0.
 * @param {Payload} payload @param {number[]} ids attribute ids of one of its combinations @returns {Level}
 */
function levelOf(payload, ids) {
  const noise = payload.meta.noise?.[ids.length - 1];
  const { open } = payload.columns.findLast(({ first }) => first <= ids[0]) ?? { open: true };
  const isDeclared = ids.length === 1 && !open;
  const least = isDeclared ? 1 : Math.max(1, noise?.threshold ?? 1);
  return { sd: noise?.sd ?? 0, least };
}

/**
 * The range of a selection's count.
 * @param {Payload} payload @param {Selected} selection @param {number} tail how often the true count may lie below it, and how often above
 * @returns {CountRange}
 */
export function rangeByLengths(payload, selection, tail) {
  const { number, reporting_length: longest } = payload.meta;
  if (!selection.size) {
    const [value, half] = [number?.value ?? 0, exceeded(tail) * deviationOfNumber(payload)];
    return { low: value - half, high: value + half, estimate: value, sd: deviationOfNumber(payload) };
  }
  if (selection.size > longest) return ofMany(payload, selection, longest, tail);
  const special = columnWithoutValue(payload, selection);
  if (special !== undefined) return withoutValue(payload, selection, special, tail);
  const several = columnOfSeveral(payload, selection);
  if (several !== undefined) return ofUnion(payload, selection, several, tail);
  const size = [...selection.values()].reduce((product, { length }) => product * length, 1);
  if (size > MOST_COMBINATIONS) return byParts(payload, selection, tail, null);
  const sum = sumOf(payload, combinationsOf(payload, selection));
  return sum.hidden || sum.bound ? byParts(payload, selection, tail, sum) : rangeOfSum(payload, sum, tail);
}

/** What was published of some combinations of one length. @param {Payload} payload @param {number[][]} combinations @returns {Sum} */
export function sumOf(payload, combinations) {
  const level = levelOf(payload, combinations[0] ?? [0]);
  const { noisy } = payload.counts[(combinations[0] ?? [0]).length - 1] ?? { noisy: null };
  const sum = { value: 0, published: 0, near: 0, hidden: 0, bound: 0, level };
  const missing = /** @type {Set<string>} */ (new Set());
  for (const ids of combinations) {
    const row = rowOf(payload, ids);
    const count = row >= 0 && noisy ? noisy[row] : UNMEASURED;
    if (count !== UNMEASURED) {
      sum.value += count;
      sum.published++;
      if (count < level.least + FAR * level.sd) sum.near++;
      continue;
    }
    const part = missingPart(payload, ids);
    if (!part) sum.hidden++;
    else if (!missing.has(part.join())) {
      missing.add(part.join());
      const { least, sd } = levelOf(payload, part);
      sum.bound += least - 1 + (FAR + 1) * sd;
    }
  }
  return sum;
}

/**
 * The shortest part of a combination that was not published: without it the combination was not even drawn.
 * @param {Payload} payload @param {number[]} ids @returns {number[] | null}
 */
function missingPart(payload, ids) {
  if (ids.length === 1) return null;
  for (let place = 0; place < ids.length; place++) {
    const part = ids.filter((_, other) => other !== place);
    const shorter = missingPart(payload, part);
    if (shorter) return shorter;
    if (rowOf(payload, part) < 0) return part;
  }
  return null;
}

/** @param {Payload} payload @param {Sum} sum @param {number} tail @returns {CountRange} */
export function rangeOfSum(payload, sum, tail) {
  const { level, published, hidden, near, value, bound } = sum;
  const z = exceeded(tail);
  const ratio = level.sd ? level.least / level.sd : 0;
  // Of a count that nobody holds: how much luck adds on average, and how much that varies.
  const luck = level.sd * density(ratio) * (near + hidden);
  const variance = level.sd ** 2 * (ratio * density(ratio) + above(ratio)) * hidden;
  const low = value - luck - z * Math.sqrt(level.sd ** 2 * published + variance);
  const up = z * level.sd * Math.sqrt(published + hidden);
  const high = value + (hidden ? hidden * (level.least - 1) : 0) + bound + up;
  const isExact = !hidden && !bound;
  // People who hold much may count in some of their combinations alone.
  const isTruncated = payload.meta.noise?.some((noise) => noise?.truncated);
  const sd = isExact ? level.sd * Math.sqrt(published) : null;
  return { low: published ? low : 0, high: isTruncated ? Infinity : high, estimate: isExact ? value : null, sd };
}

/**
 * Bounds from fewer columns, and from the sum where there is one; each is given its part of the tail.
 * @param {Payload} payload @param {Selected} selection @param {number} tail @param {Sum | null} sum @returns {CountRange}
 */
function byParts(payload, selection, tail, sum) {
  const places = [...selection.keys()];
  const number = places.length + (sum ? 1 : 0);
  const parts = places.map((place) => rangeByLengths(payload, without(selection, place), tail / number));
  if (sum) parts.push(rangeOfSum(payload, sum, tail / number));
  const high = Math.min(...parts.map((part) => part.high));
  const own = sum ? rangeOfSum(payload, sum, tail) : { low: 0 };
  return { low: Math.max(0, own.low), high: Math.max(0, high), estimate: null, sd: null };
}

/**
 * Of more columns than are counted together: no more than any few of them, and no fewer than two such groups share.
 * @param {Payload} payload @param {Selected} selection @param {number} longest @param {number} tail @returns {CountRange}
 */
function ofMany(payload, selection, longest, tail) {
  const few = subsets([...selection.keys()], longest).filter(({ length }) => length === longest);
  const high = Math.min(...few.map((places) => rangeByLengths(payload, within(selection, places), tail / few.length).high));
  const covering = pairsOf(few).filter(([one, other]) => new Set([...one, ...other]).size === selection.size);
  const part = tail / (3 * covering.length);
  const lows = covering.map(([one, other]) => {
    const both = rangeByLengths(payload, within(selection, one.filter((place) => other.includes(place))), part);
    return rangeByLengths(payload, within(selection, one), part).low + rangeByLengths(payload, within(selection, other), part).low - both.high;
  });
  return { low: Math.max(0, ...lows), high: Math.max(0, high), estimate: null, sd: null };
}

/**
 * People who hold one of several items: at least those who hold the one that most hold.
 * @param {Payload} payload @param {Selected} selection @param {number} place @param {number} tail @returns {CountRange}
 */
function ofUnion(payload, selection, place, tail) {
  const codes = /** @type {number[]} */ (selection.get(place));
  const each = codes.map((code) => rangeByLengths(payload, new Map(selection).set(place, [code]), tail / codes.length));
  const low = Math.max(...each.map((range) => range.low));
  return { low, high: each.reduce((sum, range) => sum + range.high, 0), estimate: null, sd: null };
}

/**
 * Nobody counted who holds no value, or one that was not published: that is what the others leave of all.
 * @param {Payload} payload @param {Selected} selection @param {number} place @param {number} tail @returns {CountRange}
 */
function withoutValue(payload, selection, place, tail) {
  const column = payload.columns[place];
  const { values, rest, isAll } = partsOf(column, /** @type {number[]} */ (selection.get(place)));
  const of = (/** @type {number[]} */ chosen) =>
    chosen.length
      ? rangeByLengths(payload, new Map(selection).set(place, chosen), tail / 3)
      : { low: 0, high: 0 };
  const whole = rangeByLengths(payload, without(selection, place), tail / 3);
  if (column.kind === "items" && values.length) return { low: of(values).low, high: whole.high, estimate: null, sd: null };
  const others = of(rest);
  return {
    low: Math.max(of(values).low, isAll ? whole.low - others.high : 0),
    high: whole.high - Math.max(0, others.low),
    estimate: null,
    sd: null,
  };
}
