"""The page of a release in a browser: 10,000, 100,000 and a million records of 20 columns.

The pages are those of whole runs, fitted and k-anonymous, of an invented table. Opening ends when the charts
are painted. A click ends when the charts that follow it are painted; its CPU is that of the page's main
thread. A page is opened three times, and clicked twenty times, with up to two values chosen before; medians.
Memory is what the page's process holds after that. Wall times are those of a quiet machine.
"""

import json
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from playwright.sync_api import Browser, CDPSession, Page

from tests.benchmarks.overhead import installed_server
from tests.benchmarks.running import print_line
from tests.chromium import launched
from tests.operations.installation import Installation

#: Records, and the bars: seconds to open, milliseconds to follow a click.
SIZES: dict[int, tuple[float | None, float | None]] = {
    10_000: (None, None),
    100_000: (2.0, 100.0),
    1_000_000: (None, 300.0),
}
#: Values of each column.
VALUES = (2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 10, 12, 12, 15, 16, 20, 25, 30, 50, 100)
PROTECTIONS = ("fitted", "k_anonymity")
_OPENINGS, _CLICKS, _CHOSEN = 3, 20, 3
_PATIENCE_MS = 300_000
#: Runs before the page's own programs: notes when the charts are there and painted.
_WATCH = """new MutationObserver((_, watcher) => {
    if (!document.querySelector("#marginalia-explorer[data-ready]")) return;
    watcher.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.paintedAt = performance.now(); }));
}).observe(document, {subtree: true, attributes: true, childList: true})"""
_OPENED = """() => new Promise((done) => {
    const look = () => (window.paintedAt ? done(window.paintedAt) : setTimeout(look, 10));
    look();
})"""
#: Clicks the second value of a chart, or its only one, and waits until what follows is painted; milliseconds.
_CLICK = """async (place) => {
    const rows = document.querySelectorAll(".explorer article")[place].querySelectorAll("[aria-pressed]");
    const row = rows[Math.min(1, rows.length - 1)];
    const link = location.hash, started = performance.now();
    row.click();
    do await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    while (location.hash === link);
    return performance.now() - started;
}"""


def write_table(path: Path, records: int) -> None:
    """Records whose columns hang together a little."""
    generator = np.random.default_rng(1)
    kind = generator.integers(0, 5, records)
    columns = {}
    for place, size in enumerate(VALUES):
        ends = np.cumsum(generator.dirichlet(np.ones(size), 5), axis=1)
        drawn = generator.random(records)
        codes = np.zeros(records, np.int32)
        for each in range(5):
            codes[kind == each] = np.searchsorted(ends[each, :-1], drawn[kind == each])
        words = pa.array(_words(size))
        columns[f"column {place}"] = pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())
    pa_csv.write_csv(pa.table(columns), path)


def _words(size: int) -> list[str]:
    return [f"value {value}" for value in range(size)]


def configuration(protection: str, table: Path, output: Path) -> dict[str, Any]:
    """Of a run of that table."""
    body: dict[str, Any] = {
        "sensitive_microdata_path": str(table),
        "domains": {f"column {place}": _words(size) for place, size in enumerate(VALUES)},
        "reporting_length": 2,
        "evaluate_sensitive": False,
        "dataset": protection,
        "vintage": "1",
        "prefix": "page",
        "output_dir": str(output),
    }
    if protection == "k_anonymity":
        return body | {"dp_aggregates": False, "reporting_resolution": 10, "synthesis_mode": "fitted"}
    cap = {"cap": {"epsilon": 20, "delta": 1e-5}, "population": "invented people"}
    return body | {"dp_aggregates": True, "noise_epsilon": 4.0, "privacy": cap}


def page_of_run(installed: Installation, folder: Path, records: int, protection: str) -> Path:
    """The page of a run, whose table and other files are made in a folder of its own."""
    folder.mkdir()
    table, settings = folder / "table.csv", folder / "settings.json"
    write_table(table, records)
    settings.write_text(json.dumps(configuration(protection, table, folder / "out")), encoding="utf-8")
    # Each run has a table of its own, and so a ledger.
    installed.environment["MARGINALIA_LEDGER"] = str(folder / "ledger")
    installed.command("run", settings)
    return folder / "out" / "release" / protection / "1-1" / "page_data_showcase.html"


def measured(browser: Browser, path: Path) -> dict[str, float]:
    """Figures of one page."""
    openings = []
    for _ in range(_OPENINGS):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(_PATIENCE_MS)
        page.add_init_script(_WATCH)
        page.goto(path.as_uri(), timeout=_PATIENCE_MS)
        openings.append((page.evaluate(_OPENED), _first_paint(page)))
        if len(openings) < _OPENINGS:
            page.context.close()
    opened, painted = (statistics.median(each) for each in zip(*openings, strict=True))
    wall, cpu = _clicks(page)
    memory = _megabytes(browser)
    page.context.close()
    return {
        "file_mb": round(path.stat().st_size / 1e6, 2),
        "first_paint_s": round(painted / 1e3, 2),
        "open_s": round(opened / 1e3, 2),
        "click_ms": round(wall, 1),
        "click_cpu_ms": round(cpu, 1),
        "memory_mb": memory,
    }


def _first_paint(page: Page) -> float:
    """When something was seen; milliseconds from the beginning."""
    found: float = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    return found


def _clicks(page: Page) -> tuple[float, float]:
    """Milliseconds of a click, and of the main thread's CPU; medians."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    wall, cpu = [], []
    for place in range(_CLICKS):
        if place % _CHOSEN == 0 and place:
            page.get_by_role("button", name="Clear", exact=True).first.click()
        before = _thread_seconds(session)
        wall.append(page.evaluate(_CLICK, place))
        cpu.append((_thread_seconds(session) - before) * 1e3)
    return statistics.median(wall), statistics.median(cpu)


def _thread_seconds(session: CDPSession) -> float:
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


def _megabytes(browser: Browser) -> int:
    """What the page's process holds in memory, of what it shares its part."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    pages = [each["id"] for each in processes if each["type"] == "renderer"]
    states = [Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8") for pid in pages]
    return max(int(re.findall(r"\nPss:\s+(\d+)", state)[0]) for state in states) // 1024


def page_in_browser() -> str:
    """Open, first paint, click to redraw, size of the file and memory, of three sizes and two protections."""
    wrong = []
    with installed_server() as installed, tempfile.TemporaryDirectory() as name:
        for protection in PROTECTIONS:
            for records, bars in SIZES.items():
                started = time.perf_counter()
                path = page_of_run(installed, Path(name) / f"{protection}-{records}", records, protection)
                run_s = round(time.perf_counter() - started, 1)
                with launched() as browser:
                    figures = {"protection": protection, "records": records} | measured(browser, path)
                print_line("page_in_browser", **figures, run_s=run_s)
                for key, bar in zip(("open_s", "click_ms"), bars, strict=True):
                    if bar is not None and float(figures[key]) > bar:
                        wrong.append(f"{protection}, {records} records: {key} {figures[key]} is above {bar}")
    return "; ".join(wrong)
