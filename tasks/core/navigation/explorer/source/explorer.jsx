/** The explorer as a whole: the question, the selection, the charts or the records. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { Charts } from "./chart.jsx";
import { Comparison } from "./comparison.jsx";
import { isSampled, ofAllRecords } from "./payload.js";
import { Answer, Question } from "./question.jsx";
import { Records } from "./records.jsx";
import { copy, saveCharts } from "./save.js";
import { withColumn } from "./selection.js";
import { StateContext, useExplorer } from "./state.js";
import { actualLegend, columnText, estimatedLegend, heldText, number, sampleText, valueRuns } from "./words.js";

function Legend() {
  const { payload, say, display } = useExplorer();
  if (display.value !== "charts") return null;
  const { protection } = payload.meta;
  return (
    <ul class="legend" aria-label={say("legend")}>
      {payload.records > 0 && <li><Sample kind="estimated" />{estimatedLegend(payload, say)}</li>}
      {protection !== "syndiffix" && <li><Sample kind="actual" />{say(actualLegend(payload))}</li>}
      {protection === "fitted" && <li><Sample kind="bounds" />{say("not_measured_legend")}</li>}
      {protection !== "syndiffix" && <li><Sample kind="none" />{say(payload.meta.audience === "owner" || protection === "fitted" ? "not_covered_legend" : "not_released_legend")}</li>}
    </ul>
  );
}

/** @param {{kind: "estimated" | "actual" | "bounds" | "none"}} props */
function Sample({ kind }) {
  return (
    <svg class="sample" width="34" height="14" aria-hidden="true">
      {kind === "none" && <line class="unreleased" x1="1" x2="33" y1="7" y2="7" />}
      {(kind === "estimated" || kind === "actual") && <rect class={kind} x="0" y="3" width={kind === "actual" ? 24 : 30} height="8" />}
      {(kind === "actual" || kind === "bounds") && <path class="range" d={kind === "actual" ? "M18 7H31M18 3V11M31 3V11" : "M3 7H31M3 3V11M31 3V11"} />}
    </svg>
  );
}

const DISPLAYS = /** @type {const} */ (["charts", "records"]);

function Toolbar() {
  const state = useExplorer();
  const { pages, page, display } = state;
  const say = state.say;
  const charts = display.value === "charts";
  return (
    <div class="toolbar">
      <Choice label={say("view")} value={display.value} choices={DISPLAYS.map((name) => [name, say(name)])}
        onChoose={(value) => (display.value = value)} />
      {charts && pages.length > 1 && (
        <Choice label={say("pages")} value={page.value} choices={pages.map(({ name }, place) => [place, name])}
          onChoose={(value) => (page.value = value)} />
      )}
      {charts && (
        <div class="choice" role="group" aria-label={say("save_all")}>
          <span class="title" aria-hidden="true">{say("save_all")}</span>
          {/** @type {const} */ (["csv", "svg", "png"]).map((form) => (
            <button key={form} type="button" onClick={() => saveCharts(state, pages[page.value].visuals, form)}>{say(`save_${form}`)}</button>
          ))}
        </div>
      )}
    </div>
  );
}

/** One of a few, as buttons. @template T @param {{label: string, value: T, choices: [T, string][], onChoose: (value: T) => void}} props */
function Choice({ label, value, choices, onChoose }) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {choices.map(([one, name]) => (
        <button key={one} type="button" dir="auto" aria-pressed={one === value} onClick={() => onChoose(one)}>{name}</button>
      ))}
    </div>
  );
}

/** Chips that are shown at first; so many leave room for the charts below. */
const SHOWN = 8;

function SelectionBar() {
  const state = useExplorer();
  const { payload, selection, past } = state;
  const say = state.say;
  const isOpen = useSignal(false);
  const chosen = [...selection.value].flatMap(([column, codes]) => valueRuns(payload, column, codes, say, heldText).map((run) => ({ column, ...run })));
  const hidden = isOpen.value || chosen.length <= SHOWN + 1 ? 0 : chosen.length - SHOWN;
  return (
    <div class={isOpen.value && chosen.length > SHOWN + 1 ? "selection open" : "selection"} role="group" aria-label={say("selected")}>
      {chosen.length === 0 && <p class="none">{say("nothing_selected")}</p>}
      {chosen.length > 0 && (
        <ul class="chips">
          {chosen.slice(0, chosen.length - hidden).map(({ column, codes, text }) => (
            <Chip key={`${column}/${codes[0]}`} column={column} codes={codes} value={text} />
          ))}
          {chosen.length > SHOWN + 1 && (
            <li><button type="button" class="quiet" aria-expanded={hidden === 0} onClick={() => (isOpen.value = hidden > 0)}>
              {hidden ? say("chips_more", { n: hidden }) : say("chips_fewer")}
            </button></li>
          )}
        </ul>
      )}
      <p class="size" aria-live="polite">
        {payload.records ? countText(state) : say("no_records")}
      </p>
      <div class="acts">
        <button type="button" disabled={past.value.length === 0} onClick={state.undo}>{say("undo")}</button>
        <button type="button" disabled={chosen.length === 0} onClick={state.clear}>{say("clear")}</button>
        <button type="button" onClick={() => copyLink(state)}>{say("copy_link")}</button>
      </div>
      {isSampled(payload) && <p class="size sampled">{sampleText(payload, say)}</p>}
    </div>
  );
}

/** How many records of the release are selected. @param {State} state */
function countText({ payload, selection, passes, say }) {
  const given = { n: ofAllRecords(payload, passes.value.size), of: number(payload.meta.records) };
  const isAbout = isSampled(payload) && selection.value.size > 0;
  return say(isAbout ? "records_count_about" : "records_count", given);
}

/** A value that is chosen, or neighbouring bins; it takes them back. @param {{column: number, codes: number[], value: string}} props */
function Chip({ column, codes, value }) {
  const { payload, selection, choose, say } = useExplorer();
  const name = columnText(payload, column, say);
  const takeBack = () => choose(withColumn(selection.value, column, (selection.value.get(column) ?? []).filter((code) => !codes.includes(code))));
  return (
    <li>
      <button type="button" class="chip" aria-label={say("remove", { value: `${name}: ${value}` })} onClick={takeBack}>
        <span class="name" dir="auto">{name}</span> <bdi>{value}</bdi> <span class="cross" aria-hidden="true">×</span>
      </button>
    </li>
  );
}

/** @param {State} state */
async function copyLink(state) {
  const address = location.href.split("#")[0] + state.link.value;
  state.notice.value = state.say((await copy(address)) ? "copied" : "not_copied");
}

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof Element && target.matches("input, textarea, select");

/** @param {State} state */
function listen(state) {
  const print = (/** @type {Event} */ event) => {
    state.printing.value = event.type === "beforeprint";
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key.toLowerCase() !== "z" || isTyping(event.target)) return;
    event.preventDefault();
    state.undo();
  };
  const leaving = new AbortController();
  const until = { signal: leaving.signal };
  addEventListener("hashchange", () => state.follow(), until);
  addEventListener("beforeprint", print, until);
  addEventListener("afterprint", print, until);
  document.addEventListener("keydown", keys, until);
  const stop = state.link.subscribe((link) => {
    if (location.hash !== link) history.replaceState(null, "", link || location.pathname + location.search);
  });
  return () => {
    stop();
    leaving.abort();
  };
}

/** @param {{state: State}} props */
export function Explorer({ state }) {
  useEffect(() => listen(state), [state]);
  const { say } = state;
  return (
    <StateContext.Provider value={state}>
      <section class="explorer" aria-label={say("explorer")}>
        <div class="ask">
          <Question />
          <Answer />
        </div>
        <Comparison />
        <SelectionBar />
        <Toolbar />
        <Legend />
        {state.display.value === "charts" ? <Charts /> : <Records />}
        <p class="unseen" role="status">{state.notice.value}</p>
      </section>
    </StateContext.Provider>
  );
}
