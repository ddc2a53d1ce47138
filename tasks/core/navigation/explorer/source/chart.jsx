/** One chart: a value a row, with search, order, and saving. */
import { useId } from "preact/hooks";

import { ChartRows } from "./chart_rows.jsx";
import { isSampled } from "./sample.js";
import { saveCharts } from "./save.js";
import { axis, tickText } from "./scale.js";
import { seen, viewOfChart } from "./seen.js";
import { useExplorer } from "./state.js";
import { visualText } from "./words.js";

/** @import { Visual } from "./payload.js" */
/** @import { Order } from "./rows.js" */

/** Values from which on there is a search. */
const SEARCHED_FROM = 12;
/** Letters up to which what is said of a column stands there at once. */
const SHORT = 140;

/** @param {{visual: Visual}} props */
export function Chart({ visual }) {
  const state = useExplorer();
  const say = state.say.value;
  const title = useId();
  const chart = seen(state, visual);
  const view = viewOfChart(state, visual);
  const name = visualText(state.payload, visual, say);
  const sampled = isSampled(state.payload);
  const { table, about } = visual.column === undefined ? {} : state.payload.columns[visual.column];
  return (
    <article class="chart-card" aria-labelledby={title}>
      <header>
        <h3 id={title} dir="auto">{name}</h3>
        {about && <About text={about} />}
        {table && <p class="of-table">{say("from_table", { table })}</p>}
        <ClearColumn visual={visual} />
        <Menu visual={visual} />
      </header>
      {(chart.all > SEARCHED_FROM || view.value.search) && <Search visual={visual} shown={chart.rows.length} all={chart.all} />}
      <ChartRows rows={chart.rows} most={chart.most} label={name} />
      {chart.rows.length === 0 && <p class="none">{say(view.value.search ? "none_found" : sampled ? "records_none_sampled" : "nothing_here")}</p>}
      {chart.rows.length > 0 && <Axis most={chart.most} />}
      {visual.unreleased && <p class="none">{say("unreleased_values", { values: visual.unreleased.join(", ") })}</p>}
      {chart.empty > 0 && (
        <button type="button" class="quiet" aria-expanded={view.value.empty} onClick={() => (view.value = { ...view.value, empty: !view.value.empty })}>
          {say(`empty_${view.value.empty ? "shown" : "hidden"}${sampled ? "_sampled" : ""}`, { n: chart.empty })}
        </button>
      )}
    </article>
  );
}

/** What the data contract says of a column; a long text is opened. @param {{text: string}} props */
function About({ text }) {
  const say = useExplorer().say.value;
  if (text.length <= SHORT) return <p class="about" dir="auto">{text}</p>;
  return (
    <details class="about">
      <summary>{say("about_column")}</summary>
      <p dir="auto">{text}</p>
    </details>
  );
}

/** @param {{visual: Visual}} props */
function ClearColumn({ visual }) {
  const { payload, say, selection, clearColumn } = useExplorer();
  const { column } = visual;
  if (column === undefined || !selection.value.has(column)) return null;
  return (
    <button type="button" class="quiet" aria-label={say.value("clear_column_of", { name: visualText(payload, visual, say.value) })} onClick={() => clearColumn(column)}>
      {say.value("clear_column")}
    </button>
  );
}

/** @param {{visual: Visual}} props */
function Menu({ visual }) {
  const state = useExplorer();
  const say = state.say.value;
  const view = viewOfChart(state, visual);
  const name = visualText(state.payload, visual, say);
  return (
    <div class="menu">
      <select aria-label={say("sort_of", { name })} value={view.value.order}
        onChange={(event) => (view.value = { ...view.value, order: /** @type {Order} */ (event.currentTarget.value) })}>
        {/** @type {Order[]} */ (["listed", "count", "name"]).map((order) => <option key={order} value={order}>{say(`sort_${order}`)}</option>)}
      </select>
      <details class="saving" onKeyDown={(event) => event.key === "Escape" && event.currentTarget.removeAttribute("open")}>
        <summary aria-label={say("save_of", { name })}>{say("save")}</summary>
        <div>
          {/** @type {const} */ (["csv", "svg", "png"]).map((form) => (
            <button key={form} type="button" onClick={() => saveCharts(state, [visual], form)}>{say(`save_${form}`)}</button>
          ))}
        </div>
      </details>
    </div>
  );
}

/** @param {{visual: Visual, shown: number, all: number}} props */
function Search({ visual, shown, all }) {
  const state = useExplorer();
  const say = state.say.value;
  const view = viewOfChart(state, visual);
  return (
    <div class="search">
      <input type="search" dir="auto" placeholder={say("search")} aria-label={say("search_in", { name: visualText(state.payload, visual, say) })} value={view.value.search}
        onInput={(event) => (view.value = { ...view.value, search: event.currentTarget.value })} />
      <span aria-live="polite">{say("values_shown", { n: shown, of: all })}</span>
    </div>
  );
}

/** @param {{most: number}} props */
function Axis({ most }) {
  const { at, ticks } = axis(most, 100);
  const text = tickText(useExplorer().language.value);
  // Numbers of more than four marks would touch.
  const every = ticks.length > 4 ? 2 : 1;
  return (
    <svg class="axis" aria-hidden="true">
      {ticks.map((tick, place) => (
        <g key={tick}>
          <line x1={`${at(tick)}%`} x2={`${at(tick)}%`} y1="0" y2="4" />
          {place % every === 0 && <text x={`${at(tick)}%`} y="16" text-anchor="middle">{text(tick)}</text>}
        </g>
      ))}
    </svg>
  );
}
