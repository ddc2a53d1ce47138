"""The draw of a fitted release, in stages: the count, every column, the workload's tables, longer sets.

What a stage asks of the records is a function of public constants and of whole numbers that earlier stages
drew (Theorem W); nothing read off the data stops it (R2).

    count, values of each column ──▶ cells of each column ──▶ tables of the workload, pairs chosen by score
                                                                  │
    longer sets ◀── noisy scores ◀── what records of a first fit hold in longer sets, by pairs alone

Length 1: a declared column's values have their cells whatever the table holds. An open column's must pass the
threshold; what passed is ordered by code point, and beyond a public number the smallest noisy counts give
their cells up (W5, W12). What missed is nowhere kept, not even as a sum or a number (W11).
"""

import hashlib
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tasks.core.arrays import ColumnNumbers, Floats, Integers, StageDone
from tasks.core.dp import thresholds
from tasks.core.dp.accounting import float_up
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.tags import tag_bound
from tasks.core.dp.workload.cells import ColumnCells, MeasuredTable, domain_of, one_half, sensitivity
from tasks.core.dp.workload.choice import Choice, Expected, longer_candidates, standing_out, within
from tasks.core.dp.workload.exact import ExactCounts, Look
from tasks.core.dp.workload.limits import check_draw, each_named
from tasks.core.dp.workload.measurement import ExpectedTable, NoisyScores, WorkloadMeasurement
from tasks.core.dp.workload.observations import estimated_records, first_margin, noisy_tables
from tasks.core.dp.workload.parameters import (
    Spending,
    WorkloadParameters,
    budget_of,
    grid_scale,
    shares_of_tables,
    table_shares,
)
from tasks.core.errors import InternalError, ResourceLimit
from tasks.core.fitting.noisy_tables import Domain
from tasks.core.fitting.search import SHORT_ANNEALING, HeldRecords
from tasks.core.fitting.targets import nearest_counts, targets_of
from tasks.core.records.coded import CodedFacts
from tasks.core.records.columns import Column
from tasks.core.records.table import RecordTable


@dataclass(frozen=True)
class FirstValues:
    """How length 1 is drawn.

    Attributes:
        scale: s_1, one for all columns, as they are one query.
        threshold: tau, the least noisy count of a released value of an open column; None if all are declared.
        most: the most values of an open column that keep a cell of their own.
        filled: the columns that have no cell for `absent`.
    """

    scale: Fraction
    threshold: int | None
    most: int
    filled: Collection[int]
    stream: WordSource

    def draw(
        self, place: int, column: Column, texts: tuple[str, ...], exact: Integers
    ) -> tuple[ColumnCells, Integers]:
        """The cells of one column, and the noisy counts of its values and, where it has it, of `absent`.

        Args:
            place: the column's in the schema.
            texts: the values that were counted: the declared ones, or all that some record holds.
            exact: how many records hold each of them, and then how many hold none.
        """
        if column.domain is None:
            return self._open(column, texts, exact)
        cells = ColumnCells(column.domain, has_absent=place not in self.filled, cap=column.max_items)
        return cells, exact[: cells.size] + self._noise(cells.size)

    def _open(self, column: Column, texts: tuple[str, ...], exact: Integers) -> tuple[ColumnCells, Integers]:
        # A value that no record holds is no candidate (C7): its noise could pass, and nobody would hold it.
        held = np.flatnonzero(exact[:-1] > 0)
        noisy = exact[held] + self._noise(len(held))
        absent = exact[-1] + int(self._noise(1)[0])
        if len(held) and self.threshold is None:
            raise InternalError("An open column needs a threshold.")
        passed = {
            texts[place]: int(count)
            for place, count in zip(held, noisy, strict=True)
            if count >= (self.threshold or 1)
        }
        kept = sorted(sorted(passed, key=lambda text: (-passed[text], text))[: self.most])
        counts = np.array([*(passed[text] for text in kept), absent], np.int64)
        return ColumnCells(tuple(kept), has_other=True, cap=column.max_items), counts

    def _noise(self, cells: int) -> Integers:
        return noise.RoundedGaussian(self.scale).draw(self.stream, cells)


#: Columns, sensitivity and noise scale of one table that is to be drawn.
TableRequest = tuple[ColumnNumbers, int, Fraction]

#: Less than this part of mu^2 is not worth a second measurement.
_LEAST_SECOND = Fraction(1, 50)
_MOST_RECORDS = 2**31 - 1
#: Records of the first fit: of a larger table they stand for several each. Their pairs are asked, which the
#: fit brings within rounding of what was drawn; of a set with a multi-valued column their own counts.
_MOST_FITTED = 1 << 21


class WorkloadDraw:
    """One draw, stage by stage; each stage is charged before a word of it is drawn.

    It keeps no raw value: after length 1 there are cells alone (R1).
    """

    def __init__(
        self, exact: ExactCounts, parameters: WorkloadParameters, stream: WordSource, progress: StageDone
    ) -> None:
        """Args: as of `draw_workload`."""
        self._exact, self._look = exact, Look()
        self._whole = exact.facts.schema
        self._schema = self._whole.measured  # what others decide costs nothing
        self._asked_for = self._parameters = parameters
        self._stream = stream
        self._progress = progress
        budget = budget_of(parameters, all_declared=self._schema.all_declared)
        self._mu_squared, self._threshold_delta = budget
        self._spending = Spending(self._mu_squared)
        self._cells: tuple[ColumnCells, ...] = ()
        self._domain = Domain(())
        self._count, self._count_scale = 0, Fraction(1)
        self._threshold: int | None = None
        self._values: list[MeasuredTable] = []
        self._tables: list[MeasuredTable] = []
        self._scores: NoisyScores | None = None
        self._pair_scores: NoisyScores | None = None
        self._expected: list[ExpectedTable] = []

    def run(self) -> WorkloadMeasurement:
        """All stages."""
        self._draw_count()
        self._draw_values()
        shares = self._draw_tables()
        self._draw_longer()
        self._draw_again(shares)
        return self._so_far()

    def _so_far(self) -> WorkloadMeasurement:
        return WorkloadMeasurement(
            schema=self._whole,
            parameters=self._asked_for,
            private=self._stream.private,
            mu_squared=float_up(self._mu_squared),
            threshold_delta=self._threshold_delta,
            threshold=self._threshold,
            number_of_records=self._count,
            count_scale=float(self._count_scale),
            cells=self._cells,
            values=tuple(self._values),
            tables=tuple(self._tables),
            scores=self._scores,
            pair_scores=self._pair_scores,
            expected=tuple(self._expected),
        )

    def _charge(self, share: Fraction) -> Fraction:
        return share * self._mu_squared

    # ---- the number of records, and every column's values ----------------------------------------------

    def _draw_count(self) -> None:
        self._progress("count", 0.0)
        self._count_scale = grid_scale(1, self._charge(self._parameters.shares.count))
        self._spending.charge([(1, self._count_scale)])
        self._count = self._exact.facts.number_of_records + int(self._noise(self._count_scale, 1)[0])
        self._parameters = self._parameters.at(
            self._parameters.signal(self._count, float_up(self._mu_squared))
        )

    def _draw_values(self) -> None:
        """Length 1: noise on public cells and on values of open columns, which have a threshold."""
        self._progress("values", 0.0)
        schema, width = self._schema, max(1, self._schema.width)
        scale = grid_scale(width, self._charge(self._parameters.shares.values))
        self._spending.charge([(width, scale)])
        if schema.open_items:
            self._threshold = thresholds.first_threshold(scale, schema.open_items, self._threshold_delta)
        parameters = self._parameters
        below = tag_bound(parameters.record_limit, self._count)
        self._look = Look(below, tuple(parameters.filled))
        first = FirstValues(scale, self._threshold, parameters.max_values, parameters.filled, self._stream)
        exact = self._exact.of_values(self._look)
        kept = [
            first.draw(place, column, self._exact.facts.values[place], exact[place])
            for place, column in enumerate(schema.columns)
        ]
        self._cells = tuple(cells for cells, _ in kept)
        self._look = replace(self._look, cells=self._cells)
        self._domain = domain_of(self._cells, self._whole)
        self._values = [
            MeasuredTable((column,), width, float(scale), counts) for column, (_, counts) in enumerate(kept)
        ]

    # ---- the workload's tables -------------------------------------------------------------------------

    def _draw_tables(self) -> list[tuple[ColumnNumbers, Fraction]]:
        """The workload's tables; given back with each one's part of what tables cost."""
        parameters = self._parameters
        charge = self._charge(parameters.shares.tables)
        named = each_named(parameters, self._schema)
        tables = [columns for columns in named if self._size(columns) <= parameters.most_cells]
        if parameters.tables is None and len(tables) > parameters.most_pairs:
            score_charge = parameters.pair_scores * charge
            charge -= score_charge
            tables = self._chosen_pairs(tables, score_charge, charge)
        tables = within(self._domain, tables, parameters.most_cells_together)
        shares = self._shares_of(tables, charge)
        self._measure("tables", self._asked(shares, charge))
        return shares

    def _size(self, columns: ColumnNumbers) -> int:
        return math.prod(self._domain.shape(columns))

    def _shares_of(
        self, tables: Sequence[ColumnNumbers], charge: Fraction
    ) -> list[tuple[ColumnNumbers, Fraction]]:
        total = self._records_estimated()
        shares = shares_of_tables(self._parameters, tables, self._margins(), charge, total)
        return list(zip(tables, shares, strict=True))

    def _asked(
        self, shares: Sequence[tuple[ColumnNumbers, Fraction]], charge: Fraction
    ) -> list[TableRequest]:
        onces = [sensitivity(self._cells, columns) for columns, _ in shares]
        return [
            (columns, once, grid_scale(once, charge * share))
            for (columns, share), once in zip(shares, onces, strict=True)
        ]

    def _records_estimated(self) -> float:
        """N = max(1, round(T)), of everything drawn so far (W6)."""
        return max(1.0, float(round(estimated_records(self._so_far()))))

    def _margins(self) -> list[Floats]:
        """Of each column its estimated counts, from length 1 alone."""
        total = self._records_estimated()
        found = []
        for cells, table in zip(self._cells, self._values, strict=True):
            counts = first_margin(cells, table.counts, total)
            if cells.cap == 1:
                found.append(nearest_counts(counts, total))
                continue
            kept = np.clip(counts, 0.0, total)
            found.append(kept if kept.any() else np.full(len(kept), total / len(kept)))
        return found

    def _measure(self, step: str, asked: Sequence[TableRequest]) -> None:
        self._spending.charge([(once, scale) for _, once, scale in asked])
        counts = self._exact.of_tables(self._look, [columns for columns, _, _ in asked])
        for place, ((columns, once, scale), exact) in enumerate(zip(asked, counts, strict=True)):
            self._progress(step, place / len(asked))
            noisy = exact + self._noise(scale, exact.size).reshape(exact.shape)
            if len(set(columns)) < len(columns):  # a pair of items is one cell, written twice
                noisy = one_half(noisy)
                noisy += noisy.T
            self._tables.append(MeasuredTable(columns, once, float(scale), noisy))

    # ---- sets that are chosen by what they hold --------------------------------------------------------

    def _chosen_pairs(
        self, candidates: Sequence[ColumnNumbers], score_charge: Fraction, charge: Fraction
    ) -> list[ColumnNumbers]:
        """The pairs whose counts differ most from independence, where there are too many to measure (W14)."""
        margins, total = self._margins(), self._records_estimated()
        choice = self._choice(candidates, score_charge, charge, self._parameters.most_pairs)
        self._pair_scores, chosen = self._choose(
            "pair scores",
            choice,
            lambda columns: np.multiply.outer(margins[columns[0]], margins[columns[1]]) / total,
        )
        return chosen

    def _draw_longer(self) -> None:
        """Score longer sets against records of a first fit; measure those that stand out (W14 to W18)."""
        parameters, longer = self._parameters, self._parameters.longer
        measured = {table.columns for table in self._tables}
        candidates = [
            columns for columns in longer_candidates(self._domain, longer) if columns not in measured
        ]
        if not candidates:
            return
        charge = self._charge(parameters.shares.chosen)
        choice = self._choice(candidates, self._charge(parameters.shares.scores), charge, longer.most)
        self._scores, chosen = self._choose("scores", choice, self._fitted_counts())
        scores = dict(zip(candidates, self._scores.scores, strict=True))
        shares = table_shares([float(scores[columns]) for columns in chosen])
        self._measure("longer sets", self._asked(list(zip(chosen, shares, strict=True)), charge))

    def _choice(
        self, candidates: Sequence[ColumnNumbers], score_charge: Fraction, charge: Fraction, most: int
    ) -> Choice:
        onces = tuple(sensitivity(self._cells, columns) for columns in candidates)
        return Choice(tuple(candidates), onces, score_charge, charge, most)

    def _choose(
        self, step: str, choice: Choice, expected: Expected
    ) -> tuple[NoisyScores, list[ColumnNumbers]]:
        """Draw the scores of all candidates; those that stand out, in order."""
        scale = choice.scale
        self._spending.charge([(choice.square, scale)])
        noisy = self._noise(scale, len(choice.candidates)).tolist()
        exact = self._exact.of_tables(self._look, choice.candidates)
        for place, (columns, counts) in enumerate(zip(choice.candidates, exact, strict=True)):
            self._progress(step, place / len(choice.candidates))
            noisy[place] += choice.score(counts, choice.against(place, expected(columns)))
        places = sorted(self._places(choice, noisy))
        for place in places:
            self._expected.append(choice.against(place, expected(choice.candidates[place])))
        scores = NoisyScores(choice.candidates, float(scale), tuple(noisy))
        return scores, [choice.candidates[place] for place in places]

    def _places(self, choice: Choice, noisy: Sequence[int]) -> list[int]:
        """Which candidates are measured: a function of the noisy scores (W16)."""
        return standing_out(noisy, choice.scale, choice.most)

    def _fitted_counts(self) -> Expected:
        """M: what the pairs of records that are fitted to everything drawn so far imply.

        From released numbers and a seed that follows from them (W18).
        """
        targets = targets_of(self._domain, noisy_tables(self._so_far()))
        seed = int.from_bytes(self._digest()[:8], "big")
        number = min(round(targets.records), _MOST_FITTED)
        ratio = number / targets.records if number == _MOST_FITTED else 1.0
        search = HeldRecords(self._domain, targets.margins, number, seed, targets.variance, threads=0)
        scaled = [target.scaled(ratio) for target in targets.all]
        search.run(scaled, SHORT_ANNEALING, lambda share: None)
        implied = search.implied(())
        return lambda columns: implied(columns) / ratio

    def _digest(self) -> bytes:
        digest = hashlib.sha256(str(self._count).encode())
        for table in [*self._values, *self._tables]:
            digest.update(np.ascontiguousarray(table.counts, "<i8").tobytes())
        return digest.digest()

    # ---- what is left --------------------------------------------------------------------------------

    def _draw_again(self, shares: Sequence[tuple[ColumnNumbers, Fraction]]) -> None:
        """Spend what no stage spent on a second measurement of the tables, or else of the columns (W17).

        Nothing chosen, no candidates, no tables: that follows from public facts and from numbers drawn. The
        words are fresh, both measurements are kept, and the exact sum of all of it stays within mu^2.
        """
        left = self._spending.left
        if left < _LEAST_SECOND * self._mu_squared:
            return
        if not shares:
            columns = [(column,) for column in range(len(self._cells))]
            shares = self._shares_of(
                within(self._domain, columns, self._parameters.most_cells_together), left
            )
        asked = self._asked(shares, left)
        if asked and max(scale for _, _, scale in asked) <= noise.LARGEST_SCALE:
            self._measure("second measurement", asked)

    def _noise(self, scale: Fraction, cells: int) -> Integers:
        return noise.RoundedGaussian(scale).draw(self._stream, cells)


def draw_workload(
    table: RecordTable,
    parameters: WorkloadParameters,
    stream: WordSource,
    *,
    before_first_word: Callable[[], None],
    progress: StageDone | None = None,
) -> WorkloadMeasurement:
    """Draw a fitted release.

    Args:
        table: of the public schema, every cap set, tags included where ``parameters`` limits the records.
        parameters: public constants.
        stream: `WordStream`, or `SeededStream` in tests.
        before_first_word: called exactly once, immediately before the first word of noise is taken; what
            it raises stops the draw with nothing drawn.
        progress: told the stage and the share of it that is done; for the operator alone.

    Raises:
        ParameterError: parameters that can't be used, by public facts alone and before anything is drawn;
            see `limits.check_draw`.
        InternalError: records that don't have the form that the schema says, or a charge exceeded.
    """
    exact = ExactCounts(table)
    check_draw(parameters, exact.facts.schema.measured)
    _check(exact.facts, parameters)
    drawing = WorkloadDraw(exact, parameters, stream, progress or (lambda step, share: None))
    before_first_word()
    return drawing.run()


def _check(facts: CodedFacts, parameters: WorkloadParameters) -> None:
    schema = facts.schema
    if facts.slot_columns != schema.slot_columns:
        raise InternalError("Coded records must have the slots of the public schema, every cap set.")
    declared = [(column.domain, texts) for column, texts in zip(schema.columns, facts.values, strict=True)]
    if any(domain is not None and domain != texts for domain, texts in declared):
        raise InternalError("The codes of a declared column must stand for its declared values, in order.")
    if parameters.record_limit is not None and not facts.has_tags:
        raise InternalError("A record limit needs a tag for each record.")
    if facts.number_of_records > _MOST_RECORDS:
        raise ResourceLimit("A table can be measured with up to 2^31 - 1 records.")
