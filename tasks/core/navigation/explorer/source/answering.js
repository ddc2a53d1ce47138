import { histogram, passing } from "./counting.js";
import { publishedWith } from "./published.js";
import { NOTHING, withColumn } from "./selection.js";
/** @import { Payload, Selection } from "./payload.js" */
/** @typedef {{selection: Selection, unread: string[], readings: any[], ambiguous: {text: string, options: {column: number, codes: number[]}[]}[]}} Reading */
/** @param {Payload} payload @param {string} text @returns {Reading} */
export function parse(payload, text) {
  let selection = NOTHING; const unread = [];
  for (const word of text.split(",").map((w) => w.trim())) {
    const column = payload.columns.findIndex(({ values }) => values.includes(word));
    if (column < 0) unread.push(word); else selection = withColumn(selection, column, [payload.columns[column].values.indexOf(word) + 1]);
  }
  return { selection, unread, readings: [], ambiguous: [] };
}
/** @param {Payload} payload @param {Selection} selection @returns {{value: number|null, low: number|null, high: number|null}} */
export function answer(payload, selection) {
  const one = [...selection].at(-1);
  const found = one && publishedWith(payload, selection)(one[0], one[1][0]);
  return found ?? { value: passing(payload, selection).size, low: null, high: null };
}
/** @param {any} a @param {any} b */
export const difference = (a, b) => ({ value: (answer(a.payload, a.selection).value ?? 0) - (answer(b.payload, b.selection).value ?? 0), low: null, high: null, real: false });
