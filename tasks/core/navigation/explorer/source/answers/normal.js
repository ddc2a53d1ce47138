/** The normal distribution: how often a value lies below a point, and the point for how often. */

/** Half the width of the middle 95 of 100, in standard deviations. */
export const WITHIN_95 = 1.959963984540054;

/**
 * The density of the standard normal.
 * @param {number} x
 */
export const density = (x) => Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);

/**
 * How often a standard normal is above a value, to within 2e-13 of itself: a series near 0, a fraction beyond.
 * @param {number} x
 * @returns {number}
 */
export function above(x) {
  if (x < 0) return 1 - above(-x);
  if (x < 3) {
    let [term, sum] = [x, x];
    for (let n = 3; Math.abs(term) > 1e-17; n += 2) sum += term *= (x * x) / n;
    return 0.5 - density(x) * sum;
  }
  let fraction = x;
  for (let n = 120; n >= 1; n--) fraction = x + n / fraction;
  return density(x) / fraction;
}

/**
 * The value that a standard normal exceeds so often, by halving; for 0 < share <= 1/2.
 * @param {number} share
 */
export function exceeded(share) {
  let [low, high] = [0, 40];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (above(middle) > share) low = middle;
    else high = middle;
  }
  return high;
}
