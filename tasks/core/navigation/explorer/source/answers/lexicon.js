/**
 * The words of a release: its columns and values by what people may type for them.
 *
 * @typedef {Map<string, Map<number, Set<number>>>} Index words to the columns and codes that they stand for
 * @typedef {{text: string, folded: string}} Word as typed, and without case and accents
 */
import { isNumeric } from "./cells.js";

/** Words for one value. */
const SAME = [
  "female f woman women girl girls lady ladies",
  "male m man men boy boys",
  "rented rent rents renter tenant tenants tenancy",
  "owned own owns owner homeowner ownership",
  "employed works working employee",
  "unemployed jobless",
  "job-seeker jobseeker",
  "retired pensioner pensioners retiree retirees",
  "student students studying",
  "married",
  "single unmarried never-married",
  "divorced",
  "widowed widow widower",
  "yes y true",
  "no n false",
  "alone",
  "children kids",
  "car",
  "bicycle bike cycle",
  "healthy good",
].map((line) => line.split(" ").map((word) => word.replaceAll("-", " ")));

/** A word that stands for all values that have one of the others in them. */
const BROAD = [
  "degree degrees bachelor bachelors master masters doctorate doctor phd university",
].map((line) => line.split(" "));

/** Where single words of `BROAD` say so: in a column that is called like this. A doctor by occupation is no degree. */
const BROAD_NAMED = ["education edu schooling degree degrees qualification qualifications"].map((line) => line.split(" "));

/** How many of the words of `BROAD` say it themselves, wherever they stand, and may be typed; the rest only stand in values. */
const BROAD_PLAIN = 2;

/** The column that a word is about, by the first words of its group and of the column's. */
const ABOUT = new Map(
  Object.entries({
    female: "sex", male: "sex", rented: "housing", owned: "housing", degree: "education", employed: "work",
    unemployed: "work", retired: "work", student: "work", married: "marital", single: "marital", divorced: "marital",
    widowed: "marital",
  }),
);

/** Words for one column. */
const COLUMNS = [
  "age aged agep old years year",
  "sex gender",
  "housing tenure home",
  "education edu schooling",
  "work employment job occupation",
  "income earnings pincp",
  "household family",
  "health",
  "region district area",
  "marital msp marital-status",
].map((line) => line.split(" ").map((word) => word.replaceAll("-", " ")));

/** Signs that may stand beside a number. */
export const SIGNS = "€$£¥₹%";

/** Words for a currency. */
export const CURRENCIES = [
  "€ eur euro euros", "$ usd dollar dollars", "£ gbp pound pounds", "chf franc francs", "¥ jpy yen", "₹ inr rupee rupees",
].map((line) => line.split(" "));

/** Words in the name of a column of money. */
const MONEY = new Set(
  ("money amount price cost costs fee fees pay payment payments wage wages salary income earnings rent revenue turnover premium donation " +
    "donations contribution expense expenses spending budget")
    .split(" "),
);

/** What is skipped where it means nothing else. */
export const SKIPPED = new Set(
  ("how many much number count of the a an all any who which that are is was were be do does did has have had with in at " +
    "on for by to and people persons person records record respondents respondent there live lives living whose what their they")
    .split(" "),
);

export const NEGATIONS = new Set("without no not non none".split(" "));
export const MISSING = new Set("missing unknown empty unanswered blank".split(" "));
/** What the page writes after "missing" of an open column. */
export const RARE = ["or", "too", "rare"];
/** What it writes of the values of an open column that were not released. */
export const UNRELEASED = ["not", "released"];
export const EITHER = new Set(["or"]);

/** Words before a number, by what they say of it; the longest is tried first. @type {[string, "above" | "from" | "below" | "to"][]} */
export const COMPARED = /** @type {[string, "above" | "from" | "below" | "to"][]} */ ([
  ["older than", "above"], ["more than", "above"], ["greater than", "above"], ["higher than", "above"],
  ["over", "above"], ["above", "above"], ["past", "above"], ["after", "above"], [">", "above"],
  ["at least", "from"], ["not under", "from"], ["from", "from"], ["since", "from"], [">=", "from"], ["≥", "from"],
  ["younger than", "below"], ["less than", "below"], ["fewer than", "below"], ["lower than", "below"],
  ["under", "below"], ["below", "below"], ["before", "below"], ["<", "below"],
  ["at most", "to"], ["up to", "to"], ["not over", "to"], ["no more than", "to"], ["<=", "to"], ["≤", "to"],
]).sort(([a], [b]) => b.length - a.length);

/** Words before two numbers, and those between them. */
export const BETWEEN = new Set(["between", "from", "aged"]);
export const AND = new Set(["and", "to", "-", "–"]);
/** Words after a number, by what they say of it. */
export const AFTER = new Map(
  Object.entries({ older: "from", over: "from", more: "from", younger: "to", less: "to", under: "to" }),
);

const known = /** @type {WeakMap<Payload, Lexicon>} */ (new WeakMap());

/** @param {Payload} payload */
export function lexiconOf(payload) {
  let found = known.get(payload);
  if (!found) known.set(payload, (found = new Lexicon(payload)));
  return found;
}

/** Without case and accents. @param {string} text */
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ß", "ss");

const WORD = /-?\d+(?:\.\d+)?(?![\p{L}\d.])|[\p{L}\p{N}]+(?:['’]\p{L}+)?|[<>]=?|[≥≤+€$£¥₹%]|[–-]|,|;/gu;

/** The words of a text; a comma or semicolon is one. @param {string} text @returns {Word[]} */
export function wordsOf(text) {
  const found = /** @type {Word[]} */ ([]);
  for (const [word] of text.normalize("NFC").matchAll(WORD)) {
    const previous = found[found.length - 1];
    // "60-69" is two numbers, not 60 and -69.
    if (/^-\d/.test(word) && previous && /^\d/.test(previous.folded)) found.push({ text: "-", folded: "-" }, { text: word.slice(1), folded: word.slice(1) });
    else found.push({ text: word === ";" ? "," : word, folded: word === ";" ? "," : folded(word).replace(/['’]\p{L}*$/u, "") });
  }
  return found;
}

/** Of fewer letters, words that share all but their endings may be different ones: a carer and a car. */
const SURE = 4;
/** Of fewer letters, a word may stand for anything in a longer value. */
const SHORTEST = 3;
const ENDINGS = ["ings", "ing", "ers", "er", "ed", "es", "en", "em", "et", "in", "e", "s", "n"];

/** A word without its ending; at least three letters stay. @param {string} word */
export function stemmed(word) {
  if (/\d/.test(word)) return word;
  if (word.endsWith("ies") && word.length > 5) return word.slice(0, -3) + "y";
  const ending = ENDINGS.find((each) => word.endsWith(each) && word.length - each.length >= 3);
  return ending ? word.slice(0, -ending.length) : word;
}

/** Whether a typed word is one of the vocabulary, whatever its ending. @param {string} word @param {string} typed */
const isSaidSo = (word, typed) => word === typed || (typed.length >= SURE && keyOfText(word) === keyOfText(typed));

/** Words without commas, hyphens and signs of a currency. @param {string[]} words */
const plain = (words) => words.filter((word) => !/^[,–-]$/.test(word) && !SIGNS.includes(word));

/** @param {string[]} words folded */
const keyOf = (words) => plain(words).map(stemmed).join(" ");

/** @param {string} text */
const foldedWords = (text) => plain(wordsOf(text).map((word) => word.folded));

/** @param {string} text */
const keyOfText = (text) => keyOf(foldedWords(text));

/** The words of a column's name: OWN_RENT is own rent, travelTime is travel time. @param {string} name */
const nameWords = (name) =>
  foldedWords(name.replace(/[_.-]/g, " ").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2"));

class Lexicon {
  /** @param {Payload} payload */
  constructor({ columns, meta }) {
    this.columns = columns;
    this.unit = new Set([meta.unit.one, meta.unit.many].map((word) => stemmed(folded(word))));
    /** @type {Record<"own" | "exact" | "whole" | "part" | "broad" | "spelled", Index>} */
    this.values = {
      own: new Map(), // whole values as the release spells them
      exact: new Map(), // whole values as they are spelt, and words for the same
      whole: new Map(), // whole values without endings
      part: new Map(), // one word of a longer value
      broad: new Map(), // a word for several values
      spelled: new Map(), // single words as they are spelt
    };
    this.names = /** @type {Map<string, Set<number>>} */ (new Map()); // as the release calls its columns
    this.otherNames = /** @type {Map<string, Set<number>>} */ (new Map()); // as others call them
    columns.forEach((column, place) => {
      this.addName(place, nameWords(column.name), column.name);
      if (column.age) this.addName(place, nameWords(`age from ${column.name}`), column.name);
    });
    const own = new Set(this.names.keys());
    columns.forEach((column, place) => {
      this.addSynonyms(place, column.age ? ["age"] : nameWords(column.name), own);
      column.values.forEach((text, value) => this.addValue(place, value + 1, text));
      column.names?.forEach((name, value) => name && this.addMeaning(place, value + 1, name));
    });
  }

  /** @param {number} column @param {string[]} words @param {string} name */
  addName(column, words, name) {
    for (const key of [keyOf(words), keyOf([folded(name)])]) this.names.set(key, (this.names.get(key) ?? new Set()).add(column));
  }

  /** Other words for a column, unless another is called so. @param {number} column @param {string[]} words @param {Set<string>} own */
  addSynonyms(column, words, own) {
    const same = COLUMNS.find((group) => group.includes(words.join(" "))) ?? [];
    for (const key of same.map(keyOfText)) if (!own.has(key)) this.otherNames.set(key, (this.otherNames.get(key) ?? new Set()).add(column));
  }

  /** @param {number} column @param {number} code @param {string} text */
  addValue(column, code, text) {
    const words = foldedWords(text.replace(/_/g, " "));
    const whole = keyOf(words);
    const spelled = words.join(" ");
    const isSame = (/** @type {string} */ word) => word === spelled || (whole.length >= SURE && keyOfText(word) === whole);
    const same = SAME.filter((group) => group.some(isSame)).flat();
    put(this.values.own, spelled, column, code);
    for (const each of [spelled, ...same]) {
      put(this.values.exact, each, column, code);
      put(this.values.whole, keyOfText(each), column, code);
    }
    for (const word of words) put(this.values.spelled, word, column, code);
    if (words.length > 1) for (const word of words) if (!SKIPPED.has(word)) put(this.values.part, stemmed(word), column, code);
    const name = nameWords(this.columns[column].name);
    for (const [place, group] of BROAD.entries()) {
      const saying = BROAD_NAMED[place].some((each) => name.includes(each)) ? group : group.slice(0, BROAD_PLAIN);
      if (words.some((word) => saying.includes(word)) && !words.some((word) => ["no", "without"].includes(word)))
        for (const word of group.slice(0, BROAD_PLAIN)) put(this.values.broad, stemmed(word), column, code);
    }
  }

  /**
   * What a value means, and both as the page writes them: "Female (2)".
   * @param {number} column @param {number} code @param {string} name
   */
  addMeaning(column, code, name) {
    this.addValue(column, code, name);
    put(this.values.own, foldedWords(`${name} (${this.columns[column].values[code - 1]})`.replace(/_/g, " ")).join(" "), column, code);
  }

  /** Values that are exactly these words, or words for the same. @param {string[]} words @returns {Option[]} */
  exactly(words) {
    const spelled = plain(words);
    const singular = spelled.map((word) => (word.length > SURE ? word.replace(/s$/, "") : word));
    const own = this.values.own.get(spelled.join(" "));
    if (own) return optionsOf(own);
    return this.meant(spelled.join(" "), optionsOf(this.values.exact.get(spelled.join(" ")) ?? this.values.exact.get(singular.join(" ")) ?? this.values.whole.get(keyOf(words))));
  }

  /**
   * Of several columns that one, if any, which the word is about: who rents has a home, whatever "rents" is elsewhere.
   * @param {string} word @param {Option[]} options
   */
  meant(word, options) {
    if (options.length < 2) return options;
    const about = this.columnsAbout(word);
    const found = options.filter(({ column }) => about.includes(column));
    return found.length ? found : options;
  }

  /** Whether a value is spelt so. @param {string} word */
  isSpelled(word) {
    return this.values.exact.has(word);
  }

  /** Values that a word stands for together: all degrees. @param {string} word @returns {Option[]} */
  broadly(word) {
    return optionsOf(this.values.broad.get(stemmed(word)));
  }

  /**
   * The one value that has a common word, or one for the same, in it: "Rent housing unit" of tenants. None if several
   * have it, or if it says that something is not so.
   * @param {string[]} words @returns {Option[]}
   */
  singly(words) {
    const typed = words.join(" ");
    const group = typed.length < SHORTEST ? undefined : SAME.find((each) => each.some((word) => isSaidSo(word, typed)));
    if (!group) return [];
    const found = /** @type {Map<number, Set<number>>} */ (new Map());
    for (const word of group.filter((each) => each.length >= SHORTEST))
      for (const [column, codes] of this.values.part.get(stemmed(word)) ?? []) for (const code of codes) add(found, column, code);
    const [option, ...others] = this.meant(typed, optionsOf(found));
    return option && !others.length && option.codes.length === 1 && !this.isDenied(option.column, option.codes[0]) ? [option] : [];
  }

  /** Whether a value says what is not so: "not employed". @param {number} column @param {number} code */
  isDenied(column, code) {
    const { values, names } = this.columns[column];
    return foldedWords(`${values[code - 1]} ${names?.[code - 1] ?? ""}`).some((word) => word === "never" || NEGATIONS.has(word));
  }

  /** Values that have all of these words in them. @param {string[]} words @returns {Option[]} */
  within(words) {
    const [first, ...rest] = words.map((word) => this.values.part.get(stemmed(word)));
    if (!first || rest.some((each) => !each)) return [];
    const found = /** @type {Map<number, Set<number>>} */ (new Map());
    for (const [column, codes] of first) {
      const shared = new Set([...codes].filter((code) => rest.every((each) => each?.get(column)?.has(code))));
      if (shared.size) found.set(column, shared);
    }
    return optionsOf(found);
  }

  /**
   * The columns that some words name, the longest name first.
   * @param {Word[]} words @param {number} place @param {boolean} [isOwn] whether other words for a column don't count
   */
  columnsAt(words, place, isOwn = false) {
    const found = [];
    const mark = words.slice(place).findIndex(({ folded: word }) => word === ",");
    for (let number = Math.min(6, mark < 0 ? words.length - place : mark); number > 0; number--) {
      const key = keyOf(words.slice(place, place + number).map((word) => word.folded));
      const columns = this.names.get(key) ?? (isOwn ? undefined : this.otherNames.get(key));
      if (columns) found.push({ number, columns: [...columns] });
    }
    return found;
  }

  /** Whether a column is called age, or its name says so among others: age group. @param {number} column */
  isAge(column) {
    const key = stemmed("age");
    if ((this.names.get(key) ?? this.otherNames.get(key))?.has(column)) return true;
    return nameWords(this.columns[column].name).some((word) => ["age", "ages"].includes(word));
  }

  /**
   * The columns that hold amounts of a currency: by what is taken off their cells, or else by their names.
   * @param {string[]} currency words for it
   */
  moneyColumns(currency) {
    const numeric = this.columns.map((_, column) => column).filter((column) => isNumeric(this.columns[column]));
    const marked = numeric.filter((column) => currency.some((word) => isMarkedWith(this.columns[column].marks ?? "", word)));
    return marked.length ? marked : numeric.filter((column) => nameWords(this.columns[column].name).some((word) => MONEY.has(word)));
  }

  /** The columns that have a word in their longer names. @param {string} word */
  columnsWith(word) {
    const stem = stemmed(word);
    const named = [...this.names].filter(([key]) => key.includes(" ") && key.split(" ").includes(stem));
    return [...new Set(named.flatMap(([, columns]) => [...columns]))];
  }

  /** The columns that a word for a value is about, where no value is called so. @param {string} word */
  columnsAbout(word) {
    const stem = stemmed(word);
    const group = [...SAME, ...BROAD].find((words) => words.some((each) => stemmed(each) === stem));
    const about = stemmed(ABOUT.get(group?.[0] ?? "") ?? "");
    return [...(this.names.get(about) ?? this.otherNames.get(about) ?? [])];
  }

  /** Values, of which a word differs by a letter. @param {string} word @returns {Option[]} */
  alike(word) {
    if (word.length < 5) return [];
    const found = /** @type {Map<number, Set<number>>} */ (new Map());
    for (const [spelled, columns] of this.values.spelled)
      if (isAlike(word, spelled)) for (const [column, codes] of columns) for (const code of codes) add(found, column, code);
    return optionsOf(found);
  }
}

/** Whether characters that stand around numbers are those of a word. @param {string} marks @param {string} word */
const isMarkedWith = (marks, word) => word.length <= 3 && [...word].every((sign) => marks.toLowerCase().includes(sign));

/** @param {Index} index @param {string} key @param {number} column @param {number} code */
function put(index, key, column, code) {
  const columns = index.get(key) ?? new Map();
  index.set(key, columns);
  add(columns, column, code);
}

/** @param {Map<number, Set<number>>} columns @param {number} column @param {number} code */
function add(columns, column, code) {
  columns.set(column, (columns.get(column) ?? new Set()).add(code));
}

/** @param {Map<number, Set<number>>} [columns] @returns {Option[]} */
function optionsOf(columns = new Map()) {
  return [...columns].map(([column, codes]) => ({ column, codes: [...codes].sort((a, b) => a - b) }));
}

/**
 * Whether one letter more, less or changed, or two that stand the wrong way round, makes one word of the other.
 * @param {string} one @param {string} other
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
