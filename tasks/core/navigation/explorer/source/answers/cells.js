/**
 * Which cells of noisy tables a selection stands for.
 *
 * A column's cells are its values, then `other` and `absent` where it has them. A *box* is a set of cells for some
 * columns: the people who are in one of them in each of these columns.
 *
 * @import { Column, Payload, Selection } from "../payload.js"
 *
 * @typedef {Map<number, number[]>} Box column to cells, both ascending; a column that is left out has all of its cells
 */

/** The code that stands for all values of an open column that were not released. @param {Column} column */
export const otherCode = (column) => column.values.length + 1;

/** How many cells a column has in noisy tables. @param {Column} column */
export const cellsOf = (column) => column.values.length + Number(column.other) + Number(column.absent);

/** Whether one record may be in several cells of a column. @param {Column} column */
export const isItems = (column) => column.kind === "items";

/**
 * The cells that codes stand for. A code without a cell is held by nobody.
 * @param {Column} column
 * @param {number[]} codes 0 missing, v `values[v - 1]`, one more than there are: not released
 */
export function cellsOfCodes(column, codes) {
  const size = column.values.length;
  /** @type {number[]} */
  const cells = [];
  for (const code of codes) {
    if (code >= 1 && code <= size) cells.push(code - 1);
    else if (code === 0 && column.absent) cells.push(cellsOf(column) - 1);
    else if (code === size + 1 && column.other) cells.push(size);
  }
  return cells.sort((a, b) => a - b);
}

/**
 * The columns in which a selection leaves something out, and the cells that it takes there.
 * @param {Payload} payload
 * @param {Selection} selection
 * @returns {Box}
 */
export function boxOf({ columns }, selection) {
  /** @type {Box} */
  const box = new Map();
  for (const place of [...selection.keys()].sort((a, b) => a - b)) {
    const column = columns[place];
    const cells = cellsOfCodes(column, /** @type {number[]} */ (selection.get(place)));
    if (cells.length < cellsOf(column)) box.set(place, cells);
  }
  return box;
}

/**
 * A box without some columns.
 * @param {Box} box
 * @param {(column: number) => boolean} kept
 * @returns {Box}
 */
export const narrowed = (box, kept) => new Map([...box].filter(([column]) => kept(column)));

/**
 * Every subset of a list, the empty one first.
 * @template T
 * @param {T[]} list
 * @param {number} [most] how many a subset holds at most
 * @returns {T[][]}
 */
export function subsets(list, most = list.length) {
  /** @type {T[][]} */
  const found = [[]];
  for (const each of list)
    for (const subset of found.slice()) if (subset.length < most) found.push([...subset, each]);
  return found;
}

/**
 * How many cells two ascending lists share.
 * @param {number[]} one
 * @param {number[]} other
 */
export function shared(one, other) {
  let [place, count] = [0, 0];
  for (const cell of one) {
    while (place < other.length && other[place] < cell) place++;
    if (other[place] === cell) count++;
  }
  return count;
}
