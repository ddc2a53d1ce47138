/** The question box: words go in, a selection comes out; what was not understood is said. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";

import { parse } from "./answers/index.js";
import { askHint } from "./example.js";
import { withColumn } from "./selection.js";
import { useExplorer } from "./state.js";
import { givenText, placeText } from "./words.js";

/** @import { Asked } from "./state.js" */

export function Question() {
  const state = useExplorer();
  const { payload } = state;
  const say = state.say.value;
  const [field, hint] = [useId(), useId()];
  const text = useSignal("");

  /** @param {Event} event */
  function ask(event) {
    event.preventDefault();
    if (!/[\p{L}\p{N}]/u.test(text.value)) return;
    const question = parse(payload, text.value);
    // Also where nothing was understood: what was selected before is no answer to this.
    state.choose(question.selection, { question, settled: [] });
  }

  return (
    <form class="question" onSubmit={ask} role="search" aria-label={say("ask")}>
      <label for={field}>{say("ask")}</label>
      <p class="note" id={hint}>{askHint(payload, say)}</p>
      <div class="line">
        <input id={field} aria-describedby={hint} dir="auto" autocomplete="off" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        <button type="submit" class="main">{say("ask_button")}</button>
      </div>
      <div aria-live="polite">{state.asked.value && <Understood asked={state.asked.value} />}</div>
    </form>
  );
}

/** What the words were taken for, so that a person can see and change it. @param {{asked: Asked}} props */
function Understood({ asked }) {
  const { payload, say } = useExplorer();
  const { readings, ambiguous, unread, notes } = asked.question;
  return (
    <>
      {readings.map((reading, place) => <Reading key={place} asked={asked} reading={reading} />)}
      {ambiguous.map(({ text, key, given, options }, place) => !asked.settled.includes(place) && (
        <Choices key={place} asked={asked} place={place} words={say.value(key, { text, ...givenText(payload, given, say.value) })} options={options} />
      ))}
      {unread.map((text) => <p key={text} class="caution">{say.value("question.unread", { text })}</p>)}
      {notes.map(({ key, given }) => <p key={key} class="note">{say.value(key, givenText(payload, given, say.value))}</p>)}
    </>
  );
}

/** @param {{asked: Asked, reading: Asked["question"]["readings"][number]}} props */
function Reading({ asked, reading }) {
  const { payload, say } = useExplorer();
  const { text, column, codes, alternatives } = reading;
  const meaning = placeText(payload, column, codes, say.value);
  return (
    <div class="reading">
      <p class="note">{say.value("read_as", { text, reading: meaning })}</p>
      {alternatives.map((one) => <Alternative key={one.key} asked={asked} words={say.value(one.key)} column={one.column} codes={one.codes} />)}
    </div>
  );
}

/**
 * What a word may mean: whoever asked says it, and is not asked again.
 * @param {{asked: Asked, place: number, words: string, options: {column: number, codes: number[]}[]}} props
 */
function Choices({ asked, place, words, options }) {
  const { payload, say } = useExplorer();
  const settled = { ...asked, settled: [...asked.settled, place] };
  return (
    <div class="reading" role="group" aria-label={words}>
      <p>{words}</p>
      {options.map(({ column, codes }) => (
        <Alternative key={`${column}/${codes}`} asked={settled} words={placeText(payload, column, codes, say.value)} column={column} codes={codes} />
      ))}
    </div>
  );
}

/** @param {{asked: Asked, words: string, column: number, codes: number[]}} props */
function Alternative({ asked, words, column, codes }) {
  const state = useExplorer();
  return <button type="button" dir="auto" onClick={() => state.choose(withColumn(state.selection.value, column, codes), asked)}>{words}</button>;
}
