/** What is selected, in chips that take it back; undo, clear and a link. It stays in sight while charts scroll. */
import { useSignal } from "@preact/signals";

import { copy } from "./clipboard.js";
import { isSampled, ofAllRecords } from "./sample.js";
import { withColumn } from "./selection.js";
import { useExplorer } from "./state.js";
import { columnText, heldText, sampleText, valueRuns } from "./words.js";

/** Chips that are shown at first; so many leave room for the charts below. */
const SHOWN = 8;

export function SelectionBar() {
  const state = useExplorer();
  const { payload, selection, past } = state;
  const say = state.say.value;
  const isOpen = useSignal(false);
  const chosen = [...selection.value].flatMap(([column, codes]) => valueRuns(payload, column, codes, say).map((run) => ({ column, ...run })));
  const hidden = isOpen.value || chosen.length <= SHOWN + 1 ? 0 : chosen.length - SHOWN;
  return (
    <div class={isOpen.value && chosen.length > SHOWN + 1 ? "selection open" : "selection"} role="group" aria-label={say("selected")}>
      {chosen.length === 0 && <p class="none">{say("nothing_selected")}</p>}
      {chosen.length > 0 && (
        <ul class="chips">
          {chosen.slice(0, chosen.length - hidden).map(({ column, codes, text }) => (
            <Chip key={`${column}/${codes[0]}`} column={column} codes={codes} value={codes[0] === 0 ? heldText(payload, column, 0, say) : text} />
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

/** How many records of the release are selected. @param {import("./state.js").State} state */
function countText({ payload, selection, passes, number, say }) {
  const given = { n: ofAllRecords(payload, passes.value.size), of: number.value(payload.meta.records) };
  const isAbout = isSampled(payload) && selection.value.size > 0;
  return say.value(isAbout ? "records_count_about" : "records_count", given);
}

/** A value that is chosen, or neighbouring bins; it takes them back. @param {{column: number, codes: number[], value: string}} props */
function Chip({ column, codes, value }) {
  const { payload, selection, choose, say } = useExplorer();
  const name = columnText(payload, column, say.value);
  const takeBack = () => choose(withColumn(selection.value, column, (selection.value.get(column) ?? []).filter((code) => !codes.includes(code))));
  return (
    <li>
      <button type="button" class="chip" aria-label={say.value("remove", { value: `${name}: ${value}` })} onClick={takeBack}>
        <span class="name" dir="auto">{name}</span> <bdi>{value}</bdi> <span class="cross" aria-hidden="true">×</span>
      </button>
    </li>
  );
}

/** @param {import("./state.js").State} state */
async function copyLink(state) {
  const address = location.href.split("#")[0] + state.link.value;
  state.notice.value = state.say.value((await copy(address)) ? "copied" : "not_copied");
}
