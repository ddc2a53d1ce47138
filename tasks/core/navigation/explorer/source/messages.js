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

/** @type {Record<string, Texts>} */
export const LANGUAGES = { en: { ...english, ...englishAnswers }, de: { ...german, ...germanAnswers } };

/** @param {string} language */
export const known = (language) => (language in LANGUAGES ? language : "en");

/**
 * A whole number as people of a language write it; a fraction where it is small.
 * @param {string} language
 */
export function numbers(language) {
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  return (/** @type {number} */ value) => whole.format(value);
}

/**
 * A text has `{name}` where a value goes. Texts with a plural choose it by the value of `n`.
 * @param {string} language
 * @returns {Say}
 */
export function speaker(language) {
  const texts = LANGUAGES[known(language)];
  const plural = new Intl.PluralRules(language);
  const number = numbers(language);
  return (key, given = {}) => {
    const text = texts[key] ?? LANGUAGES.en[key] ?? key;
    const form = typeof text === "string" ? text : text[plural.select(Number(given.n)) === "one" ? "one" : "other"];
    return form.replace(/\{(\w+)\}/g, (whole, name) => {
      const value = given[name];
      return value === undefined ? whole : typeof value === "number" ? number(value) : value;
    });
  };
}
