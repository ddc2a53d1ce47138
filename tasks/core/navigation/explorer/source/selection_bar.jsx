/** What is selected, in chips that take it back; undo, clear and a link. It stays in sight while charts scroll. */
import { copy } from "./clipboard.js";
import { useExplorer } from "./state.js";
import { valueText } from "./words.js";

export function SelectionBar() {
  const state = useExplorer();
  const { payload, selection, past, passes, number } = state;
  const say = state.say.value;
  const chosen = [...selection.value];
  return (
    <div class="selection" role="group" aria-label={say("selected")}>
      {chosen.length === 0 && <p class="none">{say("nothing_selected")}</p>}
      {chosen.length > 0 && (
        <ul class="chips">
          {chosen.flatMap(([column, codes]) => codes.map((code) => <Chip key={`${column}/${code}`} column={column} code={code} />))}
        </ul>
      )}
      <p class="size" aria-live="polite">
        {payload.records ? say("records_count", { n: passes.value.size, of: number.value(payload.records) }) : say("no_records")}
      </p>
      <div class="acts">
        <button type="button" disabled={past.value.length === 0} onClick={state.undo}>{say("undo")}</button>
        <button type="button" disabled={chosen.length === 0} onClick={state.clear}>{say("clear")}</button>
        <button type="button" onClick={() => copyLink(state)}>{say("copy_link")}</button>
      </div>
    </div>
  );
}

/** @param {{column: number, code: number}} props */
function Chip({ column, code }) {
  const { payload, toggle, say } = useExplorer();
  const { name } = payload.columns[column];
  const value = valueText(payload, column, code, say.value);
  return (
    <li>
      <button type="button" class="chip" aria-label={say.value("remove", { value: `${name}: ${value}` })} onClick={() => toggle(column, code)}>
        <span class="name" dir="auto">{name}</span> <bdi>{value}</bdi> <span class="cross" aria-hidden="true">×</span>
      </button>
    </li>
  );
}

/** @param {import("./state.js").State} state */
async function copyLink(state) {
  const address = location.href.split("#")[0] + state.link.value;
  state.notice.value = state.say.value((await copy(address)) ? "copied" : "not_copied");
}
