"""``make bench``: figures beside the published peer, one JSON line each.

Each is CPU seconds of ours and of the peer in the same run, one thread each, their ratio and its bar. Peer
sections of over a minute run once, others three times, interleaved with ours; medians. Names may be given
as arguments to run those figures alone; `--skip-slow-peers` leaves out `SLOW_PEERS`. A figure that fails or
misses its bar is reported, the next one runs, and the exit code is 1 at the end.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from scipy.stats import t

from tests.benchmarks.core_job import generated_folder
from tests.benchmarks.data import Table, adult, generated
from tests.benchmarks.fitted_beside import fitted_beside
from tests.benchmarks.header_on_real_tables import header_on_real_tables
from tests.benchmarks.init_on_real_tables import init_on_real_tables
from tests.benchmarks.overhead import cached_run, compile_kernels, prefect_memory, prefect_ten_steps
from tests.benchmarks.page_in_browser import page_in_browser
from tests.benchmarks.running import (
    Figures,
    Result,
    chosen,
    interleaved,
    measured,
    median,
    number,
    peer,
    report,
    run,
)
from tests.benchmarks.syndiffix import FIGURES as SYNDIFFIX_FIGURES
from tests.benchmarks.syndiffix_tails import syndiffix_tails

#: Fits of ours that tell how much the number of survivors varies.
_FITS = 20
#: Chance that one length is called different although both sides draw from the same distribution.
_FALSE_ALARM = 1e-4
#: Survivors by length, of one fit.
Fit = Sequence[int]


def ours(section: str, table: Table | Path, *arguments: object) -> Result:
    """One measurement of ours, in a process of its own."""
    path = table.path if isinstance(table, Table) else table
    return measured([sys.executable, "-m", "tests.benchmarks.ours", section, path, *arguments])


def count_adult_r3() -> str:
    """Exact counting by DuckDB alone."""
    table = adult()
    mine, theirs = interleaved(lambda: ours("count", table, 3), lambda: peer("count", table, 3))
    assert mine[0]["combinations"] == theirs[0]["combinations"], "both count the same combinations"
    return report("count_adult_r3", median(mine), median(theirs), 20, data=table.name)


def count_k_anonymity_r4() -> str:
    """Every combination up to length 4: a million records, and the largest table that the peer holds.

    The peer keeps every record's combinations and a dictionary of texts: 2.5 GB for 10,000 records, 4.1 for
    20,000, 7.1 for 40,000, the largest number with which it was seen to finish.
    """
    table, million = generated(40_000, 15), generated_folder(1_000_000, 15)
    codes = generated_folder(40_000, 15)
    mine, theirs = interleaved(lambda: ours("count_codes", codes, 4), lambda: peer("count", table, 4))
    assert mine[0]["combinations"] == theirs[0]["combinations"], "both count the same combinations"
    return report(
        "count_k_anonymity_r4",
        median(mine),
        median(theirs),
        20,
        data=table.name,
        combinations=mine[0]["combinations"],
        peer_peak_mb=theirs[0]["peak_mb"],
        peak_mb=mine[0]["peak_mb"],
        million=ours("count_codes", million, 4),
    )


def dp_fit_adult(length: int, bar: float) -> str:
    """The whole fit, from codes in memory to released counts."""
    table = adult()
    mine, theirs = interleaved(lambda: ours("fit", table, length, "zcdp"), lambda: peer("fit", table, length))
    fits: list[Fit] = ours("survivors", table, length, _FITS)["survivors"]  # type: ignore[assignment]
    peers: list[Fit] = [result["survivors"] for result in theirs]  # type: ignore[misc]
    means = [[statistics.mean(own) for own in zip(*side, strict=True)] for side in (fits, peers)]
    wrong = disagreements(fits, peers)
    name = f"dp_fit_adult_r{length}"
    kept = [[round(value, 1) for value in pair] for pair in zip(*means, strict=True)]
    more = {"data": table.name, "accountant": "zcdp", "survivors": kept}
    wrong.append(report(name, median(mine), median(theirs), bar, **more))
    default = [ours("fit", table, length, "gdp") for _ in range(3)]
    wrong.append(report(name, median(default), median(theirs), bar, data=table.name, accountant="gdp"))
    return "; ".join(filter(None, wrong))


def disagreements(mine: Sequence[Fit], theirs: Sequence[Fit]) -> list[str]:
    """The lengths at which the two sides' means differ by more than chance, in words.

    Survivors of a length hang on those of the length before, so their variance is not that of independent
    combinations: it is taken from our own fits, of which there are many, and holds for the peer's, which are
    the same mechanism. Of ours at least two are needed.
    """
    found = []
    for length, (ours, peers) in enumerate(
        zip(zip(*mine, strict=True), zip(*theirs, strict=True), strict=True), start=1
    ):
        us, them = statistics.mean(ours), statistics.mean(peers)
        error = statistics.stdev(ours) * math.sqrt(1 / len(ours) + 1 / len(peers))
        tolerance = float(t.isf(_FALSE_ALARM / 2, len(ours) - 1)) * error
        if abs(us - them) > tolerance:
            means = f"{us:.1f} and {them:.1f} differ by more than {tolerance:.1f}"
            found.append(f"survivors of length {length}: {means}")
    return found


def synthesis_adult_r3() -> str:
    """Synthesis from the peer's own aggregates, per record; then errors on a full run."""
    table = adult()
    theirs = peer("sample", table, 3, 3000)
    mine = [ours("synthesis", table, 3000) for _ in range(3)]
    peer_each = number(theirs, "sample_cpu_s") / number(theirs, "records")
    each = statistics.median(number(result, "cpu_s") / number(result, "records") for result in mine)
    full = generated(10_000, 15)
    peer("sample", full, 3, 0)
    errors = ours("errors", full)
    return report("synthesis_adult_r3", each, peer_each, 100, data=table.name, per="record", full_run=errors)


def whole_adult_r3() -> str:
    """CSV to report, imports included, without the start-up of Prefect and Great Expectations."""
    table = adult()
    theirs = peer("whole", table, 3, 0)
    mine = [ours("whole", table, 3) for _ in range(3)]
    starts = ours("starts", table)
    return report(
        "whole_adult_r3",
        median(mine),
        number(theirs, "cpu_s"),
        30,
        data=table.name,
        peak_mb=max(int(str(result["peak_mb"])) for result in mine),
        peer_peak_mb=theirs["peak_mb"],
        beside=starts,
    )


FIGURES: Figures = {
    "count_adult_r3": count_adult_r3,
    "count_k_anonymity_r4": count_k_anonymity_r4,
    "dp_fit_adult_r3": lambda: dp_fit_adult(3, 100),
    "dp_fit_adult_r4": lambda: dp_fit_adult(4, 50),
    "synthesis_adult_r3": synthesis_adult_r3,
    "whole_adult_r3": whole_adult_r3,
    "fitted_adult13": lambda: fitted_beside("adult13"),
    "fitted_natdemo10": lambda: fitted_beside("natdemo10"),
    "compile_kernels": compile_kernels,
    "prefect_ten_steps": prefect_ten_steps,
    "prefect_memory": prefect_memory,
    "cached_run": cached_run,
    "header_on_real_tables": header_on_real_tables,
    "init_on_real_tables": init_on_real_tables,
    "page_in_browser": page_in_browser,
    **SYNDIFFIX_FIGURES,
    "syndiffix_tails": syndiffix_tails,
}
#: Figures whose peer takes over ten minutes.
SLOW_PEERS = ("fitted_adult13", "syndiffix_quality", "syndiffix_relations")


def main() -> int:
    """Run the figures named, or all; return the exit code."""
    parser = argparse.ArgumentParser(prog="make bench", description="Figures beside the published peer.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of the figures to run (default: all)")
    parser.add_argument("--skip-slow-peers", action="store_true", help=f"all but {', '.join(SLOW_PEERS)}")
    options = parser.parse_args()
    return run(chosen(FIGURES, options.names, SLOW_PEERS if options.skip_slow_peers else ()))


if __name__ == "__main__":
    sys.exit(main())
