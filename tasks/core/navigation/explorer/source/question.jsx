/** The question box: words go in, a selection comes out; what was not understood is said. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";

import { parse } from "./answering.js";
import { withColumn } from "./selection.js";
import { useExplorer } from "./state.js";
import { selectionText, valueText } from "./words.js";

/** @import { Reading } from "./answering.js" */
/** @import { Payload } from "./payload.js" */

/** Two values of this release, as somebody would type them. @param {Payload} payload */
function example({ columns }) {
  const listed = columns.filter(({ kind, values }) => kind === "category" && values.length > 1 && values.length < 40);
  return listed.slice(0, 2).map(({ values }) => values[0]).join(", ");
}

export function Question() {
  const state = useExplorer();
  const { payload } = state;
  const say = state.say.value;
  const [field, hint] = [useId(), useId()];
  const text = useSignal("");
  const reading = useSignal(/** @type {Reading | null} */ (null));

  /** @param {Event} event */
  function ask(event) {
    event.preventDefault();
    if (!text.value.trim()) return;
    const read = parse(payload, text.value);
    reading.value = read;
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
      <div aria-live="polite">{reading.value && <Understood reading={reading.value} />}</div>
    </form>
  );
}

/** @param {{reading: Reading}} props */
function Understood({ reading }) {
  const { payload, say } = useExplorer();
  const { selection, unread, ambiguous } = reading;
  return (
    <>
      {selection.size > 0 && <p class="note">{say.value("read_as", { reading: selectionText(payload, selection, say.value) })}</p>}
      {unread.length > 0 && <p class="caution">{say.value("unread", { words: unread.join(", ") })}</p>}
      {ambiguous.map((one) => <Which key={one.text} text={one.text} options={one.options} />)}
    </>
  );
}

/** A word with several meanings. @param {Reading["ambiguous"][number]} props */
function Which({ text, options }) {
  const state = useExplorer();
  const say = state.say.value;
  return (
    <div class="which" role="group" aria-label={say("which", { text })}>
      <span>{say("which", { text })}</span>
      {options.map(({ column, codes }) => {
        const words = `${state.payload.columns[column].name}: ${codes.map((code) => valueText(state.payload, column, code, say)).join(say("or"))}`;
        return <button key={`${column}/${codes}`} type="button" dir="auto" onClick={() => state.choose(withColumn(state.selection.value, column, codes))}>{words}</button>;
      })}
    </div>
  );
}
