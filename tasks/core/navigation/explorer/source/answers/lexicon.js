/**
 * The words of a release: its columns and values by what people may type for them.
 *
 * @import { Payload } from "../payload.js"
 * @import { Option } from "./question.js"
 *
 * @typedef {{text: string, folded: string}} Word as typed, and without case and accents
 */
import { BROAD, BROAD_TYPED, COLUMNS, SAME, SKIPPED } from "./vocabulary.js";

/** @type {WeakMap<Payload, Lexicon>} */
const known = new WeakMap();

/** @param {Payload} payload */
export function lexiconOf(payload) {
  let found = known.get(payload);
  if (!found) known.set(payload, (found = new Lexicon(payload)));
  return found;
}

/** Without case and accents. @param {string} text */
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ß", "ss");

const WORD = /-?\d+(?:\.\d+)?(?![\p{L}\d.])|[\p{L}\p{N}]+(?:['’]\p{L}+)?|[<>]=?|[≥≤+]|[–-]|,|;/gu;

/**
 * The words of a text; a comma or semicolon is one.
 * @param {string} text
 * @returns {Word[]}
 */
export function wordsOf(text) {
  /** @type {Word[]} */
  const found = [];
  for (const [word] of text.normalize("NFC").matchAll(WORD)) {
    const previous = found[found.length - 1];
    // "60-69" is two numbers, not 60 and -69.
    if (/^-\d/.test(word) && previous && /^\d/.test(previous.folded)) found.push({ text: "-", folded: "-" }, { text: word.slice(1), folded: word.slice(1) });
    else found.push({ text: word === ";" ? "," : word, folded: word === ";" ? "," : folded(word).replace(/['’]\p{L}*$/u, "") });
  }
  return found;
}

const ENDINGS = ["innen", "ings", "ing", "ers", "er", "ed", "es", "en", "em", "et", "in", "e", "s", "n"];

/**
 * A word without its ending; at least three letters stay.
 * @param {string} word
 */
export function stemmed(word) {
  if (/\d/.test(word)) return word;
  if (word.endsWith("ies") && word.length > 5) return word.slice(0, -3) + "y";
  const ending = ENDINGS.find((each) => word.endsWith(each) && word.length - each.length >= 3);
  return ending ? word.slice(0, -ending.length) : word;
}

/** @param {string[]} words folded */
const keyOf = (words) => words.map(stemmed).join(" ");

/** @param {string} text */
const keyOfText = (text) => keyOf(wordsOf(text).map((word) => word.folded).filter((word) => word !== ","));

/** The words of a column's name: OWN_RENT is own rent, travelTime is travel time. @param {string} name */
const nameWords = (name) =>
  wordsOf(name.replace(/[_.]/g, " ").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")).map((word) => word.folded);

class Lexicon {
  /** @param {Payload} payload */
  constructor({ columns, meta }) {
    this.columns = columns;
    this.unit = new Set([meta.unit.one, meta.unit.many].map((word) => stemmed(folded(word))));
    /** @type {Map<string, Map<number, Set<number>>>} words of whole values */
    this.whole = new Map();
    /** @type {Map<string, Map<number, Set<number>>>} one word of a value */
    this.part = new Map();
    /** @type {Map<string, Set<number>>} as the release calls its columns */
    this.names = new Map();
    /** @type {Map<string, Set<number>>} as others call them */
    this.otherNames = new Map();
    /** @type {Map<string, Map<number, Set<number>>>} single words as they are spelt */
    this.spelled = new Map();
    columns.forEach((column, place) => this.addName(place, nameWords(column.name), column.name));
    const own = new Set(this.names.keys());
    columns.forEach((column, place) => {
      this.addSynonyms(place, nameWords(column.name), own);
      column.values.forEach((text, value) => this.addValue(place, value + 1, text));
    });
  }

  /**
   * @param {number} column
   * @param {string[]} words
   * @param {string} name
   */
  addName(column, words, name) {
    for (const key of [keyOf(words), keyOf([folded(name)])]) this.names.set(key, (this.names.get(key) ?? new Set()).add(column));
  }

  /**
   * Other words for a column, unless another is called so.
   * @param {number} column
   * @param {string[]} words
   * @param {Set<string>} own
   */
  addSynonyms(column, words, own) {
    const same = words.length === 1 ? (COLUMNS.find((group) => group.includes(words[0])) ?? []) : [];
    for (const key of same.map(stemmed)) if (!own.has(key)) this.otherNames.set(key, (this.otherNames.get(key) ?? new Set()).add(column));
  }

  /**
   * @param {number} column
   * @param {number} code
   * @param {string} text
   */
  addValue(column, code, text) {
    const words = wordsOf(text.replace(/_/g, " ")).map((word) => word.folded).filter((word) => word !== ",");
    const whole = keyOf(words);
    put(this.whole, whole, column, code);
    for (const word of words) put(this.spelled, word, column, code);
    for (const group of SAME)
      if (group.some((word) => keyOfText(word) === whole)) for (const word of group) put(this.whole, keyOfText(word), column, code);
    if (words.length > 1) for (const word of words) if (!SKIPPED.has(word)) put(this.part, stemmed(word), column, code);
    for (const group of BROAD)
      if (words.some((word) => group.includes(word)) && !words.some((word) => ["no", "without", "ohne", "kein"].includes(word)))
        for (const word of group.slice(0, BROAD_TYPED)) put(this.part, stemmed(word), column, code);
  }

  /** Values that are exactly these words, or words for the same. @param {string[]} words @returns {Option[]} */
  exactly(words) {
    return optionsOf(this.whole.get(keyOf(words.filter((word) => word !== ","))));
  }

  /** Values that have all of these words in them. @param {string[]} words @returns {Option[]} */
  within(words) {
    const [first, ...rest] = words.map((word) => this.part.get(stemmed(word)));
    if (!first || rest.some((each) => !each)) return [];
    /** @type {Map<number, Set<number>>} */
    const found = new Map();
    for (const [column, codes] of first) {
      const shared = new Set([...codes].filter((code) => rest.every((each) => each?.get(column)?.has(code))));
      if (shared.size) found.set(column, shared);
    }
    return optionsOf(found);
  }

  /**
   * The columns that some words name, the longest name first.
   * @param {Word[]} words
   * @param {number} place
   * @param {boolean} [isOwn] whether other words for a column don't count
   */
  columnsAt(words, place, isOwn = false) {
    const found = [];
    for (let number = Math.min(6, words.length - place); number > 0; number--) {
      const key = keyOf(words.slice(place, place + number).map((word) => word.folded));
      const columns = this.names.get(key) ?? (isOwn ? undefined : this.otherNames.get(key));
      if (columns) found.push({ number, columns: [...columns] });
    }
    return found;
  }

  /** Whether a column is called age. @param {number} column */
  isAge(column) {
    const key = stemmed("age");
    return (this.names.get(key) ?? this.otherNames.get(key))?.has(column) ?? false;
  }

  /** Values, of which a word differs by a letter. @param {string} word @returns {Option[]} */
  alike(word) {
    if (word.length < 5) return [];
    /** @type {Map<number, Set<number>>} */
    const found = new Map();
    for (const [spelled, columns] of this.spelled)
      if (isAlike(word, spelled)) for (const [column, codes] of columns) for (const code of codes) add(found, column, code);
    return optionsOf(found);
  }
}

/**
 * @param {Map<string, Map<number, Set<number>>>} index
 * @param {string} key
 * @param {number} column
 * @param {number} code
 */
function put(index, key, column, code) {
  const columns = index.get(key) ?? new Map();
  index.set(key, columns);
  add(columns, column, code);
}

/**
 * @param {Map<number, Set<number>>} columns
 * @param {number} column
 * @param {number} code
 */
function add(columns, column, code) {
  columns.set(column, (columns.get(column) ?? new Set()).add(code));
}

/** @param {Map<number, Set<number>>} [columns] @returns {Option[]} */
function optionsOf(columns = new Map()) {
  return [...columns].map(([column, codes]) => ({ column, codes: [...codes].sort((a, b) => a - b) }));
}

/**
 * Whether one letter more, less or changed, or two that stand the wrong way round, makes one word of the other.
 * @param {string} one
 * @param {string} other
 */
function isAlike(one, other) {
  if (Math.abs(one.length - other.length) > 1 || one === other) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let [end, last] = [one.length, other.length];
  while (end > start && last > start && one[end - 1] === other[last - 1]) [end, last] = [end - 1, last - 1];
  const [left, right] = [one.slice(start, end), other.slice(start, last)];
  return (left.length <= 1 && right.length <= 1) || (left.length === 2 && left === [...right].reverse().join(""));
}
