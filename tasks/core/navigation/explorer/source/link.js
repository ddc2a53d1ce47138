/**
 * A selection as the part of a link after `#`, and back: `sex=female&age=60-69&age=70-79`. An empty value is
 * "missing", for no value of a table is empty; `!` alone stands for the values that were not released. Names that
 * begin with `!` are the page's own: its page, its language.
 *
 * @import { Payload, Selection } from "./payload.js"
 */
import { otherCode } from "./answers/cells.js";
import { NOTHING, withColumn } from "./selection.js";

const UNRELEASED = "!";

const coded = (/** @type {string} */ text) => encodeURIComponent(text).replace(/^!/, "%21");

/**
 * @param {string} text
 * @returns {string | null}
 */
function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * @param {Payload} payload
 * @param {{selection: Selection, page: number, language: string}} view
 */
export function linkOf({ meta, columns }, { selection, page, language }) {
  const parts = [];
  if (page) parts.push(`!page=${page + 1}`);
  if (language !== meta.language) parts.push(`!lang=${coded(language)}`);
  for (const [column, codes] of selection) {
    for (const code of codes) parts.push(`${coded(columns[column].name)}=${written(columns[column], code)}`);
  }
  return parts.length ? `#${parts.join("&")}` : "";
}

/**
 * A value of a column as a link has it.
 * @param {import("./payload.js").Column} column
 * @param {number} code
 */
function written(column, code) {
  if (code === 0) return "";
  return code === otherCode(column) ? UNRELEASED : coded(column.values[code - 1]);
}

/**
 * What a link asks for; what this release does not have is left out, and counted in `unknown`.
 * @param {Payload} payload
 * @param {string} hash
 */
export function viewOf(payload, hash) {
  /** @type {Selection} */
  let selection = NOTHING;
  let page = 0;
  let unknown = 0;
  /** @type {string | null} */
  let language = null;
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [left, right] = split(part);
    if (left === "!page") page = Math.max(0, Number(right) - 1 || 0);
    else if (left === "!lang") language = plain(right);
    else if (part.includes("=")) {
      const place = found(payload, plain(left), right);
      if (place) selection = withColumn(selection, place.column, [...(selection.get(place.column) ?? []), place.code]);
      else unknown++;
    }
  }
  return { selection, page, language, unknown };
}

/** @param {string} part */
function split(part) {
  const place = part.indexOf("=");
  return place < 0 ? [part, ""] : [part.slice(0, place), part.slice(place + 1)];
}

/**
 * @param {Payload} payload
 * @param {string | null} name
 * @param {string} text of a value, as the link has it
 */
function found({ columns }, name, text) {
  const [column, value] = [columns.findIndex((one) => one.name === name), plain(text)];
  if (column < 0 || value === null) return null;
  if (text === UNRELEASED && columns[column].open) return { column, code: otherCode(columns[column]) };
  const code = value === "" ? 0 : columns[column].values.indexOf(value) + 1;
  return value !== "" && code === 0 ? null : { column, code };
}
