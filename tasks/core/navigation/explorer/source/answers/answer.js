/** A selection in, one number out: the best that a release says of it, its range, and why. */
import { boxOf } from "./cells.js";
import { asksForValues, columnOfSeveral, combinationsOf, countInRecords, heldThatMeet, publishedSum, rowOf } from "./counts.js";
import { rangeOfBox, sumAsDrawn, sumOver } from "./fitted.js";
import { rangeByLengths, sumOf } from "./lengths.js";
import { deviationOfNumber, evidenceOf, WITHIN_95 } from "./noise.js";
import { certainRange } from "./rounded.js";
import { isSampled, ofAllRecords } from "../payload.js";

/** How often a true count may lie below a range of 95 of 100 draws, and how often above. */
export const TAIL = 0.025;

/** The most columns that a release can be told to measure together: sets of `workload` are no longer. */
const MOST_TOGETHER = 4;

/** @param {Payload} payload @param {Selected} selection @returns {Answer} */
export function answer(payload, selection) {
  const { protection } = payload.meta;
  const asked = meant(payload, selection);
  if (protection === "syndiffix") return ofSyndiffix(payload, asked);
  if (!asked.size) return ofEverybody(payload);
  if (protection === "k_anonymity") return ofRounded(payload, asked);
  return protection === "lengths" ? ofLengths(payload, asked) : ofFitted(payload, asked);
}

/** Without columns in which everything is chosen. @param {Payload} payload @param {Selected} selection @returns {Selected} */
export function meant({ columns }, selection) {
  return new Map(
    [...selection].filter(([place, codes]) => {
      const { values, open } = columns[place];
      return new Set(codes).size < values.length + 1 + Number(open);
    }),
  );
}

/** @param {string} key @param {Record<string, number | string>} [given] @returns {Words} */
export const words = (key, given = {}) => ({ key, given });

/** @param {Payload} payload @returns {Answer} */
function ofEverybody(payload) {
  const { number, resolution } = payload.meta;
  const certain = payload.meta.protection === "k_anonymity";
  const sd = certain ? null : deviationOfNumber(payload);
  const half = (number?.high ?? 0) - (number?.value ?? 0);
  const more = partsOf(payload);
  return {
    ...(more && { more }),
    value: number?.value ?? null,
    low: number?.low ?? null,
    high: number?.high ?? null,
    basis: "number",
    parts: 1,
    sd,
    certain,
    source: words("answer.source.number"),
    reason: certain ? words("answer.reason.rounded", { n: 1, k: resolution ?? 1 }) : words("answer.reason.one", { one: half }),
    quote: words("answer.quote.published"),
    numbers: { published: number?.value ?? null, noisy: null, estimate: null, records: payload.meta.records || null },
  };
}

/**
 * Why the parts of a column add up to another number than all records: each part is what all noisy tables say, and the
 * number of records is one draw, to which the synthetic records are scaled.
 * @param {Payload} payload
 */
function partsOf(payload) {
  const { number, protection } = payload.meta;
  if (protection !== "fitted" || !number) return null;
  const range = rangeOfBox(payload, new Map(), TAIL);
  const [low, high] = outwards(range);
  const estimate = whole(range.estimate ?? number.value);
  return estimate === number.value ? null : words("answer.more.parts", { estimate, low, high });
}

/**
 * What whoever makes the release could do, so that a count is measured and not only bounded.
 * @param {Payload} payload @param {Selected} selection
 */
function remedyOf(payload, selection) {
  const { audience, protection, reporting_length: most } = payload.meta;
  if (audience === "owner" || columnOfSeveral(payload, selection) !== undefined) return null;
  if (protection === "fitted") return words(selection.size > MOST_TOGETHER ? "answer.more.fewer" : "answer.more.measure", { most: MOST_TOGETHER });
  return selection.size > most ? words("answer.more.longer", { most }) : null;
}

/** @param {Payload} payload @param {Selected} selection @returns {Answer} */
function ofFitted(payload, selection) {
  const box = boxOf(payload, selection);
  if ([...box.values()].some((cells) => !cells.length)) return ofNobody(payload, selection);
  const range = rangeOfBox(payload, box, TAIL);
  const [low, high] = outwards(range);
  const counted = asksForValues(payload, selection) ? publishedSum(payload, selection) : null;
  const records = countInRecords(payload, selection);
  const estimate = range.estimate === null ? null : whole(range.estimate);
  // Every count of the records is published that has a length to be published, so one that is not is 0.
  const published = counted?.published ? counted.value : null;
  const drawn = range.estimate === null ? null : sumAsDrawn(payload, box);
  const numbers = { published, noisy: drawn ? Math.round(drawn.value) : null, estimate, records };
  const base = { low, high, sd: range.sd, certain: false, numbers };
  if (estimate === null) return { ...base, ...fromRecords(payload, selection, records, low, high, published) };
  const isOne = counted?.combinations === 1 && counted.published === 1;
  const parts = drawn?.number ?? 1;
  return {
    ...base,
    value: estimate,
    basis: isOne ? "count" : "table",
    parts,
    source: isOne ? words("answer.source.measured") : words("answer.source.table", { n: parts }),
    reason: reasonOf(payload, drawn, (range.high - range.low) / 2),
    quote: words("answer.quote.measured"),
  };
}

/**
 * Why a range is as wide as it is: the noise of one count, of a sum, and what all tables together make of it.
 * @param {Payload} payload @param {{number: number, sd: number, sdOfSum: number} | null} drawn @param {number} half
 */
function reasonOf(payload, drawn, half) {
  const { share } = evidenceOf(payload);
  if (share < 1) return words("answer.reason.sample", { half: Math.ceil(half), share: Math.round(share * 100) });
  if (!drawn) return words("answer.reason.one", { one: Math.ceil(half) });
  const [one, sum] = [Math.ceil(WITHIN_95 * drawn.sd), Math.ceil(WITHIN_95 * drawn.sdOfSum)];
  const given = { n: drawn.number, one, sum, half: Math.ceil(half), root: tenths(Math.sqrt(drawn.number)) };
  if (drawn.number === 1) return words(half < WITHIN_95 * drawn.sd - 0.5 ? "answer.reason.one_narrowed" : "answer.reason.one", given);
  return words(half < WITHIN_95 * drawn.sdOfSum - 0.5 ? "answer.reason.sum_narrowed" : "answer.reason.sum", given);
}

/** Of one digit after the point, as text. @param {number} value */
const tenths = (value) => String(Math.round(value * 10) / 10);

/** An estimate as a count: a whole number, and not below 0. @param {number} estimate */
export const whole = (estimate) => Math.max(0, Math.floor(estimate + 0.5));

/**
 * The numbers that a range is rounded to, outwards; no count is below 0.
 * @param {{low: number, high: number}} range @returns {[number, number]}
 */
export function outwards({ low, high }) {
  const least = Math.max(0, Math.floor(low + 1e-9));
  return [least, Math.max(Math.ceil(high - 1e-9), least)];
}

/**
 * Where only the records answer: their count is what a model makes of shorter counts, and these bound it.
 * @param {Payload} payload @param {Selected} selection @param {number | null} records @param {number} low @param {number} high
 * @param {number | null} published
 */
function fromRecords(payload, selection, records, low, high, published) {
  const isWithin = records !== null && records >= low && records <= high;
  const sampled = records !== null && published === null && isSampled(payload);
  // Records that lie outside of what is possible are no answer; the range is.
  const value = isWithin ? records : null;
  const certain = payload.meta.protection === "k_anonymity";
  const several = columnOfSeveral(payload, selection) !== undefined;
  const more = remedyOf(payload, selection);
  const source = several ? "answer.source.items" : published === null ? "answer.source.records" : "answer.source.estimated";
  return {
    ...(more && { more }),
    ...(sampled && { sampled }),
    value,
    basis: /** @type {"records" | "none"} */ (records === null ? "none" : "records"),
    parts: 0,
    source: words(records === null ? "answer.source.none" : source),
    reason: words(several ? "answer.reason.items" : certain ? "answer.reason.certain_bounds" : "answer.reason.bounds"),
    quote: words(isWithin || records === null || sampled ? "answer.quote.range" : "answer.quote.range_alone", { records: records ?? 0 }),
  };
}

/** A column that is never empty is asked for missing: nobody is. @param {Payload} payload @param {Selected} selection @returns {Answer} */
function ofNobody(payload, selection) {
  const records = countInRecords(payload, selection);
  const numbers = { published: null, noisy: null, estimate: 0, records };
  const base = { value: 0, low: 0, high: 0, parts: 0, sd: 0, certain: true, numbers };
  const [source, reason] = [words("answer.source.nobody"), words("answer.reason.nobody")];
  return { ...base, basis: "none", source, reason, quote: words("answer.quote.measured") };
}

/** @param {Payload} payload @param {Selected} selection @returns {Answer} */
function ofRounded(payload, selection) {
  const { low, high } = certainRange(payload, selection);
  const records = countInRecords(payload, selection);
  const counted = asksForValues(payload, selection) ? publishedSum(payload, selection) : null;
  const numbers = { published: counted?.value ?? null, noisy: null, estimate: null, records };
  const base = { low, high, sd: null, certain: true, numbers };
  if (!counted) return { ...base, ...fromRecords(payload, selection, records, low, high, null) };
  const k = payload.meta.resolution ?? 1;
  const [n, missing] = [counted.combinations, counted.combinations - counted.published];
  const basis = n === 1 ? "count" : "sum";
  const isOne = n === 1 && missing === 1;
  return {
    ...base,
    value: Math.min(Math.max(counted.value, low), high),
    basis: isOne ? "none" : basis,
    parts: counted.published,
    source: words(isOne ? "answer.source.unpublished" : `answer.source.${basis}`, { n: counted.published }),
    reason: words(isOne ? "answer.reason.unpublished" : missing ? "answer.reason.rounded_missing" : "answer.reason.rounded", {
      n: isOne ? 1 : missing || n, of: n, k, less: k - 1 }),
    quote: words("answer.quote.range_certain"),
  };
}

/** @param {Payload} payload @param {Selected} selection @returns {Answer} */
function ofLengths(payload, selection) {
  const share = payload.meta.sampled_share ?? 1;
  const range = rangeByLengths(payload, selection, TAIL);
  const counted = asksForValues(payload, selection) ? publishedSum(payload, selection) : null;
  const records = countInRecords(payload, selection);
  const isOne = counted?.combinations === 1 && counted.published === 1;
  let [low, high] = ofAll(outwards(isOne ? ofOne(payload, selection) : range), share);
  high = Math.min(high, payload.meta.number?.high ?? Infinity);
  low = Math.min(low, high);
  const value = counted ? Math.round(counted.value / share) : null;
  const numbers = {
    published: value,
    noisy: counted ? Math.round(sumOf(payload, combinationsOf(payload, selection)).value / share) : null,
    estimate: null,
    records,
  };
  const base = { low, high, sd: range.sd === null ? null : range.sd / share, certain: false, numbers };
  if (!counted) return { ...base, ...fromRecords(payload, selection, records, low, high, null) };
  const noise = payload.meta.noise?.[selection.size - 1];
  const [n, missing] = [counted.combinations, counted.combinations - counted.published];
  const given = { n: missing || n, of: n, one: noise?.half_width_95 ?? 0, root: tenths(Math.sqrt(n)),
    sum: Math.ceil((noise?.half_width_95 ?? 0) * Math.sqrt(n)), share: Math.round(share * 100) };
  const isHidden = counted.published === 0;
  return {
    ...base,
    value: Math.min(Math.max(/** @type {number} */ (value), low), high),
    basis: isHidden ? "none" : n === 1 ? "count" : "sum",
    parts: counted.published,
    source: words(isHidden ? "answer.source.unpublished" : `answer.source.${n === 1 ? "count" : "sum"}`, { n: counted.published }),
    reason: words(share < 1 ? "answer.reason.sample_lengths" : missing ? "answer.reason.below_threshold"
      : n === 1 ? "answer.reason.one" : "answer.reason.sum", given),
    quote: words(missing ? "answer.quote.range" : "answer.quote.published"),
  };
}

/** The published range of a single count. @param {Payload} payload @param {Selected} selection */
function ofOne(payload, selection) {
  const [ids] = combinationsOf(payload, selection);
  const row = rowOf(payload, ids);
  const { low, high } = payload.counts[ids.length - 1];
  return { low: low ? low[row] : 0, high: high ? high[row] : Infinity };
}

/**
 * The range of all people from that of a sample; chance is added to the noise.
 * @param {[number, number]} range @param {number} share @returns {[number, number]}
 */
function ofAll([low, high], share) {
  if (share === 1) return [low, high];
  const chance = (/** @type {number} */ count) => WITHIN_95 * Math.sqrt(count * (1 - share));
  return [Math.max(0, Math.floor((low - chance(low)) / share)), Math.ceil((high + chance(high)) / share)];
}

/**
 * SynDiffix states no error of what is added up over its rows. One column, or two, are counted where they are best.
 * @param {Payload} payload @param {Selected} selection @returns {Answer}
 */
function ofSyndiffix(payload, selection) {
  const box = boxOf(payload, selection);
  const places = [...box.keys()].join();
  const table = payload.tables.find(({ columns }) => columns.join() === places);
  const records = ofAllRecords(payload, heldThatMeet(payload, selection));
  const file = /** @type {{file?: string} | undefined} */ (table)?.file ?? "";
  const published = table ? sumOver(table, box) : null;
  const sampled = !table && isSampled(payload);
  return {
    ...(sampled && { sampled }),
    value: published ?? records,
    low: null,
    high: null,
    basis: table ? "table" : "records",
    parts: 0,
    sd: null,
    certain: false,
    source: table ? words("answer.source.synthetic_table", { file }) : words("answer.source.synthetic_rows"),
    reason: words("answer.reason.syndiffix"),
    quote: words("answer.quote.without_range"),
    numbers: { published, noisy: null, estimate: null, records },
  };
}
