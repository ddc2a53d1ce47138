/** What the page shows now, as signals: whoever reads one is drawn again when it changes. */
import { batch, computed, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import { histogram, passing } from "./counting.js";
import { equal, linkOf, NOTHING, toggled, viewOf, withColumn } from "./selection.js";
import { speaker } from "./words.js";

/** Steps back that are kept. */
const STEPS = 200;


/** @typedef {{key: "not_yet" | "without_contradicted" | "without_unread", texts: string[]}} Unresolved */

/** @param {Payload} payload */
export function createState(payload) {
  const view = viewOf(payload, location.hash);
  const selection = signal(view.selection);
  const past = signal(/** @type {Selected[]} */ ([]));
  const say = speaker(payload.meta.audience);
  const passes = computed(() => passing(payload, selection.value));
  const pages = pagesOf(payload);
  const page = signal(Math.min(view.page, pages.length - 1));
  const notice = signal(view.unknown ? say("link_unknown", { n: view.unknown }) : "");
  const link = computed(() => linkOf(payload, { selection: selection.value, page: page.value }));

  const asked = signal(/** @type {Asked | null} */ (null));

  const unresolved = computed(() => unresolvedOf(asked.value));
  /** Whether nothing of a question was understood, so that no number answers it. */
  const isUnanswered = computed(() => selection.value.size === 0 && unresolved.value.length > 0);

  /** @param {Selected} next @param {Asked | null} [question] what it answers; another choice ends a question */
  function choose(next, question = null) {
    asked.value = question;
    if (equal(next, selection.value)) return;
    batch(() => {
      past.value = [...past.value, selection.value].slice(-STEPS);
      selection.value = next;
      notice.value = "";
    });
  }

  return {
    payload,
    pages,
    selection,
    past,
    passes,
    page,
    link,
    asked,
    unresolved,
    isUnanswered,
    choose,
    say,
    counts: payload.columns.map((_, column) => computed(() => histogram(payload, passes.value, column))),
    display: signal(/** @type {"charts" | "records"} */ ("charts")),
    /** The selection that others are compared with. */
    kept: signal(/** @type {Selected | null} */ (null)),
    /** Another release, opened from a file. */
    other: signal(/** @type {Payload | null} */ (null)),
    /** What was just done, for those who do not see it. */
    notice,
    printing: signal(false),
    /** @param {number} column @param {number} code */
    toggle: (column, code) => choose(toggled(selection.value, column, code)),
    /** @param {number} column */
    clearColumn: (column) => choose(withColumn(selection.value, column, [])),
    clear: () => choose(NOTHING),
    undo() {
      const before = past.value.at(-1);
      if (!before) return;
      batch(() => {
        asked.value = null;
        past.value = past.value.slice(0, -1);
        selection.value = before;
      });
    },
    /** Takes up what the link of the page says now, if that is another view. */
    follow() {
      if (location.hash === link.value) return;
      const asked = viewOf(payload, location.hash);
      batch(() => {
        choose(asked.selection);
        page.value = Math.min(asked.page, pages.length - 1);
      });
    },
  };
}

/** What of a typed question its selection leaves out, by the message that says so. @param {Asked | null} asked @returns {Unresolved[]} */
function unresolvedOf(asked) {
  if (!asked) return [];
  const { ambiguous, unread, notes } = asked.question;
  const contradicted = notes.filter(({ key }) => key === "question.contradiction").map(({ given }) => String(given?.column));
  /** @type {Unresolved[]} */
  const parts = [
    { key: "not_yet", texts: ambiguous.filter((_, place) => !asked.settled.includes(place)).map(({ text }) => text) },
    { key: "without_contradicted", texts: contradicted },
    { key: "without_unread", texts: unread },
  ];
  return parts.filter(({ texts }) => texts.length);
}

/** The pages as laid out; one of all columns where nothing is laid out. @param {Payload} payload */
function pagesOf({ meta, columns }) {
  const pages = meta.layout?.pages ?? [];
  if (pages.length) return pages;
  return [{ name: "", visuals: columns.map(({ name }, column) => ({ name, column })) }];
}

export const StateContext = createContext(/** @type {State} */ (/** @type {unknown} */ (null)));

/** The state of the page around a component. */
export const useExplorer = () => useContext(StateContext);
