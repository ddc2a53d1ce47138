/**
 * Files of what is seen: charts as CSV, SVG or PNG, records as CSV. Nothing leaves the browser but into a file.
 *
 * @import { State } from "./state.js"
 * @import { Visual } from "./payload.js"
 */
import { csv } from "./csv.js";
import { pngOf } from "./png.js";
import { isSampled } from "./sample.js";
import { seen } from "./seen.js";
import { picture } from "./picture.js";
import { selectionText } from "./words.js";

/**
 * @param {State} state
 * @param {Visual[]} visuals
 * @param {"csv" | "svg" | "png"} form
 */
export async function saveCharts(state, visuals, form) {
  const name = visuals.length === 1 ? `${state.payload.meta.prefix}_${visuals[0].name}` : `${state.payload.meta.prefix}_charts`;
  const file = `${fileName(name)}.${form}`;
  if (form === "csv") return save(state, csv(chartTable(state, visuals)), file);
  const drawn = picture(state, visuals);
  const blob = form === "svg" ? new Blob([drawn.text], { type: "image/svg+xml" }) : await pngOf(drawn);
  if (blob) save(state, blob, file);
  else state.notice.value = state.say.value("not_saved");
}

/** A file leaves the page, and what the page says of its sample: so its name says it. @param {State} state */
export function saveRecords(state) {
  const { payload } = state;
  const name = `${payload.meta.prefix}_${isSampled(payload) ? "sample_of_records" : "records"}`;
  save(state, csv(recordTable(state)), `${fileName(name)}.csv`);
}

/**
 * @param {State} state
 * @param {Blob} blob
 * @param {string} file
 */
function save(state, blob, file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  state.notice.value = state.say.value("saved", { file });
}

/** A name without what file systems dislike. @param {string} text */
const fileName = (text) => text.replace(/[\p{C}\\/:*?"<>|]+/gu, "_").slice(0, 100);

/**
 * @param {State} state
 * @param {Visual[]} visuals
 * @returns {Generator<(string | number | null)[]>}
 */
function* chartTable(state, visuals) {
  const say = state.say.value;
  yield ["chart", "column", "value", "estimated", "actual", "low", "high", "selection"].map((name) => say(`csv_${name}`));
  const chosen = selectionText(state.payload, state.selection.value, say);
  for (const visual of visuals) {
    for (const { column, code, label, estimated, actual } of seen(state, visual).rows) {
      const { name, values } = state.payload.columns[column];
      const value = code === 0 ? label : values[code - 1];
      yield [visual.name, name, value, estimated, actual?.value ?? null, actual?.low ?? null, actual?.high ?? null, chosen];
    }
  }
}

/**
 * @param {State} state
 * @returns {Generator<(string | number | null)[]>}
 */
function* recordTable({ payload, passes }) {
  yield payload.columns.map(({ name }) => name);
  const { rows, size } = passes.value;
  for (let place = 0; place < size; place++) {
    const row = rows ? rows[place] : place;
    yield payload.columns.map((column) => recordCell(column, row));
  }
}

/**
 * What a record holds of a column; several items are joined, none is the empty text.
 * @param {import("./payload.js").Column} column
 * @param {number} row
 */
function recordCell({ codes, values }, row) {
  if (codes.length === 1) return codes[0][row] ? values[codes[0][row] - 1] : "";
  return codes.map((slot) => slot[row]).filter(Boolean).map((code) => values[code - 1]).join("; ");
}
