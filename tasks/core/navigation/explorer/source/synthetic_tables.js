/**
 * SynDiffix: the synthetic rows of the smallest released table that holds the columns asked for. Less is suppressed
 * there than in the table of all columns, whose rows are the records.
 *
 * @import { NoisyTable, Payload, Selection } from "./payload.js"
 */
import { cellsOf, cellsOfCodes } from "./answers/cells.js";

/**
 * How many rows of a table hold one of the cells of each of its columns.
 * @param {NoisyTable} table
 * @param {number[][]} cells a column of the table
 */
function countIn({ cells: counts, shape }, cells) {
  let places = [0];
  cells.forEach((chosen, axis) => (places = places.flatMap((place) => chosen.map((cell) => place * shape[axis] + cell))));
  return places.reduce((sum, place) => sum + counts[place], 0);
}

/**
 * @param {Payload} payload
 * @param {Selection} selection
 * @returns {(column: number, code: number) => number | null} the count of a value within the others' choices; null where
 *   the records are the smallest table
 */
export function tableCounts(payload, selection) {
  if (payload.meta.protection !== "syndiffix") return () => null;
  const { columns, tables } = payload;
  return (column, code) => {
    const asked = new Map(selection).set(column, [code]);
    const table = tables.find((one) => one.columns.length === asked.size && one.columns.every((place) => asked.has(place)));
    if (!table) return null;
    const cells = table.columns.map((place) => cellsOfCodes(columns[place], /** @type {number[]} */ (asked.get(place))));
    return table.shape.every((size, axis) => size === cellsOf(columns[table.columns[axis]])) ? countIn(table, cells) : null;
  };
}
