/** What the two bars of a value are. */
import { useExplorer } from "./state.js";
import { actualLegend, estimatedLegend } from "./words.js";

export function Legend() {
  const { payload, say, display } = useExplorer();
  if (display.value !== "charts") return null;
  const { protection } = payload.meta;
  return (
    <ul class="legend" aria-label={say.value("legend")}>
      {payload.records > 0 && <li><Sample kind="estimated" />{estimatedLegend(payload, say.value)}</li>}
      {protection !== "syndiffix" && <li><Sample kind="actual" />{say.value(actualLegend(payload))}</li>}
      {protection === "fitted" && <li><Sample kind="bounds" />{say.value("not_measured_legend")}</li>}
      {protection !== "syndiffix" && <li><Sample kind="none" />{say.value(payload.meta.audience === "owner" || protection === "fitted" ? "not_covered_legend" : "not_released_legend")}</li>}
    </ul>
  );
}

/** @param {{kind: "estimated" | "actual" | "bounds" | "none"}} props */
function Sample({ kind }) {
  return (
    <svg class="sample" width="34" height="14" aria-hidden="true">
      {kind === "none" && <line class="unreleased" x1="1" x2="33" y1="7" y2="7" />}
      {(kind === "estimated" || kind === "actual") && <rect class={kind} x="0" y="3" width={kind === "actual" ? 24 : 30} height="8" />}
      {(kind === "actual" || kind === "bounds") && <path class="range" d={kind === "actual" ? "M18 7H31M18 3V11M31 3V11" : "M3 7H31M3 3V11M31 3V11"} />}
    </svg>
  );
}
