/** Tables as CSV that a spreadsheet opens without running anything in it. */

/** A spreadsheet takes cells that begin so for formulas. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A cell: texts that a spreadsheet would calculate get an apostrophe before them; numbers are written plainly. Some
 * spreadsheets split at semicolons or tabs: what is behind one would be a cell of its own, so these are quoted, too.
 * @param {string | number | null} value
 */
export function cell(value) {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * @param {Iterable<(string | number | null)[]>} rows
 * @returns {Blob} UTF-8 with a mark at its beginning, by which Excel knows it
 */
export function csv(rows) {
  const lines = ["\ufeff"];
  for (const row of rows) lines.push(row.map(cell).join(","), "\r\n");
  return new Blob(lines, { type: "text/csv;charset=utf-8" });
}
