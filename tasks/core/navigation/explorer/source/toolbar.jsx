/** Which page of charts, charts or records, the language, and saving what is seen. */
import { saveCharts } from "./save.js";
import { LANGUAGES } from "./messages.js";
import { useExplorer } from "./state.js";

const DISPLAYS = /** @type {const} */ (["charts", "records"]);

export function Toolbar() {
  const state = useExplorer();
  const { pages, page, display } = state;
  const say = state.say.value;
  const charts = display.value === "charts";
  return (
    <div class="toolbar">
      <Choice label={say("view")} value={display.value} choices={DISPLAYS.map((name) => [name, say(name)])}
        onChoose={(value) => (display.value = value)} />
      {charts && pages.length > 1 && (
        <Choice label={say("pages")} value={page.value} choices={pages.map(({ name }, place) => [place, name])}
          onChoose={(value) => (page.value = value)} />
      )}
      {charts && (
        <div class="choice" role="group" aria-label={say("save_all")}>
          <span class="title" aria-hidden="true">{say("save_all")}</span>
          {/** @type {const} */ (["csv", "svg", "png"]).map((form) => (
            <button key={form} type="button" onClick={() => saveCharts(state, pages[page.value].visuals, form)}>{say(`save_${form}`)}</button>
          ))}
        </div>
      )}
      <label class="choice languages">
        <span class="title">{say("languages")}</span>
        <select value={state.language.value} onChange={(event) => (state.language.value = event.currentTarget.value)}>
          {Object.entries(LANGUAGES).map(([code, texts]) => <option key={code} value={code} lang={code}>{String(texts.language)}</option>)}
        </select>
      </label>
    </div>
  );
}

/**
 * One of a few, as buttons.
 * @template T
 * @param {{label: string, value: T, choices: [T, string][], onChoose: (value: T) => void}} props
 */
function Choice({ label, value, choices, onChoose }) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {choices.map(([one, name]) => (
        <button key={one} type="button" dir="auto" aria-pressed={one === value} onClick={() => onChoose(one)}>{name}</button>
      ))}
    </div>
  );
}
