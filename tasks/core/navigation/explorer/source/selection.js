/**
 * What is chosen, and what was chosen before. A selection is never changed: each step makes another one.
 *
 * @import { Selection } from "./payload.js"
 */

/** @type {Selection} */
export const NOTHING = new Map();

/**
 * The selection with one value more, or less if it was chosen.
 * @param {Selection} selection
 * @param {number} column
 * @param {number} code
 * @returns {Selection}
 */
export function toggled(selection, column, code) {
  const before = selection.get(column) ?? [];
  const chosen = before.includes(code) ? before.filter((other) => other !== code) : [...before, code];
  return withColumn(selection, column, chosen);
}

/**
 * The selection with a column's choice replaced; an empty one leaves the column out.
 * @param {Selection} selection
 * @param {number} column
 * @param {number[]} chosen
 * @returns {Selection}
 */
export function withColumn(selection, column, chosen) {
  const next = new Map(selection);
  next.delete(column);
  if (chosen.length) next.set(column, [...new Set(chosen)].sort((a, b) => a - b));
  return new Map([...next].sort(([a], [b]) => a - b));
}

/**
 * @param {Selection} selection
 * @param {number} column
 * @param {number} code
 */
export const isChosen = (selection, column, code) => selection.get(column)?.includes(code) ?? false;

/**
 * @param {Selection} one
 * @param {Selection} other
 */
export function equal(one, other) {
  return one.size === other.size && [...one].every(([column, codes]) => other.get(column)?.join() === codes.join());
}
