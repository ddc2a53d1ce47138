/**
 * The text of a page goes in, typed arrays come out: a JSON element that says what there is, and one compressed
 * block of buffers.
 *
 * @import { Codes, Column, Counts, Meta, NoisyTable, Payload } from "./payload.js"
 */

export const FORMAT = 1;

/** What is wrong with a page that can't be read: the key of a message. */
export class PageError extends Error {
  /** @param {string} key */
  constructor(key) {
    super(key);
    this.key = key;
  }
}

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array };

/**
 * The bytes of base64 text.
 * @param {string} text
 */
function bytesOf(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = binary.charCodeAt(place);
  return bytes;
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes gzip
 * @returns {Promise<ArrayBuffer>}
 */
async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/**
 * @param {any} meta
 * @param {ArrayBuffer} block
 */
function bufferReader(meta, block) {
  const places = new Map(meta.buffers.map((/** @type {any} */ buffer) => [buffer.name, buffer]));
  return (/** @type {string} */ name) => {
    const place = places.get(name);
    if (!place) return null;
    const type = /** @type {keyof typeof ARRAYS} */ (place.type);
    return new ARRAYS[type](block, place.offset, place.length);
  };
}

/**
 * @param {any} meta
 * @param {(name: string) => any} read
 * @returns {Column[]}
 */
function columnsOf(meta, read) {
  let first = 0;
  return meta.columns.map((/** @type {any} */ column, /** @type {number} */ index) => {
    /** @type {Codes[]} */
    const codes = [];
    for (let slot = 0; slot < (column.slots ?? 1); slot++) {
      const buffer = read(`column/${index}/${slot}`);
      if (buffer) codes.push(buffer);
    }
    const decoded = { ...column, slots: column.slots ?? 1, first, codes };
    first += column.values.length;
    return decoded;
  });
}

/**
 * @param {any} meta
 * @param {(name: string) => any} read
 * @returns {Counts[]}
 */
function countsOf(meta, read) {
  return (meta.counts ?? []).map((/** @type {{n: number}} */ { n }, /** @type {number} */ index) => {
    const length = index + 1;
    const at = (/** @type {string} */ name) => read(`counts/${length}/${name}`);
    const ids = Array.from({ length }, (_, place) => at(`id/${place}`) ?? new Uint16Array(0));
    const [low, high, noisy, estimate] = ["low", "high", "noisy", "estimate"].map(at);
    return { n, ids, count: at("count") ?? new Uint32Array(0), low, high, noisy, estimate };
  });
}

/**
 * The release in a document, which may be one that was read from a file.
 * @param {Document} page
 * @returns {Promise<Payload>}
 * @throws {PageError} where the document holds no release, or one of another format
 */
export async function decode(page) {
  const described = page.getElementById("marginalia-release");
  const data = page.getElementById("marginalia-data");
  if (!described || !data) throw new PageError("page_without_release");
  /** @type {Meta & {tables?: NoisyTable[], buffers: unknown[]}} */
  const meta = JSON.parse(described.textContent ?? "");
  if (meta.format !== FORMAT) throw new PageError("page_of_other_format");
  const block = await inflated(bytesOf(data.textContent ?? ""));
  const read = bufferReader(meta, block);
  const tables = (meta.tables ?? []).map((table, index) => ({
    ...table,
    cells: /** @type {Int32Array} */ (read(`tables/${index}`) ?? new Int32Array(0)),
  }));
  return { meta, records: meta.records, columns: columnsOf(meta, read), counts: countsOf(meta, read), tables };
}
