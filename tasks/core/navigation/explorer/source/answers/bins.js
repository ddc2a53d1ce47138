/**
 * Values that stand for numbers: the texts of a column's values in, the numbers that each covers out.
 *
 * @import { Column } from "../payload.js"
 *
 * @typedef {Object} Interval
 * @property {number} low
 * @property {number} high a single number has both ends equal
 * @property {boolean} hasHigh whether the upper end belongs to it
 */

/** @type {WeakMap<Column, (Interval | null)[]>} */
const known = new WeakMap();

/**
 * The numbers that each value of a column covers; null for a value that is no number.
 * @param {Column} column
 */
export function intervalsOf(column) {
  let found = known.get(column);
  if (!found) known.set(column, (found = column.values.map((text) => intervalOf(text))));
  return found;
}

/** Whether most of a column's values are numbers or ranges of them. @param {Column} column */
export function isNumeric(column) {
  const intervals = intervalsOf(column);
  return intervals.length > 0 && intervals.filter(Boolean).length * 2 > intervals.length;
}

const NUMBER = "(-?\\d+(?:\\.\\d+)?)";
const FORMS = /** @type {[RegExp, (a: number, b: number, end: string) => Interval][]} */ ([
  [new RegExp(`^[\\[(]${NUMBER} ?[,;] ?${NUMBER}([\\])])$`), (a, b, end) => ({ low: a, high: b, hasHigh: end === "]" })],
  [new RegExp(`^${NUMBER} ?(?:-|–|to|bis) ?${NUMBER}$`), (a, b) => ({ low: a, high: b, hasHigh: true })],
  [new RegExp(`^(?:<|under |below |unter )${NUMBER}$`), (a) => ({ low: -Infinity, high: a, hasHigh: false })],
  [new RegExp(`^(?:<=|≤|up to |bis )${NUMBER}$`), (a) => ({ low: -Infinity, high: a, hasHigh: true })],
  [new RegExp(`^(?:>|>=|≥|over |above |uber |ab )${NUMBER}$`), (a) => ({ low: a, high: Infinity, hasHigh: false })],
  [new RegExp(`^${NUMBER} ?(?:\\+|and over|or more|or older|und mehr|und alter)$`), (a) => ({ low: a, high: Infinity, hasHigh: false })],
  [new RegExp(`^${NUMBER}$`), (a) => ({ low: a, high: a, hasHigh: true })],
  [/^(\d{4})-\d{2}(?:-\d{2})?$/, (a) => ({ low: a, high: a, hasHigh: true })],
]);

/** @param {string} text @returns {Interval | null} */
export function intervalOf(text) {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
  for (const [form, made] of FORMS) {
    const match = form.exec(plain);
    // A code such as 25-00503 is no range.
    if (match && !/^0\d/.test(match[1]) && !/^0\d/.test(match[2] ?? "")) return made(Number(match[1]), Number(match[2]), match[3]);
  }
  return null;
}

/**
 * The values that a number lies in.
 * @param {Column} column
 * @param {number} number
 * @returns {number[]} codes
 */
export function codesAt(column, number) {
  const holds = (/** @type {Interval | null} */ interval) =>
    interval && interval.low <= number && (number < interval.high || (interval.hasHigh && number === interval.high));
  return intervalsOf(column).flatMap((interval, place) => (holds(interval) ? [place + 1] : []));
}

/**
 * Which values lie between two numbers, and which of them reach beyond.
 *
 * A bin that only touches an end is taken by where it begins: "over 60" takes [60, 65), as people say it.
 * @param {Column} column
 * @param {number} low
 * @param {number} high
 * @param {{fromLow: boolean, toHigh: boolean}} includes whether the ends themselves are meant, for single numbers
 * @returns {{inside: number[], cut: number[]}} codes
 */
export function codesBetween(column, low, high, { fromLow, toHigh }) {
  /** @type {number[]} */
  const inside = [];
  /** @type {number[]} */
  const cut = [];
  intervalsOf(column).forEach((interval, place) => {
    if (!interval) return;
    const code = place + 1;
    if (interval.low === interval.high) {
      const { low: value } = interval;
      if ((fromLow ? value >= low : value > low) && (toHigh ? value <= high : value < high)) inside.push(code);
      return;
    }
    const isWhole = Number.isInteger(interval.high) && interval.hasHigh;
    const top = isWhole && interval.low !== -Infinity ? interval.high + 1 : interval.high;
    // Whole years: "up to 65" and "under 66" take the bin that ends before 66.
    const end = toHigh && high !== Infinity && Number.isInteger(high) ? high + 1 : high;
    if (interval.low >= low && (top <= end || interval.high <= high)) inside.push(code);
    else if (interval.high > low && interval.low < end) cut.push(code);
  });
  return { inside, cut };
}
