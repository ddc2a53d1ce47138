/** The forms of what the program's files hand each other; those that one file alone uses stand there. */

/** One code a record; 0 is missing, v is `values[v - 1]`. */
type Codes = Uint8Array | Uint16Array | Uint32Array;

interface Column {
  name: string;
  kind: "category" | "bins" | "number" | "date" | "items";
  values: string[];
  names?: string[]; // what its values mean, where they are codes; "" where nobody says it
  slots: number; // a record holds a value if any slot does; only `items` has several
  open: boolean; // its values were read off the table, and paid for
  other: boolean; // tables have a cell for values that were not released
  absent: boolean; // tables have a cell for no value
  decided?: boolean; // other columns decide it: no noisy table holds it
  order: "listed" | "count"; // how its values are sorted at first
  age?: boolean; // its values are ages, reckoned from the dates that it is named after
  marks?: string; // characters that were taken off its cells, such as a currency's sign
  about?: string; // what the data contract says of it
  table?: string; // SynDiffix: the file it was read from
  first: number; // the attribute id of its first value
  codes: Codes[]; // an array a slot; empty where there are no records
}

/** The published counts of one length k, rows ascending by their ids. */
interface Counts {
  n: number;
  ids: (Uint16Array | Uint32Array)[]; // k arrays of attribute ids, ascending within a row
  count: Int32Array | Uint32Array;
  low: Int32Array | null;
  high: Int32Array | null;
  noisy: Int32Array | null; // by lengths: as drawn; -2147483648 where it was not measured
  estimate: Int32Array | null; // of a fitted release: by all noisy tables; -2147483648 where none tell it
}

/** Of a fitted release; of SynDiffix the synthetic rows of one released table, counted. */
interface NoisyTable {
  columns: number[];
  shape: number[];
  scale: number; // standard deviation of its noise, in records
  file?: string; // SynDiffix: the released table
  without_other?: boolean;
  cells: Int32Array; // in C order: values, then other, then absent
}

interface Visual {
  name: string;
  column?: number;
  attributes?: number[];
  unreleased?: string[]; // attributes of it that the release does not hold
}

/** What the page says of the release; see the format's description in the page's writer. */
interface Meta {
  format: number;
  audience?: "owner"; // the counts are true ones, for the owner of the data alone
  title: string;
  dataset: string;
  vintage: string;
  prefix: string;
  protection: "fitted" | "lengths" | "k_anonymity" | "syndiffix";
  unit: { one: string; many: string };
  records: number; // of the release
  records_in_page?: number; // where the page holds a sample of them
  number: { value: number; low: number; high: number; sd?: number } | null;
  sampled_share?: number; // the share of the records that were drawn
  reporting_length: number;
  resolution?: number;
  noise?: ({ sd: number; half_width_95: number; threshold: number | null; truncated: boolean } | null)[]; // a length
  layout?: { pages: { name: string; visuals: Visual[] }[] } | null;
  citation: { text: string; bibtex: string };
}

interface Payload {
  meta: Meta;
  records: number; // that the page holds; `meta.records` has the release
  columns: Column[];
  counts: Counts[]; // `counts[k - 1]` has the combinations of k attributes
  tables: NoisyTable[];
}

/**
 * Column to the codes chosen in it, ascending; a column without any is left out. Codes of one column are joined by "or",
 * columns by "and".
 */
type Selected = Map<number, number[]>;
/** Column to cells of noisy tables, both ascending; a column that is left out has all of its cells. */
type Box = Map<number, number[]>;
type Side = { payload: Payload; selection: Selected };

type Given = Record<string, string | number>;
/** The key of a message, and what it is told. */
type Words = { key: string; given: Given };
type Say = (key: string, given?: Given) => string;

/** Where a true count lies. */
interface CountRange {
  low: number; // not rounded, and perhaps below 0
  high: number;
  estimate: number | null; // in the middle; null where there are bounds alone
  sd: number | null; // of the estimate
}

/**
 * A weighted sum of counts of boxes and of single noisy counts: cells of a table that are read as they were drawn, apart
 * from all others, each named by its `place`.
 */
interface Estimator {
  parts: { weight: number; box: Box }[];
  drawn: { weight: number; place: string; variance: number; value: number }[];
  /** The counts that it is made of, each once however many tables tell it: of a sample, each varies by chance. */
  people: { weight: number; of: Estimator }[];
}

interface Answer {
  value: number | null; // the number to quote
  low: number | null; // of the 95 % range, or of the certain one
  high: number | null;
  basis: "number" | "count" | "sum" | "table" | "records" | "none"; // what it was made of
  parts: number; // how many released counts were added up; 0 where none were
  sd: number | null; // standard deviation of the noise in the estimate; null: bounds alone, or certain
  certain: boolean; // whether the range is certain, and not one of 95 of 100 draws
  source: Words; // what the number is
  reason: Words; // why the range is as wide as it is
  quote: Words; // which number to quote
  numbers: Numbers;
  sampled?: boolean; // whether the number is of a sample of the records
  more?: Words; // why other numbers beside it differ, or what would make its range narrower
}

/** All that the release says of a selection. */
interface Numbers {
  /** The sum of published counts (of a fitted release: counts of its records); null where one is missing that was needed. */
  published: number | null;
  noisy: number | null; // the sum of noisy counts as drawn
  estimate: number | null; // from all noisy tables together
  records: number | null; // in the synthetic records, scaled to the number of records of the table
}

interface Difference {
  value: number | null; // the first count less the second
  low: number | null;
  high: number | null;
  real: boolean | null; // whether the true counts differ, as far as the range tells; null: it can't be told
  certain: boolean;
  sd: number | null; // of the noise in the difference; null: bounds alone
  verdict: Words;
  reason: Words;
}

/** Values of a column that some words may stand for. */
type Option = { column: number; codes: number[] };
type Reading = Option & { text: string; isNegated: boolean; isEither: boolean; alternatives: (Option & { key: string })[] };
type Ambiguous = { text: string; key: string; given: Given; options: Option[] };

interface Question {
  selection: Selected; // of all readings
  readings: Reading[]; // what was understood; alternatives are other ways to take it
  ambiguous: Ambiguous[]; // what may mean several things; none of it is in the selection
  unread: string[]; // what means nothing here
  notes: Words[];
}

/** A question that was typed; `settled`: which of its ambiguous parts were chosen. */
type Asked = { question: Question; settled: number[] };

/** The *actual* bar: a released count, or null where nothing was measured, and the range of the true one. */
type Published = { value: number | null; low: number | null; high: number | null };
/** A value of a column; code 0 is "missing". */
type Place = { column: number; code: number; label: string };
type Row = Place & { estimated: number | null; actual: Published | null };
type Order = "listed" | "count" | "name";

type State = ReturnType<typeof import("./state.js").createState>;
type Signal<T> = import("@preact/signals").Signal<T>;

/** Files that the bundler reads. */
declare module "*.css";
