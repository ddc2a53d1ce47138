/**
 * Columns, values and selections as people read them.
 *
 * @import { Payload, Selection } from "./payload.js"
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
  return kind === "bins" ? binText(values[code - 1], say) : values[code - 1];
}

/**
 * @param {Payload} payload
 * @param {Selection} selection
 * @param {Say} say
 */
export function selectionText(payload, selection, say) {
  const parts = [...selection].map(([column, codes]) => {
    const values = codes.map((code) => valueText(payload, column, code, say)).join(say("or"));
    return say("is", { column: payload.columns[column].name, values });
  });
  return parts.join(say("and"));
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

/** @param {any} found @param {string} group @param {Say} say */
export const answerLine = (found, group, say) => `${found.value} ${group}`;
/** @param {any} found @param {Payload} payload @param {Say} say @returns {string[]} */
export const reasonTexts = (found, payload, say) => [];
/** @param {any} found @param {Say} say @returns {string[]} */
export const differenceTexts = (found, say) => [String(found.value)];
