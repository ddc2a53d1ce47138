/** The text of a page goes in, typed arrays come out: a JSON element that says what there is, and one compressed block of buffers. */

const FORMAT = 1;
/** A page that holds more, or a file that is larger, is not read: a million records of fifty columns take less. */
export const MOST_BYTES = 2 ** 29;

/** What is wrong with a page that can't be read: the key of a message. */
export class PageError extends Error {
  /** @param {string} key */
  constructor(key) {
    super(key);
    this.key = key;
  }
}

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array };

/** The bytes of base64 text. @param {string} text */
function bytesOf(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = binary.charCodeAt(place);
  return bytes;
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes gzip @returns {Promise<ArrayBuffer>}
 * @throws {PageError} where there is more in it than a page may hold
 */
async function inflated(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength;
    if (size > MOST_BYTES) {
      reader.cancel();
      throw new PageError("page_too_large");
    }
    parts.push(part.value);
  }
  return new Blob(parts).arrayBuffer();
}

/** What a page says of itself that is not so can't be read. @param {boolean} holds */
function require(holds) {
  if (!holds) throw new PageError("cannot_open");
}

/** @param {unknown} value @param {number} [most] */
const isCount = (value, most = Number.MAX_SAFE_INTEGER) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most;

/**
 * Reads a buffer by its name; it must lie within the block, and have as many elements as are expected of it.
 * @param {any} meta @param {ArrayBuffer} block
 */
function bufferReader(meta, block) {
  require(Array.isArray(meta.buffers));
  const places = new Map(meta.buffers.map((/** @type {any} */ buffer) => [buffer.name, buffer]));
  return (/** @type {string} */ name, /** @type {number} */ elements) => {
    const place = places.get(name);
    if (!place) return null;
    const { type, offset, length } = place;
    require(Object.hasOwn(ARRAYS, type) && isCount(offset) && length === elements);
    const array = ARRAYS[/** @type {keyof typeof ARRAYS} */ (type)];
    require(offset % 8 === 0 && offset + length * array.BYTES_PER_ELEMENT <= block.byteLength);
    return new array(block, offset, length);
  };
}

/** @typedef {(name: string, elements: number) => any} Read */

/** How many records the page holds: those of the release, or a sample of them. @param {any} meta */
function recordsOf({ records, records_in_page: sampled = records }) {
  require(isCount(records) && isCount(sampled, records) && (sampled > 0 || records === 0));
  return sampled;
}

/** @param {any} meta @param {Read} read @param {number} records @returns {Column[]} */
function columnsOf(meta, read, records) {
  let first = 0;
  require(Array.isArray(meta.columns));
  return meta.columns.map((/** @type {any} */ column, /** @type {number} */ index) => {
    const { values, slots = 1 } = column;
    require(Array.isArray(values) && values.every((/** @type {unknown} */ value) => typeof value === "string"));
    require(isCount(slots, meta.buffers.length));
    const codes = /** @type {Codes[]} */ ([]);
    for (let slot = 0; slot < slots; slot++) {
      const buffer = read(`column/${index}/${slot}`, records);
      if (buffer) codes.push(buffer);
    }
    const decoded = { ...column, slots, first, codes };
    first += values.length;
    return decoded;
  });
}

/** @param {any} meta @param {Read} read @returns {Counts[]} */
function countsOf(meta, read) {
  const counts = meta.counts ?? [];
  require(Array.isArray(counts) && counts.length <= meta.buffers.length);
  return counts.map((/** @type {{n: number}} */ { n }, /** @type {number} */ index) => {
    const length = index + 1;
    require(isCount(n));
    const at = (/** @type {string} */ name) => read(`counts/${length}/${name}`, n);
    const ids = Array.from({ length }, (_, place) => at(`id/${place}`) ?? new Uint16Array(0));
    const [low, high, noisy, estimate] = ["low", "high", "noisy", "estimate"].map(at);
    const count = at("count") ?? new Uint32Array(0);
    require([count, ...ids].every((each) => each.length === n));
    return { n, ids, count, low, high, noisy, estimate };
  });
}

/** @param {any} meta @param {Read} read @returns {NoisyTable[]} */
function tablesOf(meta, read) {
  const tables = meta.tables ?? [];
  require(Array.isArray(tables) && tables.length <= meta.buffers.length);
  return tables.map((/** @type {any} */ table, /** @type {number} */ index) => {
    const { columns, shape } = table;
    require(Array.isArray(columns) && Array.isArray(shape) && columns.length === shape.length);
    require(columns.every((/** @type {unknown} */ column) => isCount(column, meta.columns.length - 1)) && shape.every((/** @type {unknown} */ size) => isCount(size)));
    const cells = read(`tables/${index}`, shape.reduce((/** @type {number} */ whole, /** @type {number} */ size) => whole * size, 1));
    require(cells !== null);
    return { ...table, cells };
  });
}

/**
 * The release in a document, which may be one that was read from a file.
 * @param {Document} page @returns {Promise<Payload>}
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
  const records = recordsOf(meta);
  const columns = columnsOf(meta, read, records);
  return { meta, records, columns, counts: countsOf(meta, read), tables: tablesOf(meta, read) };
}
