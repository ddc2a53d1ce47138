/** The question box: words go in, a selection comes out; what was not understood is said. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";

import { answer } from "./answers/answer.js";
import { intervalsOf, isNumeric } from "./answers/cells.js";
import { parse } from "./answers/question.js";
import { copy } from "./save.js";
import { withColumn } from "./selection.js";
import { useExplorer } from "./state.js";
import { citedText, columnText, givenText, groupText, headline, mayBeRare, number, placeText, rareText, sampleText, underline, unitText, valueText } from "./words.js";

/** Conditions of an example. */
const CONDITIONS = 2;

/** What may be asked, with an example; or in words that nothing may be. @param {Payload} payload @param {Say} say */
function askHint(payload, say) {
  if (payload.meta.number?.low === 0) return say("nothing_to_show", { units: unitText(payload, say) });
  return withExample(payload, say, "ask_hint");
}

/** @param {Payload} payload @param {Say} say @param {string} key of the message that is given an example */
function withExample(payload, say, key) {
  const typed = example(payload, say);
  return say(typed ? key : "nothing_to_ask", { example: typed });
}

/** @param {Payload} payload @param {Say} say */
function example(payload, say) {
  const places = payload.columns.map((_, column) => column).filter((column) => payload.columns[column].values.length > 1);
  const texts = places.filter((column) => payload.columns[column].kind === "category" && !isNumeric(payload.columns[column]))
    .map((column) => valueText(payload, column, 1, say)).filter((text) => /^[^\d]+$/u.test(text));
  const ranges = places.filter((column) => payload.columns[column].kind === "bins").map((column) => overMiddle(payload, column, say));
  const codes = places.filter((column) => payload.columns[column].kind !== "bins").map((column) => placeText(payload, column, [1], say));
  const [first, second] = [ranges.filter(Boolean).slice(0, 1), texts.slice(0, CONDITIONS)];
  const found = [...second.slice(0, CONDITIONS - first.length), ...first];
  return (found.length === CONDITIONS ? found : [...found, ...codes].slice(0, CONDITIONS)).join(", ");
}

/** "age over 60": from the edge of a bin in the middle. @param {Payload} payload @param {number} column @param {Say} say */
function overMiddle({ columns }, column, say) {
  const { age, name } = columns[column];
  const edges = intervalsOf(columns[column]).map((interval) => interval?.low ?? -Infinity).filter(Number.isFinite);
  const edge = edges[Math.floor(edges.length / 2)];
  return edge === undefined ? "" : say("example_over", { column: age ? say("age") : name, edge: String(edge) });
}

export function Answer() {
  const state = useExplorer();
  const say = state.say;
  return (
    <section class="answer" aria-label={say("answer")}>
      <div aria-live="polite" aria-atomic="true">
        {state.isUnanswered.value ? <NoNumber /> : [<Unresolved />, <Found />]}
      </div>
      {!state.isUnanswered.value && <Details />}
    </section>
  );
}

/** What is said instead of a number, by what of the question is open. */
const NO_NUMBER = { not_yet: "no_number_yet", without_contradicted: "question.contradiction" };

function NoNumber() {
  const { payload, unresolved, say } = useExplorer();
  const [{ key, texts }] = unresolved.value;
  const open = texts.join(", ");
  const words = key === "without_unread" ? withExample(payload, say, "question.nothing") : say(NO_NUMBER[key], { texts: open, column: open });
  return <p class="caution">{words}</p>;
}

/** The number of what is selected, with its range. */
function Found() {
  const { payload, selection, say } = useExplorer();
  const found = answer(payload, selection.value);
  return (
    <>
      <p class="number">
        <output>{headline(found, say)}</output>
        <bdi class="group">{groupText(payload, selection.value, say)}</bdi>
      </p>
      <p class="range">{underline(found, say)}</p>
      <p class="source">{say(found.source.key, found.source.given)}</p>
      {found.sampled && <p class="source sampled">{sampleText(payload, say)}</p>}
      {found.more && <p class="source">{say(found.more.key, { ...found.more.given, columns: namesOf(payload, selection.value, say) })}</p>}
    </>
  );
}

/** The columns that are chosen in. @param {Payload} payload @param {Selected} selection @param {Say} say */
const namesOf = (payload, selection, say) => [...selection.keys()].map((column) => columnText(payload, column, say)).join(", ");

/** Why the number is so, how to cite it, and what can be done with it. */
function Details() {
  const state = useExplorer();
  const { payload, selection } = state;
  const say = state.say;
  const found = answer(payload, selection.value);
  const isRare = [...selection.value].some(([column, codes]) => codes.includes(0) && mayBeRare(payload, column));
  const cited = citedText(payload, selection.value, found, say);

  async function copyAnswer() {
    state.notice.value = say((await copy(cited)) ? "copied" : "not_copied");
  }

  return (
    <>
      <div class="details">
        <details>
          <summary>{say("why")}</summary>
          <p>{say(found.reason.key, found.reason.given)}</p>
          {isRare && <p>{rareText(payload, say)}</p>}
          <Numbers numbers={found.numbers} />
        </details>
        {payload.meta.audience !== "owner" && <details>
          <summary>{say("cite")}</summary>
          <p>{say(found.quote.key, found.quote.given)}</p>
          <blockquote dir="auto">{cited}</blockquote>
          <pre tabIndex={0} role="region" aria-label="BibTeX">{payload.meta.citation.bibtex}</pre>
        </details>}
      </div>
      <div class="acts">
        {payload.meta.audience !== "owner" && <button type="button" onClick={copyAnswer}>{say("copy_answer")}</button>}
        <button type="button" onClick={() => keep(state)}>{say("keep")}</button>
      </div>
    </>
  );
}

/** What of a typed question the number does not answer. */
function Unresolved() {
  const { unresolved, say } = useExplorer();
  return unresolved.value.map(({ key, texts }) => <p key={key} class="caution">{say(key, { texts: texts.join(", ") })}</p>);
}

/** All that the release says of a group. @param {{numbers: Numbers}} props */
function Numbers({ numbers }) {
  const { payload, say } = useExplorer();
  const fitted = payload.meta.protection === "fitted";
  const known = /** @type {const} */ (["published", "noisy", "estimate", "records"]).filter((name) => numbers[name] !== null);
  if (known.length === 0) return null;
  return (
    <dl>
      {known.map((name) => (
        <div key={name}>
          <dt>{say(`numbers_${fitted && name === "published" ? "fitted" : name}`)}</dt>
          <dd>{number(Number(numbers[name]))}</dd>
        </div>
      ))}
    </dl>
  );
}

/** @param {State} state */
function keep(state) {
  state.kept.value = state.selection.value;
  state.notice.value = state.say("kept");
}

export function Question() {
  const state = useExplorer();
  const { payload } = state;
  const say = state.say;
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
        <Choices key={place} asked={asked} place={place} words={say(key, { text, ...givenText(payload, given, say) })} options={options} />
      ))}
      {unread.map((text) => <p key={text} class="caution">{say("question.unread", { text })}</p>)}
      {notes.map(({ key, given }) => <p key={key} class="note">{say(key, givenText(payload, given, say))}</p>)}
    </>
  );
}

/** @param {{asked: Asked, reading: Asked["question"]["readings"][number]}} props */
function Reading({ asked, reading }) {
  const { payload, say } = useExplorer();
  const { text, column, codes, alternatives } = reading;
  const meaning = placeText(payload, column, codes, say);
  return (
    <div class="reading">
      <p class="note">{say("read_as", { text, reading: meaning })}</p>
      {alternatives.map((one) => <Alternative key={one.key} asked={asked} words={say(one.key)} column={one.column} codes={one.codes} />)}
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
        <Alternative key={`${column}/${codes}`} asked={settled} words={placeText(payload, column, codes, say)} column={column} codes={codes} />
      ))}
    </div>
  );
}

/** @param {{asked: Asked, words: string, column: number, codes: number[]}} props */
function Alternative({ asked, words, column, codes }) {
  const state = useExplorer();
  return <button type="button" dir="auto" onClick={() => state.choose(withColumn(state.selection.value, column, codes), asked)}>{words}</button>;
}
