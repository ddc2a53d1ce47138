"""``make bench``: figures beside the published peer, one JSON line each.

Each is CPU seconds of ours and of the peer in the same run, one thread each, their ratio and its bar. Peer
sections of over a minute run once, others three times, interleaved with ours; medians. Names may be given
as arguments to run those figures alone; `--skip-slow-peers` leaves out `SLOW_PEERS`. A figure that fails or
misses its bar is reported, the next one runs, and the exit code is 1 at the end.
"""

import argparse
import statistics
import sys

from tests.benchmarks.compiling import compile_kernels
from tests.benchmarks.counting import count_k_anonymity_r4
from tests.benchmarks.data import Table, adult, generated
from tests.benchmarks.evaluating import evaluation_adult_r3
from tests.benchmarks.fitted_beside import FIGURES as FITTED_FIGURES
from tests.benchmarks.header_on_real_tables import FIGURES as HEADER_FIGURES
from tests.benchmarks.init_on_real_tables import init_on_real_tables
from tests.benchmarks.init_visits import FIGURES as INIT_FIGURES
from tests.benchmarks.overhead import FIGURES as OVERHEAD_FIGURES
from tests.benchmarks.page_in_browser import FIGURES as PAGE_FIGURES
from tests.benchmarks.running import (
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
from tests.benchmarks.survivors import Fit, disagreements
from tests.benchmarks.syndiffix import FIGURES as SYNDIFFIX_FIGURES
from tests.benchmarks.syndiffix_quality import FIGURES as SYNDIFFIX_QUALITY
from tests.benchmarks.syndiffix_quality import syndiffix_relations
from tests.benchmarks.syndiffix_tails import FIGURES as SYNDIFFIX_TAILS

#: Fits of ours that tell how much the number of survivors varies.
_FITS = 20


def ours(section: str, table: Table, *arguments: object) -> Result:
    """One measurement of ours, in a process of its own."""
    return measured([sys.executable, "-m", "tests.benchmarks.ours", section, table.path, *arguments])


def count_adult_r3() -> str:
    """Exact counting by DuckDB alone."""
    table = adult()
    mine, theirs = interleaved(lambda: ours("count", table, 3), lambda: peer("count", table, 3))
    assert mine[0]["combinations"] == theirs[0]["combinations"], "both count the same combinations"
    return report("count_adult_r3", median(mine), median(theirs), 20, data=table.name)


def _dp_fit(length: int, bar: float) -> str:
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


def dp_fit_adult_r3() -> str:
    """The whole fit, from codes in memory to released counts, R = 3."""
    return _dp_fit(3, 100)


def dp_fit_adult_r4() -> str:
    """The same, R = 4."""
    return _dp_fit(4, 50)


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


FIGURES = (
    count_adult_r3,
    count_k_anonymity_r4,
    dp_fit_adult_r3,
    dp_fit_adult_r4,
    synthesis_adult_r3,
    evaluation_adult_r3,
    whole_adult_r3,
    *FITTED_FIGURES,
    compile_kernels,
    *OVERHEAD_FIGURES,
    *HEADER_FIGURES,
    *INIT_FIGURES,
    init_on_real_tables,
    *PAGE_FIGURES,
    *SYNDIFFIX_FIGURES,
    syndiffix_relations,
    *SYNDIFFIX_QUALITY,
    *SYNDIFFIX_TAILS,
)


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
