/**
 * Words that people type for the same thing, English and German: no meaning of a column is guessed beyond these.
 *
 * The first word of a group is what values are looked up by; any value of which one part stands in a group can be
 * asked for by each word of it.
 */

/** Words for one value. */
export const SAME = [
  "female f woman women girl girls lady ladies frau frauen weiblich w",
  "male m man men boy boys mann maenner manner mannlich",
  "rented rent rents renter tenant tenants tenancy gemietet miete mietet mieter mietend zur-miete",
  "owned own owns owner homeowner ownership eigentum eigentumer eigen besitz",
  "employed works working employee erwerbstatig angestellt beschaftigt",
  "unemployed jobless arbeitslos",
  "job-seeker jobseeker arbeitsuchend arbeitssuchend",
  "retired pensioner pensioners retiree retirees rentner rentnerin rentnerinnen pensioniert",
  "student students studying studierend studierende studentin",
  "married verheiratet",
  "single unmarried never-married ledig",
  "divorced geschieden",
  "widowed widow widower verwitwet",
  "yes y true ja",
  "no n false nein",
  "alone allein alleinlebend",
  "children kids kinder kindern",
  "car auto",
  "bicycle bike cycle fahrrad rad",
  "healthy good gesund",
].map((line) => line.split(" ").map((word) => word.replaceAll("-", " ")));

/** A word that stands for all values that have one of the others in them. */
export const BROAD = [
  "degree degrees abschluss hochschulabschluss studium bachelor bachelors master masters doctorate doctor phd university",
].map((line) => line.split(" "));

/** Where single words of `BROAD` say so: in a column that is called like this. A doctor by occupation is no degree. */
export const BROAD_NAMED = ["education edu bildung schooling degree degrees qualification qualifications abschluss schulabschluss"].map((line) => line.split(" "));

/** How many of the words of `BROAD` say it themselves, wherever they stand. */
export const BROAD_PLAIN = 4;

/** How many of the words of `BROAD` may be typed for all of them; the rest only stand in values. */
export const BROAD_TYPED = 5;

/** The column that a word is about, by the first words of its group and of the column's. */
export const ABOUT = new Map(
  Object.entries({
    female: "sex", male: "sex", rented: "housing", owned: "housing", degree: "education", employed: "work",
    unemployed: "work", retired: "work", student: "work", married: "marital", single: "marital", divorced: "marital",
    widowed: "marital",
  }),
);

/** Words for one column. */
export const COLUMNS = [
  "age aged agep alter old years jahre jahren alt year",
  "sex gender geschlecht",
  "housing tenure home wohnung wohnform",
  "education edu bildung schooling",
  "work employment job arbeit beruf occupation",
  "income einkommen earnings pincp",
  "household haushalt family familie",
  "health gesundheit",
  "region district area bezirk gebiet",
  "marital msp marital-status familienstand",
].map((line) => line.split(" ").map((word) => word.replaceAll("-", " ")));

/** Signs that may stand beside a number. */
export const SIGNS = "€$£¥₹%";

/** Words for a currency. */
export const CURRENCIES = [
  "€ eur euro euros", "$ usd dollar dollars", "£ gbp pound pounds pfund", "chf franc francs franken", "¥ jpy yen", "₹ inr rupee rupees",
].map((line) => line.split(" "));

/** Words in the name of a column of money. */
export const MONEY = new Set(
  ("money amount price cost costs fee fees pay payment payments wage wages salary income earnings rent revenue turnover premium donation " +
    "donations contribution expense expenses spending budget betrag preis kosten gebuhr beitrag lohn gehalt einkommen miete umsatz spende spenden")
    .split(" "),
);

/** What is skipped where it means nothing else. */
export const SKIPPED = new Set(
  ("how many much number count of the a an all any who which that are is was were be do does did has have had with in at " +
    "on for by to and people persons person records record respondents respondent there live lives living whose what their they " +
    "wie viele viel anzahl zahl der die das den dem ein eine einen einem alle sind ist war waren hat haben mit in im am auf " +
    "fur von zu und leute menschen personen es gibt wohnen wohnt leben lebt ihre aus welche")
    .split(" "),
);

export const NEGATIONS = new Set("without no not non none ohne nicht kein keine keinen keiner".split(" "));
export const MISSING = new Set("missing unknown empty unanswered blank fehlt fehlend unbekannt leer".split(" "));
/** What the page writes after "missing" of an open column. */
export const RARE = ["or too rare", "oder zu selten"];
/** What it writes of the values of an open column that were not released. */
export const UNRELEASED = ["not released", "nicht veroffentlicht"];
export const EITHER = new Set(["or", "oder"]);

/**
 * Words before a number, by what they say of it; the longest is tried first.
 * @type {[string, "above" | "from" | "below" | "to"][]}
 */
export const COMPARED = /** @type {[string, "above" | "from" | "below" | "to"][]} */ ([
  ["older than", "above"], ["more than", "above"], ["greater than", "above"], ["higher than", "above"],
  ["mehr als", "above"], ["alter als", "above"], ["hoher als", "above"],
  ["over", "above"], ["above", "above"], ["past", "above"], ["after", "above"], ["uber", "above"], ["ueber", "above"], ["nach", "above"], [">", "above"],
  ["at least", "from"], ["not under", "from"], ["from", "from"], ["since", "from"], ["mindestens", "from"], ["ab", "from"], ["seit", "from"], [">=", "from"], ["≥", "from"],
  ["younger than", "below"], ["less than", "below"], ["fewer than", "below"], ["lower than", "below"],
  ["weniger als", "below"], ["junger als", "below"],
  ["under", "below"], ["below", "below"], ["before", "below"], ["unter", "below"], ["vor", "below"], ["<", "below"],
  ["at most", "to"], ["up to", "to"], ["not over", "to"], ["no more than", "to"], ["hochstens", "to"], ["bis zu", "to"], ["bis", "to"], ["<=", "to"], ["≤", "to"],
]).sort(([a], [b]) => b.length - a.length);

/** Words before two numbers, and those between them. */
export const BETWEEN = new Set(["between", "from", "zwischen", "von", "aged"]);
export const AND = new Set(["and", "to", "und", "bis", "-", "–"]);
/** Words after a number, by what they say of it. */
export const AFTER = new Map(
  Object.entries({ older: "from", over: "from", more: "from", alter: "from", mehr: "from", younger: "to", less: "to", under: "to", junger: "to", weniger: "to" }),
);
