/** Two groups beside each other, or one group in two releases: is the difference real, or noise? */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";

import { answer } from "./answers/answer.js";
import { without } from "./answers/cells.js";
import { difference, translated } from "./answers/difference.js";
import { basesOf, differenceOfShares, share } from "./answers/shares.js";
import { decode, MOST_BYTES, PageError } from "./decode.js";
import { equal } from "./selection.js";
import { useExplorer } from "./state.js";
import { columnText, groupText, headline, number, sampleText, underline, unitText } from "./words.js";

export function Comparison() {
  const state = useExplorer();
  const { payload, kept, other, selection } = state;
  const say = state.say;
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
  const say = state.say;
  const same = equal(kept.selection, now.selection);
  const isOpen = state.unresolved.value.length > 0;
  return (
    <div class="pair">
      <h3>{say("compare")}</h3>
      <SideOf title={say("side_a")} side={kept} />
      {same && !isOpen && <p class="note">{say("choose_b")}</p>}
      {!same && !state.isUnanswered.value && <SideOf title={say("side_b")} side={now} />}
      {isOpen && <NoVerdict />}
      {!same && !isOpen && <Difference a={kept} b={now} />}
      {!same && !isOpen && <Shares a={kept} b={now} bases={basesOf(kept.selection, now.selection)} />}
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
  const say = state.say;
  const { selection, missing } = translated(now.payload, there, now.selection);
  const isOpen = state.unresolved.value.length > 0;
  const whole = missing.length === 0 && !state.isUnanswered.value;
  const other = { payload: there, selection };
  return (
    <div class="pair">
      <h3>{say("compare")}</h3>
      {!state.isUnanswered.value && <SideOf title={say("here", { vintage: now.payload.meta.vintage })} side={now} />}
      {there.meta.dataset !== now.payload.meta.dataset && (
        <p class="caution">{say("other_dataset", { here: now.payload.meta.dataset, there: there.meta.dataset })}</p>
      )}
      {whole && <SideOf title={say("there", { vintage: there.meta.vintage })} side={other} />}
      {missing.length > 0 && <p class="caution">{say("other_lacks", { missing: missing.join(", ") })}</p>}
      {isOpen && <NoVerdict />}
      {whole && !isOpen && <Difference a={now} b={other} />}
      {whole && !isOpen && selection.size > 0 && <Shares a={now} b={other} bases={basesOf(now.selection, now.selection)} />}
      <div class="acts">
        <button type="button" onClick={() => (state.other.value = null)}>{say("close_other")}</button>
      </div>
    </div>
  );
}

/** @param {{title: string, side: Side}} props */
function SideOf({ title, side }) {
  const { say } = useExplorer();
  const found = answer(side.payload, side.selection);
  return (
    <div class="side">
      <h4 dir="auto">{title}</h4>
      <p class="number"><span>{headline(found, say)}</span> <bdi class="group">{groupText(side.payload, side.selection, say)}</bdi></p>
      <p class="range">{underline(found, say)}</p>
      {found.sampled && <p class="note sampled">{sampleText(side.payload, say)}</p>}
    </div>
  );
}

/** A group that is not the one that was asked for is not judged. */
function NoVerdict() {
  return <p class="caution" aria-live="polite">{useExplorer().say("no_verdict")}</p>;
}

/** @param {{a: Side, b: Side}} props */
function Difference({ a, b }) {
  const { say } = useExplorer();
  const { value, verdict, reason } = difference(a, b);
  return (
    <div class="difference" aria-live="polite">
      <h4>{say(a.payload === b.payload ? "difference_of_groups" : "difference")}</h4>
      {value !== null && <p class="number"><span>{number(value)}</span></p>}
      <p class="verdict">{say(verdict.key, verdict.given)}</p>
      <p class="note">{say(reason.key, reason.given)} {say("difference.many")}</p>
    </div>
  );
}

/**
 * Both groups as shares of a base that a person picks; it leaves the same columns out of both.
 * @param {{a: Side, b: Side, bases: number[][]}} props
 */
function Shares({ a, b, bases }) {
  const state = useExplorer();
  const say = state.say;
  const picked = useSignal("");
  const columns = bases.find((each) => String(each) === picked.value) ?? bases[0];
  if (!columns) return null;
  const [one, other] = [a, b].map((side) => withBase(a, side, columns));
  const { value, verdict, reason } = differenceOfShares(one, other);
  return (
    <div class="shares">
      <h4>{say("shares")}</h4>
      <label class="choice">
        <span class="title">{say("shares_of")}</span>
        <select value={String(columns)} onChange={(event) => (picked.value = event.currentTarget.value)}>
          {bases.map((each) => <option key={String(each)} value={String(each)}>{baseText(state, each, [a, b])}</option>)}
        </select>
      </label>
      <div class="each">
        <ShareOf part={one} />
        <ShareOf part={other} />
        <div class="of-shares" aria-live="polite">
          {value !== null && <p class="number"><span>{say("shares_points", { points: value })}</span></p>}
          <p class="verdict">{say(verdict.key, verdict.given)}</p>
          <p class="note">{say(reason.key, reason.given)}</p>
        </div>
      </div>
    </div>
  );
}

/**
 * A side with its base. Columns are those of this release; in another one they have other places.
 * @param {Side} here @param {Side} side @param {number[]} columns
 */
function withBase(here, side, columns) {
  const names = columns.map((column) => here.payload.columns[column].name);
  const places = side.payload === here.payload ? columns : names.map((name) => side.payload.columns.findIndex((one) => one.name === name));
  return { ...side, base: without(side.selection, ...places) };
}

/** @param {State} state @param {number[]} columns @param {Side[]} sides */
function baseText({ payload, say }, columns, sides) {
  if (sides.every(({ selection }) => !without(selection, ...columns).size)) return say("everybody", { units: unitText(payload, say) });
  return say("base_without", { columns: columns.map((column) => columnText(payload, column, say)).join(", ") });
}

/** @param {{part: import("./answers/shares.js").Part}} props */
function ShareOf({ part }) {
  const { say } = useExplorer();
  const { value, low, high, certain } = share(part);
  const range = low === null || high === null ? say("answer.range.none")
    : say(certain ? "shares_certain" : "shares_range", { low_points: low, high_points: high });
  return (
    <div class="side">
      <p class="number"><span>{value === null ? "–" : say("percent", { points: value })}</span> <bdi class="group">{say("shares_in", { group: groupText(part.payload, part.base, say) })}</bdi></p>
      <p class="range">{range}</p>
    </div>
  );
}

function OpenOther() {
  const state = useExplorer();
  const [field, hint] = [useId(), useId()];
  const problem = useSignal("");
  return (
    // The field has the focus and the keys; its label is what is seen.
    <div class="file">
      <input id={field} class="unseen" type="file" accept=".html,text/html" aria-describedby={hint} onChange={(event) => openOther(state, event.currentTarget, problem)} />
      <label for={field}>{state.say("open_other")}</label>
      <span id={hint}>{state.say("open_other_hint")}</span>
      {problem.value && <p class="caution problem">{state.say(problem.value)}</p>}
    </div>
  );
}

/**
 * Reads another page. Its text is only parsed: nothing in it runs, and nothing is loaded.
 * @param {State} state @param {HTMLInputElement} input @param {Signal<string>} problem the message of what is wrong with the file
 */
async function openOther(state, input, problem) {
  const file = input.files?.[0];
  if (!file) return;
  problem.value = "";
  const say = state.say;
  try {
    if (file.size > MOST_BYTES) throw new PageError("page_too_large");
    const page = new DOMParser().parseFromString(await file.text(), "text/html");
    const there = await decode(page);
    state.other.value = there;
    state.notice.value = say("other_opened", { title: there.meta.title, vintage: there.meta.vintage });
  } catch (error) {
    problem.value = error instanceof PageError ? error.key : "cannot_open";
    state.notice.value = say(problem.value);
  }
  input.value = "";
}
