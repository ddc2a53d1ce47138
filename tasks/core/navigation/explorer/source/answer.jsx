/** The answer to what is selected: a number, its range, why so, and how to cite it. */
import { answer } from "./answers/index.js";
import { copy } from "./clipboard.js";
import { nothingUnderstood } from "./example.js";
import { useExplorer } from "./state.js";
import { citedText, columnText, groupText, headline, mayBeRare, sampleText, underline } from "./words.js";

/** @import { Payload, Selection } from "./payload.js" */
/** @import { Say } from "./messages.js" */

export function Answer() {
  const state = useExplorer();
  const say = state.say.value;
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
  const words = key === "without_unread" ? nothingUnderstood(payload, say.value) : say.value(NO_NUMBER[key], { texts: open, column: open });
  return <p class="caution">{words}</p>;
}

/** The number of what is selected, with its range. */
function Found() {
  const { payload, selection, say } = useExplorer();
  const found = answer(payload, selection.value);
  return (
    <>
      <p class="number">
        <output>{headline(found, say.value)}</output>
        <bdi class="group">{groupText(payload, selection.value, say.value)}</bdi>
      </p>
      <p class="range">{underline(found, say.value)}</p>
      <p class="source">{say.value(found.source.key, found.source.given)}</p>
      {found.sampled && <p class="source sampled">{sampleText(payload, say.value)}</p>}
      {found.more && <p class="source">{say.value(found.more.key, { ...found.more.given, columns: namesOf(payload, selection.value, say.value) })}</p>}
    </>
  );
}

/** The columns that are chosen in. @param {Payload} payload @param {Selection} selection @param {Say} say */
const namesOf = (payload, selection, say) => [...selection.keys()].map((column) => columnText(payload, column, say)).join(", ");

/** Why the number is so, how to cite it, and what can be done with it. */
function Details() {
  const state = useExplorer();
  const { payload, selection } = state;
  const say = state.say.value;
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
          {isRare && <p>{say("missing_or_rare_why")}</p>}
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
  return unresolved.value.map(({ key, texts }) => <p key={key} class="caution">{say.value(key, { texts: texts.join(", ") })}</p>);
}

/** All that the release says of a group. @param {{numbers: import("./answers/answer.js").Numbers}} props */
function Numbers({ numbers }) {
  const { payload, say, number } = useExplorer();
  const fitted = payload.meta.protection === "fitted";
  const known = /** @type {const} */ (["published", "noisy", "estimate", "records"]).filter((name) => numbers[name] !== null);
  if (known.length === 0) return null;
  return (
    <dl>
      {known.map((name) => (
        <div key={name}>
          <dt>{say.value(`numbers_${fitted && name === "published" ? "fitted" : name}`)}</dt>
          <dd>{number.value(Number(numbers[name]))}</dd>
        </div>
      ))}
    </dl>
  );
}

/** @param {import("./state.js").State} state */
function keep(state) {
  state.kept.value = state.selection.value;
  state.notice.value = state.say.value("kept");
}
