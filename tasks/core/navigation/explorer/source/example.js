/**
 * A question that this release can answer, as somebody would type it.
 *
 * @import { Payload } from "./payload.js"
 * @import { Say } from "./messages.js"
 */
import { intervalsOf, isNumeric } from "./answers/bins.js";
import { placeText, unitText, valueText } from "./words.js";

/** Conditions of an example. */
const CONDITIONS = 2;

/**
 * What may be asked, with an example; or in words that nothing may be.
 * @param {Payload} payload
 * @param {Say} say
 */
export function askHint(payload, say) {
  if (payload.meta.number?.low === 0) return say("nothing_to_show", { units: unitText(payload, say) });
  const typed = example(payload, say);
  return typed ? say("ask_hint", { example: typed }) : say("nothing_to_ask");
}

/**
 * What is said to a question of which nothing was understood.
 * @param {Payload} payload
 * @param {Say} say
 */
export function nothingUnderstood(payload, say) {
  const typed = example(payload, say);
  return typed ? say("question.nothing", { example: typed }) : say("nothing_to_ask");
}

/**
 * @param {Payload} payload
 * @param {Say} say
 */
function example(payload, say) {
  const places = payload.columns.map((_, column) => column).filter((column) => payload.columns[column].values.length > 1);
  const texts = places.filter((column) => payload.columns[column].kind === "category" && !isNumeric(payload.columns[column]))
    .map((column) => valueText(payload, column, 1, say)).filter((text) => /^[^\d]+$/u.test(text));
  const ranges = places.filter((column) => payload.columns[column].kind === "bins").map((column) => overMiddle(payload, column, say));
  const codes = places.filter((column) => payload.columns[column].kind !== "bins").map((column) => placeText(payload, column, [1], say));
  const [first, second] = [ranges.filter(Boolean).slice(0, 1), texts.slice(0, CONDITIONS)];
  const found = [...second.slice(0, CONDITIONS - first.length), ...first];
  return (found.length === CONDITIONS ? found : [...found, ...codes].slice(0, CONDITIONS)).join(", ");
}

/**
 * "age over 60": from the edge of a bin in the middle.
 * @param {Payload} payload
 * @param {number} column
 * @param {Say} say
 */
function overMiddle({ columns }, column, say) {
  const { age, name } = columns[column];
  const edges = intervalsOf(columns[column]).map((interval) => interval?.low ?? -Infinity).filter(Number.isFinite);
  const edge = edges[Math.floor(edges.length / 2)];
  return edge === undefined ? "" : say("example_over", { column: age ? say("age") : name, edge: String(edge) });
}
