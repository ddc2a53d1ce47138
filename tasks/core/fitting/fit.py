"""Fitting: noisy tables in, records out whose counts come close to them.

First to columns and pairs. Where longer tables were measured, the records of that fit say what is expected
in them, the longer tables are shrunk round it, and the search goes on with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.fitting.noisy_tables import Counts, Domain, NoisyTable, table_counts
from tasks.core.fitting.search import LONG, Progress, Records, Search, independent_records
from tasks.core.fitting.shrinkage import shrunk
from tasks.core.fitting.targets import Target, Targets, targets_of

#: Temperatures of the passes after longer tables have joined.
_WARM = (100.0, 50.0, 20.0, 10.0, 0.0, 0.0)
#: The temperature at which further states are taken, for a mean over them.
MIXING = 50.0
_STATES = 4
_LEAST_EXPECTED = 0.01


@dataclass(frozen=True)
class Fit:
    """What was fitted.

    Attributes:
        records: int32 (n, slots): in each slot a cell of its column; see `Domain`.
        targets: all targets that the records came close to.
    """

    records: Records
    targets: tuple[Target, ...]


def fit(
    domain: Domain,
    tables: Sequence[NoisyTable],
    number: int,
    seed: int,
    *,
    threads: int = 0,
    progress: Progress | None = None,
) -> Fit:
    """Records fitted to noisy tables; a function of the arguments, whatever the threads.

    Args:
        domain: the columns.
        tables: with the number of records as the table of no columns.
        number: how many records, from 0 on.
        seed: any integer.
        threads: 0 for all cores.
        progress: told the share that is done.
    """
    report = progress or (lambda share: None)
    targets = targets_of(domain, tables)
    longer = [table for table in tables if len(table.columns) > 2]
    first = 0.6 if longer else 1.0
    records = independent_records(domain, targets.margins, number, seed)
    search = Search(domain, targets.all, records, targets.variance)
    search.run(LONG, seed, threads=threads, progress=lambda share: report(first * share))
    if not longer:
        return Fit(records, tuple(targets.all))
    expected = mean_counts(domain, search, [table.columns for table in longer], seed, _STATES)
    every = [*targets.all, *_longer_targets(targets, longer, expected, number)]
    search = Search(domain, every, records, targets.variance)
    search.run(_WARM, seed + 1, threads=threads, progress=lambda share: report(first + (1 - first) * share))
    return Fit(records, tuple(every))


def mean_counts(
    domain: Domain, search: Search, tables: Sequence[tuple[int, ...]], seed: int, states: int
) -> list[Counts]:
    """What the records of a search hold in some tables, the mean of several states."""
    sums = [np.zeros(domain.shape(columns)) for columns in tables]
    for state in range(states):
        if state:
            search.run((MIXING,), seed + state)
        for whole, columns in zip(sums, tables, strict=True):
            whole += table_counts(domain, columns, search.records)
    return [whole / states for whole in sums]


def _longer_targets(
    targets: Targets, tables: Sequence[NoisyTable], expected: Sequence[Counts], number: int
) -> list[Target]:
    """Longer tables, shrunk round what the fitted records hold in them."""
    found = []
    for table, held in zip(tables, expected, strict=True):
        centre = np.maximum(held * (targets.records / max(1, number)), _LEAST_EXPECTED)
        counts = centre + shrunk(table.counts - centre, centre, table.variance)
        found.append(Target(table.columns, counts, 1 / table.variance))
    return found
