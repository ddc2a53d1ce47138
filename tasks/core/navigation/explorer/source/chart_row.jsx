/** One value: its name, two bars, two numbers. It is a button that selects the value. */
import { useExplorer } from "./state.js";
import { mayBeRare } from "./words.js";

/** @import { Row } from "./rows.js" */
/** @import { Published } from "./published.js" */

/** @param {{row: Row, at: (value: number) => number, end: number, chosen: boolean, inTab: boolean, onFocus: () => void}} props */
export function ChartRow({ row, at, end, chosen, inTab, onFocus }) {
  const state = useExplorer();
  const number = state.number.value;
  const { estimated, actual, code, column, label } = row;
  const hasActual = state.payload.meta.protection !== "syndiffix";
  const isRare = code === 0 && mayBeRare(state.payload, column);
  return (
    <button type="button" class={code === 0 ? "row absent" : "row"} aria-pressed={chosen} tabIndex={inTab ? 0 : -1} onFocus={onFocus} title={isRare ? `${label}: ${state.say.value("missing_or_rare_why")}` : label}
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
  const { say, number } = useExplorer();
  if (actual && actual.value !== null) return <span class="actual">{number.value(actual.value)}</span>;
  return <span class="unreleased">{say.value(actual ? "not_measured" : "not_released")}</span>;
}

/**
 * What a screen reader says after the name of a value.
 * @param {import("./state.js").State} state
 * @param {Row} row
 * @param {boolean} hasActual
 */
function spoken({ say, number }, { estimated, actual }, hasActual) {
  const texts = [];
  if (estimated !== null) texts.push(say.value("row_estimated", { estimated: number.value(estimated) }));
  if (hasActual) texts.push(spokenActual(say.value, actual));
  return `: ${texts.join("; ")}`;
}

/** @param {import("./messages.js").Say} say @param {Published | null} actual */
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
