"""The measuring step taken apart, so that one part can be exchanged for a wrong one.

`tuple_counts` is the exact part of one length; `released` runs one draw with a plan and a `Lengths` of the
caller's choice.
"""

import numpy as np

from tasks.core.dp import thresholds
from tasks.core.dp.accounting import Plan
from tasks.core.dp.candidates import Lattice, SizeRule, Survivors
from tasks.core.dp.exact import LengthCounts
from tasks.core.dp.kernels import CANDIDATE, COUNT
from tasks.core.dp.lengths import Draw, Lengths
from tasks.core.dp.release import _noisy_count
from tasks.core.dp.tallies import AskedValues, Sample, SurvivingCodes, TupleCounts, ValueCounts
from tasks.core.records.table import RecordTable


def plan_of(mu, levels, threshold_delta=0.0, sigmas=None):
    """Equal shares of mu^2 for the count and each length, or the sigmas given."""
    sigma = float(np.sqrt(levels + 1) / mu)
    return Plan(
        accountant="gdp",
        mu_squared=mu**2 * (1 + 1e-12),
        threshold_delta=threshold_delta,
        applied_threshold_delta=threshold_delta,
        count_sigma=sigma * (1 + 1e-12),
        count_epsilon=None,
        sigmas=tuple(sigmas or [sigma * (1 + 1e-12)] * levels),
        profile_sigma=None,
    )


def lattice_of(schema, sizes):
    lattice = Lattice(np.array(sizes, np.int64))
    first = {((column,), (code,)) for column, size in enumerate(sizes) for code in range(1, size + 1)}
    add(lattice, schema, 1, first)
    return lattice, first


def add(lattice, schema, length, survivors):
    combinations = schema.combinations(length)
    place = {combination: index for index, combination in enumerate(combinations)}
    rows = sorted((place[columns], codes) for columns, codes in survivors)
    starts = np.searchsorted([row[0] for row in rows], np.arange(len(combinations) + 1))
    codes = np.array([row[1] for row in rows], np.uint32).reshape(-1, length)
    lattice.levels.append(Survivors(combinations, starts.astype(np.int64), codes))


def dense_cells(counts):
    cubes, found = counts.dense.cubes, {}
    for place in np.flatnonzero(counts.dense.cells >= CANDIDATE):
        cube = int(np.searchsorted(cubes.offsets, place, side="right")) - 1
        key, codes = int(place - cubes.offsets[cube]), []
        for size in cubes.sizes[cube][::-1].tolist():
            codes.append(key % size)
            key //= size
        cell = (tuple(cubes.columns[cube].tolist()), tuple(codes[::-1]))
        found[cell] = int(counts.dense.cells[place] & COUNT)
    return found


def sparse_cells(counts):
    """Held candidates with their counts, and the others with 0, as `_empty_cells` enumerates them."""
    found = {}
    for table in counts.sparse.values():
        empty = table._empty_cells(np.arange(table.candidates - len(table.keys)))
        for keys, values in ((table.keys, table.counts), (empty, np.zeros(len(empty), int))):
            for key, count in zip(keys.tolist(), values.tolist(), strict=True):
                prefix = tuple(table.prefixes[key // table.size].tolist())
                cell = (table.combination, (*prefix, key % table.size))
                assert cell not in found
                found[cell] = count
    return found


def tuple_counts(records, lattice, length, limit, rule):
    """{(columns, codes): count} of the candidates of a length k >= 2 (dense), dropped to ``limit``."""
    codes = np.array(records.slots, np.uint8).reshape(len(records.slots), records.number_of_records)
    counts = TupleCounts.blank(records.schema, records.schema.combinations(length), lattice, rule)
    seen = SurvivingCodes(codes, records.tags)
    held = counts.count(seen, True, lambda share: None)
    counts.drop(seen, held, limit)
    return counts


def value_counts(records, counting, bounded=True):
    """The tally of length 1, and the answer that completes it."""
    sizes = tuple(map(len, records.values))
    values = counting.blank(records.slot_columns, sizes)
    question = AskedValues(Sample(), bounded, records.slot_columns, sizes)
    return values, LengthCounts(RecordTable.in_memory(records)).counted(question, values, lambda share: None)


def released(records, parameters, plan, stream, lengths):
    """The noisy count and the lengths of one draw."""
    number_of_records, _ = _noisy_count(records.number_of_records, plan, stream)
    whole = LengthCounts(RecordTable.in_memory(records))
    asked = Draw(whole, parameters, stream, lambda: None, lambda step, share: None, SizeRule())
    drawn = lengths(asked, plan)
    drawn.first(None, *value_counts(records, drawn.counting, asked.is_bounded))
    for length in range(2, parameters.reporting_length + 1):
        drawn.longer(length)
    return number_of_records, drawn


class Right(Lengths):
    """The mechanism as it is."""

    counting = ValueCounts


class WithoutRoot(Right):
    """Wrong: noise sigma_k instead of sigma_k sqrt(Delta_k), without R9's assertion, which sees it."""

    def _scale(self, bounds, sensitivity):
        return thresholds.scale(self._plan.sigmas[bounds.length - 1], 1)


class WithoutEmptyCells(Right):
    """Wrong: no noise on candidates that nobody holds."""

    def _count(self, question, counts, bounds):
        sensitivity = super()._count(question, counts, bounds)
        cells, offsets = counts.dense.cells, counts.dense.cubes.offsets
        cells[cells == CANDIDATE] = 0
        for cube in range(len(counts.dense.found)):
            counts.dense.found[cube] = np.count_nonzero(cells[offsets[cube] : offsets[cube + 1]] > CANDIDATE)
        return sensitivity


class Bounded(Right):
    """The mechanism as it is, with a fixed sensitivity, so that records hold more than is counted."""

    limit = 5

    def _choose(self, bounds, sizes):
        return bounds.clamp(self.limit)


class UntruncatedValues(ValueCounts):
    """Wrong (G3): the candidates of an open column are all values seen, dropped ones included."""

    def drop(self, records, sensitivity, limit):
        self.seen.extend(self.counts_of_column(index) > 0 for index in range(len(records.schema.columns)))
        super().drop(records, sensitivity, limit)

    @property
    def seen(self):
        return self.__dict__.setdefault("_seen", [])

    def candidates(self, index, column):
        return np.flatnonzero(self.seen[index])


class UntruncatedDomain(Bounded):
    """Wrong (G3), as above, in the whole mechanism."""

    counting = UntruncatedValues
