/** Which of many records are listed: a page of them at a time, so that no list is higher than a browser can draw. */

/** Records of a page. A browser ends an element at some 16 million pixels, half a million lines. */
export const PAGE_OF_RECORDS = 1000;

/**
 * @param {number} size how many records there are
 * @param {number} asked the page that is asked for, from 0
 * @returns {{page: number, pages: number, first: number, number: number}} `first` of `number` records, from 0
 */
export function pageOfRecords(size, asked) {
  const pages = Math.max(1, Math.ceil(size / PAGE_OF_RECORDS));
  const page = Math.min(Math.max(0, Math.trunc(asked) || 0), pages - 1);
  const first = page * PAGE_OF_RECORDS;
  return { page, pages, first, number: Math.min(PAGE_OF_RECORDS, size - first) };
}
