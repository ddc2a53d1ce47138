/** Where a number lies on a chart's axis. */
import { nice, ticks } from "d3-array";

/** Marks of an axis, about. */
const TICKS = 3;

/**
 * An axis from 0 to at least `most`, of `width`; what lies beyond is cut off at its end.
 * @param {number} most
 * @param {number} width
 */
export function axis(most, width) {
  const [, end] = nice(0, Math.max(most, 1), TICKS);
  return {
    end,
    at: (/** @type {number} */ value) => (Math.min(Math.max(value, 0), end) / end) * width,
    ticks: ticks(0, end, TICKS).filter(Number.isInteger),
  };
}

/**
 * Numbers beside an axis, short.
 * @param {string} language
 */
export function tickText(language) {
  const format = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
  return (/** @type {number} */ value) => format.format(value);
}
