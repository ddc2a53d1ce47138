/**
 * A page holds all records of its release, or of very many an evenly spread sample: what the sample says of all.
 *
 * @import { Payload } from "./payload.js"
 */

/** Whether the release has more records than the page holds. @param {Payload} payload */
export const isSampled = ({ meta, records }) => records < meta.records;

/**
 * How many records of the release a count of the page's records stands for.
 * @param {Payload} payload
 * @param {number} count
 */
export const ofAllRecords = (payload, count) =>
  isSampled(payload) ? Math.round((count * payload.meta.records) / payload.records) : count;

/**
 * What is said of the sample: how many records the page holds, of how many, and which file has them all.
 * @param {Payload} payload
 */
export const aboutSample = ({ meta, records }) => ({ held: records, of: meta.records, file: `${meta.prefix}_synthetic_microdata.tsv` });
