/** Two groups beside each other, or one group in two releases: is the difference real, or noise? */
import { answer, difference, translated } from "./answers/index.js";
import { decode, PageError } from "./decode.js";
import { equal } from "./selection.js";
import { useExplorer } from "./state.js";
import { groupText, rangeText } from "./words.js";

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
  const { selection, missing } = translated(now.payload, there, now.selection);
  const whole = missing.length === 0;
  const other = { payload: there, selection };
  return (
    <div class="pair">
      <h3>{say("compare")}</h3>
      <SideOf title={say("here", { vintage: now.payload.meta.vintage })} side={now} />
      {whole ? <SideOf title={say("there", { vintage: there.meta.vintage })} side={other} /> : <p class="caution">{say("other_lacks", { missing: missing.join(", ") })}</p>}
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
  const found = answer(side.payload, side.selection);
  return (
    <div class="side">
      <h4 dir="auto">{title}</h4>
      <p class="number"><span>{found.value === null ? "–" : number.value(found.value)}</span> <bdi class="group">{groupText(side.payload, side.selection, say.value)}</bdi></p>
      <p class="range">{rangeText(found, say.value)}</p>
    </div>
  );
}

/** @param {{a: Side, b: Side}} props */
function Difference({ a, b }) {
  const { say, number } = useExplorer();
  const { value, verdict, reason } = difference(a, b);
  return (
    <div class="difference" aria-live="polite">
      <h4>{say.value("difference")}</h4>
      {value !== null && <p class="number"><span>{number.value(value)}</span></p>}
      <p class="verdict">{say.value(verdict.key, verdict.given)}</p>
      <p class="note">{say.value(reason.key, reason.given)} {say.value("difference.many")}</p>
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
