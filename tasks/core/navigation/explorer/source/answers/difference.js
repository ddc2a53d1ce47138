/**
 * Two selections in, their difference out: how large, within what range, and whether noise alone explains it.
 *
 * Within a release, counts of one table share their noise where they share cells: that is cancelled, not counted
 * twice. Releases of two vintages have noise of their own, so both add up. The range covers noise (or rounding) and
 * nothing else: not which people happened to be in a table.
 */
import { answer, meant, outwards, TAIL } from "./answer.js";
import { boxOf } from "./cells.js";
import { asksForValues, combinationsOf } from "./counts.js";
import { combined, deviationOf, estimateOf, estimatorOf, halfWidth, rangeOfBox } from "./fitted.js";
import { rangeByLengths, rangeOfSum, sumOf } from "./lengths.js";
import { exceeded, WITHIN_95 } from "./noise.js";
import { certainRange } from "./rounded.js";

/** @typedef {CountRange & {reason: string}} Found */

/** The first selection's count less the second's. @param {Side} one @param {Side} other @returns {Difference} */
export function difference(one, other) {
  const protections = [one.payload.meta.protection, other.payload.meta.protection];
  if (protections.includes("syndiffix")) return withoutRange(one, other);
  const certain = protections.every((each) => each === "k_anonymity");
  const found = certain ? betweenRounded(one, other) : betweenNoisy(one, other);
  const [low, high] = [Math.floor(found.low + 1e-9), Math.ceil(found.high - 1e-9)];
  const [first, second] = [answer(one.payload, one.selection).value, answer(other.payload, other.selection).value];
  const quoted = first === null || second === null ? null : first - second;
  const middle = quoted ?? found.estimate;
  const value = middle === null ? null : Math.min(Math.max(quoted !== null && quoted >= low && quoted <= high ? quoted
    : Math.round(found.estimate ?? middle), low), high);
  const real = low > 0 || high < 0 ? true : found.sd === null ? null : false;
  return {
    value,
    low,
    high,
    real,
    certain,
    sd: found.sd,
    verdict: { key: `difference.${verdictOf(real, certain)}`, given: { low, high } },
    reason: { key: `difference.reason.${found.reason}`, given: { half: Math.ceil(WITHIN_95 * (found.sd ?? 0)) } },
  };
}

/** @param {boolean | null} real @param {boolean} certain */
export function verdictOf(real, certain) {
  if (real) return certain ? "certain" : "real";
  if (certain) return "rounding";
  return real === null ? "unknown" : "noise";
}

/** @param {Side} one @param {Side} other @returns {Difference} */
function withoutRange(one, other) {
  const counts = [one, other].map(({ payload, selection }) => answer(payload, selection).value);
  const [first, second] = counts;
  return {
    value: first === null || second === null ? null : first - second,
    low: null,
    high: null,
    real: null,
    certain: false,
    sd: null,
    verdict: { key: "difference.unknown", given: {} },
    reason: { key: "difference.reason.syndiffix", given: {} },
  };
}

/** @param {Side} one @param {Side} other @returns {Found} */
function betweenNoisy(one, other) {
  if (one.payload === other.payload) {
    const found = one.payload.meta.protection === "fitted" ? withinFitted(one, other) : withinLengths(one, other);
    if (found) return found;
  } else {
    const [a, b] = [rangeOf(one, TAIL), rangeOf(other, TAIL)];
    if (a.estimate !== null && b.estimate !== null && a.sd !== null && b.sd !== null) {
      const [estimate, sd] = [a.estimate - b.estimate, Math.hypot(a.sd, b.sd)];
      const share = Math.min(shareOf(one), shareOf(other));
      return { ...around(estimate, sd, share), reason: "two_releases" };
    }
  }
  const [a, b] = [rangeOf(one, TAIL / 2), rangeOf(other, TAIL / 2)];
  const ends = [outwards(a), outwards(b)];
  return { low: ends[0][0] - ends[1][1], high: ends[0][1] - ends[1][0], estimate: null, sd: null, reason: "bounds" };
}

/** @param {Side} side */
const shareOf = ({ payload }) => payload.meta.sampled_share ?? 1;

/** @param {number} estimate @param {number} sd @param {number} share */
const around = (estimate, sd, share) => {
  const half = halfWidth(sd, TAIL, share);
  return { low: estimate - half, high: estimate + half, estimate, sd };
};

/** The range of one side's count. @param {Side} side @param {number} tail @returns {CountRange} */
export function rangeOf({ payload, selection }, tail) {
  const asked = meant(payload, selection);
  const { protection, number } = payload.meta;
  if (protection === "k_anonymity") return { ...certainRange(payload, asked), estimate: null, sd: null };
  if (protection === "fitted") {
    const box = boxOf(payload, asked);
    return [...box.values()].some((cells) => !cells.length) ? { low: 0, high: 0, estimate: 0, sd: 0 } : rangeOfBox(payload, box, tail);
  }
  const share = payload.meta.sampled_share ?? 1;
  const range = rangeByLengths(payload, asked, tail);
  if (share === 1 || !asked.size) return { ...range, high: Math.min(range.high, number?.high ?? Infinity) };
  const chance = (/** @type {number} */ count) => exceeded(tail) * Math.sqrt(Math.max(0, count) * (1 - share));
  return { low: (range.low - chance(range.low)) / share, high: (range.high + chance(range.high)) / share, estimate: null, sd: null };
}

/** @param {Side} one @param {Side} other @returns {Found | null} */
function withinFitted({ payload, selection }, { selection: second }) {
  const boxes = [selection, second].map((each) => boxOf(payload, meant(payload, each)));
  if (boxes.some((box) => [...box.values()].some((cells) => !cells.length))) return null;
  const [a, b] = boxes.map((box) => estimatorOf(payload, box));
  if (!a || !b) return null;
  const between = combined([[1, a], [-1, b]]);
  const [estimate, sd] = [estimateOf(payload, between), deviationOf(payload, between)];
  const apart = Math.hypot(deviationOf(payload, a), deviationOf(payload, b));
  return { ...around(estimate, sd, payload.meta.sampled_share ?? 1), reason: sd < 0.99 * apart ? "shared" : sd > 1.01 * apart ? "opposed" : "apart" };
}

/**
 * Published noisy counts of one length: what both hold is taken out before anything is added up.
 * @param {Side} one @param {Side} other @returns {Found | null}
 */
function withinLengths({ payload, selection }, { selection: second }) {
  if ((payload.meta.sampled_share ?? 1) < 1) return null;
  const [a, b] = [meant(payload, selection), meant(payload, second)];
  if (!asksForValues(payload, a) || !asksForValues(payload, b)) return null;
  const [ids, others] = apart(combinationsOf(payload, a), combinationsOf(payload, b));
  const [first, last] = [sumOf(payload, ids), sumOf(payload, others)];
  if (first.hidden || first.bound || last.hidden || last.bound) {
    const ends = [first, last].map((sum) => outwards(rangeOfSum(payload, sum, TAIL / 2)));
    return { low: ends[0][0] - ends[1][1], high: ends[0][1] - ends[1][0], estimate: null, sd: null, reason: "bounds" };
  }
  const variance = first.level.sd ** 2 * first.published + last.level.sd ** 2 * last.published;
  const luck = [first, last].map((sum) => {
    const { low, estimate, sd } = rangeOfSum(payload, sum, TAIL);
    return sum.published ? (estimate ?? 0) - exceeded(TAIL) * (sd ?? 0) - low : 0;
  });
  const found = around(first.value - last.value, Math.sqrt(variance), 1);
  return { ...found, low: found.low - luck[0], high: found.high + luck[1], reason: "apart" };
}

/** Two lists of combinations without those that stand in both. @param {number[][]} one @param {number[][]} other */
function apart(one, other) {
  const keys = [one, other].map((list) => new Set(list.map((ids) => ids.join())));
  return [one.filter((ids) => !keys[1].has(ids.join())), other.filter((ids) => !keys[0].has(ids.join()))];
}

/** @param {Side} one @param {Side} other @returns {Found} */
function betweenRounded(one, other) {
  const [a, b] = [one, other].map(({ payload, selection }) => certainRange(payload, meant(payload, selection)));
  const found = { low: a.low - b.high, high: a.high - b.low, estimate: null, sd: null, reason: "rounding" };
  if (one.payload !== other.payload) return found;
  const { payload } = one;
  const [first, second] = [meant(payload, one.selection), meant(payload, other.selection)];
  const narrower = differingColumn(payload, first, second);
  if (narrower) {
    const [left, right] = narrower.map((selection) => (selection ? certainRange(payload, selection) : { low: 0, high: 0 }));
    found.low = Math.max(found.low, left.low - right.high);
    found.high = Math.min(found.high, left.high - right.low);
  }
  return found;
}

/**
 * Where two selections differ in one column alone, both without the values that they share there.
 * @param {Payload} payload @param {Selected} one @param {Selected} other @returns {(Selected | null)[] | null}
 */
function differingColumn({ columns }, one, other) {
  if (one.size !== other.size || ![...one.keys()].every((place) => other.has(place))) return null;
  const places = [...one].filter(([place, codes]) => String(codes) !== String(other.get(place))).map(([place]) => place);
  if (places.length !== 1 || columns[places[0]].kind === "items") return null;
  const [place] = places;
  const [a, b] = [/** @type {number[]} */ (one.get(place)), /** @type {number[]} */ (other.get(place))];
  const less = (/** @type {Selected} */ selection, /** @type {number[]} */ codes) =>
    codes.length ? new Map(selection).set(place, codes) : null;
  return [less(one, a.filter((code) => !b.includes(code))), less(other, b.filter((code) => !a.includes(code)))];
}

/**
 * A selection of one release in another's columns and values, by name; what has no namesake is listed.
 * @param {Payload} from @param {Payload} to @param {Selected} selection @returns {{selection: Selected, missing: string[]}}
 */
export function translated(from, to, selection) {
  const found = /** @type {Selected} */ (new Map());
  const missing = /** @type {string[]} */ ([]);
  for (const [place, codes] of selection) {
    const column = from.columns[place];
    const target = to.columns.findIndex(({ name }) => name === column.name);
    if (target < 0) missing.push(column.name);
    else {
      const { values } = to.columns[target];
      const others = codes.map((code) => {
        if (code === 0) return 0;
        const at = code > column.values.length ? values.length : values.indexOf(column.values[code - 1]);
        if (at < 0) missing.push(`${column.name}: ${column.values[code - 1]}`);
        return at + 1;
      });
      found.set(target, others.filter((code, number) => code > 0 || codes[number] === 0).sort((a, b) => a - b));
    }
  }
  return { selection: found, missing };
}
