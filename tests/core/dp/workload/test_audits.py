"""Audits A1w, A2w, A6w and A7w of fitted synthesis, each of which must catch its wrong mechanisms.

Every audit is a function of the part that it judges. It is run on ours, and on copies with one thing wrong.
A1w, A2w and A7w are exact. A6w tests at 1e-4 (see `noise_audit`), with fixed seeds. A passed audit is no
proof.
"""

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tasks.core.dp.accounting import gdp_delta
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.thresholds import first_threshold
from tasks.core.dp.workload.cells import ColumnCells, domain_of, map_records
from tasks.core.dp.workload.choice import Choice, allowances, score, sixteenths
from tasks.core.dp.workload.draw import WorkloadDraw
from tasks.core.dp.workload.exact import Look
from tasks.core.dp.workload.parameters import LongerSets, Shares, Spending, WorkloadParameters, budget_of
from tasks.core.errors import InternalError
from tasks.core.fitting.noisy_tables import table_counts
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tests.oracles import measuring
from tests.oracles.noise_audit import ALPHA, fired, noise_audit, rounded_gaussian
from tests.oracles.workloads import (
    Placed,
    bits,
    coded_bits,
    cost,
    drawing,
    marginal,
    once,
    other_with_multiplicity,
    parameters,
    placed,
    released_cells,
)

F = Fraction

# ---- A1w: how much one record can change --------------------------------------------------------------


class Counting:
    """What a draw does with records before noise: cells, their map, counts, scores."""

    def cells(self, schema, released, records):
        return tuple(
            ColumnCells(values, has_other=column.is_open, cap=column.max_items)
            for column, values in zip(schema.columns, released, strict=True)
        )

    def counts(self, records, cells, columns):
        return table_counts(domain_of(cells), columns, map_records(records, cells))

    def score(self, counts, expected, scale):
        expected16 = sixteenths(expected)
        return score(counts, expected16, allowances(expected16, scale))


class OtherAgainAndAgain(Counting):
    """Wrong: `other` once for each item that was not released."""

    def counts(self, records, cells, columns):
        with other_with_multiplicity():
            return super().counts(records, cells, columns)


class PaddedWithAbsent(Counting):
    """Wrong: every empty slot of a column counts as an item that is absent."""

    def counts(self, records, cells, columns):
        domain, slots = domain_of(cells), map_records(records, cells)
        counts = np.zeros(domain.shape(columns), np.int64)
        for chosen in domain.choices_of_slots(columns):
            at = [domain.first_slot(column) + slot for column, slot in zip(columns, chosen, strict=True)]
            np.add.at(counts, tuple(slots[:, place] for place in at), 1)
        return counts


class AbsentWhereNeeded(Counting):
    """Wrong: a cell for `absent` only where somebody holds nothing."""

    def cells(self, schema, released, records):
        empty = [
            any(
                not any(int(records.slots[slot][row]) for slot in _slots(schema, column))
                for row in range(records.number_of_records)
            )
            for column in range(len(schema.columns))
        ]
        found = super().cells(schema, released, records)
        return tuple(
            replace(about, has_absent=needed or about.size == 1)
            for about, needed in zip(found, empty, strict=True)
        )


class AllowancesInFloats(Counting):
    """Wrong: c as the root itself, so that the score has a fraction that noise in records does not hide."""

    def score(self, counts, expected, scale):
        allowed = np.sqrt(float(scale) ** 2 + expected)
        return float(np.maximum(np.abs(counts - expected) - allowed, 0).sum())


class ExpectedScaledToCounts(Counting):
    """Wrong: M rescaled to the table's own total."""

    def score(self, counts, expected, scale):
        return super().score(counts, expected * (counts.sum() / max(expected.sum(), 1e-9)), scale)


def _slots(schema, column):
    return [slot for slot, of_slot in enumerate(schema.slot_columns) if of_slot == column]


def _random_case(generator):
    """A schema, released values, a table and one record more, as sets of codes a column."""
    columns, released, texts = [], [], []
    for place in range(int(generator.integers(1, 4))):
        known = tuple(f"v{code}" for code in range(int(generator.integers(1, 6))))
        cap, is_open = int(generator.integers(1, 4)), bool(generator.integers(0, 2))
        columns.append(
            Column(
                f"c{place}",
                domain=None if is_open else known,
                delimiter=";" if cap > 1 else None,
                max_items=cap,
            )
        )
        texts.append(known)
        kept = [value for value in known if not is_open or generator.random() < 0.4]
        released.append(tuple(kept))
    schema = Schema(tuple(columns))
    # Many copies of one record, so that scores are far above what is allowed for noise and chance.
    rows = [_random_row(generator, schema, texts)] * int(generator.choice([0, 1, 40]))
    rows += [_random_row(generator, schema, texts) for _ in range(int(generator.integers(0, 4)))]
    return schema, tuple(released), tuple(texts), rows, _random_row(generator, schema, texts)


def _random_row(generator, schema, texts):
    return tuple(
        frozenset(
            (1 + generator.permutation(len(known))[: generator.integers(0, column.max_items + 1)]).tolist()
        )
        for column, known in zip(schema.columns, texts, strict=True)
    )


def violations(part, cases=250, seed=1):
    """A1w: everything in which one record changes more than Theorem W says, over random cases."""
    generator, found = np.random.default_rng(seed), set()
    for _ in range(cases):
        schema, released, texts, rows, more = _random_case(generator)
        before, after = (measuring.coded(schema, held, texts) for held in (rows, [*rows, more]))
        cells = part.cells(schema, released, before)
        if part.cells(schema, released, after) != cells:
            found.add("which cells there are")
            continue
        held = [
            released_cells(
                {texts[c][code - 1] for code in more[c]}, values, about.has_other, about.has_absent
            )
            for c, (values, about) in enumerate(zip(released, cells, strict=True))
        ]
        for columns in _all_tables(schema):
            found |= _changes(part, (before, after, cells), columns, held, generator)
    return found


def _all_tables(schema):
    width = range(len(schema.columns))
    twice = [(column, column) for column in width if schema.columns[column].max_items > 1]
    return [*twice, *(chosen for size in (1, 2, 3) for chosen in itertools.combinations(width, size))]


def _changes(part, case, columns, held, generator):
    before, after, cells = case
    counts = part.counts(before, cells, columns), part.counts(after, cells, columns)
    change, most = counts[1] - counts[0], once(cells, columns)
    twice = len(set(columns)) < len(columns)
    found = set()
    if change.min() < 0 or change.max() > 1:
        found.add("once in a cell")
    if change.sum() > most * (2 if twice else 1):
        found.add("Delta")
    expected = np.zeros_like(change)
    for cell in marginal(held, columns):
        codes = [_code(cells[column], which) for column, which in zip(sorted(columns), cell, strict=True)]
        for order in {tuple(codes), tuple(codes[::-1])} if twice else {tuple(codes)}:
            expected[order] = 1
    if (change != expected).any():
        found.add("the record map")
    if not twice:
        found |= _change_of_score(part, counts, most, generator)
    return found


def _code(cells, which):
    kind, text = which
    return {
        "value": lambda: cells.values.index(text),
        "other": lambda: cells.other,
        "absent": lambda: cells.absent,
    }[kind]()


def _change_of_score(part, counts, most, generator):
    expected = generator.random(counts[0].shape) * generator.choice([0.5, 4.0])
    scale = F(int(generator.integers(1, 100)), 64)
    before, after = (part.score(table, expected, scale) for table in counts)
    found = set()
    if abs(after - before) > most:
        found.add("Delta of the score")
    if before != int(before) or after != int(after):
        found.add("scores in whole records")
    return found


def test_a1w_one_record_changes_no_more_than_the_theorem_says():
    assert violations(Counting()) == set()


@pytest.mark.parametrize(
    ("wrong", "caught"),
    [
        (OtherAgainAndAgain, "once in a cell"),
        (PaddedWithAbsent, "Delta"),
        (AbsentWhereNeeded, "which cells there are"),
        (AllowancesInFloats, "scores in whole records"),
        (ExpectedScaledToCounts, "Delta of the score"),
    ],
)
def test_a1w_catches(wrong, caught):
    assert caught in violations(wrong())


# ---- A2w: a newcomer with a value that nobody else has, exactly (vector F) -------------------------------

GRID = np.linspace(0, 3, 31)
OPEN = Schema((Column("town"),))


@dataclass(frozen=True)
class Small:
    """One open column: length 1, then one dense table. ``newcomer`` alone holds a value.

    Attributes:
        first, second: s_1 and s_2.
        threshold_delta: delta_t.
    """

    first: float
    second: float
    threshold_delta: float

    def least(self):
        """Tau."""
        return first_threshold(F(self.first), 1, self.threshold_delta)

    def cells(self, newcomer):
        """E_c, where nothing was released."""
        return ColumnCells((), has_other=True)

    def law(self, newcomer):
        """The probability of every output: whether the value is released, then the noisy table."""
        code = np.array([1] * newcomer, np.uint8)
        records = CodedRecords(OPEN, (code,), (0,), (("x",),), len(code))
        cells = (self.cells(newcomer),)
        counts = table_counts(domain_of(cells), (0,), map_records(records, cells))
        released = _upper(self.first, self.least() - 1) if newcomer else 0.0
        first, p = rounded_gaussian(self.second)
        # `absent` is 0 on both sides and its noise independent: it tells nothing, and is left out.
        shape, held = len(counts), int(counts[0]) if cells[0].has_other else 0
        found = {("released",): released}
        for z, mass in enumerate(p, start=first):
            found[(shape, held + z)] = (1 - released) * mass
        return found


def _upper(scale, least):
    first, p = rounded_gaussian(scale)
    return float(p[max(0, least - first) :].sum())


class OtherFromWhatMissed(Small):
    """Wrong: the count of `other` is the sum of the noisy counts that missed."""

    def law(self, newcomer):
        if not newcomer:
            return {(2, 0): 1.0}
        first, p = rounded_gaussian(self.first)
        released = _upper(self.first, self.least() - 1)
        missed = {(2, 1 + z): mass for z, mass in enumerate(p, start=first) if 1 + z < self.least()}
        return {("released",): released, **missed}


class OtherWhereNeeded(Small):
    """Wrong: a cell for `other` only where something missed."""

    def cells(self, newcomer):
        return ColumnCells((), has_other=bool(newcomer))


class WithoutTheHalf(Small):
    """Wrong: the threshold of unrounded noise on rounded noise."""

    def least(self):
        return math.ceil(1 + self.first * stats.norm.isf(self.threshold_delta))


def hockey_sticks(mechanism, epsilon):
    """Both divergences between the laws with and without the newcomer, and the claimed bound."""
    with_x, without = mechanism.law(True), mechanism.law(False)
    outputs = with_x.keys() | without.keys()

    def one_way(p, q):
        return sum(max(0.0, p.get(o, 0.0) - math.exp(epsilon) * q.get(o, 0.0)) for o in outputs)

    t = mechanism.threshold_delta
    bound = t + (1 - t) * gdp_delta(1 / mechanism.second, float(epsilon))
    return one_way(with_x, without), one_way(without, with_x), bound


def exceeds(mechanism):
    """A2w: whether some epsilon of the grid shows more than is claimed."""
    return any(max(hockey_sticks(mechanism, e)[:2]) > hockey_sticks(mechanism, e)[2] + 1e-12 for e in GRID)


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "expected"),
    [
        (Small(8, 4, 0.05), 0, (0.121584, 0.121584, 0.144503)),
        (Small(8, 4, 0.05), 0.1, (0.089435, 0.077111, 0.107320)),
        (Small(8, 4, 0.05), 0.25, (0.061502, 0.032219, 0.072311)),
        (Small(8, 1, 0.02), 1, (0.140476, 0.130492, 0.144398)),
    ],
)
def test_a2w_vector_f(mechanism, epsilon, expected):
    assert mechanism.least() == {0.05: 15, 0.02: 18}[mechanism.threshold_delta]
    assert hockey_sticks(mechanism, epsilon) == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize("scales", [(8, 4, 0.05), (8, 1, 0.02), (1, 50, 0.05), (2, 2, 0.01)])
def test_a2w_neither_divergence_exceeds_its_bound(scales):
    assert not exceeds(Small(*scales))


@pytest.mark.parametrize("wrong", [OtherFromWhatMissed, OtherWhereNeeded, WithoutTheHalf])
def test_a2w_catches(wrong):
    assert exceeds(wrong(1, 50, 0.05))


# ---- A6w: the law of the noise, and whether a second measurement is a new one ----------------------------


class Reusing(WorkloadDraw):
    """Wrong: the second measurement takes the words of the first."""

    def _draw_tables(self):
        self._stream = SeededStream(5)
        return super()._draw_tables()

    def _draw_again(self, shares):
        self._stream = SeededStream(5)
        super()._draw_again(shares)


def dependence(kind, seed):
    """Which tests see that the noise of two measurements of an empty table is not independent."""
    shares = Shares(F(1, 100), F(9, 100), F(45, 100))
    asked = WorkloadParameters(1.0, 1e-6, shares, allocation="equal")
    records = bits(0, 40)
    tables = drawing(records, asked, seed, kind).run().tables
    half = len(tables) // 2
    assert [table.columns for table in tables[:half]] == [table.columns for table in tables[half:]]
    first, second = (
        np.concatenate([t.counts.ravel() / t.scale for t in part]) for part in (tables[:half], tables[half:])
    )
    together = {"cross": first * second, "ahead": first[1:] * second[:-1], "behind": first[:-1] * second[1:]}
    return {name for name, product in together.items() if _p_of_mean(product) < ALPHA}


def _p_of_mean(products):
    return 2 * stats.norm.sf(abs(products.mean()) * math.sqrt(products.size))


def test_a6w_a_second_measurement_is_independent_of_the_first():
    assert dependence(WorkloadDraw, 6) == set()


def test_a6w_catches_reused_words():
    assert "cross" in dependence(Reusing, 6)


def test_a6w_the_noisy_count_follows_its_law():
    made = drawing(bits(0, 2), parameters(tables=None), 66)
    draws = np.empty(20_000, np.int64)
    for place in range(len(draws)):
        made._spending = Spending(made._mu_squared)
        made._draw_count()
        draws[place] = made._count
    assert fired(noise_audit(draws, float(made._count_scale))) == set()


def test_a6w_noisy_scores_follow_their_law():
    """Nobody is in the table and nothing is expected: a noisy score is noise alone."""
    made = drawing(bits(0, 2), parameters(tables=None), 67)
    made._look = Look(cells=(ColumnCells(("no", "yes"), has_absent=False),) * 2)
    made._domain = domain_of(made._look.cells)
    choice = Choice(((0, 1),) * 20_000, (1,) * 20_000, F(100), F(1), 15)
    made._spending = Spending(F(100))
    scores, _ = made._choose("scores", choice, lambda columns: np.zeros((2, 2)))
    assert scores.scale == float(choice.scale) == pytest.approx(math.sqrt(200), abs=1 / 64)
    assert fired(noise_audit(np.array(scores.scores), scores.scale)) == set()
    assert fired(noise_audit(np.array(scores.scores), scores.scale / 1.05)) != set()


# ---- A7w: sums, in fractions -----------------------------------------------------------------------------


class ChargedAsIfAllWereChosen(Placed):
    """Wrong: noise for those that were chosen, charged as if k were."""

    def _measure(self, step, asked):
        left = self._spending.left
        super()._measure(step, asked)
        if step == "longer sets":
            charged = self._charge(self._parameters.shares.chosen) * len(asked) / self._parameters.longer.most
            self._spending.left = left - charged


class NoisyAsIfAllWereChosen(Placed):
    """Wrong the other way: noise for k sets, charged for those that were chosen; the rest is lost."""

    def _measure(self, step, asked):
        left, most = self._spending.left, self._parameters.longer.most
        if step == "longer sets" and asked:
            noisier = math.isqrt(most // len(asked))
            super()._measure(step, [(columns, q, scale * noisier) for columns, q, scale in asked])
            self._spending.left = left - sum((q / scale**2 for _, q, scale in asked), F(0))
        else:
            super()._measure(step, asked)


class SumsInFloats(Spending):
    """Wrong: what is left in floating point."""

    def charge(self, parts):
        asked = sum(square / float(scale) ** 2 for square, scale in parts)
        if asked > float(self.left):
            raise InternalError("above the budget")
        self.left = F(float(self.left) - asked)
        self.spent += sum((F(square) / scale**2 for square, scale in parts), F(0))


def off_budget(kind, **more):
    """A7w: the numbers of chosen sets at which a draw costs more than mu^2, or leaves more than 3 %."""
    records = bits(400, 6)
    asked = parameters(4.0, tables=None, longer=LongerSets(lengths=(3,), most=16), **more)
    budget, found = budget_of(asked, all_declared=True)[0], set()
    for chosen in (0, 1, 4, 16):
        if not F(97, 100) * budget <= cost(placed(chosen, records, asked, kind)) <= budget:
            found.add(chosen)
    return found


def test_a7w_every_path_of_choices_costs_what_is_charged():
    assert off_budget(Placed) == off_budget(Placed, most_pairs=5) == set()


@pytest.mark.parametrize("wrong", [ChargedAsIfAllWereChosen, NoisyAsIfAllWereChosen])
def test_a7w_catches(wrong):
    assert off_budget(wrong) == {1, 4}


def admits_too_much(kind):
    """Whether a budget lets through a sum that exceeds it by less than floating point can tell."""
    budget = F(1, 9) * (1 - F(1, 10**17))
    spending = kind(budget)
    try:
        spending.charge([(1, F(3))])
    except InternalError:
        return False
    return spending.spent > budget


def test_a7w_sums_are_exact():
    assert not admits_too_much(Spending)
    assert admits_too_much(SumsInFloats)


class Alike(Placed):
    """A draw in which all that is chosen stands out alike."""

    def _choose(self, step, choice, expected):
        scores, chosen = super()._choose(step, choice, expected)
        return replace(scores, scores=(100,) * len(scores.scores)), chosen


def test_a7w_vector_d_by_a_whole_draw():
    """Four columns, all pairs alike, two of four triples chosen."""
    rest = F(82, 100)
    shares = Shares(rest / 100, rest * F(5, 100), rest * F(94, 100), F(3, 100), F(15, 100))
    for epsilon, scales, realised in (
        (4.0, (F(211, 16), F(755, 64), F(107, 32), F(883, 64), F(279, 64)), 0.6973871248504),
        (1.0, (F(1493, 32), F(2671, 64), F(755, 64), F(3123, 64), F(247, 16)), 0.05594189303644),
    ):
        asked = WorkloadParameters(
            epsilon, 1e-6, shares, allocation="equal", longer=LongerSets(lengths=(3,), most=2)
        )
        records = coded_bits(np.zeros((300, 4), int))
        drawn = placed(2, records, asked, Alike)
        found = {table.scale for table in drawn.tables[:6]}, {table.scale for table in drawn.tables[6:]}
        assert found == ({float(scales[2])}, {float(scales[4])})
        assert (drawn.count_scale, drawn.values[0].scale, drawn.scores.scale) == tuple(
            map(float, (scales[0], scales[1], scales[3]))
        )
        assert float(cost(drawn)) == pytest.approx(realised, rel=1e-12)
