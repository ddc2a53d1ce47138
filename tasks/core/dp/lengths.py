"""The lengths of one draw, one after the other.

Only what earlier lengths released, and public facts, decide what is asked of the records next (C8). Length 1
is one query with one scale (R11). Records are then re-encoded to the values that survived, so that all else
is absent from here on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tasks.core.arrays import ColumnNumbers, Integers, StageDone
from tasks.core.dp import accounting, contribution, thresholds
from tasks.core.dp.accounting import Plan
from tasks.core.dp.candidates import Kept, Lattice, SizeRule
from tasks.core.dp.contribution import Bounds
from tasks.core.dp.exact import CountedLength, LengthCounts
from tasks.core.dp.measurement import Level
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.tallies import AskedTuples, AskedValues, Sample, SurvivingValues, TupleCounts, ValueCounts
from tasks.core.errors import InternalError
from tasks.core.records.columns import Schema


@dataclass(frozen=True)
class NoisyValues:
    """What length 1 releases: of each column the codes that survived, ascending, and their noisy counts."""

    codes: list[Integers]
    counts: list[Integers]

    @classmethod
    def none(cls, schema: Schema) -> "NoisyValues":
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
            exact = counted.counts_of_column(index)
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

    def texts(self, values: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        """The text of the new codes 1, 2, ... of each column, from that of the old ones."""
        return tuple(
            tuple(texts[code - 1] for code in codes.tolist())
            for codes, texts in zip(self.codes, values, strict=True)
        )

    def lattice(self, combinations: list[ColumnNumbers]) -> Lattice:
        lattice = Lattice(np.array([len(codes) for codes in self.codes], np.int64))
        lattice.levels.append(self.kept(combinations).survivors(combinations))
        return lattice


#: More survivors than this that nobody holds are of no use to anyone: thresholds are raised so that no
#: more are expected at a length.
MOST_SPURIOUS = 2e7


@dataclass(frozen=True)
class Draw:
    """One draw: what it is of, and how; ``size_rule``: when a cube is visited cell by cell."""

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
    """One draw, length by length; ``levels`` and ``values`` are those of the measurement."""

    def __init__(self, asked: Draw, plan: Plan) -> None:
        self._asked = asked
        self._plan = plan
        self._schema = asked.records.facts.schema
        self._lattice: Lattice
        self._look: SurvivingValues
        self.levels: list[Level] = []
        self.values: tuple[tuple[str, ...], ...] = ()

    def first(self, below: int | None, values: ValueCounts, counted: CountedLength) -> None:
        """Length 1, as `count_first_length` counted it: what survives it are all values from here on."""
        facts, schema, stream = self._asked.records.facts, self._schema, self._asked.stream
        opened = schema.open_items
        declared = None if opened else sum(map(len, facts.values))
        bounds = Bounds(schema.width, 1, declared)
        combinations = schema.combinations(1)
        if bounds.schema == 0:  # no columns, or no value in their domains
            self._add_nothing(1)
            self.values = facts.values
            self._lattice = NoisyValues.none(schema).lattice(combinations)
            return
        sizes, bound = counted
        sensitivity = self._choose(bounds, sizes)
        bound(sensitivity)
        scale = self._scale(bounds, sensitivity)
        threshold = None
        if opened:
            delta = self._plan.applied_threshold_delta
            threshold = thresholds.first_threshold(scale, min(sensitivity, opened), delta)
        noisy = NoisyValues.draw(values, schema, noise.RoundedGaussian(scale), threshold, stream)
        self.values = noisy.texts(facts.values)
        self._lattice = noisy.lattice(combinations)
        self._look = SurvivingValues(below, tuple(noisy.codes))
        self._add(bounds, sensitivity, scale, threshold, noisy.kept(combinations))

    def longer(self, length: int) -> None:
        """A length k >= 2: nothing where no candidate is left, and then at all longer ones (C9)."""
        asked, lattice = self._asked, self._lattice
        combinations = self._schema.combinations(length)
        if not combinations or len(lattice.levels) < length - 1 or not len(lattice.levels[-1].codes):
            self._add_nothing(length)
            return
        question = AskedTuples(self._look, asked.is_bounded, self._schema, length, lattice, asked.size_rule)
        counts = question.blank()
        if counts.candidates == 0:
            self._add_nothing(length)
            return
        bounds = Bounds(self._schema.width, length, counts.candidates)
        sensitivity = self._count(question, counts, bounds)
        scale = self._scale(bounds, sensitivity)
        rule, before = asked.parameters.thresholds, len(lattice.levels[-1].codes)
        threshold = spurious_bounded(rule, bounds, scale, before)
        kept = counts.release(noise.RoundedGaussian(scale), threshold, asked.stream)
        lattice.levels.append(kept.survivors(combinations))
        self._add(bounds, sensitivity, scale, threshold, kept)

    def _count(self, question: AskedTuples, counts: TupleCounts, bounds: Bounds) -> int:
        asked, step = self._asked, f"length {bounds.length}"
        asked.progress(step, 0.0)
        sizes, bound = asked.records.counted(question, counts, lambda share: asked.progress(step, share))
        sensitivity = self._choose(bounds, sizes)
        bound(sensitivity)
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

    def _add(
        self, bounds: Bounds, sensitivity: int, scale: Fraction, threshold: int | None, kept: Kept
    ) -> None:
        spurious = None
        if bounds.candidates is not None:  # a declared value is published from a count of 1 on
            least = threshold or 1
            spurious = (
                thresholds.expected_spurious(scale, least, bounds.candidates) if bounds.candidates else 0.0
            )
        self.levels.append(
            Level(
                sigma=float(self._plan.sigmas[bounds.length - 1]),
                sensitivity=sensitivity,
                scale=float(scale),
                threshold=threshold,
                candidates=bounds.candidates,
                expected_spurious=spurious,
                **vars(kept),
            )
        )

    def _add_nothing(self, length: int) -> None:
        """A length without a candidate: nothing is drawn for it; its charge stands (R9)."""
        nothing = np.zeros(0, np.uint32), np.zeros((0, length), np.uint32)
        kept = Kept(*nothing, np.zeros(0, np.int64), np.zeros(0, bool))
        self._add(Bounds(self._schema.width, length, 0), 0, Fraction(0), None, kept)
