/** Two groups beside each other, or one group in two releases: is the difference real, or noise? */
import { answer, difference } from "./answering.js";
import { decode, PageError } from "./decode.js";
import { equal, translated } from "./selection.js";
import { useExplorer } from "./state.js";
import { differenceTexts, groupText } from "./words.js";

/** @import { Payload, Selection } from "./payload.js" */
/** @import { State } from "./state.js" */

/** @typedef {{payload: Payload, selection: Selection}} Side */

export function Comparison() {
  const state = useExplorer();
  const { payload, kept, other, selection } = state;
  const say = state.say.value;
  /** @type {Side} */
  const now = { payload, selection: selection.value };
  return (
    <section class="comparison" aria-label={say("compare")}>
      {kept.value && <Groups kept={{ payload, selection: kept.value }} now={now} />}
      {other.value && <Releases now={now} there={other.value} />}
      <OpenOther />
    </section>
  );
}

/** @param {{kept: Side, now: Side}} props */
function Groups({ kept, now }) {
  const state = useExplorer();
  const say = state.say.value;
  const same = equal(kept.selection, now.selection);
  return (
    <div class="pair">
      <h3>{say("compare")}</h3>
      <SideOf title={say("side_a")} side={kept} />
      {same ? <p class="note">{say("choose_b")}</p> : <SideOf title={say("side_b")} side={now} />}
      {!same && <Difference a={kept} b={now} />}
      <div class="acts">
        <button type="button" disabled={same} onClick={() => state.choose(kept.selection)}>{say("swap")}</button>
        <button type="button" onClick={() => (state.kept.value = null)}>{say("stop_comparing")}</button>
      </div>
    </div>
  );
}

/** @param {{now: Side, there: Payload}} props */
function Releases({ now, there }) {
  const state = useExplorer();
  const say = state.say.value;
  const { selection, whole } = translated(now.payload, now.selection, there);
  const other = { payload: there, selection };
  return (
    <div class="pair">
      <h3>{say("compare")}</h3>
      <SideOf title={say("here", { vintage: now.payload.meta.vintage })} side={now} />
      {whole ? <SideOf title={say("there", { vintage: there.meta.vintage })} side={other} /> : <p class="caution">{say("other_lacks")}</p>}
      {whole && <Difference a={now} b={other} />}
      <div class="acts">
        <button type="button" onClick={() => (state.other.value = null)}>{say("close_other")}</button>
      </div>
    </div>
  );
}

/** @param {{title: string, side: Side}} props */
function SideOf({ title, side }) {
  const { say, number } = useExplorer();
  const { value, low, high } = answer(side.payload, side.selection);
  return (
    <div class="side">
      <h4 dir="auto">{title}</h4>
      <p class="number"><span>{value === null ? "–" : number.value(value)}</span> <bdi class="group">{groupText(side.payload, side.selection, say.value)}</bdi></p>
      <p class="range">{low === null || high === null ? say.value("no_range") : say.value("range_95", { low, high })}</p>
    </div>
  );
}

/** @param {{a: Side, b: Side}} props */
function Difference({ a, b }) {
  const { say } = useExplorer();
  return (
    <div class="difference" aria-live="polite">
      <h4>{say.value("difference")}</h4>
      {differenceTexts(difference(a, b), say.value).map((text, place) => <p key={place}>{text}</p>)}
    </div>
  );
}

function OpenOther() {
  const state = useExplorer();
  return (
    <label class="file">
      <span>{state.say.value("open_other")}</span>
      <input type="file" accept=".html,text/html" onChange={(event) => openOther(state, event.currentTarget)} />
    </label>
  );
}

/**
 * Reads another page. Its text is only parsed: nothing in it runs, and nothing is loaded.
 * @param {State} state
 * @param {HTMLInputElement} input
 */
async function openOther(state, input) {
  const file = input.files?.[0];
  if (!file) return;
  const say = state.say.value;
  try {
    const page = new DOMParser().parseFromString(await file.text(), "text/html");
    const there = await decode(page);
    state.other.value = there;
    state.notice.value = say("other_opened", { title: there.meta.title, vintage: there.meta.vintage });
  } catch (error) {
    state.notice.value = say(error instanceof PageError ? error.key : "cannot_open");
  }
  input.value = "";
}
