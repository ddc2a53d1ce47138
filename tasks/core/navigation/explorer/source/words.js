/**
 * Columns, values and selections as people read them.
 *
 * @import { Payload, Selection } from "./payload.js"
 * @import { Answer } from "./answers/answer.js"
 * @import { Say } from "./messages.js"
 */

const NUMBER = String.raw`[-+]?[0-9][0-9.eE+-]*`;
const BETWEEN = new RegExp(`^\\[(${NUMBER}),(${NUMBER})([)\\]])$`);
const BEYOND = new RegExp(`^([<>])(${NUMBER})$`);

/**
 * A bin as a person says it: `[20,25)` is "20 to under 25", `<20` is "under 20".
 * @param {string} bin
 * @param {Say} say
 */
function binText(bin, say) {
  const between = BETWEEN.exec(bin);
  if (between) return say(between[3] === ")" ? "bin_below" : "bin_to", { low: between[1], high: between[2] });
  const beyond = BEYOND.exec(bin);
  return beyond ? say(beyond[1] === "<" ? "bin_under" : "bin_over", { edge: beyond[2] }) : bin;
}

/**
 * A value as it is shown. Files and links keep it as the release has it.
 * @param {Payload} payload
 * @param {number} column
 * @param {number} code
 * @param {Say} say
 */
export function valueText({ columns }, column, code, say) {
  const { kind, values } = columns[column];
  if (code === 0) return say("missing");
  if (code > values.length) return say("value_not_released");
  return kind === "bins" ? binText(values[code - 1], say) : values[code - 1];
}

/** Values of a column beyond which the rest is counted. */
const NAMED = 6;

/**
 * What is chosen in a column: "age: 20 to under 30 or 30 to under 40".
 * @param {Payload} payload
 * @param {number} column
 * @param {number[]} codes
 * @param {Say} say
 */
export function placeText(payload, column, codes, say) {
  const named = codes.length > NAMED + 1 ? codes.slice(0, NAMED) : codes;
  const texts = named.map((code) => valueText(payload, column, code, say));
  if (named.length < codes.length) texts.push(say("and_more", { n: codes.length - named.length }));
  return say("is", { column: payload.columns[column].name, values: texts.join(say("or")) });
}

/**
 * @param {Payload} payload
 * @param {Selection} selection
 * @param {Say} say
 */
export function selectionText(payload, selection, say) {
  return [...selection].map(([column, codes]) => placeText(payload, column, codes, say)).join(say("and"));
}

/**
 * Whom a selection is about: "people with sex: female and age: 60-69".
 * @param {Payload} payload
 * @param {Selection} selection
 * @param {Say} say
 */
export function groupText(payload, selection, say) {
  const units = payload.meta.unit.many;
  if (selection.size === 0) return say("everybody", { units });
  return say("units_with", { units, selection: selectionText(payload, selection, say) });
}

/** The key of what the second bar is. @param {Payload} payload */
export function actualLegend({ meta }) {
  if (meta.protection === "fitted") return "actual_legend_measured";
  return meta.protection === "k_anonymity" ? "actual_legend_rounded" : "actual_legend";
}

/**
 * The range of an answer or of a difference, in words.
 * @param {{low: number | null, high: number | null, certain: boolean}} found
 * @param {Say} say
 */
export function rangeText({ low, high, certain }, say) {
  if (low === null || high === null) return say("answer.range.none");
  return say(certain ? "answer.range.certain" : "answer.range.noise", { low, high });
}

/**
 * An answer in one line that can stand in a text: the number with its range, where there is one.
 * @param {Payload} payload
 * @param {Selection} selection
 * @param {Answer} found
 * @param {Say} say
 */
export function citedText(payload, selection, found, say) {
  const question = groupText(payload, selection, say);
  const value = found.value === null ? say("no_number") : say("number", { value: found.value });
  return say("answer.cite", { question, value, range: rangeText(found, say), citation: payload.meta.citation.text });
}
