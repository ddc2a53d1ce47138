"""The lengths of one draw, one after the other.

In: a table to be asked, parameters, a plan of the budget. Out: what each length releases, as
`measurement.Level`. Only what earlier lengths released, and public facts, decide what is asked of the records
next (C8).

Length 1: every declared value with noise and no threshold, every open one with both. It is one query with one
scale (R11). Records are then re-encoded to the values that survived, so that all else is absent from here on.

Lengths 2 and beyond: candidates from what survived, their counts, their noise. A combination is measured cell
by cell where its cube is small enough, and by the sparse law otherwise: the choice is a function of public
sizes, and the law is the same (R15).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Codes, ColumnNumbers, Flags, HalfWords, Integers, ShareDone, StageDone
from tasks.core.dp import accounting, contribution, kernels, sparse, thresholds
from tasks.core.dp.accounting import Plan
from tasks.core.dp.candidates import (
    Answer,
    Choices,
    Cubes,
    DenseCounts,
    Kept,
    Lattice,
    Portion,
    SizeRule,
    SurvivingCodes,
    code_matrix,
    flag_candidates,
)
from tasks.core.dp.contribution import Bounds, Sensitivity, coins, needed_tags
from tasks.core.dp.exact import CountedLength, LengthCounts
from tasks.core.dp.measurement import Level
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.sparse import SparseTable
from tasks.core.dp.tags import records_below
from tasks.core.errors import InternalError
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Column, Schema

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Sample:
    """Records as length 1 looks at them.

    Attributes:
        below: only records with a tag below are looked at (R14); None: all.
    """

    below: int | None = None

    def at(self, records: CodedRecords) -> CodedRecords:
        """Those of the records that are looked at."""
        return records_below(records, self.below)


@dataclass(frozen=True)
class AskedValues:
    """What the draw asks at length 1.

    Attributes:
        look: the sample.
        bounded: whether a record counts for some of its values alone.
        slot_columns: see `CodedRecords`.
        sizes: for each column how many values its dictionary has; sensitive, as is all that counts values.
    """

    look: Sample
    bounded: bool
    slot_columns: tuple[int, ...]
    sizes: tuple[int, ...] = field(repr=False)

    def blank(self, portion: Portion | None = None) -> "ValueCounts":
        """All values, and no record: they are one portion."""
        return ValueCounts.of(self.slot_columns, self.sizes)


@dataclass(frozen=True)
class ValueCounts:
    """How many records hold each value.

        cells     0 | C + 60 | C + 40 | 0 | C + 30 | C + 70      C: the flag of a candidate
        of        - | female | male   | - | Lille  | Lyon        offsets: 0, 3, 6

    Attributes:
        cells: uint32, the values of all columns with the absent one first, flagged as `kernels` says.
        offsets: int64 (columns + 1,), where each column begins.
        slot_columns: see `CodedRecords`.
    """

    cells: HalfWords
    offsets: Integers
    slot_columns: tuple[int, ...]

    @classmethod
    def of(cls, slot_columns: tuple[int, ...], sizes: Sequence[int]) -> "ValueCounts":
        """Of no record, for columns with so many values."""
        offsets = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64) + 1)]).astype(np.int64)
        cells = np.full(int(offsets[-1]), kernels.CANDIDATE, np.uint32)
        cells[offsets[:-1]] = 0  # absent is no value
        return cls(cells, offsets, slot_columns)

    def count(self, records: CodedRecords, with_sensitivity: bool, report: ShareDone) -> Sensitivity | None:
        """Count every record; where it is asked for, give the number of values each one holds."""
        sensitivity = np.zeros(records.number_of_records, np.uint32) if with_sensitivity else None
        for codes, column in zip(records.slots, self.slot_columns, strict=True):
            kernels.count_values(codes, self.cells[self.offsets[column] : self.offsets[column + 1]])
            if sensitivity is not None:
                kernels.count_filled(codes, sensitivity)
        self.cells[self.offsets[:-1]] = 0
        report(1.0)
        return sensitivity

    def drop(self, records: CodedRecords, sensitivity: Sensitivity, limit: int) -> None:
        """Take back the values that records with more than ``limit`` of them lose."""
        tags = needed_tags(records.tags)
        columns = np.array(self.slot_columns, np.int64)
        slots = np.arange(len(columns))[:, np.newaxis]
        sizes = np.diff(self.offsets)[columns]
        over = np.flatnonzero(sensitivity > limit)
        for start in range(0, len(over), _BLOCK):
            rows = over[start : start + _BLOCK]
            codes = np.stack([codes[rows].astype(np.uint32) for codes in records.slots])
            mine = coins(tags[rows], sensitivity[rows], limit, 1)
            offsets = self.offsets[columns]
            kernels.drop_tuples(codes, (0, len(rows)), slots, offsets, sizes, self.cells, mine)

    def portions(self) -> list[Portion]:
        return [(0, len(self.offsets) - 1)]

    def answer(self) -> Answer:
        return Answer(self.cells & kernels.COUNT)

    def add(self, answer: Answer, portion: Portion | None = None) -> None:
        """Add what was counted of other records."""
        self.cells[:] += answer.cells

    def of_column(self, column: int) -> Integers:
        """The counts of codes 1, 2, ..."""
        cells = self.cells[self.offsets[column] + 1 : self.offsets[column + 1]]
        return (cells & kernels.COUNT).astype(np.int64)

    def candidates(self, index: int, column: Column) -> Integers:
        """Which values of a column get noise, from 0: all declared ones; of open ones those counted.

        The open candidates are so the union of the truncated records (C7): a value that is held by
        dropped tuples alone is none.
        """
        exact = self.of_column(index)
        return np.flatnonzero(exact > 0) if column.is_open else np.arange(len(exact))


@dataclass(frozen=True)
class NoisyValues:
    """What length 1 releases.

    Attributes:
        codes: for each column the old codes that survived, ascending.
        counts: for each column their noisy counts.
    """

    codes: list[Integers]
    counts: list[Integers]

    @classmethod
    def none(cls, schema: Schema) -> "NoisyValues":
        """Of a schema that has no value at all."""
        nothing = [np.zeros(0, np.int64) for _ in schema.columns]
        return cls(nothing, nothing)

    @classmethod
    def draw(
        cls,
        counted: ValueCounts,
        schema: Schema,
        law: noise.RoundedGaussian,
        threshold: int | None,
        stream: WordSource,
    ) -> "NoisyValues":
        """Noise on every candidate; the threshold on those of open columns. Declared values all survive."""
        codes, counts = [], []
        for index, column in enumerate(schema.columns):
            exact = counted.of_column(index)
            candidates = counted.candidates(index, column)
            noisy = exact[candidates] + law.draw(stream, len(candidates))
            if column.is_open and threshold is not None:
                candidates, noisy = candidates[noisy >= threshold], noisy[noisy >= threshold]
            codes.append(candidates + 1)
            counts.append(noisy)
        return cls(codes, counts)

    def kept(self, combinations: list[ColumnNumbers]) -> Kept:
        """The rows of the measurement: declared values and surviving open ones, in canonical order."""
        columns = [column for (column,) in combinations]
        sizes = [len(self.codes[column]) for column in columns]
        codes = [np.arange(1, size + 1, dtype=np.uint32) for size in sizes]
        return Kept(
            np.repeat(np.arange(len(columns), dtype=np.uint32), sizes),
            np.concatenate([np.zeros(0, np.uint32), *codes])[:, np.newaxis],
            np.concatenate([np.zeros(0, np.int64), *(self.counts[column] for column in columns)]),
            np.ones(sum(sizes), bool),
        )

    def values(self, values: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        """The text of the new codes 1, 2, ... of each column, from that of the old ones."""
        return tuple(
            tuple(texts[code - 1] for code in codes.tolist())
            for codes, texts in zip(self.codes, values, strict=True)
        )

    def lattice(self, combinations: list[ColumnNumbers]) -> Lattice:
        """The survivors of length 1: all new codes."""
        lattice = Lattice(np.array([len(codes) for codes in self.codes], np.int64))
        lattice.levels.append(self.kept(combinations).survivors(combinations))
        return lattice


@dataclass(frozen=True)
class SurvivingValues:
    """Records as longer lengths look at them: re-encoded to what survived length 1.

    Attributes:
        below: as of `Sample`.
        codes: for each column the old codes that survived, ascending. Where values lie among all that were
            seen is sensitive.
    """

    below: int | None
    codes: tuple[Integers, ...] = field(repr=False)

    def at(self, records: CodedRecords) -> SurvivingCodes:
        """The records that are looked at with their new codes, values that did not survive absent."""
        records = records_below(records, self.below)
        kind = code_type(max((len(codes) for codes in self.codes), default=0))
        remaps: list[Codes] = []
        for codes, texts in zip(self.codes, records.values, strict=True):
            remap = np.zeros(len(texts) + 1, kind)
            remap[codes] = np.arange(1, len(codes) + 1)
            remaps.append(remap)
        by_slot = [remaps[column] for column in records.slot_columns]
        return SurvivingCodes(code_matrix(records.slots, by_slot, records.number_of_records), records.tags)


#: Candidates whose noise is drawn at a time.
_DRAWN = 1 << 20
#: Of so many candidates counts are sent at once; of a table that is not visited at most so many are held.
_COUNTS_AT_ONCE, _KEYS_OF_A_TABLE = 1 << 24, 1 << 20


@dataclass(frozen=True)
class AskedTuples:
    """What the draw asks at a length of 2 or more: of public facts, and of what shorter lengths released.

    Attributes:
        look: the values that survived length 1.
        bounded: whether a record counts for some of its candidates alone.
        schema: public.
        length: k.
        lattice: what survived at shorter lengths.
        rule: when a cube is visited cell by cell.
    """

    look: SurvivingValues
    bounded: bool
    schema: Schema
    length: int
    lattice: Lattice
    rule: SizeRule

    def blank(self, portion: Portion | None = None) -> "TupleCounts":
        """All candidates or those of a portion, and no record."""
        combinations = self.schema.combinations(self.length)
        return TupleCounts.of(self.schema, combinations, self.lattice, self.rule, portion)


@dataclass(frozen=True)
class TupleCounts:
    """The candidates of one length and, once counted, how many records hold each.

    Attributes:
        length: k.
        dense: the combinations visited cell by cell.
        kept: bool, for each of those whether its non-survivors are kept: all columns declared.
        sparse: the others, by their place in ``schema.combinations(k)``.
    """

    length: int
    dense: DenseCounts
    kept: Flags
    sparse: dict[int, SparseTable]

    @classmethod
    def of(
        cls,
        schema: Schema,
        combinations: list[ColumnNumbers],
        lattice: Lattice,
        rule: SizeRule,
        portion: Portion | None = None,
    ) -> "TupleCounts":
        """The candidates: all k-tuples whose (k-1)-subsets survive, zero counts included (C6, C8).

        Of a portion they are those of its combinations, each visited or not as among all.
        """
        length = len(combinations[0]) if combinations else 0
        columns = np.array(combinations, np.int64).reshape(len(combinations), length)
        by_column = np.array([not column.is_open for column in schema.columns], bool)
        declared: Flags = np.all(by_column[columns], axis=1)
        cells = np.prod(lattice.sizes[columns].astype(np.float64), axis=1)
        visited = rule.visited(cells, declared)
        chosen = np.zeros(len(combinations), bool)
        chosen[slice(*(portion or (None,)))] = True
        index = {combination: place for place, combination in enumerate(combinations)}
        choices = Choices.of(schema.slot_columns, index, length)
        cubes = Cubes.of(combinations, np.flatnonzero(visited & chosen), lattice.sizes)
        by_slot = lattice.sizes[np.array(schema.slot_columns, np.int64)]
        tables = {
            place: SparseTable(combinations[place], choices.of_combination(place), lattice)
            for place in np.flatnonzero(~visited & chosen).tolist()
        }
        dense = DenseCounts.of(cubes, choices, by_slot, flag_candidates(cubes, lattice))
        return cls(length, dense, declared[cubes.ids], tables)

    @property
    def candidates(self) -> int:
        """|V_k|, exactly."""
        return int(self.dense.found.sum()) + sum(table.candidates for table in self.sparse.values())

    def count(self, records: SurvivingCodes, with_sensitivity: bool, report: ShareDone) -> Sensitivity | None:
        """Count every record; where it is asked for, give the number of candidates each one holds."""
        codes = records.codes
        sensitivity = np.zeros(codes.shape[1], np.uint32) if with_sensitivity else None
        if sensitivity is None:
            self.dense.count(codes, report)
        else:
            self.dense.count_with_sensitivity(codes, sensitivity, report)
        for table in self.sparse.values():
            table.count(codes, sensitivity)
        return sensitivity

    def drop(self, records: SurvivingCodes, sensitivity: Sensitivity, limit: int) -> None:
        """Take back the tuples that records with more than ``limit`` candidates lose.

        A record's tuples are visited combination by combination, the dense ones first: an order that is
        a function of public facts.
        """
        tags = contribution.needed_tags(records.tags)
        for rows, block in contribution.over_limit(records.codes, sensitivity, limit):
            coins = contribution.coins(tags[rows], sensitivity[rows], limit, self.length)
            self.dense.drop(block, coins)
            for table in self.sparse.values():
                table.drop(block, coins)

    def portions(self) -> list[Portion]:
        """All combinations in order, in portions whose counts can be sent at once: by public numbers."""
        weights = {place: min(table.candidates, _KEYS_OF_A_TABLE) for place, table in self.sparse.items()}
        weights |= dict(zip(self.dense.cubes.ids.tolist(), self.dense.found.tolist(), strict=True))
        found, first, together = list[Portion](), 0, 0
        for place in range(len(weights)):
            if together and together + weights[place] > _COUNTS_AT_ONCE:
                found.append((first, place))
                first, together = place, 0
            together += weights[place]
        return [*found, (first, len(weights))]

    def answer(self) -> Answer:
        """The exact counts, to be added to those of other records."""
        cells = self.dense.cells
        held = tuple((table.keys, table.counts) for table in self.sparse.values())
        return Answer(cells[cells >= kernels.CANDIDATE] & kernels.COUNT, held)

    def add(self, answer: Answer, portion: Portion | None = None) -> None:
        """Add what was counted of other records, of all combinations or those of a portion."""
        cubes, (first, stop) = self.dense.cubes, portion or (0, len(self.dense.found) + len(self.sparse))
        begin, end = cubes.offsets[np.searchsorted(cubes.ids, [first, stop])]
        cells = self.dense.cells[begin:end]
        cells[cells >= kernels.CANDIDATE] += answer.cells
        tables = (table for place, table in self.sparse.items() if first <= place < stop)
        for table, (keys, counts) in zip(tables, answer.held, strict=True):
            table.add([keys], [counts])

    def release(self, law: noise.RoundedGaussian, threshold: int, stream: WordSource) -> Kept:
        """Noise on every candidate; what is kept, in canonical order (C10)."""
        parts = list(self._dense(law, threshold, stream))
        for place, codes, counts in sparse.release_survivors(self.sparse, law, threshold, stream):
            parts.append((np.full(len(counts), place, np.uint32), codes, counts))
        combinations = np.concatenate([np.zeros(0, np.uint32), *(part[0] for part in parts)])
        codes = np.concatenate([np.zeros((0, self.length), np.uint32), *(part[1] for part in parts)])
        counts = np.concatenate([np.zeros(0, np.int64), *(part[2] for part in parts)])
        if self.sparse:
            order = np.argsort(combinations, kind="stable")
            combinations, codes, counts = combinations[order], codes[order], counts[order]
        return Kept(combinations, codes, counts, counts >= threshold)

    def _dense(
        self, law: noise.RoundedGaussian, threshold: int, stream: WordSource
    ) -> Iterator[tuple[HalfWords, HalfWords, Integers]]:
        """Some combinations at a time: ids, codes and noisy counts of what is kept."""
        cubes, found = self.dense.cubes, self.dense.found
        ends = np.cumsum(found)
        first = 0
        while first < len(found):
            before = int(ends[first] - found[first])
            last = max(first + 1, int(np.searchsorted(ends, before + _DRAWN, side="right")))
            noisy = law.draw(stream, int(ends[last - 1]) - before)
            ids = np.empty(len(noisy), np.uint32)
            codes = np.empty((len(noisy), self.length), np.uint32)
            written = kernels.add_noise(
                self.dense.cells,
                (first, last),
                cubes.offsets,
                cubes.sizes,
                self.kept,
                threshold,
                noisy,
                ids,
                codes,
            )
            yield cubes.ids.astype(np.uint32)[ids[:written]], codes[:written].copy(), noisy[:written].copy()
            first = last


Tuples = npt.NDArray[np.uint32]

#: More survivors than this that nobody holds are of no use to anyone: thresholds are raised so that no
#: more are expected at a length.
MOST_SPURIOUS = 2e7


@dataclass(frozen=True)
class Draw:
    """One draw: what it is of, and how.

    Attributes:
        records: a table of the public schema, to be asked; with tags where anything is sampled or dropped.
        parameters: what is asked for.
        stream: where the noise comes from.
        before_first_word: called once, immediately before the first word is taken from the stream.
        progress: told the step and how much of it is done.
        size_rule: when a cube is visited cell by cell.
    """

    records: LengthCounts
    parameters: DpParameters
    stream: WordSource
    before_first_word: Callable[[], None]
    progress: StageDone
    size_rule: SizeRule = SizeRule()

    @property
    def is_bounded(self) -> bool:
        """Whether a record counts for a part of its candidates alone."""
        return self.parameters.contribution != "schema"


@dataclass(frozen=True)
class _Choice:
    """What was chosen for one length before its noise was drawn."""

    bounds: Bounds
    sensitivity: int
    scale: Fraction
    threshold: int | None


def spurious_bounded(rule: ReleaseThresholds, bounds: Bounds, scale: Fraction, survivors_before: int) -> int:
    """The rule's threshold, raised until no more than `MOST_SPURIOUS` spurious survivors are expected.

    A function of |V_k|, |S_(k-1)| and constants, so post-processing; without it a fixed threshold of
    0 over 10^10 candidates would ask for 5 * 10^9 rows.
    """
    candidates = bounds.candidates or 0
    least = thresholds.level_threshold(rule, bounds.length, scale, survivors_before, candidates) or 1
    if candidates <= MOST_SPURIOUS:
        return least
    step = 1
    while thresholds.expected_spurious(scale, least, candidates) > MOST_SPURIOUS:
        least, step = least + step, 2 * step
    while step > 1:
        step //= 2
        if thresholds.expected_spurious(scale, least - step, candidates) <= MOST_SPURIOUS:
            least -= step
    return least


def count_first_length(asked: Draw, below: int | None) -> tuple[ValueCounts, CountedLength]:
    """Length 1, counted: its tally, and the answer that completes it."""
    facts = asked.records.facts
    sizes = tuple(len(texts) for texts in facts.values)
    question = AskedValues(Sample(below), asked.is_bounded, facts.slot_columns, sizes)
    values = question.blank()
    asked.progress("length 1", 0.0)
    return values, asked.records.counted(question, values, lambda share: asked.progress("length 1", share))


class Lengths:
    """The lengths of one draw, one after the other."""

    def __init__(self, asked: Draw, plan: Plan) -> None:
        self._asked = asked
        self._plan = plan
        self._schema = asked.records.facts.schema
        self._lattice: Lattice
        self._look: SurvivingValues
        self.levels: list[Level] = []
        self.values: tuple[tuple[str, ...], ...] = ()

    def first(self, below: int | None, values: ValueCounts, counted: CountedLength) -> None:
        """Length 1: what survives it becomes the values of the measurement.

        Args:
            below: only records with a tag below were counted, and will be; None: all.
            values: their tally.
            counted: their answer.
        """
        facts, schema, stream = self._asked.records.facts, self._schema, self._asked.stream
        opened = sum(column.max_items for column in schema.columns if column.is_open)
        declared = None if opened else sum(map(len, facts.values))
        bounds = Bounds(schema.width, 1, declared)
        combinations = schema.combinations(1)
        if bounds.schema == 0:  # no columns, or no value in their domains
            self._nothing(1)
            self.values = facts.values
            self._lattice = NoisyValues.none(schema).lattice(combinations)
            return
        sensitivity = self._choose(bounds, counted.sizes)
        counted.bound(sensitivity)
        scale = self._scale(bounds, sensitivity)
        threshold = None
        if opened:
            delta = self._plan.applied_threshold_delta
            threshold = thresholds.first_threshold(scale, min(sensitivity, opened), delta)
        noisy = NoisyValues.draw(values, schema, noise.RoundedGaussian(scale), threshold, stream)
        self.values = noisy.values(facts.values)
        self._lattice = noisy.lattice(combinations)
        self._look = SurvivingValues(below, tuple(noisy.codes))
        self._add(_Choice(bounds, sensitivity, scale, threshold), noisy.kept(combinations))

    def longer(self, length: int) -> None:
        """A length k >= 2: nothing where no candidate is left, and then at all longer ones (C9)."""
        asked, lattice = self._asked, self._lattice
        combinations = self._schema.combinations(length)
        if not combinations or len(lattice.levels) < length - 1 or not len(lattice.levels[-1].codes):
            self._nothing(length)
            return
        question = AskedTuples(self._look, asked.is_bounded, self._schema, length, lattice, asked.size_rule)
        counts = question.blank()
        if counts.candidates == 0:
            self._nothing(length)
            return
        bounds = Bounds(self._schema.width, length, counts.candidates)
        sensitivity = self._count(question, counts, bounds)
        scale = self._scale(bounds, sensitivity)
        rule, before = asked.parameters.thresholds, len(lattice.levels[-1].codes)
        threshold = spurious_bounded(rule, bounds, scale, before)
        kept = counts.release(noise.RoundedGaussian(scale), threshold, asked.stream)
        lattice.levels.append(kept.survivors(combinations))
        self._add(_Choice(bounds, sensitivity, scale, threshold), kept)

    def _count(self, question: AskedTuples, counts: TupleCounts, bounds: Bounds) -> int:
        asked, step = self._asked, f"length {bounds.length}"
        asked.progress(step, 0.0)
        counted = asked.records.counted(question, counts, lambda share: asked.progress(step, share))
        sensitivity = self._choose(bounds, counted.sizes)
        counted.bound(sensitivity)
        return sensitivity

    def _choose(self, bounds: Bounds, sizes: Integers | None) -> int:
        """Delta_k, at least 1; ``sizes`` is as of `CountedLength`."""
        parameters, plan, stream = self._asked.parameters, self._plan, self._asked.stream
        if sizes is None:
            return bounds.schema
        aim = parameters.percentile_percentage
        if parameters.contribution == "profile" and plan.profile_sigma is not None:
            law = noise.RoundedGaussian(thresholds.scale(plan.profile_sigma, 1))
            return contribution.from_profile(sizes, bounds, aim, law, stream)
        if plan.percentile_epsilon is None:
            raise InternalError("The accountant gave the choice of the sensitivity no budget.")
        return contribution.from_percentile(sizes, bounds, aim, plan.percentile_epsilon, stream)

    def _scale(self, bounds: Bounds, sensitivity: int) -> Fraction:
        """s_k, asserted to be covered by the plan before a word is drawn with it (R9)."""
        scale = thresholds.scale(self._plan.sigmas[bounds.length - 1], sensitivity)
        realised = [(level.sensitivity, Fraction(level.scale)) for level in self.levels]
        accounting.assert_within(self._plan, [*realised, (sensitivity, scale)])
        return scale

    def _add(self, choice: "_Choice", kept: Kept) -> None:
        spurious = None
        if choice.bounds.candidates is not None:  # a declared value is published from a count of 1 on
            least = choice.threshold or 1
            spurious = thresholds.expected_spurious(choice.scale, least, choice.bounds.candidates)
        self.levels.append(
            Level(
                sigma=float(self._plan.sigmas[choice.bounds.length - 1]),
                sensitivity=choice.sensitivity,
                scale=float(choice.scale),
                threshold=choice.threshold,
                candidates=choice.bounds.candidates,
                expected_spurious=spurious,
                combinations=kept.combinations,
                codes=kept.codes,
                counts=kept.counts,
                survives=kept.survives,
            )
        )

    def _nothing(self, length: int) -> None:
        """A length without a candidate: nothing is drawn for it; its charge stands (R9)."""
        none = np.zeros(0, np.uint32)
        self.levels.append(
            Level(
                sigma=float(self._plan.sigmas[length - 1]),
                sensitivity=0,
                scale=0.0,
                threshold=None,
                candidates=0,
                expected_spurious=0.0,
                combinations=none,
                codes=np.zeros((0, length), np.uint32),
                counts=np.zeros(0, np.int64),
                survives=np.zeros(0, bool),
            )
        )
