/** The page's words, a file a language: `say("key", {name: value})` in the language chosen. */
import german from "../messages/de.json";
import english from "../messages/en.json";
import germanAnswers from "./answers/messages.de.json";
import englishAnswers from "./answers/messages.en.json";

/**
 * @typedef {Record<string, string | number>} Given
 * @typedef {Record<string, string | {one: string, other: string}>} Texts
 * @typedef {(key: string, given?: Given) => string} Say
 */

const MINUS = "−";

/** @type {Record<string, Texts>} */
export const LANGUAGES = { en: { ...english, ...englishAnswers }, de: { ...german, ...germanAnswers } };

/** @param {string} language */
export const known = (language) => (Object.hasOwn(LANGUAGES, language) ? language : "en");

/**
 * A whole number as people of a language write it; a fraction where it is small.
 * @param {string} language
 */
export function numbers(language) {
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  return (/** @type {number} */ value) => whole.format(value).replace("-", MINUS);
}

/**
 * Shares as people of a language write them, to a tenth of a percent. Ends of ranges are rounded outwards.
 * @param {string} language
 */
export function percents(language) {
  const tenth = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const round = { low: Math.floor, high: Math.ceil, value: Math.round };
  return (/** @type {number} */ share, /** @type {keyof typeof round} */ end = "value") => {
    const hair = end === "low" ? 1e-9 : end === "high" ? -1e-9 : 0;
    return tenth.format((round[end](share * 1000 + hair) || 0) / 10).replace("-", MINUS);
  };
}

/**
 * A text has `{name}` where a value goes; `{low_points}` and `{high_points}` are shares. Texts with a plural choose it by the value of `n`.
 * @param {string} language
 * @param {string} [audience] for whom some sentences are others: `key@owner`
 * @returns {Say}
 */
export function speaker(language, audience = "") {
  const texts = LANGUAGES[known(language)];
  const plural = new Intl.PluralRules(language);
  const [number, percent] = [numbers(language), percents(language)];
  const written = (/** @type {string} */ name, /** @type {number} */ value) =>
    name === "low_points" ? percent(value, "low") : name === "high_points" ? percent(value, "high")
    : name === "points" ? percent(value) : number(value);
  return (key, given = {}) => {
    const text = texts[`${key}@${audience}`] ?? texts[key] ?? LANGUAGES.en[key] ?? key;
    const form = typeof text === "string" ? text : text[plural.select(Number(given.n)) === "one" ? "one" : "other"];
    return form.replace(/\{(\w+)\}/g, (whole, name) => {
      const value = given[name];
      return value === undefined ? whole : typeof value === "number" ? written(name, value) : value;
    });
  };
}
