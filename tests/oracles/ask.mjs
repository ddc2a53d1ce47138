/**
 * Asks the page's answers: releases and questions as a line of JSON on the standard input, a line of answers, one a
 * question, on the output, until the input ends.
 *
 * {releases: [payload], asked: [{what: "answer", release, selection} | {what: "difference", release, selection, to, other}
 *  | {what: "parse", release, text} | {what: "actual", release, selection, column, code}
 *  | {what: "shares", release, selection, base, to, other, otherBase}]}; a selection is [[column, codes], ...].
 */
import { createInterface } from "node:readline";

const source = (name) => import(new URL(name, process.argv[2]).href);
const { answer } = await source("answers/answer.js");
const { difference } = await source("answers/difference.js");
const { parse } = await source("answers/question.js");
const { basesOf, differenceOfShares, share } = await source("answers/shares.js");
const { publishedWith } = await source("published.js");

let releases = [];
const whole = (values) => (values ? Int32Array.from(values) : null);
const prepare = (release) => {
  let first = 0;
  for (const column of release.columns) {
    column.first = first;
    column.codes = (column.codes ?? []).map((codes) => Uint16Array.from(codes));
    first += column.values.length;
  }
  for (const counts of release.counts) {
    counts.ids = counts.ids.map((ids) => Uint16Array.from(ids));
    for (const name of ["count", "low", "high", "noisy", "estimate"]) counts[name] = whole(counts[name]);
  }
  for (const table of release.tables) table.cells = whole(table.cells);
};

const side = (release, selection) => ({ payload: releases[release], selection: new Map(selection) });
const asking = {
  answer: ({ release, selection }) => answer(releases[release], new Map(selection)),
  difference: ({ release, selection, to, other }) => difference(side(release, selection), side(to, other)),
  shares: ({ release, selection, base, to, other, otherBase }) => {
    const [one, second] = [
      { ...side(release, selection), base: new Map(base) },
      { ...side(to, other), base: new Map(otherBase) },
    ];
    const bases = basesOf(one.selection, second.selection);
    return { ...differenceOfShares(one, second), shares: [share(one), share(second)], bases };
  },
  actual: ({ release, selection, column, code }) => publishedWith(releases[release], new Map(selection))(column, code),
  parse: ({ release, text }) => {
    const found = parse(releases[release], text);
    return { ...found, selection: [...found.selection] };
  },
};
const plain = (key, value) => (value === Infinity ? "inf" : value);
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  releases = request.releases;
  releases.forEach(prepare);
  process.stdout.write(JSON.stringify(request.asked.map((each) => asking[each.what](each)), plain) + "\n");
}
