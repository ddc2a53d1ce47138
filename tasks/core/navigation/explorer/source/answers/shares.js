/**
 * Two selections and their bases in, the difference of their shares out: is the share of women among renters larger
 * than among owners?
 *
 * A share is the ratio of two counts of one release. Where both are estimated with known noise, the shares that the
 * noise does not rule out are Fieller's: those r for which x - r y, which is normal, is near enough to 0. It is exact
 * however large the noise of the base is, and covers everything where the base may be 0. Where a count is only bounded,
 * rounded or of a sample, the range goes from the least count of the largest base to the largest count of the least.
 *
 * Two groups of one base differ by one ratio, x less x' over y. Of two bases each share gets half of the chance to fail,
 * and the difference goes from end to end: such a range is wider than it must be, and never claims too much.
 *
 * @typedef {Side & {base: Selected}} Part a group, and the base that it is a part of
 *
 * @typedef {Pick<Difference, "value" | "low" | "high" | "certain">} Share from 0 to 1
 * @typedef {Omit<Difference, "sd">} SharesDifference the first share less the second, from -1 to 1
 */
import { answer, meant, words } from "./answer.js";
import { boxOf } from "./cells.js";
import { rangeOf, verdictOf } from "./difference.js";
import { combined, covarianceOf, estimatorOf, valueOf, varianceOf } from "./fitted.js";
import { exceeded } from "./noise.js";

/** How often a range may fail. */
const CHANCE = 0.05;

/** The share of a group in its base. @param {Part} part @returns {Share} */
export function share(part) {
  const { protection } = part.payload.meta;
  const value = quotient(part);
  if (protection === "syndiffix") return { value, low: null, high: null, certain: false };
  const { low, high } = rangeOfShare(part, CHANCE);
  return { value: clamped(value, low, high), low, high, certain: protection === "k_anonymity" };
}

/** The first share less the second. @param {Part} one @param {Part} other @returns {SharesDifference} */
export function differenceOfShares(one, other) {
  const protections = [one, other].map(({ payload }) => payload.meta.protection);
  const [first, second] = [quotient(one), quotient(other)];
  const value = first === null || second === null ? null : first - second;
  if (protections.includes("syndiffix")) {
    const [verdict, reason] = [words("shares.unknown"), words("difference.reason.syndiffix")];
    return { value, low: null, high: null, real: null, certain: false, verdict, reason };
  }
  const certain = protections.every((each) => each === "k_anonymity");
  const { low, high, reason } = ofOneBase(one, other) ?? ofTwoBases(one, other, certain);
  const real = low > 0 || high < 0 ? true : reason === "bounds" ? null : false;
  return {
    value: clamped(value, low, high),
    low,
    high,
    real,
    certain,
    verdict: words(`shares.${verdictOf(real, certain)}`, { low_points: low, high_points: high }),
    reason: words(`shares.reason.${reason}`),
  };
}

/** What a release says outright, where that is possible. @param {number | null} value @param {number} low @param {number} high */
const clamped = (value, low, high) => (value !== null && value >= low && value <= high ? value : null);

/** The quotient of the two numbers to quote. @param {Part} part */
function quotient({ payload, selection, base }) {
  const [count, whole] = [selection, base].map((each) => answer(payload, each).value);
  return count === null || !whole ? null : Math.min(1, count / whole);
}

/** @typedef {{low: number, high: number, isExact?: boolean}} Ends */

/** @param {Part} part @param {number} chance how often the range may fail @returns {Ends} */
function rangeOfShare(part, chance) {
  const [group, base] = [part.selection, part.base].map((selection) => estimatorFor(part.payload, selection));
  if (group && base) return { ...within(fieller(part.payload, group, base, chance), 0, 1), isExact: true };
  // Four ends may fail: two of the count, two of the base.
  const [count, whole] = [part.selection, part.base].map((selection) => rangeOf({ payload: part.payload, selection }, chance / 4));
  const [least, most] = [Math.max(0, count.low), Math.max(0, count.high)];
  const low = whole.high > 0 && Number.isFinite(whole.high) ? least / whole.high : 0;
  return within({ low, high: whole.low > 0 ? most / whole.low : 1 }, 0, 1);
}

/** The estimator of a count with nothing but known, normal noise. @param {Payload} payload @param {Selected} selection */
function estimatorFor(payload, selection) {
  if (payload.meta.protection !== "fitted" || (payload.meta.sampled_share ?? 1) < 1) return null;
  const box = boxOf(payload, meant(payload, selection));
  return [...box.values()].some((cells) => !cells.length) ? null : estimatorOf(payload, box);
}

/** @param {Ends} ends @param {number} least @param {number} most @returns {Ends} */
const within = ({ low, high }, least, most) => ({
  low: Math.min(Math.max(low, least), most),
  high: Math.max(Math.min(high, most), least),
});

/**
 * All r for which x - r y is no further from 0 than chance allows: between the roots of a parabola.
 * @param {Payload} payload @param {Estimator} count @param {Estimator} base @param {number} chance @returns {Ends}
 */
function fieller(payload, count, base, chance) {
  const square = exceeded(chance / 2) ** 2;
  const [x, y] = [valueOf(payload, count), valueOf(payload, base)];
  const a = y * y - square * varianceOf(payload, base);
  const b = x * y - square * covarianceOf(payload, count, base);
  const c = x * x - square * varianceOf(payload, count);
  // The base may be 0: nothing is ruled out that lies between what is possible at all.
  if (a <= 0 || y <= 0) return { low: -Infinity, high: Infinity };
  const root = Math.sqrt(Math.max(0, b * b - a * c));
  return { low: (b - root) / a, high: (b + root) / a };
}

/** @param {Part} one @param {Part} other @returns {(Ends & {reason: string}) | null} null where the bases are not one */
function ofOneBase(one, other) {
  if (one.payload !== other.payload || keyOf(one) !== keyOf(other)) return null;
  const { payload } = one;
  const [first, second, base] = [one.selection, other.selection, one.base].map((each) => estimatorFor(payload, each));
  if (!first || !second || !base) return null;
  const between = combined([[1, first], [-1, second]]);
  return { ...within(fieller(payload, between, base, CHANCE), -1, 1), reason: "one_base" };
}

/** The same text for the same base. @param {Part} part */
const keyOf = ({ payload, base }) => JSON.stringify([...meant(payload, base)].sort(([a], [b]) => a - b));

/** @param {Part} one @param {Part} other @param {boolean} certain @returns {Ends & {reason: string}} */
function ofTwoBases(one, other, certain) {
  const [first, second] = [one, other].map((each) => rangeOfShare(each, CHANCE / 2));
  const reason = certain ? "rounding" : first.isExact && second.isExact ? "two_bases" : "bounds";
  return { low: first.low - second.high, high: first.high - second.low, reason };
}

/**
 * What a share of two groups may be of: the groups without a condition that both have, or everybody.
 * @param {Selected} one @param {Selected} other @returns {number[][]} lists of columns that are left out of both, the likeliest first
 */
export function basesOf(one, other) {
  const both = [...one.keys()].filter((column) => other.has(column));
  const alike = both.filter((column) => String(one.get(column)) === String(other.get(column)));
  const every = [...new Set([...one.keys(), ...other.keys()])];
  const differ = every.length > alike.length;
  const first = !differ ? every.slice(-1) : alike.length ? alike.slice(-1) : every;
  const found = [first, ...both.map((column) => [column]), ...(alike.length > 1 && differ ? [alike] : []), every];
  const keys = found.map(String);
  return found.filter(({ length }, place) => length && keys.indexOf(keys[place]) === place);
}
