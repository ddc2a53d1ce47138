/**
 * A typed question in, a selection out: "women, over 60, rent".
 *
 * Words are held against the release's own columns and values, whatever their case, accents and endings, and against
 * a few words that mean the same. What may mean several things is asked back, and what means nothing is given back
 * as it was typed: nothing is guessed silently.
 */
import { codesAt, codesBetween, intervalsOf, isNumeric, otherCode } from "./cells.js";
import { AFTER, AND, BETWEEN, COMPARED, CURRENCIES, EITHER, folded, lexiconOf, MISSING, NEGATIONS, RARE, SIGNS, SKIPPED, stemmed, UNRELEASED, wordsOf } from "./lexicon.js";

/** The most choices that are offered. */
const MOST_OPTIONS = 8;
/** The most values of a column of codes that are offered. */
const MOST_CODES = 24;
/** The most words of one value that are looked at. */
const LONGEST = 16;

/** @param {Payload} payload @param {string} text @returns {Question} */
export function parse(payload, text) {
  return new Reader(payload, text).read();
}

class Reader {
  /** @param {Payload} payload @param {string} text */
  constructor(payload, text) {
    this.payload = payload;
    this.lexicon = lexiconOf(payload);
    this.words = amountsOf(wordsOf(text));
    this.place = 0;
    /** @type {number | null} the column that was named just before */
    this.column = null;
    this.columnText = "";
    this.isColumnNegated = false; // whether "not" stood before it
    this.isColumnPart = false; // whether only a part of its name was typed
    this.isNegated = false;
    this.isEither = false;
    this.readings = /** @type {Reading[]} */ ([]);
    this.ambiguous = /** @type {Ambiguous[]} */ ([]);
    this.unread = /** @type {string[]} */ ([]);
    this.notes = /** @type {Words[]} */ ([]);
  }

  /** @returns {Question} */
  read() {
    while (this.place < this.words.length) this.step();
    this.leaveColumn();
    const { readings, ambiguous, unread, notes } = this;
    return { selection: this.selection(), readings, ambiguous, unread, notes };
  }

  /** Reads one thing from where it stands. */
  step() {
    const word = this.words[this.place];
    if (word.text === ",") return this.pause();
    if (this.readValues(2) || this.readRange() || this.readMissing()) return;
    if (!this.lexicon.isSpelled(word.folded) && this.readColumn(true)) return;
    if (this.readNegation() || this.readValues()) return;
    if (EITHER.has(word.folded)) this.isEither = true;
    else if (this.readColumn(true)) return;
    else if (SKIPPED.has(word.folded) || SIGNS.includes(word.folded) || this.lexicon.unit.has(stemmed(word.folded))) this.place++;
    else if (this.readBroad() || this.readSingle() || this.readColumn(false) || this.readNumber() || this.readPart() || this.readCoded() || this.readAlike()) return;
    else {
      this.unread.push(word.text);
      this.place++;
      this.isNegated = false; // a "not" before it was said of it
    }
    if (EITHER.has(word.folded)) this.place++;
  }

  /** A comma ends what a "not" or a column's name reaches. */
  pause() {
    this.place++;
    this.leaveColumn();
    this.isNegated = false;
  }

  /** A column that was named, and of which nothing was said, is given back. @param {boolean} [isSaid] whether something was */
  leaveColumn(isSaid = false) {
    if (this.column !== null && this.columnText && !isSaid) {
      const column = this.column;
      if (this.isColumnNegated) this.add(this.columnText, column, this.codesOfNo(column), false);
      else if (this.isColumnPart && !this.readings.some((reading) => reading.column === column)) this.askValue(this.columnText, column);
      else if (this.readings[this.readings.length - 1]?.column !== column) this.unread.push(this.columnText);
    }
    [this.column, this.columnText, this.isColumnPart, this.isColumnNegated] = [null, "", false, false];
  }

  /** What "no car" means of a column of cars: its "no", or no value. @param {number} column */
  codesOfNo(column) {
    return this.lexicon.exactly(["no"]).find((option) => option.column === column)?.codes ?? [0];
  }

  /** The words from here on, folded. @param {number} number */
  ahead(number) {
    return this.words.slice(this.place, this.place + number).map(({ folded }) => folded);
  }

  /** @param {number} number */
  textAhead(number) {
    return this.words.slice(this.place, this.place + number).map(({ text }) => text).join(" ");
  }

  /** "no degree" is a value if a column has it; otherwise "no" negates what follows, and is a value where nothing does. */
  readNegation() {
    const word = this.words[this.place].folded;
    if (!NEGATIONS.has(word)) return false;
    if (this.readSpelledNo() || (this.isAlone() && this.readValues())) return true;
    this.isNegated = !this.isNegated;
    this.place++;
    return true;
  }

  /** Whether "no" is said of nothing that follows: at the end, or of a column that has it as a value. */
  isAlone() {
    const next = this.words[this.place + 1]?.folded ?? ",";
    const ends = next === "," || EITHER.has(next) || next === "and" || next === "und";
    return ends || this.lexicon.exactly(this.ahead(1)).some(({ column }) => column === this.column);
  }

  /** "without a degree" where a value reads "no degree". */
  readSpelledNo() {
    let skip = 1;
    while (["a", "an", "any"].includes(this.words[this.place + skip]?.folded)) skip++;
    for (let number = LONGEST; number > 0; number--) {
      const rest = this.words.slice(this.place + skip, this.place + skip + number).map(({ folded }) => folded);
      if (rest.length < number) continue;
      for (const no of ["no", "without", "none"]) {
        const options = this.lexicon.exactly([no, ...rest]);
        if (options.length) return this.take(skip + number, options);
      }
    }
    return false;
  }

  /** Whether some words follow. @param {number} ahead @param {string[]} words */
  follows(ahead, words) {
    return words.every((word, place) => this.words[this.place + ahead + place]?.folded === word);
  }

  /** "missing" and "not released", after the name of a column or before it, or after another value of it. */
  readMissing() {
    const found = this.missingAhead();
    if (!found) return false;
    const { number, columns, codes, isOpenOnly } = found;
    const last = this.isEither ? this.lastColumn() : undefined;
    const column = this.column ?? columns?.[0] ?? last;
    if (column === undefined || (isOpenOnly && !this.payload.columns[column].open)) return false;
    this.add(`${this.column === null ? "" : this.columnText} ${this.textAhead(number)}`.trim(), column, codes(column), this.isNegated);
    this.place += number;
    [this.column, this.columnText, this.isNegated] = [null, "", false];
    return true;
  }

  /**
   * @returns {{number: number, columns?: number[], codes: (column: number) => number[], isOpenOnly?: boolean} | null} `number` of words, with
   * those of a column that is named behind them
   */
  missingAhead() {
    if (this.follows(0, UNRELEASED)) return { number: UNRELEASED.length, isOpenOnly: true, codes: (column) => [otherCode(this.payload.columns[column])] };
    if (!MISSING.has(this.words[this.place].folded) || this.lexicon.exactly(this.ahead(1)).length) return null;
    const codes = () => [0];
    const number = this.follows(1, RARE) ? 1 + RARE.length : 1;
    const [named] = this.column === null ? this.lexicon.columnsAt(this.words, this.place + number) : [];
    return named ? { number: number + named.number, columns: named.columns, codes } : { number, codes };
  }

  /**
   * The name of a column: what follows is one of its values.
   * @param {boolean} isOwn whether it must be the name that it has in the release
   */
  readColumn(isOwn) {
    const [found] = this.lexicon.columnsAt(this.words, this.place, isOwn);
    if (!found || found.columns.length > 1) return false;
    const text = this.textAhead(found.number);
    const values = this.lexicon.exactly(this.ahead(found.number));
    if (values.some(({ column }) => column !== found.columns[0])) return false;
    this.leaveColumn();
    [this.column, this.columnText, this.isColumnNegated] = [found.columns[0], text, this.isNegated && isOwn];
    this.place += found.number;
    return true;
  }

  /** Values by all of their words. @param {number} [fewest] words */
  readValues(fewest = 1) {
    for (let number = Math.min(LONGEST, this.words.length - this.place); number >= fewest; number--) {
      const words = this.ahead(number);
      if (words[0] === "," || words[words.length - 1] === ",") continue;
      let options = this.lexicon.exactly(words);
      if (this.column !== null) {
        const named = options.filter(({ column }) => column === this.column);
        if (named.length) options = named;
        else if (/^\d/.test(words[0])) continue;
      } else if (this.isEither) {
        const again = options.filter(({ column }) => column === this.lastColumn());
        if (again.length) options = again;
      }
      if (options.length) return this.take(number, options);
    }
    return false;
  }

  /** The column that was last read of: what follows "or" is rather one of its values. */
  lastColumn() {
    return this.readings[this.readings.length - 1]?.column;
  }

  /** A word for several values of a column: all degrees. */
  readBroad() {
    const options = this.lexicon.broadly(this.ahead(1)[0]);
    return options.length > 0 && this.take(1, options);
  }

  /** A common word for the one value that has it, or a word for the same, among its words. */
  readSingle() {
    for (let number = Math.min(3, this.words.length - this.place); number > 0; number--) {
      const options = this.lexicon.singly(this.ahead(number));
      if (options.length && (this.column === null || options[0].column === this.column)) return this.take(number, options);
    }
    return false;
  }

  /** Some words of longer values: which of them are meant is asked back. A longer name of a column is one named. */
  readPart() {
    for (let number = Math.min(LONGEST, this.words.length - this.place); number > 0; number--) {
      const words = this.ahead(number);
      if (words.includes(",")) continue;
      const options = this.lexicon.within(words);
      const named = options.filter(({ column }) => column === this.column);
      if (!options.length) continue;
      const text = this.textAhead(number);
      this.leaveColumn(named.length > 0);
      this.ask(text, "question.part", named.length ? named : options, {});
      this.place += number;
      this.isNegated = false;
      return true;
    }
    const columns = this.lexicon.columnsWith(this.ahead(1)[0]);
    if (columns.length !== 1) return false;
    if (columns[0] !== this.column) this.leaveColumn();
    [this.column, this.columnText, this.isColumnPart] = [columns[0], `${this.columnText} ${this.textAhead(1)}`.trim(), true];
    this.place++;
    return true;
  }

  /** What some words mean: one thing is read, several are asked back. @param {number} number of words @param {Option[]} options */
  take(number, options) {
    const text = this.textAhead(number);
    const named = this.column !== null && options.length === 1 && options[0].column === this.column;
    const whole = named ? `${this.columnText} ${text}`.trim() : text;
    if (!named) this.leaveColumn();
    this.place += number;
    if (options.length === 1) this.add(whole, options[0].column, options[0].codes, this.isNegated);
    else this.ask(whole, "question.several", options, {});
    [this.column, this.columnText, this.isNegated] = [null, "", false];
    return true;
  }

  /** @param {string} text @param {string} key @param {Option[]} options @param {Record<string, string | number>} given */
  ask(text, key, options, given) {
    const most = key === "question.coded" ? MOST_CODES : MOST_OPTIONS;
    const meant = options.slice(0, most).map((option) => (this.isNegated ? this.negated(option) : option));
    this.ambiguous.push({ text, key, given, options: meant });
  }

  /** @param {Option} option @returns {Option} */
  negated({ column, codes }) {
    const { values, open } = this.payload.columns[column];
    const every = [...values.map((_, place) => place + 1), ...(open ? [otherCode(this.payload.columns[column])] : [])];
    return { column, codes: every.filter((code) => !codes.includes(code)) };
  }

  /** @param {string} text @param {number} column @param {number[]} codes @param {boolean} isNegated */
  add(text, column, codes, isNegated) {
    const about = this.payload.columns[column];
    if (isNegated && about.kind === "items") {
      this.unread.push(text);
      this.notes.push({ key: "question.not_items", given: { text, column: about.name } });
      return;
    }
    const option = isNegated ? this.negated({ column, codes }) : { column, codes };
    const alternatives = isNegated && !codes.includes(0) ? [{ column, codes: [0, ...option.codes], key: "question.with_missing" }] : [];
    if (this.isEither && this.readings.length && this.readings[this.readings.length - 1].column !== column)
      this.notes.push({ key: "question.either", given: { text } });
    this.readings.push({ text, isNegated, isEither: this.isEither, ...option, alternatives });
    this.isEither = false;
  }

  /** "over 60", "60 to 69", "60+", "between 60 and 69", ">= 60". */
  readRange() {
    const found = this.twoNumbers() ?? this.oneNumber();
    if (!found) return false;
    const text = this.textAhead(found.number);
    const named = this.column !== null && isNumeric(this.payload.columns[this.column]) ? [this.column] : [];
    let columns = named.length ? named : this.columnsAfter(found);
    if (!columns.length) columns = this.numericColumns(found);
    const last = this.lastColumn();
    if (this.isEither && columns.length > 1 && last !== undefined && columns.includes(last)) columns = [last];
    if (!columns.length) return false;
    const whole = this.column === null ? this.textAhead(found.number) : `${this.columnText} ${text}`;
    if (this.column === columns[0]) this.columnText = "";
    this.leaveColumn();
    this.place += found.number;
    if (columns.length > 1) {
      const options = columns.map((column) => ({ column, codes: this.between(column, found).inside })).filter(({ codes }) => codes.length);
      this.ask(whole, "question.which_column", options, {});
    } else this.addRange(whole, columns[0], found);
    this.isNegated = false;
    return true;
  }

  /** @param {number} column @param {NumberRange} range */
  between(column, { low, high, fromLow, toHigh }) {
    return codesBetween(this.payload.columns[column], low, high, { fromLow, toHigh });
  }

  /** @param {string} text @param {number} column @param {NumberRange} range */
  addRange(text, column, range) {
    const about = this.payload.columns[column];
    const { inside, cut } = this.between(column, range);
    if (!cut.length) {
      if (!inside.length) return void this.unread.push(text);
      this.add(text, column, inside, this.isNegated);
      if (about.open) this.notes.push({ key: "question.not_released", given: { text, column: about.name } });
      return;
    }
    const options = [inside, [...inside, ...cut].sort((a, b) => a - b)].filter((codes) => codes.length);
    const given = { column: about.name, value: about.values[cut[0] - 1] };
    this.ask(text, "question.cuts", options.map((codes) => ({ column, codes })), given);
  }

  /**
   * @typedef {{low: number, high: number, fromLow: boolean, toHigh: boolean, number: number, currency?: string[] | null}} NumberRange
   *   `number` of words; words for the currency, where one is named
   * @returns {NumberRange | null}
   */
  twoNumbers() {
    let at = BETWEEN.has(this.words[this.place].folded) ? 1 : 0;
    const first = this.numberAt(at);
    if (first === null) return null;
    at += 1 + Number(this.currencyAt(at + 1) !== null);
    if (!AND.has(this.words[this.place + at]?.folded ?? "")) return null;
    const isUnder = ["under", "unter"].includes(this.words[this.place + at + 1]?.folded ?? "");
    const last = at + 1 + Number(isUnder);
    const second = this.numberAt(last);
    if (second === null || second < first) return null;
    return this.withCurrency({ low: first, high: second, fromLow: true, toHigh: !isUnder, number: last + 1 });
  }

  /** @returns {NumberRange | null} */
  oneNumber() {
    for (const [words, kind] of COMPARED) {
      const parts = words.split(" ");
      if (parts.some((part, place) => this.words[this.place + place]?.folded !== part)) continue;
      const value = this.numberAt(parts.length);
      if (value !== null) return this.withCurrency(rangeOf(kind, value, parts.length + 1));
    }
    const value = this.numberAt(0);
    if (value === null) return null;
    const currency = this.currencyAt(1);
    const at = 1 + Number(currency !== null);
    if (this.words[this.place + at]?.folded === "+") return this.withCurrency({ ...rangeOf("from", value, at + 1), currency });
    const and = ["and", "or", "und", "oder"].includes(this.words[this.place + at]?.folded ?? "");
    const after = AFTER.get(this.words[this.place + at + Number(and)]?.folded ?? "");
    return after ? this.withCurrency({ ...rangeOf(/** @type {"from" | "to"} */ (after), value, at + 1 + Number(and)), currency }) : null;
  }

  /** A range with the currency that is named behind it. @param {NumberRange} range @returns {NumberRange} */
  withCurrency(range) {
    const currency = this.currencyAt(range.number);
    return currency ? { ...range, currency, number: range.number + 1 } : range;
  }

  /** The words for a currency that one of them names. @param {number} ahead */
  currencyAt(ahead) {
    const word = this.words[this.place + ahead]?.folded ?? "";
    return CURRENCIES.find((words) => words.includes(word)) ?? null;
  }

  /** A number alone: which of the values that it lies in is meant is asked back, even if there is one. */
  readNumber() {
    const value = this.numberAt(0);
    if (value === null) return false;
    const { columns } = this.payload;
    const currency = this.currencyAt(1);
    const numeric = columns.map((_, column) => column).filter((column) => isNumeric(columns[column]));
    const money = currency ? this.lexicon.moneyColumns(currency) : [];
    const among = this.column !== null && numeric.includes(this.column) ? [this.column] : money.length ? money : numeric;
    const options = among.map((column) => ({ column, codes: codesAt(columns[column], value) })).filter(({ codes }) => codes.length);
    if (!options.length) return false;
    const number = 1 + Number(currency !== null);
    const text = `${among[0] === this.column ? this.columnText : ""} ${this.textAhead(number)}`.trim();
    this.leaveColumn(among[0] === this.column);
    this.ask(text, "question.number", options, {});
    this.place += number;
    this.isNegated = false;
    return true;
  }

  /** @param {number} ahead @returns {number | null} */
  numberAt(ahead) {
    const word = this.words[this.place + ahead]?.folded ?? "";
    return /^-?\d+(\.\d+)?$/.test(word) ? Number(word) : null;
  }

  /** "over 60 years": the numeric column that is named after the number; its name is read with it. @param {NumberRange} range */
  columnsAfter(range) {
    const [named] = this.lexicon.columnsAt(this.words, this.place + range.number);
    const next = this.words[this.place + range.number]?.folded ?? "";
    const parts = named || this.isOfValue(next, range) ? [] : this.lexicon.columnsWith(next);
    const columns = (named?.columns ?? parts).filter((column) => isNumeric(this.payload.columns[column]));
    if (parts.length && columns.length) range.number++;
    if (named && columns.length) {
      range.number += named.number;
      while (this.lexicon.columnsAt(this.words, this.place + range.number)[0]?.columns.some((each) => columns.includes(each))) range.number++;
    }
    return columns;
  }

  /**
   * Whether "rent" after "over 60" is a value's word, since no column of that name has a number over 60.
   * @param {string} word @param {NumberRange} range
   */
  isOfValue(word, range) {
    const means = (/** @type {number} */ column) => Object.values(this.between(column, range)).some(({ length }) => length > 0);
    return this.lexicon.within([word]).length > 0 && !this.lexicon.columnsWith(word).some(means);
  }

  /**
   * The columns in which a range of numbers means something: those of the currency that is named; else the age, if
   * there is one; else those of which the range takes a part.
   * @param {NumberRange} range
   */
  numericColumns(range) {
    const { columns } = this.payload;
    const numeric = columns.map((_, column) => column).filter((column) => isNumeric(columns[column]));
    const taken = (/** @type {number} */ column) => {
      const { inside, cut } = this.between(column, range);
      return { some: inside.length + cut.length > 0, all: !cut.length && inside.length === intervalsOf(columns[column]).filter(Boolean).length };
    };
    const some = numeric.filter((column) => taken(column).some);
    const money = range.currency ? this.lexicon.moneyColumns(range.currency).filter((column) => some.includes(column)) : [];
    if (money.length) return money;
    const others = range.currency ? some.filter((column) => !this.lexicon.isAge(column)) : some;
    const ages = others.filter((column) => this.lexicon.isAge(column));
    if (ages.length === 1) return ages;
    const parts = others.filter((column) => !taken(column).all);
    return parts.length ? parts : others;
  }

  /** "women" where the sex is 1 or 2: which code is meant is asked back. */
  readCoded() {
    const columns = this.lexicon.columnsAbout(this.ahead(1)[0]);
    if (columns.length !== 1) return false;
    this.leaveColumn();
    this.askValue(this.textAhead(1), columns[0]);
    this.place++;
    this.isNegated = false;
    return true;
  }

  /** Which value of a column is meant. @param {string} text @param {number} column */
  askValue(text, column) {
    const { name, values } = this.payload.columns[column];
    // Several codes may be meant, or what is left of them: those are chosen in the chart.
    if (values.length > MOST_CODES || this.isNegated) return this.ask(text, "question.coded_in_chart", [], { column: name });
    this.ask(text, "question.coded", values.map((_, place) => ({ column, codes: [place + 1] })), { column: name });
  }

  /** A word that is nearly one of a value is asked back. */
  readAlike() {
    const word = this.words[this.place];
    const options = this.lexicon.alike(word.folded);
    if (!options.length) return false;
    this.ask(word.text, "question.alike", options, {});
    this.place++;
    return true;
  }

  /** Values of one column are joined by "or"; its ranges and negations must hold together, unless "or" was typed. */
  selection() {
    const found = /** @type {Selected} */ (new Map());
    for (const reading of this.readings) {
      const { column, codes } = reading;
      const before = found.get(column);
      const isNarrowing = before && this.narrows(reading);
      const joined = !before ? codes : isNarrowing ? before.filter((code) => codes.includes(code)) : [...before, ...codes];
      found.set(column, [...new Set(joined)].sort((a, b) => a - b));
    }
    for (const [column, codes] of found)
      if (!codes.length) {
        found.delete(column);
        this.notes.push({ key: "question.contradiction", given: { column: this.payload.columns[column].name } });
      }
    return found;
  }

  /** Whether a reading narrows its column instead of adding to it. @param {Reading} reading */
  narrows({ column, text, isNegated, isEither }) {
    if (isEither) return false;
    const plain = `${folded(text)} `;
    return isNegated || (isNumeric(this.payload.columns[column]) && COMPARED.some(([words]) => plain.includes(`${words} `)));
  }
}

/** Amounts with the currency behind the number: "€ 10" and "10EUR" are 10 and a currency. @param {import("./lexicon.js").Word[]} words */
function amountsOf(words) {
  const isNumber = (/** @type {string} */ word) => /^-?\d+(\.\d+)?$/.test(word);
  const isCurrency = (/** @type {string} */ word) => CURRENCIES.some((group) => group.includes(word));
  const found = words.flatMap((word) => {
    const [, number, unit] = /^(\d+(?:\.\d+)?)(\p{L}+)$/u.exec(word.folded) ?? [];
    return number && isCurrency(unit) ? [number, unit].map((text) => ({ text, folded: text })) : [word];
  });
  for (let place = 0; place + 1 < found.length; place++)
    if (isCurrency(found[place].folded) && isNumber(found[place + 1].folded) && !(place && isNumber(found[place - 1].folded)))
      [found[place], found[place + 1]] = [found[place + 1], found[place]];
  return found;
}

/** @param {"above" | "from" | "below" | "to"} kind @param {number} value @param {number} number @returns {NumberRange} */
function rangeOf(kind, value, number) {
  if (kind === "above" || kind === "from") return { low: value, high: Infinity, fromLow: kind === "from", toHigh: true, number };
  return { low: -Infinity, high: value, fromLow: true, toHigh: kind === "to", number };
}
