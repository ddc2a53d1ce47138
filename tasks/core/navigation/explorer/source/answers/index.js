/**
 * What the page asks of a release: an answer, a difference, the meaning of a typed question.
 *
 * Start with `answer.js`; it says by protection where a count comes from. `fitted.js` has the least squares of noisy
 * tables (`estimates.js`), `shares.js` the percentages, `lengths.js` sums of published noisy counts, `rounded.js` certain ranges.
 */
export { answer } from "./answer.js";
export { difference, translated } from "./difference.js";
export { parse } from "./question.js";
export { basesOf, differenceOfShares, share, withoutColumns } from "./shares.js";
