/**
 * The forms of what a page holds, once it is decoded. No code: types that the other files refer to.
 *
 * @typedef {Uint8Array | Uint16Array | Uint32Array} Codes one code a record; 0 is missing, v is `values[v - 1]`
 *
 * @typedef {Object} Column
 * @property {string} name
 * @property {"category" | "bins" | "number" | "date" | "items"} kind
 * @property {string[]} values
 * @property {string[]} [names] what its values mean, where they are codes; "" where nobody says it
 * @property {number} slots a record holds a value if any slot does; only `items` has several
 * @property {boolean} open its values were read off the table, and paid for
 * @property {boolean} other tables have a cell for values that were not released
 * @property {boolean} absent tables have a cell for no value
 * @property {boolean} [decided] other columns decide it: no noisy table holds it
 * @property {"listed" | "count"} order how its values are sorted at first
 * @property {boolean} [age] its values are ages, reckoned from the dates that it is named after
 * @property {string} [marks] characters that were taken off its cells, such as a currency's sign
 * @property {string} [about] what the data contract says of it
 * @property {string} [table] SynDiffix: the file it was read from
 * @property {number} first the attribute id of its first value
 * @property {Codes[]} codes an array a slot; empty where there are no records
 *
 * @typedef {Object} Counts the published counts of one length k, rows ascending by their ids
 * @property {number} n
 * @property {(Uint16Array | Uint32Array)[]} ids k arrays of attribute ids, ascending within a row
 * @property {Int32Array | Uint32Array} count
 * @property {Int32Array | null} low
 * @property {Int32Array | null} high
 * @property {Int32Array | null} noisy by lengths: as drawn; -2147483648 where it was not measured
 * @property {Int32Array | null} estimate of a fitted release: by all noisy tables; -2147483648 where none tell it
 *
 * @typedef {Object} NoisyTable of a fitted release; of SynDiffix the synthetic rows of one released table, counted
 * @property {number[]} columns
 * @property {number[]} shape
 * @property {number} scale standard deviation of its noise, in records
 * @property {string} [file] SynDiffix: the released table
 * @property {boolean} [without_other]
 * @property {Int32Array} cells in C order: values, then other, then absent
 *
 * @typedef {Object} Visual
 * @property {string} name
 * @property {number} [column]
 * @property {number[]} [attributes]
 * @property {string[]} [unreleased] attributes of it that the release does not hold
 *
 * @typedef {Object} Meta what the page says of the release; see the format's description in the page's writer
 * @property {number} format
 * @property {"owner"} [audience] the counts are true ones, for the owner of the data alone
 * @property {string} title
 * @property {string} dataset
 * @property {string} vintage
 * @property {string} prefix
 * @property {"fitted" | "lengths" | "k_anonymity" | "syndiffix"} protection
 * @property {{one: string, many: string}} unit
 * @property {number} records of the release
 * @property {number} [records_in_page] where the page holds a sample of them
 * @property {{value: number, low: number, high: number, sd?: number} | null} number
 * @property {number} [sampled_share] the share of the records that were drawn
 * @property {number} reporting_length
 * @property {number} [resolution]
 * @property {({sd: number, half_width_95: number, threshold: number | null, truncated: boolean} | null)[]} [noise] a length
 * @property {{pages: {name: string, visuals: Visual[]}[]} | null} [layout]
 * @property {{text: string, bibtex: string}} citation
 *
 * @typedef {Object} Payload
 * @property {Meta} meta
 * @property {number} records that the page holds; `meta.records` has the release
 * @property {Column[]} columns
 * @property {Counts[]} counts `counts[k - 1]` has the combinations of k attributes
 * @property {NoisyTable[]} tables
 *
 * @typedef {Map<number, number[]>} Selection column to the codes chosen in it, ascending; a column without any is left
 *   out. Codes of one column are joined by "or", columns by "and".
 */

/** Of very many records a page holds an evenly spread sample: whether the release has more records than the page holds. @param {Payload} payload */
export const isSampled = ({ meta, records }) => records < meta.records;

/** How many records of the release a count of the page's records stands for. @param {Payload} payload @param {number} count */
export const ofAllRecords = (payload, count) =>
  isSampled(payload) ? Math.round((count * payload.meta.records) / payload.records) : count;

/** What is said of the sample: how many records the page holds, of how many, and which file has them all. @param {Payload} payload */
export const aboutSample = ({ meta, records }) => ({ held: records, of: meta.records, file: `${meta.prefix}_synthetic_microdata.tsv` });

