/**
 * Which records pass a selection, and how many of them hold each value: typed arrays in, typed arrays out.
 *
 * A chart shows what choosing another of its values would give, so a column's own choice does not narrow its own
 * chart. Of every record it is known in how many chosen columns it misses: the others' choices are met where it
 * misses in no column but this one.
 *
 * @typedef {Object} Passing
 * @property {Uint16Array | null} misses a record: in how many chosen columns it holds no chosen value; null: none chosen
 * @property {Uint32Array | null} rows the records that miss nowhere, ascending; null: all of them
 * @property {number} size how many pass
 * @property {Selected} selection
 */

/**
 * A byte a record: 1 where it holds one of the chosen values in any slot. Missing is the absence of all values.
 * @param {Column} column @param {number[]} chosen @param {number} records
 */
export function holds(column, chosen, records) {
  const held = new Uint8Array(records);
  const mask = new Uint8Array(column.values.length + 1);
  for (const code of chosen) mask[code] = 1;
  const [only] = column.codes;
  if (column.codes.length === 1) {
    for (let row = 0; row < records; row++) held[row] = mask[only[row]];
    return held;
  }
  const missing = mask[0];
  mask[0] = 0;
  for (let row = 0; row < records; row++) {
    let any = 0;
    let code = 0;
    for (const slot of column.codes) {
      code |= slot[row];
      any |= mask[slot[row]];
    }
    held[row] = code === 0 ? missing : any;
  }
  return held;
}

/** @param {Payload} payload @param {Selected} selection @returns {Passing} */
export function passing({ columns, records }, selection) {
  if (selection.size === 0) return { misses: null, rows: null, size: records, selection };
  const misses = new Uint16Array(records);
  for (const [column, chosen] of selection) {
    const held = holds(columns[column], chosen, records);
    for (let row = 0; row < records; row++) misses[row] += held[row] ^ 1;
  }
  let size = 0;
  for (let row = 0; row < records; row++) size += misses[row] === 0 ? 1 : 0;
  const rows = new Uint32Array(size);
  let place = 0;
  for (let row = 0; place < size; row++) {
    rows[place] = row;
    place += misses[row] === 0 ? 1 : 0;
  }
  return { misses, rows, size, selection };
}

/**
 * The records that a column's chart is about: null is all of them.
 * @param {Payload} payload @param {Passing} passes @param {number} column
 */
function rowsFor({ columns, records }, passes, column) {
  const chosen = passes.selection.get(column);
  if (!passes.misses || !chosen) return passes.rows;
  if (passes.selection.size === 1) return null;
  const held = holds(columns[column], chosen, records);
  const rows = new Uint32Array(records);
  let size = 0;
  for (let row = 0; row < records; row++) {
    rows[size] = row;
    size += passes.misses[row] === (held[row] ^ 1) ? 1 : 0;
  }
  return rows.subarray(0, size);
}

/** @param {Uint32Array} counts @param {Codes} codes @param {Uint32Array | null} rows */
function countCodes(counts, codes, rows) {
  if (rows) for (let place = 0; place < rows.length; place++) counts[codes[rows[place]]]++;
  else for (let row = 0; row < codes.length; row++) counts[codes[row]]++;
}

/** @param {Uint32Array} counts @param {Codes[]} slots @param {Uint32Array | null} rows */
function countItems(counts, slots, rows) {
  const size = rows ? rows.length : slots[0].length;
  for (let place = 0; place < size; place++) {
    const row = rows ? rows[place] : place;
    let any = 0;
    for (let slot = 0; slot < slots.length; slot++) {
      const code = slots[slot][row];
      let again = code === 0;
      for (let before = 0; before < slot && !again; before++) again = slots[before][row] === code;
      if (!again) counts[code]++;
      any |= code;
    }
    if (any === 0) counts[0]++;
  }
}

/**
 * How many of the records that meet the other columns' choices hold each code of a column, missing at 0.
 * @param {Payload} payload @param {Passing} passes @param {number} column
 */
export function histogram(payload, passes, column) {
  const { values, codes } = payload.columns[column];
  const counts = new Uint32Array(values.length + 1);
  if (codes.length === 0) return counts;
  const rows = rowsFor(payload, passes, column);
  if (codes.length === 1) countCodes(counts, codes[0], rows);
  else countItems(counts, codes, rows);
  return counts;
}
