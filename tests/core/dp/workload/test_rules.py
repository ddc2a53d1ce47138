"""Rules W1 to W19 of fitted synthesis, one by one; W20 to W22 are about configuration and contract."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp.sampling.noise import LARGEST_SCALE
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.thresholds import first_threshold, root_above
from tasks.core.dp.workload import draw as draw_module
from tasks.core.dp.workload.cells import ColumnCells, MeasuredTable, domain_of
from tasks.core.dp.workload.choice import (
    Choice,
    allowances,
    longer_candidates,
    most_sets,
    score,
    sixteenths,
    standing_out,
)
from tasks.core.dp.workload.draw import FirstValues, WorkloadDraw
from tasks.core.dp.workload.limits import check_draw, worst_case_bytes, worst_case_cells, worst_scales
from tasks.core.dp.workload.measurement import read_workload_measurement
from tasks.core.dp.workload.observations import estimated_records, noisy_tables
from tasks.core.dp.workload.parameters import (
    LongerSets,
    Shares,
    Spending,
    WorkloadParameters,
    budget_of,
    least_share,
    table_shares,
)
from tasks.core.errors import InternalError, ParameterError
from tasks.core.fitting.fit import fit
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tests.oracles.workloads import (
    SCHEMA,
    SEXES,
    bits,
    coded_bits,
    cost,
    draw,
    drawing,
    parameters,
    people,
    placed,
    refused,
)

F = Fraction
NEXT_TO_NO_NOISE = 1e4
FEW = LongerSets()


def _codes(*columns):
    return tuple(np.array(column, np.uint8) for column in columns)


# ---- W1 to W9: cells, caps, sizes and numbers ---------------------------------------------------------


def test_w01_absent_is_a_cell_whatever_the_table_holds():
    full = replace(people(2_000, 3), slots=_codes([1] * 2_000, [1] * 2_000, [1] * 2_000, [0] * 2_000))
    for records in (full, people(2_000, 3), people(0, 3)):
        drawn = draw(records, parameters(NEXT_TO_NO_NOISE))
        assert all(column.has_absent for column in drawn.cells)
        assert drawn.values[0].counts.size == 3
    assert abs(int(drawn.values[0].counts.sum())) < 5


def test_w01_no_absent_where_an_empty_cell_counts_as_other():
    """Each record is repaired alone, and the empty set's residual stays the number of records."""
    schema = Schema((Column("sex", domain=("female", "male", "unknown"), other="unknown"), Column("home")))
    records = CodedRecords(
        schema, _codes([0, 1, 2, 3] * 500, [1] * 2_000), (0, 1), (schema.columns[0].domain, ("flat",)), 2_000
    )
    drawn = draw(records, parameters(NEXT_TO_NO_NOISE, tables=None, filled=(0,), longer=FEW))
    assert (drawn.cells[0].absent, drawn.cells[0].size) == (None, 3)
    assert drawn.values[0].counts.tolist() == pytest.approx([500, 500, 1_000], abs=3)
    assert drawn.tables[0].counts.sum(axis=1).tolist() == pytest.approx([500, 500, 1_000], abs=6)
    assert estimated_records(drawn) == pytest.approx(2_000, abs=5)


def test_w01_only_a_column_with_a_value_for_what_is_outside_can_be_filled():
    for place in (0, 1, 2, 7):
        with pytest.raises(ParameterError):
            check_draw(parameters(filled=(place,)), SCHEMA)


def test_w04_the_noisy_count_comes_first_and_the_sample_is_the_table():
    records = people(4_000, 3, tags=True)
    drawn = draw(records, parameters(NEXT_TO_NO_NOISE, record_limit=1_000))
    assert drawn.number_of_records == pytest.approx(4_000, abs=2)
    looked_at = int((records.tags < np.uint64(-(-1_000 * 2**64 // drawn.number_of_records))).sum())
    assert looked_at != 1_000  # or the test below would tell nothing
    assert estimated_records(drawn) == pytest.approx(looked_at, abs=5)
    assert () not in [table.columns for table in noisy_tables(drawn)]
    assert Residuals(domain_of(drawn.cells), noisy_tables(drawn)).total() == pytest.approx(looked_at, abs=5)


def test_w04_without_a_table_that_has_a_total_the_sample_is_estimated():
    schema = Schema((Column("tongue", domain=("arabic", "basque"), delimiter=";", max_items=2),))
    tags = np.random.default_rng(1).integers(0, 2**64, 4_000, np.uint64)
    slots = _codes([1, 0] * 2_000, [2, 0] * 2_000)
    records = CodedRecords(schema, slots, (0, 0), (schema.columns[0].domain,), 4_000, tags)
    drawn = draw(records, parameters(NEXT_TO_NO_NOISE, tables=None, longer=FEW, record_limit=1_000))
    assert estimated_records(drawn) == pytest.approx(1_000, abs=100)


def test_w04_the_draw_itself_goes_by_the_size_of_the_sample():
    records = people(4_000, 3, tags=True)
    made = drawing(records, parameters(NEXT_TO_NO_NOISE, record_limit=1_000))
    made.run()
    looked_at = made._look.at(records).number_of_records
    assert made._records_estimated() == pytest.approx(looked_at, abs=5)
    assert looked_at < 1_200


def test_w04_a_small_or_negative_count_takes_everybody():
    drawn = draw(people(40, 3, tags=True), parameters(record_limit=100_000))
    assert drawn.sampled_share == 1
    assert noisy_tables(drawn)[0].columns == ()


def test_w04_a_limit_without_tags_is_refused_before_a_word_is_drawn():
    refused(people(40, 3), parameters(record_limit=10), InternalError)


def test_w05_the_largest_noisy_counts_keep_their_cells_ties_by_code_point():
    """With next to no noise three of four values tie; the dictionary's order decides nothing."""
    texts = ("d", "c", "b", "a")
    schema = Schema((Column("town"),))
    for order in itertools.permutations(range(4), 4):
        held = [texts[place] for place in order]
        codes = [held.index(text) + 1 for text in "a" * 300 + "b" * 200 + "c" * 200 + "d" * 200]
        records = CodedRecords(schema, _codes(codes), (0,), (tuple(held),), 900)
        drawn = draw(
            records, parameters(NEXT_TO_NO_NOISE, tables=(), longer=FEW, max_values=3), seed=order[0]
        )
        assert drawn.cells[0].values == ("a", "b", "c")
        assert drawn.cells[0].has_other


def test_w05_a_table_above_a_cap_is_left_out_and_the_others_get_its_share():
    asked = parameters(tables=None, longer=FEW, allocation="equal")
    assert len(draw(people(5_000, 3), asked).tables) == 8  # what longer sets leave buys each twice
    small = draw(people(5_000, 3), replace(asked, most_cells=15))
    assert {table.columns for table in small.tables} == {(0, 1)}
    assert cost(small) > F(99, 100) * budget_of(asked, all_declared=False)[0]


def test_w05_together_the_tables_stay_below_a_number_of_cells():
    asked = parameters(tables=None, longer=FEW, shares=Shares(F(1, 100), F(19, 100), F(80, 100)))
    every = draw(people(5_000, 3), asked).tables
    cap = sum(table.counts.size for table in every) - 1
    fewer = draw(people(5_000, 3), replace(asked, most_cells_together=cap)).tables
    largest = max(every, key=lambda table: (table.counts.size, table.columns)).columns
    assert [table.columns for table in fewer] == [t.columns for t in every if t.columns != largest]


@given(number=st.sampled_from([0, 40, 3_000]), epsilon=st.sampled_from([0.5, 50.0]), seed=st.integers(0, 9))
@settings(max_examples=8, deadline=None)
def test_w05_no_draw_holds_more_cells_than_was_said_before_it(number, epsilon, seed):
    asked = parameters(epsilon, tables=None, max_values=5)
    drawn = draw(people(number, seed), asked, seed)
    held = sum(table.counts.size for table in (*drawn.values, *drawn.tables))
    held += sum(2 * table.expected16.size for table in drawn.expected)
    assert held <= worst_case_cells(asked, SCHEMA) < worst_case_bytes(asked, SCHEMA)


def test_w06_vector_a_the_number_of_records_from_all_totals():
    sizes, pairs = (2, 3, 5, 16), list(itertools.combinations(range(4), 2))
    scales = (F(287, 16), F(121, 8), F(657, 64), F(423, 32), F(287, 32), F(121, 16))
    cells = tuple(ColumnCells(tuple(map(str, range(size))), has_absent=False) for size in sizes)
    precision = 1 / F(169, 4) ** 2 + sum(1 / (size * F(2419, 64) ** 2) for size in sizes)
    precision += sum(
        1 / (sizes[a] * sizes[b] * scale**2) for (a, b), scale in zip(pairs, scales, strict=True)
    )
    assert float(precision) ** -0.5 == pytest.approx(17.05, abs=0.005)
    generator, found = np.random.default_rng(6), []
    nobody = draw(bits(0, 2), parameters(tables=None))
    for _ in range(4_000):
        values = [
            MeasuredTable((c,), 4, 2419 / 64, generator.normal(0, 2419 / 64, size))
            for c, size in enumerate(sizes)
        ]
        tables = [
            MeasuredTable(
                pair, 1, float(scale), generator.normal(0, float(scale), (sizes[pair[0]], sizes[pair[1]]))
            )
            for pair, scale in zip(pairs, scales, strict=True)
        ]
        noise = {"number_of_records": generator.normal(0, 42.25), "count_scale": 42.25}
        found.append(estimated_records(replace(nobody, cells=cells, values=values, tables=tables, **noise)))
    # Chi-square with 4,000 degrees: 4 standard errors, a false alarm in 16,000 seeds.
    assert np.std(found) == pytest.approx(17.05, rel=4 / math.sqrt(2 * 4_000))


@given(seed=st.integers(0, 1_000), epsilon=st.sampled_from([0.3, 1.0, 8.0]))
@settings(max_examples=10, deadline=None)
def test_w06_the_fit_counts_as_many_records_as_the_draw_says(seed, epsilon):
    drawn = draw(people(500, seed), parameters(epsilon), seed)
    residuals = Residuals(domain_of(drawn.cells), noisy_tables(drawn))
    assert residuals.total() == pytest.approx(estimated_records(drawn), abs=1e-6)


class Other(WorkloadDraw):
    """A draw that goes on from what another one drew, over other records."""

    def goes_on_from(self, other):
        for name in ("_cells", "_domain", "_count", "_count_scale", "_values", "_tables", "_threshold"):
            setattr(self, name, getattr(other, name))
        return self


def _two_over_the_same_numbers(asked):
    """A draw up to its tables; and one that knows the same numbers, over other people."""
    first = drawing(people(3_000, 1), asked)
    first._draw_count()
    first._draw_values()
    shares = first._draw_tables()
    other = drawing(people(40, 7), asked, seed=9, kind=Other).goes_on_from(first)
    other._look = first._look
    return first, other, shares


def test_w07_scales_and_choices_are_functions_of_numbers_drawn():
    first, other, shares = _two_over_the_same_numbers(parameters(4.0))
    charge = first._charge(F(6, 10))
    tables = [columns for columns, _ in shares]
    assert first._records_estimated() == other._records_estimated()
    assert first._shares_of(tables, charge) == other._shares_of(tables, charge)
    assert longer_candidates(first._domain, LongerSets(lengths=(3,))) == [(0, 1, 2)]


def test_w08_tables_all_below_zero_are_fitted():
    cells = (ColumnCells(("a", "b")), ColumnCells((), has_other=True))
    values = [MeasuredTable((c,), 2, 5.0, np.full(size, -90)) for c, size in enumerate((3, 1))]
    tables = (MeasuredTable((0, 1), 1, 5.0, np.full((3, 2), -70)),)
    nobody = draw(bits(0, 2), parameters(tables=None))
    drawn = replace(nobody, number_of_records=-500, cells=cells, values=values, tables=tables)
    assert len(fit(domain_of(cells), noisy_tables(drawn), 5, 1)[0]) == 5


def test_w09_tables_of_items_do_not_inflate_the_other_column():
    """Everybody speaks two tongues: the table of sex and tongue sums to twice the people."""
    records = replace(people(2_000, 3), slots=_codes([1, 2] * 1_000, [1] * 2_000, [1] * 2_000, [2] * 2_000))
    drawn = draw(records, parameters(NEXT_TO_NO_NOISE))
    assert drawn.tables[1].counts.sum() == pytest.approx(4_000, abs=10)
    residuals = Residuals(domain_of(drawn.cells), noisy_tables(drawn))
    assert residuals.marginal((0,)) == pytest.approx([1_000, 1_000, 0], abs=3)
    assert residuals.total() == pytest.approx(2_000, abs=3)


# ---- W10 to W13: delta --------------------------------------------------------------------------------


def test_w10_vector_b_one_threshold_for_all_that_one_person_can_bring():
    found = [first_threshold(F(19), new, 1e-7) for new in (1, 2, 4)]
    assert found == [101, 103, 106]
    schema = Schema((*(Column(name, domain=("a", "b")) for name in "ab"), Column("c"), Column("d")))
    records = CodedRecords(schema, _codes(*[[1] * 9] * 4), (0, 1, 2, 3), (("a", "b"),) * 2 + (("x",),) * 2, 9)
    shares = Shares(F(1, 100), F(20, 100), F(79, 100))
    drawn = draw(records, parameters(shares=shares, tables=None, longer=FEW, allocation="equal"))
    assert (drawn.values[0].scale, drawn.threshold, drawn.threshold_delta) == (19, 103, 1e-7)
    assert [table.scale for table in drawn.tables] == [749 / 64] * 6  # vector B
    assert float(cost(drawn)) == pytest.approx(0.05544218923627, rel=1e-12)


def test_w10_a_value_is_released_from_the_threshold_on_and_not_below():
    """Of 2,000 values of up to 199 records, some have the least noisy count that is released."""
    texts, exact = tuple(f"v{place:04}" for place in range(2_000)), np.append(np.arange(2_000) % 200, 0)
    first = FirstValues(F(10), 100, 2_000, (), SeededStream(1))
    _, counts = first.draw(0, Column("town"), texts, exact)
    assert counts[:-1].min() == 100


def test_w11_other_is_never_made_from_what_missed():
    """Length 1 holds a count of each released value and of absent, no other; the rest of N is other's."""
    records = people(3_000, 3)
    drawn = draw(records, parameters())
    for column in (1, 2):
        assert len(drawn.values[column].counts) == len(drawn.cells[column].values) + 1
    home = next(table for table in noisy_tables(drawn) if table.columns == (1,))
    released = drawn.values[1].counts
    assert home.counts[drawn.cells[1].other] == pytest.approx(estimated_records(drawn) - released.sum())


def test_w11_after_length_1_no_raw_text_is_left_in_the_draw():
    home = np.array([1] * 3 + [2] * 897, np.uint8)
    records = people(900, 3)
    records = replace(
        records,
        slots=(records.slots[0], home, *records.slots[2:]),
        values=(SEXES, ("canary", "house"), records.values[2]),
    )
    made = drawing(records, parameters())
    made.run()
    assert made._threshold > 0
    assert "canary" not in made._cells[1].values
    assert "canary" not in repr(vars(made))
    assert not any(isinstance(held, CodedRecords) for held in vars(made).values())


def test_w12_other_is_there_when_everything_passed_and_when_nothing_did():
    for number in (2_000, 2):
        drawn = draw(people(number, 3), parameters())
        assert [(column.has_other, column.has_absent) for column in drawn.cells] == [
            (False, True),
            (True, True),
            (True, True),
        ]
        for column, table in zip(drawn.cells[1:], drawn.values[1:], strict=True):
            assert list(column.values) == sorted(column.values)
            assert (table.counts[:-1] >= drawn.threshold).all()
    assert (drawn.cells[1].values, drawn.cells[1].size) == ((), 2)
    assert (0, 1) in [table.columns for table in drawn.tables]


def test_w13_every_cell_of_every_table_is_kept_as_drawn():
    """Nobody is in the table: all counts are noise, and none is left out or below a threshold."""
    drawn = draw(people(0, 1), parameters(tables=None))
    for table in drawn.tables:
        assert table.counts.shape == domain_of(drawn.cells).shape(table.columns)
    nobody = draw(bits(0, 12), WorkloadParameters(1.0, 1e-6, Shares(F(1, 100), F(9, 100), F(9, 10))))
    counts = np.concatenate([table.counts.ravel() / table.scale for table in nobody.tables])
    assert (counts < 0).sum() == pytest.approx(counts.size / 2, abs=4 * counts.size**0.5 / 2)
    assert np.mean(counts**2) == pytest.approx(1, abs=4 * (2 / counts.size) ** 0.5)  # 4 standard errors


# ---- W14 to W18: choices ------------------------------------------------------------------------------


def test_w14_candidates_follow_from_sizes_and_public_limits():
    domain = Domain((2, 9, 3, 4, 5))
    three = LongerSets(lengths=(3,), most_cells=10**6)
    assert longer_candidates(domain, three) == list(itertools.combinations(range(5), 3))
    both = longer_candidates(domain, replace(three, lengths=(3, 4)))
    assert both == [*itertools.combinations(range(5), 3), *itertools.combinations(range(5), 4)]
    assert longer_candidates(domain, replace(three, most_cells=30)) == [(0, 2, 3), (0, 2, 4)]
    fewer = longer_candidates(domain, replace(three, most_candidates=9))  # of four columns with fewest cells
    assert fewer == list(itertools.combinations((0, 2, 3, 4), 3))
    assert most_sets(5, replace(three, most_candidates=9)) == 4
    holding = longer_candidates(domain, replace(three, holding=1))
    assert holding == [columns for columns in itertools.combinations(range(5), 3) if 1 in columns]
    assert most_sets(5, replace(three, holding=1)) == len(holding)


@pytest.mark.parametrize("number", [0, 1, 3_000])
def test_w14_no_candidate_is_left_out_for_having_no_records(number):
    drawn = draw(bits(number, 5), parameters(tables=None))
    assert drawn.scores.candidates == tuple(itertools.combinations(range(5), 3))


def test_w14_where_there_are_many_pairs_they_are_chosen_by_noisy_scores():
    """Twelve columns in pairs of copies: the six pairs are chosen, and measured better than 66 would be."""
    table = np.random.default_rng(3).integers(0, 2, (4_000, 6))
    records = coded_bits(np.repeat(table, 2, axis=1))
    asked = WorkloadParameters(4.0, 1e-6, Shares(F(1, 100), F(9, 100), F(9, 10)), most_pairs=10)
    drawn = draw(records, asked)
    assert len(drawn.pair_scores.candidates) == 66
    assert {(column, column + 1) for column in range(0, 12, 2)} <= {table.columns for table in drawn.tables}
    assert len(drawn.tables) <= 10
    every = draw(records, replace(asked, most_pairs=66))
    assert every.pair_scores is None
    assert max(t.scale for t in drawn.tables) < min(t.scale for t in every.tables)
    assert cost(drawn) <= F(drawn.mu_squared)
    assert [table.columns for table in drawn.expected] == [table.columns for table in drawn.tables]


def test_w15_what_is_expected_is_never_below_zero_nor_made_of_the_counts():
    first, other, _ = _two_over_the_same_numbers(parameters(4.0))
    mine, theirs = first._fitted_counts()((0, 1, 2)), other._fitted_counts()((0, 1, 2))
    assert mine.tolist() == theirs.tolist()
    assert mine.min() >= 0
    assert mine.sum() != pytest.approx(40, rel=0.5)


def test_w18_fewer_records_stand_for_those_of_a_large_table(monkeypatch):
    """Their pairs are those of as many records as there are, but for the rounding of one record in eight."""
    first = drawing(bits(4_000, 5, flips=0.1), parameters(4.0, tables=None))
    first._draw_count()
    first._draw_values()
    first._draw_tables()
    triples = list(itertools.combinations(range(5), 3))
    every = [first._fitted_counts()(columns) for columns in triples]
    monkeypatch.setattr(draw_module, "_MOST_FITTED", 500)
    fewer = [first._fitted_counts()(columns) for columns in triples]
    for one, other in zip(fewer, every, strict=True):
        assert one.sum() == pytest.approx(other.sum(), rel=1e-3)
        assert np.abs(one - other).max() > 0
        for axis in range(3):
            assert np.abs(one.sum(axis=axis) - other.sum(axis=axis)).max() <= 16


def test_w15_a_pair_of_items_is_scored_once():
    """A table of a column with itself writes each pair in two cells; one record must not score twice."""
    choice = Choice(((2, 2),), (1,), F(1), F(1), 1)
    against = choice.against(0, np.zeros((3, 3)))
    counts = np.zeros((3, 3), int)
    counts[0, 1] = counts[1, 0] = 40
    more = counts.copy()
    more[0, 1] = more[1, 0] = 41
    assert choice.score(more, against) - choice.score(counts, against) == 1


@given(
    expected16=st.lists(st.integers(0, 2**35), min_size=1, max_size=6),
    scale=st.integers(1, LARGEST_SCALE * 64),
)
def test_w16_what_is_allowed_is_exact(expected16, scale):
    slow = [root_above(F(scale**2 + 256 * cell, 16)) for cell in expected16]
    assert allowances(np.array(expected16), F(scale, 64)).tolist() == slow


def test_w16_expected_counts_are_rounded_half_to_even():
    assert sixteenths(np.array([1.25, 1 / 32, 3 / 32, -4.0])).tolist() == [20, 0, 2, 0]


def test_w16_vector_e():
    expected, counts = sixteenths(np.array([1.25, 0.5, 1.0, 2.75])), np.array([9, 0, 1, 12])
    assert expected.tolist() == [20, 8, 16, 44]
    allowed = allowances(expected, F(1))
    assert allowed.tolist() == [24, 20, 23, 31]
    assert score(counts, expected, allowed) == 13
    one_more = [score(counts + cell, expected, allowed) for cell in np.eye(4, dtype=int)]
    assert one_more == [14, 13, 13, 14]


def test_w16_the_largest_scores_that_stand_out_are_chosen_ties_in_order():
    noisy = [50, 500, 80, 500, 90] + [0] * 281
    assert standing_out(noisy, F(20), 3) == [1, 3, 4]
    assert standing_out(noisy, F(20), 15) == [1, 3, 4, 2]
    assert standing_out([], F(20), 3) == []


def test_w16_scores_are_judged_with_the_noise_of_the_most_that_can_be_chosen():
    choice = Choice(((0, 1, 2),) * 4, (1, 1, 6, 1), F(3, 100), F(15, 100), 2)
    assert choice.square == 39
    assert choice.scale == F(root_above(F(39 * 64**2) / F(3, 100)), 64)
    assert choice.planned(2) == F(root_above(F(6 * 64**2) / F(75, 1000)), 64)


def test_w17_what_nobody_spent_buys_a_second_measurement():
    records, asked = bits(3_000, 5), parameters(tables=None, longer=LongerSets(lengths=(3,), most=4))
    none, some = placed(0, records, asked), placed(1, records, asked)
    pairs = list(itertools.combinations(range(5), 2))
    assert [table.columns for table in none.tables] == [*pairs, *pairs]
    assert [table.columns for table in some.tables] == [*pairs, (0, 1, 2)]
    first, second = none.tables[0], none.tables[10]
    assert (first.counts != second.counts).any()
    merged = next(table for table in noisy_tables(none) if table.columns == (0, 1))
    v1, v2 = first.scale**2 + 1 / 12, second.scale**2 + 1 / 12
    assert merged.variance == pytest.approx(1 / (1 / v1 + 1 / v2))
    assert merged.counts == pytest.approx((first.counts / v1 + second.counts / v2) / (1 / v1 + 1 / v2))
    assert cost(none) <= F(none.mu_squared)
    assert cost(none) > F(98, 100) * F(none.mu_squared)


def test_w17_without_tables_the_columns_are_measured_again_other_among_them():
    schema = Schema((Column("home"),))
    records = CodedRecords(schema, _codes([1] * 3_000), (0,), (("flat",),), 3_000)
    drawn = draw(records, parameters(NEXT_TO_NO_NOISE, tables=None))
    assert [table.columns for table in drawn.tables] == [(0,)]
    assert drawn.tables[0].counts.tolist() == pytest.approx([3_000, 0, 0], abs=3)
    assert cost(drawn) <= F(drawn.mu_squared)


def test_w18_expectations_follow_from_numbers_drawn_and_are_kept(tmp_path):
    first, other, _ = _two_over_the_same_numbers(parameters(4.0))
    assert first._digest() == other._digest()
    other._count += 1
    assert first._digest() != other._digest()
    shares = Shares(F(1, 100), F(5, 100), F(76, 100), F(3, 100), F(15, 100))
    asked = WorkloadParameters(4.0, 1e-6, shares, longer=LongerSets(lengths=(3,)))
    drawn = draw(bits(20_000, 6, flips=0.05), asked)
    assert (0, 1, 2) in [table.columns for table in drawn.expected]
    budget, _ = budget_of(asked, all_declared=True)
    planned = F(root_above(64**2 / (F(15, 100) * budget / 15)), 64)
    for table in drawn.expected:
        assert table.allowed16.tolist() == allowances(table.expected16, planned).tolist()
    drawn.write(tmp_path)
    again = read_workload_measurement(tmp_path)
    for one, two in zip(again.expected, drawn.expected, strict=True):
        assert one.columns == two.columns
        assert one.expected16.tolist() == two.expected16.tolist()
        assert one.allowed16.tolist() == two.allowed16.tolist()


# ---- W19: numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tables", [1, 2, 153, 1_000, 40_000])
def test_w19_no_table_gets_less_than_the_least_share(tables):
    shares = table_shares([1e9] + [0.0] * (tables - 1), [3.0] * tables)
    assert sum(shares) <= 1
    assert min(shares) >= least_share(tables) > 0


def test_w19_a_scale_beyond_the_samplers_reach_is_refused_before_a_word_is_drawn():
    asked = parameters(1e-4, tables=None)
    assert max(worst_scales(asked, SCHEMA)) > LARGEST_SCALE
    refused(people(9, 1), asked, ParameterError, "raise epsilon")


@given(
    epsilon=st.floats(0.05, 20),
    seed=st.integers(0, 1_000),
    allocation=st.sampled_from(["effective", "size", "equal"]),
    target=st.sampled_from([None, 1]),
)
@settings(max_examples=12, deadline=None)
def test_w19_no_scale_exceeds_what_was_said_before_the_draw(epsilon, seed, allocation, target):
    asked = parameters(epsilon, tables=None, allocation=allocation, target=target, target_factor=50.0)
    drawn = draw(people(300, seed), asked, seed)
    second = {table.columns for table in drawn.tables if table.columns == (0, 1, 2)}
    scales = [drawn.count_scale, drawn.values[0].scale, drawn.scores.scale]
    scales += [table.scale for table in drawn.tables[: 4 + len(second)]]
    assert max(scales) <= max(worst_scales(asked, SCHEMA))
    assert cost(drawn) <= F(drawn.mu_squared)


def test_w19_equal_shares_are_equal_and_size_counts_cells():
    asked = parameters(4.0, tables=None, longer=FEW, shares=Shares(F(1, 100), F(9, 100), F(9, 10)))
    scales = {}
    for allocation in ("equal", "size"):
        drawn = draw(people(3_000, 1), replace(asked, allocation=allocation))
        scales[allocation] = [table.scale / table.sensitivity**0.5 for table in drawn.tables]
    assert max(scales["equal"]) - min(scales["equal"]) < 0.05
    assert scales["size"][0] > scales["size"][2]  # sex and home has fewer cells than home and tongue


def test_w19_what_is_left_is_exact():
    spending = Spending(F(1, 3))
    spending.charge([(1, F(2))])
    assert (spending.left, spending.spent) == (F(1, 12), F(1, 4))
    with pytest.raises(InternalError):
        spending.charge([(1, F(3))])
    with pytest.raises(InternalError):
        Shares(F(1, 2), F(1, 2), F(1, 10))


WRONG = {
    "a share of nothing": {"shares": Shares(F(0), F(1, 2), F(1, 2))},
    "scores without a share": {"shares": Shares(F(1, 100), F(1, 2), F(1, 4))},
    "a set twice": {"tables": ((0, 1), (0, 1))},
    "a column twice that holds one value": {"tables": ((0, 0),)},
    "a column twice and another": {"tables": ((0, 2, 2),)},
    "a column three times": {"tables": ((2, 2, 2),)},
    "an unknown column": {"tables": ((0, 3),)},
    "columns in another order": {"tables": ((1, 0),)},
    "no column": {"tables": ((),)},
    "an unknown target": {"target": 3},
    "no factor": {"target_factor": float("nan")},
    "no record": {"record_limit": 0},
    "pairs as longer sets": {"longer": LongerSets(lengths=(2,))},
    "longer than the fit can take": {"longer": LongerSets(lengths=(5,))},
    "nothing may be chosen": {"longer": LongerSets(lengths=(3,), most=0)},
    "sets that hold no column": {"longer": LongerSets(lengths=(3,), holding=3)},
    "all of delta for thresholds": {"threshold_delta_share": F(1)},
    "all of the share for scores": {"pair_scores": F(1)},
}


@pytest.mark.parametrize("what", WRONG)
def test_w19_what_cannot_be_drawn_to_its_end_is_refused(what):
    with pytest.raises(ParameterError):
        check_draw(parameters(**WRONG[what]), SCHEMA)


def test_w19_a_column_without_a_cap_is_refused():
    schema = Schema((Column("tongue", delimiter=";", max_items=0),))
    with pytest.raises(ParameterError):
        check_draw(parameters(tables=None), schema)
