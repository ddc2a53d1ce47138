/**
 * A selection as the part of a link after `#`, and back: `sex=female&age=60-69&age=70-79`. An empty value is
 * "missing", for no value of a table is empty. Names that begin with `!` are the page's own: its page, its language.
 *
 * @import { Payload, Selection } from "./payload.js"
 */
import { NOTHING, withColumn } from "./selection.js";

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
    const { name, values } = columns[column];
    for (const code of codes) parts.push(`${coded(name)}=${code ? encodeURIComponent(values[code - 1]) : ""}`);
  }
  return parts.length ? `#${parts.join("&")}` : "";
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
      const place = found(payload, plain(left), plain(right));
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
 * @param {string | null} value
 */
function found({ columns }, name, value) {
  const column = columns.findIndex((one) => one.name === name);
  if (column < 0 || value === null) return null;
  const code = value === "" ? 0 : columns[column].values.indexOf(value) + 1;
  return value !== "" && code === 0 ? null : { column, code };
}
