/** What is chosen, and what was chosen before. A selection is never changed: each step makes another one. */
import { otherCode } from "./answers/cells.js";

/**
 * What of a link stands for the values that were not released. The part after `#` is `sex=female&age=60-69`: an empty
 * value is "missing", for no value of a table is empty. Names that begin with `!` are the page's own.
 */
const UNRELEASED = "!";

const coded = (/** @type {string} */ text) => encodeURIComponent(text).replace(/^!/, "%21");

/** @param {string} text @returns {string | null} */
function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** @param {Payload} payload @param {{selection: Selected, page: number}} view */
export function linkOf({ columns }, { selection, page }) {
  const parts = [];
  if (page) parts.push(`!page=${page + 1}`);
  for (const [column, codes] of selection) {
    for (const code of codes) parts.push(`${coded(columns[column].name)}=${written(columns[column], code)}`);
  }
  return parts.length ? `#${parts.join("&")}` : "";
}

/** A value of a column as a link has it. @param {Column} column @param {number} code */
function written(column, code) {
  if (code === 0) return "";
  return code === otherCode(column) ? UNRELEASED : coded(column.values[code - 1]);
}

/**
 * What a link asks for; what this release does not have is left out, and counted in `unknown`.
 * @param {Payload} payload @param {string} hash
 */
export function viewOf(payload, hash) {
  let selection = /** @type {Selected} */ (NOTHING);
  let page = 0;
  let unknown = 0;
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [left, right] = split(part);
    if (left === "!page") page = Math.max(0, Number(right) - 1 || 0);
    else if (part.includes("=")) {
      const place = found(payload, plain(left), right);
      if (place) selection = withColumn(selection, place.column, [...(selection.get(place.column) ?? []), place.code]);
      else unknown++;
    }
  }
  return { selection, page, unknown };
}

/** @param {string} part */
function split(part) {
  const place = part.indexOf("=");
  return place < 0 ? [part, ""] : [part.slice(0, place), part.slice(place + 1)];
}

/** @param {Payload} payload @param {string | null} name @param {string} text of a value, as the link has it */
function found({ columns }, name, text) {
  const [column, value] = [columns.findIndex((one) => one.name === name), plain(text)];
  if (column < 0 || value === null) return null;
  if (text === UNRELEASED && columns[column].open) return { column, code: otherCode(columns[column]) };
  const code = value === "" ? 0 : columns[column].values.indexOf(value) + 1;
  return value !== "" && code === 0 ? null : { column, code };
}

/** @type {Selected} */
export const NOTHING = new Map();

/**
 * The selection with one value more, or less if it was chosen.
 * @param {Selected} selection @param {number} column @param {number} code @returns {Selected}
 */
export function toggled(selection, column, code) {
  const before = selection.get(column) ?? [];
  const chosen = before.includes(code) ? before.filter((other) => other !== code) : [...before, code];
  return withColumn(selection, column, chosen);
}

/**
 * The selection with a column's choice replaced; an empty one leaves the column out.
 * @param {Selected} selection @param {number} column @param {number[]} chosen @returns {Selected}
 */
export function withColumn(selection, column, chosen) {
  const next = new Map(selection);
  next.delete(column);
  if (chosen.length) next.set(column, [...new Set(chosen)].sort((a, b) => a - b));
  return new Map([...next].sort(([a], [b]) => a - b));
}

/** @param {Selected} selection @param {number} column @param {number} code */
export const isChosen = (selection, column, code) => selection.get(column)?.includes(code) ?? false;

/** @param {Selected} one @param {Selected} other */
export function equal(one, other) {
  return one.size === other.size && [...one].every(([column, codes]) => other.get(column)?.join() === codes.join());
}
