/** Of very many records a page holds an evenly spread sample: whether the release has more records than the page holds. @param {Payload} payload */
export const isSampled = ({ meta, records }) => records < meta.records;

/** How many records of the release a count of the page's records stands for. @param {Payload} payload @param {number} count */
export const ofAllRecords = (payload, count) =>
  isSampled(payload) ? Math.round((count * payload.meta.records) / payload.records) : count;

/** What is said of the sample: how many records the page holds, of how many, and which file has them all. @param {Payload} payload */
export const aboutSample = ({ meta, records }) => ({ held: records, of: meta.records, file: `${meta.prefix}_synthetic_microdata.tsv` });

