/** Files of what is seen: charts as CSV, SVG or PNG, records as CSV. Nothing leaves the browser but into a file. */
import { isSampled } from "./payload.js";
import { picture } from "./picture.js";
import { seen } from "./rows.js";
import { heldText, recordText, selectionText } from "./words.js";

/** A spreadsheet takes cells that begin so for formulas. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A cell: texts that a spreadsheet would calculate get an apostrophe before them; numbers are written plainly. Some
 * spreadsheets split at semicolons or tabs: what is behind one would be a cell of its own, so these are quoted, too.
 * @param {string | number | null} value
 */
function cell(value) {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A table that a spreadsheet opens without running anything in it.
 * @param {Iterable<(string | number | null)[]>} rows @returns {Blob} UTF-8 with a mark at its beginning, by which Excel knows it
 */
function csv(rows) {
  const lines = ["\ufeff"];
  for (const row of rows) lines.push(row.map(cell).join(","), "\r\n");
  return new Blob(lines, { type: "text/csv;charset=utf-8" });
}

/**
 * A picture in pixels, twice as fine as its points; null where the browser has no room for it.
 * @param {{text: string, width: number, height: number}} picture an SVG document @returns {Promise<Blob | null>}
 */
async function pngOf({ text, width, height }) {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image(width, height);
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    const fine = height * 2 > 16_000 ? 1 : 2;
    [canvas.width, canvas.height] = [width * fine, height * fine];
    const context = canvas.getContext("2d");
    if (!context) return null;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } catch {
    return null;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/**
 * Puts text on the clipboard; returns whether it was copied. Pages opened from a file may lack the browser's clipboard: then the old way is taken.
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text);
  }
}

/** @param {string} text */
function copyFromField(text) {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

/** @param {State} state @param {Visual[]} visuals @param {"csv" | "svg" | "png"} form */
export async function saveCharts(state, visuals, form) {
  const name = visuals.length === 1 ? `${state.payload.meta.prefix}_${visuals[0].name}` : `${state.payload.meta.prefix}_charts`;
  const file = `${fileName(name)}.${form}`;
  if (form === "csv") return save(state, csv(chartTable(state, visuals)), file);
  const drawn = picture(state, visuals);
  const blob = form === "svg" ? new Blob([drawn.text], { type: "image/svg+xml" }) : await pngOf(drawn);
  if (blob) save(state, blob, file);
  else state.notice.value = state.say("not_saved");
}

/** A file leaves the page, and what the page says of its sample: so its name says it. @param {State} state */
export function saveRecords(state) {
  const { payload } = state;
  const name = `${payload.meta.prefix}_${isSampled(payload) ? "sample_of_records" : "records"}`;
  save(state, csv(recordTable(state)), `${fileName(name)}.csv`);
}

/** @param {State} state @param {Blob} blob @param {string} file */
function save(state, blob, file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  state.notice.value = state.say("saved", { file });
}

/** A name without what file systems dislike. @param {string} text */
const fileName = (text) => text.replace(/[\p{C}\\/:*?"<>|]+/gu, "_").slice(0, 100);

/** @param {State} state @param {Visual[]} visuals @returns {Generator<(string | number | null)[]>} */
function* chartTable(state, visuals) {
  const say = state.say;
  yield ["chart", "column", "value", "estimated", "actual", "low", "high", "selection"].map((name) => say(`csv_${name}`));
  const chosen = selectionText(state.payload, state.selection.value, say, heldText);
  for (const visual of visuals) {
    for (const { column, code, label, estimated, actual } of seen(state, visual).rows) {
      const { name, values } = state.payload.columns[column];
      const value = code === 0 ? label : values[code - 1];
      yield [visual.name, name, value, estimated, actual?.value ?? null, actual?.low ?? null, actual?.high ?? null, chosen];
    }
  }
}

/** @param {State} state @returns {Generator<(string | number | null)[]>} */
function* recordTable({ payload, passes }) {
  yield payload.columns.map(({ name }) => name);
  const { rows, size } = passes.value;
  for (let place = 0; place < size; place++) {
    const row = rows ? rows[place] : place;
    yield payload.columns.map((column) => recordText(column, row, (code) => column.values[code - 1]));
  }
}
