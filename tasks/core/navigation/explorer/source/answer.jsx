/** The answer to what is selected: a number, its range, why so, and how to cite it. */
import { answer } from "./answers/index.js";
import { copy } from "./clipboard.js";
import { useExplorer } from "./state.js";
import { citedText, groupText, headline, underline } from "./words.js";

export function Answer() {
  const state = useExplorer();
  const { payload, selection } = state;
  const say = state.say.value;
  const found = answer(payload, selection.value);
  const group = groupText(payload, selection.value, say);
  const cited = citedText(payload, selection.value, found, say);

  async function copyAnswer() {
    state.notice.value = say((await copy(cited)) ? "copied" : "not_copied");
  }

  return (
    <section class="answer" aria-label={say("answer")}>
      <div aria-live="polite" aria-atomic="true">
        <NotYet />
        <p class="number">
          <output>{headline(found, say)}</output>
          <bdi class="group">{group}</bdi>
        </p>
        <p class="range">{underline(found, say)}</p>
        <p class="source">{say(found.source.key, found.source.given)}</p>
      </div>
      <div class="details">
        <details>
          <summary>{say("why")}</summary>
          <p>{say(found.reason.key, found.reason.given)}</p>
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
    </section>
  );
}

/** What of a typed question the number does not answer. */
function NotYet() {
  const { asked, say } = useExplorer();
  if (!asked.value) return null;
  const { question, settled } = asked.value;
  const open = question.ambiguous.filter((_, place) => !settled.includes(place)).map(({ text }) => text);
  const parts = [["not_yet", open], ["without_unread", question.unread]].filter(([, texts]) => texts.length);
  return parts.map(([key, texts]) => <p key={String(key)} class="caution">{say.value(String(key), { texts: [...texts].join(", ") })}</p>);
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
