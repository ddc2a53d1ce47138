"""The draw of a fitted release, in stages: the count, every column, the workload's tables, longer sets.

In: coded records and public parameters. Out: a measurement. What a stage asks of the records is a function of
public constants and of whole numbers that earlier stages drew (Theorem W); nothing read off the data stops
it (rule 2).
"""

import hashlib
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from tasks.core.dp import noise, thresholds
from tasks.core.dp.accounting import fraction_above, gdp_budget
from tasks.core.dp.stream import WordSource
from tasks.core.dp.workload.cells import ColumnCells, Slots, domain_of, map_records
from tasks.core.dp.workload.measurement import NoisyScores, WorkloadMeasurement
from tasks.core.dp.workload.observations import Observations, first_margin, noisy_tables
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.dp.workload.scores import Ints, allowances, score, sixteenths, standing_out
from tasks.core.dp.workload.shares import Spending, effective_sizes, grid_scale, table_shares
from tasks.core.dp.workload.tables import Columns, MeasuredTable, sensitivity
from tasks.core.errors import InternalError
from tasks.core.fitting.fit import mean_counts
from tasks.core.fitting.noisy_tables import Counts, Domain, table_counts
from tasks.core.fitting.search import SHORT, Search, independent_records
from tasks.core.fitting.simplex import nearest_counts
from tasks.core.fitting.targets import targets_of
from tasks.core.records.coded import CodedRecords

Progress = Callable[[str, float], None]


def budget_of(parameters: WorkloadParameters, *, all_declared: bool) -> tuple[Fraction, float]:
    """mu^2, exact, and delta_t, which is spent only where a column is open (Theorem W)."""
    delta = Fraction(parameters.delta)
    threshold_delta = 0.0 if all_declared else float(parameters.threshold_delta_share * delta)
    return gdp_budget(parameters.epsilon, delta, threshold_delta), threshold_delta


class WorkloadDraw:
    """One draw, stage by stage; each stage is charged before a word of it is drawn."""

    def __init__(
        self, records: CodedRecords, parameters: WorkloadParameters, stream: WordSource, progress: Progress
    ) -> None:
        """Args: as of `draw_workload`."""
        self._records = records
        self._parameters = parameters
        self._stream = stream
        self._progress = progress
        all_declared = not any(column.is_open for column in records.schema.columns)
        self._mu_squared, self._threshold_delta = budget_of(parameters, all_declared=all_declared)
        self._spending = Spending(self._mu_squared)
        self._cells: tuple[ColumnCells, ...] = ()
        self._domain = Domain(())
        self._slots: Slots = np.zeros((0, 0), np.int32)
        self._count, self._count_scale = 0, Fraction(1)
        self._threshold: int | None = None
        self._values: list[MeasuredTable] = []
        self._tables: list[MeasuredTable] = []
        self._scores: NoisyScores | None = None

    def run(self) -> WorkloadMeasurement:
        """All stages."""
        self._draw_count()
        self._draw_values()
        self._draw_tables()
        if self._parameters.longer.length:
            self._draw_longer()
        return WorkloadMeasurement(
            schema=self._records.schema,
            parameters=self._parameters,
            private=self._stream.private,
            mu_squared=fraction_above(self._mu_squared),
            threshold_delta=self._threshold_delta,
            threshold=self._threshold,
            number_of_records=self._count,
            count_scale=float(self._count_scale),
            cells=self._cells,
            values=tuple(self._values),
            tables=tuple(self._tables),
            scores=self._scores,
        )

    def _charge(self, share: Fraction) -> Fraction:
        return share * self._mu_squared

    def _draw_count(self) -> None:
        self._progress("count", 0.0)
        self._count_scale = grid_scale(1, self._charge(self._parameters.shares.count))
        self._spending.charge([(1, self._count_scale)])
        self._count = self._records.number_of_records + int(self._noise(self._count_scale, 1)[0])

    def _draw_values(self) -> None:
        """Length 1: noise on public cells and on values of open columns, which have a threshold."""
        self._progress("values", 0.0)
        records, width = self._records, max(1, self._records.schema.width)
        scale = grid_scale(width, self._charge(self._parameters.shares.values))
        self._spending.charge([(width, scale)])
        opened = sum(column.max_items for column in records.schema.columns if column.is_open)
        if opened:
            new = min(width, opened)
            self._threshold = thresholds.first_threshold(scale, new, self._threshold_delta)
        kept = [self._values_of(column, scale) for column in range(len(records.schema.columns))]
        self._cells = tuple(cells for cells, _ in kept)
        self._domain = domain_of(self._cells)
        self._slots = map_records(records, self._cells)
        self._values = [
            MeasuredTable((column,), width, float(scale), counts) for column, (_, counts) in enumerate(kept)
        ]

    def _values_of(self, column: int, scale: Fraction) -> tuple[ColumnCells, Ints]:
        """The cells of one column, and the noisy counts of its values and of `absent`."""
        records = self._records
        about, texts = records.schema.columns[column], records.values[column]
        every = ColumnCells(texts, cap=about.max_items)
        exact = _counts_of_column(records, column, every)
        # A value of an open column that no record holds is no candidate (C7); all public cells are.
        asked = np.ones(every.size, bool)
        if about.is_open:
            asked[: len(texts)] = exact[: len(texts)] > 0
        noisy = np.zeros(every.size, np.int64)
        noisy[asked] = exact[asked] + self._noise(scale, int(asked.sum()))
        if not about.is_open:
            return every, noisy
        released = asked & (noisy >= (self._threshold or 1))
        released[-1] = False
        places = _largest(noisy, np.flatnonzero(released), self._parameters.max_values)
        cells = ColumnCells(tuple(texts[place] for place in places), has_other=True, cap=about.max_items)
        return cells, np.append(noisy[places], noisy[-1])

    def _draw_tables(self) -> None:
        """The workload's tables, with shares by how many of their cells rise above the noise."""
        tables = self._workload()
        if not tables:
            return
        charge = self._charge(self._parameters.shares.tables)
        flat = math.sqrt(len(tables) / float(charge))
        shares = table_shares(effective_sizes(self._margins(), tables, flat), self._factors(tables))
        asked = []
        for columns, share in zip(tables, shares, strict=True):
            once = sensitivity(self._cells, columns)
            asked.append((columns, once, grid_scale(once, charge * share)))
        self._measure("tables", asked)

    def _workload(self) -> list[Columns]:
        """The sets of columns that are measured, without those that have too many cells (W5)."""
        named = self._parameters.tables
        if named is None:
            named = tuple(itertools.combinations(range(len(self._cells)), 2))
        return [columns for columns in named if self._size(columns) <= self._parameters.most_cells]

    def _size(self, columns: Columns) -> int:
        return math.prod(self._domain.shape(columns))

    def _factors(self, tables: Sequence[Columns]) -> list[float]:
        target, factor = self._parameters.target, self._parameters.target_factor
        return [factor if target in columns else 1.0 for columns in tables]

    def _margins(self) -> list[Counts]:
        """Of each column its estimated counts, from length 1 alone."""
        total = max(1.0, float(self._count))
        return [
            nearest_counts(first_margin(cells, table.counts, total), total)
            for cells, table in zip(self._cells, self._values, strict=True)
        ]

    def _measure(self, step: str, asked: Sequence[tuple[Columns, int, Fraction]]) -> None:
        """Charge, count and draw some tables: columns, sensitivity and scale of each."""
        self._spending.charge([(once, scale) for _, once, scale in asked])
        for place, (columns, once, scale) in enumerate(asked):
            self._progress(step, place / len(asked))
            exact = table_counts(self._domain, columns, self._slots)
            noisy = exact + self._table_noise(columns, scale, exact.shape)
            self._tables.append(MeasuredTable(columns, once, float(scale), noisy))

    def _table_noise(self, columns: Columns, scale: Fraction, shape: tuple[int, ...]) -> Ints:
        """Noise of every cell. A pair of items of one column is one cell, written twice."""
        drawn = self._noise(scale, math.prod(shape)).reshape(shape)
        if len(set(columns)) == len(columns):
            return drawn
        lower: Ints = np.tril(drawn, -1)
        return lower + lower.T

    def _draw_longer(self) -> None:
        """Score longer sets against records of a first fit; measure those that stand out (W14 to W18)."""
        parameters, longer = self._parameters, self._parameters.longer
        candidates = self._candidates()
        if not candidates:
            return
        onces = [sensitivity(self._cells, columns) for columns in candidates]
        scale = grid_scale(sum(once**2 for once in onces), self._charge(parameters.shares.scores))
        self._spending.charge([(sum(once**2 for once in onces), scale)])
        chosen_charge = self._charge(parameters.shares.chosen)
        expected = self._expected(candidates)
        drawn = self._noise(scale, len(candidates))
        noisy = []
        for place, columns in enumerate(candidates):
            self._progress("scores", place / len(candidates))
            planned = grid_scale(onces[place], chosen_charge / longer.most)
            expected16 = sixteenths(expected[place])
            exact = score(
                table_counts(self._domain, columns, self._slots), expected16, allowances(expected16, planned)
            )
            noisy.append(exact + int(drawn[place]))
        self._scores = NoisyScores(tuple(candidates), float(scale), tuple(noisy))
        places = sorted(standing_out(noisy, scale, longer.most))
        if places:
            asked = [
                (candidates[place], onces[place], grid_scale(onces[place], chosen_charge / len(places)))
                for place in places
            ]
            self._measure("longer sets", asked)

    def _candidates(self) -> list[Columns]:
        """Sets of the asked length that are not too large and have not been measured."""
        measured = {table.columns for table in self._tables}
        longer = self._parameters.longer
        every = itertools.combinations(range(len(self._cells)), longer.length)
        return [
            columns
            for columns in every
            if columns not in measured and self._size(columns) <= longer.most_cells
        ]

    def _expected(self, candidates: Sequence[Columns]) -> list[Counts]:
        """M: what records that are fitted to everything drawn so far hold, the mean of some states.

        From released numbers and a seed that follows from them (W18).
        """
        targets = targets_of(self._domain, noisy_tables(self._so_far()))
        seed = int.from_bytes(self._digest()[:8], "big")
        records = independent_records(self._domain, targets.margins, round(targets.records), seed)
        search = Search(self._domain, targets.all, records, targets.variance)
        search.run(SHORT, seed)
        return mean_counts(self._domain, search, candidates, seed, self._parameters.longer.states)

    def _digest(self) -> bytes:
        """SHA-256 of the whole numbers drawn so far."""
        digest = hashlib.sha256(str(self._count).encode())
        for table in [*self._values, *self._tables]:
            digest.update(np.ascontiguousarray(table.counts, "<i8").tobytes())
        return digest.digest()

    def _so_far(self) -> "Observations":
        return Observations(self._count, float(self._count_scale), self._cells, self._values, self._tables)

    def _noise(self, scale: Fraction, cells: int) -> Ints:
        return noise.RoundedGaussian(scale).draw(self._stream, cells)


def draw_workload(
    records: CodedRecords,
    parameters: WorkloadParameters,
    stream: WordSource,
    *,
    before_first_word: Callable[[], None],
    progress: Progress | None = None,
) -> WorkloadMeasurement:
    """Draw a fitted release.

    Args:
        records: of one table of the public schema, every cap set.
        parameters: public constants.
        stream: `WordStream`, or `SeededStream` in tests.
        before_first_word: called exactly once, immediately before the first word of noise is taken.
        progress: told the stage and the share of it that is done; for the operator alone.

    Raises:
        InternalError: records that don't have the form that the schema says, or a charge exceeded.
        ParameterError: scales that can't be drawn.
    """
    if len(records.slots) != records.schema.width or records.slot_columns != records.schema.slot_columns:
        raise InternalError("Coded records must have the slots of the public schema, every cap set.")
    drawing = WorkloadDraw(records, parameters, stream, progress or (lambda step, share: None))
    before_first_word()
    return drawing.run()


def _counts_of_column(records: CodedRecords, column: int, cells: ColumnCells) -> Ints:
    """Exact counts of a column's values, then of records that hold none."""
    whole = np.zeros(cells.size, np.int64)
    holds = np.zeros(records.number_of_records, bool)
    for codes, of_slot in zip(records.slots, records.slot_columns, strict=True):
        if of_slot == column:
            whole[:-1] += np.bincount(codes, minlength=cells.size)[1 : cells.size]
            holds |= codes > 0
    whole[-1] = records.number_of_records - int(holds.sum())
    return whole


def _largest(noisy: Ints, places: Ints, most: int) -> Ints:
    """The places of the largest noisy counts, at most ``most``, in order; ties go to the first ones."""
    order = places[np.lexsort((places, -noisy[places]))]
    return np.sort(order[:most])
