/** One chart: a value a row, with search, order, and saving. */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { useId, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

import { isSampled } from "./payload.js";
import { axis, seen, tickText, viewOfChart } from "./rows.js";
import { saveCharts } from "./save.js";
import { isChosen } from "./selection.js";
import { useExplorer } from "./state.js";
import { mayBeRare, number, rareText, visualText } from "./words.js";

/**
 * @param {{count: number, height: number, box: {current: HTMLElement | null}, more?: number}} list `height` of a row
 * in pixels, `box` what scrolls, `more` rows that are drawn beyond what is in sight
 */
export function useVirtual({ count, height, box, more = 6 }) {
  const [, redraw] = useReducer((/** @type {number} */ times) => times + 1, 0);
  /** @type {import("@tanstack/virtual-core").VirtualizerOptions<HTMLElement, HTMLElement>} */
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: more,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}

/** @param {{row: Row, at: (value: number) => number, end: number, chosen: boolean, inTab: boolean, onFocus: () => void}} props */
function ChartRow({ row, at, end, chosen, inTab, onFocus }) {
  const state = useExplorer();
  const { estimated, actual, code, column, label } = row;
  const hasActual = state.payload.meta.protection !== "syndiffix";
  const isRare = code === 0 && mayBeRare(state.payload, column);
  return (
    <button type="button" class={code === 0 ? "row absent" : "row"} aria-pressed={chosen} tabIndex={inTab ? 0 : -1} onFocus={onFocus} title={isRare ? `${label}: ${rareText(state.payload, state.say)}` : label}
      onClick={() => state.toggle(column, code)}>
      <bdi class="label">{label}</bdi>
      <Bars estimated={estimated} actual={actual} at={at} end={end} hasActual={hasActual} />
      <span class="figures" aria-hidden="true">
        {estimated !== null && <span class="estimated">{number(estimated)}</span>}
        {hasActual && <Figure actual={actual} />}
      </span>
      <span class="unseen">{spoken(state, row, hasActual)}</span>
    </button>
  );
}

/** The number of the second bar, or why there is none. @param {{actual: Published | null}} props */
function Figure({ actual }) {
  const { say } = useExplorer();
  if (actual && actual.value !== null) return <span class="actual">{number(actual.value)}</span>;
  return <span class="unreleased">{say(actual ? "not_measured" : "not_released")}</span>;
}

/** What a screen reader says after the name of a value. @param {State} state @param {Row} row @param {boolean} hasActual */
function spoken({ say }, { estimated, actual }, hasActual) {
  const texts = [];
  if (estimated !== null) texts.push(say("row_estimated", { estimated: number(estimated) }));
  if (hasActual) texts.push(spokenActual(say, actual));
  return `: ${texts.join("; ")}`;
}

/** @param {Say} say @param {Published | null} actual */
function spokenActual(say, actual) {
  if (!actual) return say("row_not_released");
  const { value, low, high } = actual;
  if (value === null) return say("row_not_measured", { low: low ?? 0, high: high ?? 0 });
  return low === null || high === null ? say("row_actual", { value }) : say("row_actual_range", { value, low, high });
}

/** @param {{estimated: number | null, actual: Published | null, at: (value: number) => number, end: number, hasActual: boolean}} props */
function Bars({ estimated, actual, at, end, hasActual }) {
  return (
    <svg class="bars" aria-hidden="true">
      {estimated !== null && <rect class="estimated" x="0" y={hasActual ? "4" : "9"} width={`${at(estimated)}%`} height={hasActual ? "13" : "18"} />}
      {actual && actual.value !== null && <rect class="actual" x="0" y="20" width={`${at(actual.value)}%`} height="13" />}
      {actual && actual.low !== null && actual.high !== null && <Range low={at(actual.low)} high={at(actual.high)} isCut={actual.high > end} />}
      {hasActual && !actual && <line class="unreleased" x1="0" x2="14%" y1="26.5" y2="26.5" />}
    </svg>
  );
}

/** A range that goes beyond the axis has no end there, but an arrow. @param {{low: number, high: number, isCut: boolean}} props */
function Range({ low, high, isCut }) {
  const [left, right] = [`${low}%`, `${high}%`];
  // A light line below the dark one keeps it visible on its own bar.
  return ["halo", "range"].map((kind) => (
    <g key={kind} class={kind}>
      <line x1={left} x2={right} y1="26.5" y2="26.5" />
      <line x1={left} x2={left} y1="22.5" y2="30.5" />
      {!isCut && <line x1={right} x2={right} y1="22.5" y2="30.5" />}
      {isCut && <svg x={right} y="22.5" overflow="visible"><path d="M-7 0L-1 4L-7 8" /></svg>}
    </g>
  ));
}

/** Rows up to which all are drawn; many more on paper, where nothing scrolls. */
const DRAWN = 30;
const PRINTED = 400;
/** The height of a row, in the page's letters: `--row` of the style sheet. */
const ROW = 2.625;

const pixelsOf = (/** @type {number} */ rem) => rem * parseFloat(getComputedStyle(document.documentElement).fontSize);

/** Where a key leads in a list. @param {string} key @param {number} place @param {number} last */
function placeAfter(key, place, last) {
  const steps = { ArrowDown: place + 1, ArrowUp: place - 1, PageDown: place + 10, PageUp: place - 10, Home: 0, End: last };
  const next = Object.hasOwn(steps, key) ? steps[/** @type {keyof typeof steps} */ (key)] : undefined;
  return next === undefined ? undefined : Math.min(Math.max(next, 0), last);
}

/** @param {{rows: Row[], most: number, label: string}} props */
function ChartRows({ rows, most, label }) {
  const { printing, selection, say } = useExplorer();
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [active, setActive] = useState(0);
  const toFocus = useRef(false);
  const [height] = useState(() => pixelsOf(ROW));
  const virtual = useVirtual({ count: rows.length, height, box });
  const whole = rows.length <= (printing.value ? PRINTED : DRAWN);
  const places = whole ? rows.map((_, place) => place) : virtual.getVirtualItems().map(({ index }) => index);
  const tabbed = places.includes(active) ? active : places[0];

  useLayoutEffect(() => {
    if (!toFocus.current) return;
    const button = box.current?.querySelector(`[data-place="${active}"] button`);
    if (!(button instanceof HTMLElement)) return;
    toFocus.current = false;
    button.focus();
  });

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const next = placeAfter(event.key, tabbed, rows.length - 1);
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    toFocus.current = true;
    setActive(next);
    if (!whole) virtual.scrollToIndex(next);
  }

  const { at, end } = axis(most, 100);
  return (
    <div class="rows" ref={box}>
      <ul aria-label={label} onKeyDown={walk} class={whole ? "whole" : "long"} style={whole ? undefined : { height: `${virtual.getTotalSize()}px` }}>
        {places.map((place) => {
          const row = rows[place];
          return row && (
            <li key={`${row.column}/${row.code}`} data-place={place} aria-setsize={rows.length} aria-posinset={place + 1}
              style={whole ? undefined : { transform: `translateY(${place * height}px)` }}>
              <ChartRow row={row} at={at} end={end} chosen={isChosen(selection.value, row.column, row.code)} inTab={place === tabbed} onFocus={() => setActive(place)} />
            </li>
          );
        })}
      </ul>
      {rows.length > DRAWN && <p class="unseen">{say("chart_scrolls", { n: rows.length })}</p>}
    </div>
  );
}

export function Charts() {
  const { pages, page } = useExplorer();
  const { visuals } = pages[page.value];
  return (
    <div class="charts">
      {visuals.map((visual, place) => <Chart key={`${page.value}/${place}`} visual={visual} />)}
    </div>
  );
}

/** Values from which on there is a search. */
const SEARCHED_FROM = 12;
/** Letters up to which what is said of a column stands there at once. */
const SHORT = 140;

/** @param {{visual: Visual}} props */
function Chart({ visual }) {
  const state = useExplorer();
  const say = state.say;
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
  const say = useExplorer().say;
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
    <button type="button" class="quiet" aria-label={say("clear_column_of", { name: visualText(payload, visual, say) })} onClick={() => clearColumn(column)}>
      {say("clear_column")}
    </button>
  );
}

/** @param {{visual: Visual}} props */
function Menu({ visual }) {
  const state = useExplorer();
  const say = state.say;
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
  const say = state.say;
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
  // Numbers of more than four marks would touch.
  const every = ticks.length > 4 ? 2 : 1;
  return (
    <svg class="axis" aria-hidden="true">
      {ticks.map((tick, place) => (
        <g key={tick}>
          <line x1={`${at(tick)}%`} x2={`${at(tick)}%`} y1="0" y2="4" />
          {place % every === 0 && <text x={`${at(tick)}%`} y="16" text-anchor="middle">{tickText(tick)}</text>}
        </g>
      ))}
    </svg>
  );
}
