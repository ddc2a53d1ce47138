/**
 * Where the true count of a selection lies for certain under k-anonymity: rounded counts in, a range out.
 *
 * A published count of c stands for c to c + k - 1, and a combination that was not published for 0 to k - 1. Sums add
 * the ranges up. Whoever meets more conditions is among those who meet fewer, which narrows the range of both.
 *
 * @typedef {{low: number, high: number}} Ends
 */
import { pairsOf, subsets, within, without } from "./cells.js";
import { columnOfSeveral, columnWithoutValue, combinationsOf, MOST_COMBINATIONS, partsOf, rowOf } from "./counts.js";

/** The certain range of a selection's count. @param {Payload} payload @param {Selected} selection @returns {Ends} */
export function certainRange(payload, selection) {
  return new Ranges(payload).of(selection);
}

/** So many columns more than are counted together, and only their upper end is looked for. */
const MORE = 3;

class Ranges {
  /** @param {Payload} payload */
  constructor(payload) {
    this.payload = payload;
    this.rounded = (payload.meta.resolution ?? 1) - 1;
    this.known = /** @type {Map<string, Ends>} */ (new Map());
  }

  /** @param {Selected} selection @returns {Ends} */
  of(selection) {
    const key = [...selection].sort(([a], [b]) => a - b).map(([place, codes]) => `${place}=${codes}`).join(";");
    let found = this.known.get(key);
    if (!found) this.known.set(key, (found = this.found(selection)));
    return found;
  }

  /** @param {Selected} selection @returns {Ends} */
  found(selection) {
    const { number, reporting_length: longest } = this.payload.meta;
    if (selection.size > longest + MORE) return this.ofMany(selection, longest);
    if (!selection.size) return number ? { low: number.low, high: number.high } : { low: 0, high: Infinity };
    const special = columnWithoutValue(this.payload, selection);
    let { low, high } = special !== undefined
      ? this.withoutValue(selection, special)
      : selection.size <= longest
        ? this.sum(selection)
        : { low: 0, high: Infinity };
    const places = [...selection.keys()];
    for (const place of places) high = Math.min(high, this.of(without(selection, place)).high);
    for (const [one, other] of pairsOf(places)) {
      const whole = this.of(without(selection, one, other)).high;
      low = Math.max(low, this.of(without(selection, one)).low + this.of(without(selection, other)).low - whole);
    }
    return { low: Math.max(0, low), high: Math.max(0, high) };
  }

  /** Of many columns, no more than any few of them. @param {Selected} selection @param {number} longest @returns {Ends} */
  ofMany(selection, longest) {
    const few = subsets([...selection.keys()], longest).filter(({ length }) => length === longest);
    const ends = few.map((places) => this.of(within(selection, places)));
    return { low: 0, high: Math.min(...ends.map(({ high }) => high)) };
  }

  /** Of values alone. @param {Selected} selection @returns {Ends} */
  sum(selection) {
    const place = columnOfSeveral(this.payload, selection);
    if (place !== undefined) {
      const codes = /** @type {number[]} */ (selection.get(place));
      const each = codes.map((code) => this.of(new Map(selection).set(place, [code])));
      return { low: Math.max(...each.map(({ low }) => low)), high: each.reduce((sum, { high }) => sum + high, 0) };
    }
    if ([...selection.values()].reduce((product, { length }) => product * length, 1) > MOST_COMBINATIONS)
      return { low: 0, high: Infinity };
    let [low, high] = [0, 0];
    const { count } = this.payload.counts[selection.size - 1];
    for (const ids of combinationsOf(this.payload, selection)) {
      const row = rowOf(this.payload, ids);
      if (row >= 0) low += count[row];
      high += (row >= 0 ? count[row] : 0) + this.rounded;
    }
    return { low, high };
  }

  /**
   * Nobody counted who holds no value, or one that was not published: that is what the others leave of all.
   * @param {Selected} selection @param {number} place of a column that is asked for missing, or for values that were not published
   * @returns {Ends}
   */
  withoutValue(selection, place) {
    const column = this.payload.columns[place];
    const { values, special, rest, isAll } = partsOf(column, /** @type {number[]} */ (selection.get(place)));
    const with_ = (/** @type {number[]} */ chosen) =>
      chosen.length ? this.of(new Map(selection).set(place, chosen)) : { low: 0, high: 0 };
    const whole = this.of(without(selection, place));
    if (column.kind === "items" && values.length) {
      const empty = with_(special);
      return { low: with_(values).low, high: with_(values).high + empty.high };
    }
    const others = with_(rest);
    return {
      low: Math.max(with_(values).low, isAll ? whole.low - others.high : 0),
      high: whole.high - others.low,
    };
  }
}
