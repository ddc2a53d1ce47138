/** The answer to what is selected: a number, its range, why so, and how to cite it. */
import { answer } from "./answering.js";
import { copy } from "./clipboard.js";
import { useExplorer } from "./state.js";
import { answerLine, groupText, reasonTexts } from "./words.js";

export function Answer() {
  const state = useExplorer();
  const { payload, selection } = state;
  const say = state.say.value;
  const found = answer(payload, selection.value);
  const group = groupText(payload, selection.value, say);
  const line = answerLine(found, group, say);
  const { text, bibtex } = payload.meta.citation;

  async function copyAnswer() {
    state.notice.value = say((await copy(say("citation_line", { answer: line, citation: text }))) ? "copied" : "not_copied");
  }

  return (
    <section class="answer" aria-label={say("answer")}>
      <div aria-live="polite" aria-atomic="true">
        <p class="number">
          <output>{found.value === null ? "–" : state.number.value(found.value)}</output>
          <bdi class="group">{group}</bdi>
        </p>
        <p class="range">
          {found.low === null || found.high === null ? say("no_range") : say("range_95", { low: found.low, high: found.high })}
        </p>
      </div>
      <details>
        <summary>{say("why")}</summary>
        {reasonTexts(found, payload, say).map((reason, place) => <p key={place}>{reason}</p>)}
      </details>
      <details>
        <summary>{say("cite")}</summary>
        <blockquote dir="auto">{say("citation_line", { answer: line, citation: text })}</blockquote>
        <pre tabIndex={0} role="region" aria-label="BibTeX">{bibtex}</pre>
      </details>
      <div class="acts">
        <button type="button" onClick={copyAnswer}>{say("copy_answer")}</button>
        <button type="button" onClick={() => keep(state)}>{say("keep")}</button>
      </div>
    </section>
  );
}

/** @param {import("./state.js").State} state */
function keep(state) {
  state.kept.value = state.selection.value;
  state.notice.value = state.say.value("kept");
}
