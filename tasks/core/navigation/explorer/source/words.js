/** Columns, values and selections as people read them. */
import messages from "./messages.json";
import { aboutSample, isSampled } from "./payload.js";

/** How a value is called. @typedef {(payload: Payload, column: number, code: number, say: Say) => string} ValueText */

const MINUS = "−";

const TEXTS = /** @type {Record<string, string | {one: string, other: string}>} */ (messages);

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const TENTH = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const ROUND = { low: Math.floor, high: Math.ceil, value: Math.round };

/** A whole number; a fraction where it is small. @param {number} value */
export const number = (value) => WHOLE.format(value).replace("-", MINUS);

/** A share to a tenth of a percent. Ends of ranges are rounded outwards. @param {number} share @param {keyof typeof ROUND} end */
function percent(share, end) {
  const hair = end === "low" ? 1e-9 : end === "high" ? -1e-9 : 0;
  return TENTH.format((ROUND[end](share * 1000 + hair) || 0) / 10).replace("-", MINUS);
}

/** @param {string} name @param {number} value */
const written = (name, value) =>
  name === "low_points" ? percent(value, "low") : name === "high_points" ? percent(value, "high")
  : name === "points" ? percent(value, "value") : number(value);

/**
 * A text has `{name}` where a value goes; `{low_points}` and `{high_points}` are shares. Texts with a plural choose it by the value of `n`.
 * @param {string} [audience] for whom some sentences are others: `key@owner` @returns {Say}
 */
export const speaker = (audience = "") => (key, given = {}) => {
  const text = TEXTS[`${key}@${audience}`] ?? TEXTS[key] ?? key;
  const form = typeof text === "string" ? text : text[Number(given.n) === 1 ? "one" : "other"];
  return form.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = given[name];
    return value === undefined ? whole : typeof value === "number" ? written(name, value) : value;
  });
};

const NUMBER = String.raw`[-+]?[0-9][0-9.eE+-]*`;
const BETWEEN = new RegExp(`^\\[(${NUMBER}),(${NUMBER})([)\\]])$`);
const BEYOND = new RegExp(`^([<>])(${NUMBER})$`);

/**
 * What a column is called. One of ages says which dates they were reckoned from: its name is that of the dates.
 * @param {Payload} payload @param {number} column @param {Say} say
 */
export function columnText({ columns }, column, say) {
  const { name, age } = columns[column];
  return age ? say("age_from", { column: isolated(name) }) : name;
}

/** What a chart is called. @param {Payload} payload @param {Visual} visual @param {Say} say */
export const visualText = (payload, { name, column }, say) => (column === undefined ? name : columnText(payload, column, say));

/**
 * What a sentence is given, with the column that it names as it is shown.
 * @param {Payload} payload @param {Given | undefined} given @param {Say} say
 */
export function givenText(payload, given, say) {
  const column = payload.columns.findIndex(({ name, age }) => age && name === given?.column);
  return column < 0 ? given : { ...given, column: columnText(payload, column, say) };
}

/** A bin as a person says it: `[20,25)` is "20 to under 25", `<20` is "under 20". @param {string} bin @param {Say} say */
const binText = (bin, say) => (bin.startsWith(">") && endsOf(bin) ? say("bin_over", { edge: bin.slice(1) }) : (joinedText(bin, bin, say) ?? bin));

/**
 * A value as it is shown. Files and links keep it as the release has it.
 * @param {Payload} payload @param {number} column @param {number} code @param {Say} say
 */
export function valueText({ columns }, column, code, say) {
  const { kind, values, names } = columns[column];
  if (code === 0) return say("missing");
  if (code > values.length) return say("value_not_released");
  const name = names?.[code - 1];
  if (name) return say("value_named", { name, value: values[code - 1] });
  return kind === "bins" ? binText(values[code - 1], say) : values[code - 1];
}

/**
 * Whether records without a value of a column may be of people whose value was too rare to be released.
 * @param {Payload} payload @param {number} column
 */
export const mayBeRare = ({ meta, columns }, column) =>
  meta.protection === "k_anonymity" ? meta.audience !== "owner" : meta.protection === "fitted" && columns[column].open;

/** Why that is. @param {Payload} payload @param {Say} say */
export const rareText = ({ meta }, say) => say(meta.protection === "fitted" ? "missing_or_rare_why_fitted" : "missing_or_rare_why");

/**
 * A value as what the records hold is called: where none is held, it may have been too rare.
 * @param {Payload} payload @param {number} column @param {number} code @param {Say} say
 */
export function heldText(payload, column, code, say) {
  return code === 0 && mayBeRare(payload, column) ? say("missing_or_rare") : valueText(payload, column, code, say);
}

/**
 * What a record holds of a column; several items are joined, none is the empty text.
 * @param {Column} column @param {number} row @param {(code: number) => string} textOf a value
 */
export const recordText = ({ codes }, row, textOf) => codes.map((slot) => slot[row]).filter(Boolean).map(textOf).join("; ");

/** Where a bin begins and ends, as texts; null on a side where it has no end. @param {string} bin */
function endsOf(bin) {
  const between = BETWEEN.exec(bin);
  if (between) return { low: between[1], high: between[2], isBelow: between[3] === ")" };
  const beyond = BEYOND.exec(bin);
  if (!beyond) return null;
  return beyond[1] === "<" ? { low: null, high: beyond[2], isBelow: true } : { low: beyond[2], high: null, isBelow: false };
}

/** Neighbouring bins in one: "60 and over" for `[60,75)` and `>75`. @param {string} first @param {string} last @param {Say} say */
function joinedText(first, last, say) {
  const [from, to] = [endsOf(first), endsOf(last)];
  if (!from || !to) return null;
  if (from.low !== null && to.high !== null) return say(to.isBelow ? "bin_below" : "bin_to", { low: from.low, high: to.high });
  if (from.low !== null) return say("bin_from", { edge: from.low });
  return to.high !== null ? say(to.isBelow ? "bin_under" : "bin_up_to", { edge: to.high }) : null;
}

/**
 * Chosen values as texts, each with its codes; bins that are neighbours are one.
 * @param {Payload} payload @param {number} column @param {number[]} codes ascending @param {Say} say @param {ValueText} textOf
 */
export function valueRuns(payload, column, codes, say, textOf = valueText) {
  const { kind, values } = payload.columns[column];
  const runs = /** @type {{text: string, codes: number[]}[]} */ ([]);
  for (let place = 0; place < codes.length; place++) {
    let end = place;
    if (kind === "bins" && codes[place] > 0)
      while (codes[end + 1] === codes[end] + 1 && codes[end + 1] <= values.length) end++;
    const joined = end > place ? joinedText(values[codes[place] - 1], values[codes[end] - 1], say) : null;
    runs.push(joined ? { text: joined, codes: codes.slice(place, end + 1) } : { text: textOf(payload, column, codes[place], say), codes: [codes[place]] });
    if (joined) place = end;
  }
  return runs;
}

/** Letters that are written from right to left. */
const LEFTWARDS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Text that must not turn the order of what stands around it. @param {string} text */
const isolated = (text) => (LEFTWARDS.test(text) ? `\u2068${text}\u2069` : text);

/** Values of a column beyond which the rest is counted. */
const NAMED = 6;

/**
 * What is chosen in a column: "age: 20 to under 30 or 30 to under 40".
 * @param {Payload} payload @param {number} column @param {number[]} codes @param {Say} say @param {ValueText} textOf
 */
export function placeText(payload, column, codes, say, textOf = valueText) {
  const every = valueRuns(payload, column, codes, say, textOf).map(({ text }) => text);
  const texts = every.length > NAMED + 1 ? every.slice(0, NAMED) : every;
  if (texts.length < every.length) texts.push(say("and_more", { n: every.length - texts.length }));
  return say("is", { column: isolated(columnText(payload, column, say)), values: texts.map(isolated).join(say("or")) });
}

/** @param {Payload} payload @param {Selected} selection @param {Say} say @param {ValueText} textOf */
export function selectionText(payload, selection, say, textOf = valueText) {
  return [...selection].map(([column, codes]) => placeText(payload, column, codes, say, textOf)).join(say("and"));
}

/** What several records are called. @param {Payload} payload @param {Say} say */
export function unitText({ meta }, say) {
  const { many } = meta.unit;
  return ["people", "persons", "rows"].includes(many) ? say(`unit_${many}`) : many;
}

/**
 * Whom a selection is about: "people with sex: female and age: 60-69".
 * @param {Payload} payload @param {Selected} selection @param {Say} say @param {ValueText} textOf
 */
export function groupText(payload, selection, say, textOf = valueText) {
  const units = unitText(payload, say);
  if (selection.size === 0) return say("everybody", { units });
  return say("units_with", { units, selection: selectionText(payload, selection, say, textOf) });
}

/** That the page holds some of the records only, and which file has all. @param {Payload} payload @param {Say} say */
export const sampleText = (payload, say) => say("sampled", aboutSample(payload));

/** What is said where no record is listed. @param {Payload} payload @param {Say} say */
export function noRecordsText(payload, say) {
  if (!payload.records) return say("no_records");
  return say(isSampled(payload) ? "records_none_sampled" : "records_none");
}

/**
 * What the first bar is. SynDiffix counts most of its bars in tables of their own, which no sample is taken of.
 * @param {Payload} payload @param {Say} say
 */
export function estimatedLegend(payload, say) {
  const isScaled = isSampled(payload) && payload.meta.protection !== "syndiffix";
  return isScaled ? say("estimated_legend_sampled", aboutSample(payload)) : say("estimated_legend");
}

/** The key of what the second bar is. @param {Payload} payload */
export function actualLegend({ meta }) {
  if (meta.audience === "owner") return "actual_legend_true";
  if (meta.protection === "fitted") return "actual_legend_measured";
  return meta.protection === "k_anonymity" ? "actual_legend_rounded" : "actual_legend";
}

/**
 * The range of an answer or of a difference, in words.
 * @param {{low: number | null, high: number | null, certain: boolean, sampled?: boolean}} found @param {Say} say
 */
function rangeText({ low, high, certain, sampled }, say) {
  if (low === null || high === null) return say(sampled ? "answer.range.sampled" : "answer.range.none");
  return say(certain ? "answer.range.certain" : "answer.range.noise", { low, high });
}

/** What kind a range is. @param {{certain: boolean}} found @param {Say} say */
const rangeKind = ({ certain }, say) => say(certain ? "answer.range.only_certain" : "answer.range.only_noise");

/** The number of an answer. Where only a range is proved, that is the range. @param {Answer} found @param {Say} say */
export function headline(found, say) {
  const { value, low, high } = found;
  if (onlyBounded(found) && low !== null && high !== null) return say(Number.isFinite(high) ? "between" : "open_end", { low, high });
  return value === null ? "–" : say("number", { value });
}

/** Whether no released count says it, and others only bound it. @param {Answer} found */
const onlyBounded = ({ basis, low, high }) => (basis === "records" || basis === "none") && low !== null && low !== high;

/**
 * What stands below the number: its range, or what the headline's range is and what the records say.
 * @param {Answer} found @param {Say} say
 */
export function underline(found, say) {
  if (!onlyBounded(found)) return rangeText(found, say);
  const { records } = found.numbers;
  return [rangeKind(found, say), ...(records === null ? [] : [say("in_records", { value: records })])].join("; ");
}

/**
 * An answer in one line that can stand in a text: the number with its range, where there is one.
 * @param {Payload} payload @param {Selected} selection @param {Answer} found @param {Say} say
 */
export function citedText(payload, selection, found, say) {
  const question = groupText(payload, selection, say);
  const range = onlyBounded(found);
  const value = range ? headline(found, say) : found.value === null ? say("no_number") : say("number", { value: found.value });
  return say(range ? "answer.cite_range" : "answer.cite", { question, value, range: rangeText(found, say), kind: rangeKind(found, say), citation: payload.meta.citation.text });
}
