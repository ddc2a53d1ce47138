/** The charts of one page. */
import { Chart } from "./chart.jsx";
import { useExplorer } from "./state.js";

export function Charts() {
  const { pages, page } = useExplorer();
  const { visuals } = pages[page.value];
  return (
    <div class="charts">
      {visuals.map((visual, place) => <Chart key={`${page.value}/${place}`} visual={visual} />)}
    </div>
  );
}
