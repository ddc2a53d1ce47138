/** The question box: words go in, a selection comes out; what was not understood is said. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";

import { parse } from "./answers/index.js";
import { withColumn } from "./selection.js";
import { useExplorer } from "./state.js";
import { placeText } from "./words.js";

/** @typedef {ReturnType<typeof parse>} Question */
/** @import { Payload } from "./payload.js" */

/** Two values of this release, as somebody would type them. @param {Payload} payload */
function example({ columns }) {
  const listed = columns.filter(({ kind, values }) => kind === "category" && values.length > 1);
  return (listed.length ? listed : columns).slice(0, 2).map(({ values }) => values[0]).filter(Boolean).join(", ");
}

export function Question() {
  const state = useExplorer();
  const { payload } = state;
  const say = state.say.value;
  const [field, hint] = [useId(), useId()];
  const text = useSignal("");
  const question = useSignal(/** @type {Question | null} */ (null));

  /** @param {Event} event */
  function ask(event) {
    event.preventDefault();
    if (!text.value.trim()) return;
    const read = parse(payload, text.value);
    question.value = read;
    if (read.selection.size) state.choose(read.selection);
  }

  return (
    <form class="question" onSubmit={ask} role="search" aria-label={say("ask")}>
      <label for={field}>{say("ask")}</label>
      <p class="note" id={hint}>{say("ask_hint", { example: example(payload) })}</p>
      <div class="line">
        <input id={field} aria-describedby={hint} dir="auto" autocomplete="off" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        <button type="submit" class="main">{say("ask_button")}</button>
      </div>
      <div aria-live="polite">{question.value && <Understood question={question.value} />}</div>
    </form>
  );
}

/** What the words were taken for, so that a person can see and change it. @param {{question: Question}} props */
function Understood({ question }) {
  const { say } = useExplorer();
  const { readings, ambiguous, unread, notes } = question;
  return (
    <>
      {readings.map((reading, place) => <Reading key={place} reading={reading} />)}
      {ambiguous.map(({ text, key, given, options }, place) => <Choices key={place} words={say.value(key, { text, ...given })} options={options} />)}
      {unread.map((text) => <p key={text} class="caution">{say.value("question.unread", { text })}</p>)}
      {notes.map(({ key, given }) => <p key={key} class="note">{say.value(key, given)}</p>)}
    </>
  );
}

/** @param {{reading: Question["readings"][number]}} props */
function Reading({ reading }) {
  const { payload, say } = useExplorer();
  const { text, column, codes, alternatives } = reading;
  const meaning = placeText(payload, column, codes, say.value);
  return (
    <div class="reading">
      <p class="note">{say.value("read_as", { text, reading: meaning })}</p>
      {alternatives.map((one) => <Alternative key={one.key} words={say.value(one.key)} column={one.column} codes={one.codes} />)}
    </div>
  );
}

/**
 * What a word may mean: whoever asked says it.
 * @param {{words: string, options: {column: number, codes: number[]}[]}} props
 */
function Choices({ words, options }) {
  const { payload, say } = useExplorer();
  return (
    <div class="reading" role="group" aria-label={words}>
      <p>{words}</p>
      {options.map(({ column, codes }) => (
        <Alternative key={`${column}/${codes}`} words={placeText(payload, column, codes, say.value)} column={column} codes={codes} />
      ))}
    </div>
  );
}

/** @param {{words: string, column: number, codes: number[]}} props */
function Alternative({ words, column, codes }) {
  const state = useExplorer();
  return <button type="button" dir="auto" onClick={() => state.choose(withColumn(state.selection.value, column, codes))}>{words}</button>;
}
