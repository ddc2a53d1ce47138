/** Values that read as dates: 2024, 2024-04, 2024-04-05, 2024-Q2, Q2 2024, 2. Quartal 2024. */

const YEAR = String.raw`(?:1[6-9]|20|21)\d\d`;
const MONTHLY = new RegExp(`^(${YEAR})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\\d|3[01]))?)?$`);
const QUARTERLY = new RegExp(`^(${YEAR})[ -]?Q([1-4])$|^(?:Q([1-4])|([1-4])\\. ?Quartal)[ /-]?(${YEAR})$`, "i");

/**
 * Something that is larger the later a date is; null if it is none.
 * @param {string} text
 */
export function momentOf(text) {
  const date = MONTHLY.exec(text.trim());
  if (date) return place(date[1], Number(date[2] ?? 0), Number(date[3] ?? 0));
  const quarter = QUARTERLY.exec(text.trim());
  if (!quarter) return null;
  return place(quarter[1] ?? quarter[5], 3 * Number(quarter[2] ?? quarter[3] ?? quarter[4]) - 2, 0);
}

/** @param {string} year @param {number} month @param {number} day */
const place = (year, month, day) => (Number(year) * 13 + month) * 32 + day;

/**
 * Whether all values of a column are dates, of which there are two at least.
 * @param {string[]} values
 */
export const areDates = (values) => values.length > 1 && values.every((value) => momentOf(value) !== null);

/**
 * The places of values: in time where all are dates, else as they are.
 * @param {string[]} values
 */
export function inTime(values) {
  const places = values.map((_, index) => index);
  return areDates(values) ? places.sort((a, b) => Number(momentOf(values[a])) - Number(momentOf(values[b]))) : places;
}
