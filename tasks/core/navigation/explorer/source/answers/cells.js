/**
 * Which cells of noisy tables a selection stands for.
 *
 * A column's cells are its values, then `other` and `absent` where it has them. A *box* is a set of cells for some
 * columns: the people who are in one of them in each of these columns.
 *
 * @typedef {{low: number, high: number, hasHigh: boolean}} Interval of a single number both ends are equal; `hasHigh`:
 *   whether the upper end belongs to it
 */

const known = /** @type {WeakMap<Column, (Interval | null)[]>} */ (new WeakMap());

/** The numbers that each value of a column covers; null for a value that is no number. @param {Column} column */
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
  [new RegExp(`^${NUMBER} ?(?:\\+|and over|or more|or older)$`), (a) => ({ low: a, high: Infinity, hasHigh: false })],
  [new RegExp(`^${NUMBER}$`), (a) => ({ low: a, high: a, hasHigh: true })],
  [/^(\d{4})-\d{2}(?:-\d{2})?$/, (a) => ({ low: a, high: a, hasHigh: true })],
]);

/** @param {string} text @returns {Interval | null} */
function intervalOf(text) {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
  for (const [form, made] of FORMS) {
    const match = form.exec(plain);
    // A code such as 25-00503 is no range.
    if (match && !/^0\d/.test(match[1]) && !/^0\d/.test(match[2] ?? "")) return made(Number(match[1]), Number(match[2]), match[3]);
  }
  return null;
}

/** The values that a number lies in. @param {Column} column @param {number} number @returns {number[]} codes */
export function codesAt(column, number) {
  const holds = (/** @type {Interval | null} */ interval) =>
    interval && interval.low <= number && (number < interval.high || (interval.hasHigh && number === interval.high));
  return intervalsOf(column).flatMap((interval, place) => (holds(interval) ? [place + 1] : []));
}

/**
 * Which values lie between two numbers, and which of them reach beyond.
 *
 * A bin that only touches an end is taken by where it begins: "over 60" takes [60, 65), as people say it.
 * @param {Column} column @param {number} low @param {number} high
 * @param {{fromLow: boolean, toHigh: boolean}} includes whether the ends themselves are meant, for single numbers
 * @returns {{inside: number[], cut: number[]}} codes
 */
export function codesBetween(column, low, high, { fromLow, toHigh }) {
  const [inside, cut] = /** @type {number[][]} */ ([[], []]);
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

/** The code that stands for all values of an open column that were not released. @param {Column} column */
export const otherCode = (column) => column.values.length + 1;

/** How many cells a column has in noisy tables. @param {Column} column */
export const cellsOf = (column) => column.values.length + Number(column.other) + Number(column.absent);

/** Whether one record may be in several cells of a column. @param {Column} column */
export const isItems = (column) => column.kind === "items";

/**
 * The cells that codes stand for. A code without a cell is held by nobody.
 * @param {Column} column @param {number[]} codes 0 missing, v `values[v - 1]`, one more than there are: not released
 */
export function cellsOfCodes(column, codes) {
  const size = column.values.length;
  const cells = /** @type {number[]} */ ([]);
  for (const code of codes) {
    if (code >= 1 && code <= size) cells.push(code - 1);
    else if (code === 0 && column.absent) cells.push(cellsOf(column) - 1);
    else if (code === size + 1 && column.other) cells.push(size);
  }
  return cells.sort((a, b) => a - b);
}

/**
 * The columns in which a selection leaves something out, and the cells that it takes there.
 * @param {Payload} payload @param {Selected} selection @returns {Box}
 */
export function boxOf({ columns }, selection) {
  const box = /** @type {Box} */ (new Map());
  for (const place of [...selection.keys()].sort((a, b) => a - b)) {
    const column = columns[place];
    const cells = cellsOfCodes(column, /** @type {number[]} */ (selection.get(place)));
    if (cells.length < cellsOf(column)) box.set(place, cells);
  }
  return box;
}

/** A box, or a selection, of some columns alone. @param {Box} box @param {number[]} columns @returns {Box} */
export const within = (box, columns) => new Map([...box].filter(([column]) => columns.includes(column)));

/** The same without some columns. @param {Box} box @param {number[]} columns @returns {Box} */
export const without = (box, ...columns) => new Map([...box].filter(([column]) => !columns.includes(column)));

/** @template T @param {T[]} list @returns {[T, T][]} */
export const pairsOf = (list) => list.flatMap((one, place) => list.slice(place + 1).map((other) => /** @type {[T, T]} */ ([one, other])));

/**
 * Every subset of a list, the empty one first.
 * @template T
 * @param {T[]} list @param {number} [most] how many a subset holds at most @returns {T[][]}
 */
export function subsets(list, most = list.length) {
  const found = /** @type {T[][]} */ ([[]]);
  for (const each of list)
    for (const subset of found.slice()) if (subset.length < most) found.push([...subset, each]);
  return found;
}

/** How many cells two ascending lists share. @param {number[]} one @param {number[]} other */
export function shared(one, other) {
  let [place, count] = [0, 0];
  for (const cell of one) {
    while (place < other.length && other[place] < cell) place++;
    if (other[place] === cell) count++;
  }
  return count;
}
