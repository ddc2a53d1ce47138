import csv
import dataclasses
import itertools
import math
from collections import Counter
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import (
    NOT_MEASURED,
    Aggregates,
    as_drawn,
    read_all_ranges,
    write_all_ranges,
)
from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.aggregates.interchange import write_reportable_parquet, write_reportable_tsv
from tasks.core.aggregates.selections import TextOrder
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.dp.workload.parameters import LongerSets, Shares
from tasks.core.evaluation.comparison import code_synthetic
from tasks.core.synthesis.estimates import ranges, scale_to_records
from tasks.core.synthesis.fitted import draw_fitted
from tests.oracles.fitting import least_squares
from tests.oracles.workloads import SCHEMA, bits, draw, parameters, people

TWO = 1.959963984540054
#: Nothing is chosen: the tables that are named are those that are measured.
PLAIN = {"shares": Shares(Fraction(1, 100), Fraction(20, 100), Fraction(79, 100)), "longer": LongerSets()}


def reported(measured, length, number=None) -> Aggregates:
    """The combinations of fitted records, as a release counts them."""
    made = draw_fitted(measured, 7, number=number).records
    counted = count_in_memory(code_synthetic(made, measured.schema), length)
    return scale_to_records(
        dataclasses.replace(counted, headers=made.headers), max(0, measured.number_of_records)
    )


def held(aggregates, ids) -> tuple[tuple[int, str], ...]:
    """A combination as columns and values, columns ascending."""
    attributes = [aggregates.attributes[place] for place in ids]
    return tuple(sorted((a.column, a.value if a.item is None else a.item) for a in attributes))


def rows_of(measured, aggregates):
    """Combination -> noisy count or None, least squares or None, least, most."""
    found = {}
    for ids, about in zip(aggregates.combinations, ranges(measured, aggregates), strict=True):
        for place, row in enumerate(ids.tolist()):
            drawn = [
                None if n == NOT_MEASURED else int(n)
                for n in (about.noisy[place], about.least_squares[place])
            ]
            found[held(aggregates, row)] = (*drawn, int(about.at_least[place]), int(about.at_most[place]))
    return found


def same_bound(found: int, exact: float, rounded) -> bool:
    """Whether a bound is the exact one, rounded outwards; a hair above a whole number may be that number."""
    return found == max(0, rounded(exact)) or (
        abs(exact - round(exact)) < 1e-6 and abs(found - max(0, exact)) < 1.5
    )


SETS = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3), (0, 1, 2), (1, 2, 3)]


def subsets(places):
    """Every subset, the whole one too."""
    return [each for size in range(len(places) + 1) for each in itertools.combinations(places, size)]


def is_part(one, other):
    return {*one} <= {*other}


@settings(max_examples=12)
@given(st.sets(st.sampled_from(SETS)), st.integers(0, 10**6), st.sampled_from([30, 400]))
def test_of_what_tables_hold_it_is_least_squares_and_of_others_what_tables_of_fewer_columns_leave(
    tables, seed, number
):
    asked = parameters(2.0, tables=tuple(sorted(tables, key=lambda each: (len(each), each))), **PLAIN)
    measured = draw(bits(number, 4, seed=seed), asked, seed)
    estimate = least_squares([3] * 4, noisy_tables(measured))
    values, drawn = [cells.values for cells in measured.cells], {table.columns for table in measured.tables}
    drawn |= {(column,) for column in range(4)}
    known = {part for table in drawn for part in subsets(table)}
    for combination, (noisy, squares, least, most) in rows_of(measured, reported(measured, 3)).items():
        columns = tuple(column for column, _ in combination)
        cell = {column: values[column].index(value) for column, value in combination}
        assert (noisy is not None) == (columns in drawn)
        assert (squares is not None) == (columns in known)
        if columns in known:
            mean, deviation = estimate((1, cell))
            low, high = mean - TWO * deviation, mean + TWO * deviation
            assert squares == max(0, math.floor(mean + 0.5)) or abs(mean % 1 - 0.5) < 1e-6
        else:
            low, high = bounds_of(
                columns,
                known,
                lambda *terms, cell=cell: estimate(
                    *((weight, {column: cell[column] for column in part}) for weight, part in terms)
                ),
            )
        assert same_bound(least, low, math.floor), (combination, least, low)
        assert same_bound(most, max(high, max(0, math.floor(low))), math.ceil), (combination, most, high)


def bounds_of(columns, known, estimate):
    """The least upper end and the greatest lower one; all of them fail as rarely as one alone may."""
    held = [part for part in subsets(columns) if part in known]
    largest = [part for part in held if not any(is_part(part, other) and part != other for other in held)]
    uppers = [((1, part),) for part in largest]
    lowers = [
        ((1, one), (1, other), (-1, tuple(sorted({*one} & {*other}))))
        for one, other in itertools.combinations(largest, 2)
        if {*one, *other} == {*columns}
    ]
    ends = []
    for terms, sign in ((lowers, -1), (uppers, 1)):
        z = NormalDist().inv_cdf(1 - 0.025 / max(1, len(terms)))
        ends.append([mean + sign * z * deviation for mean, deviation in (estimate(*each) for each in terms)])
    return max([0.0, *ends[0]]), min(ends[1])


@pytest.mark.parametrize("limit", [None, 300])
def test_items_of_an_open_column_are_measured_at_length_1_and_with_themselves(limit):
    measured = draw(people(900, 3, tags=True), parameters(4.0, record_limit=limit, **PLAIN), 5)
    assert SCHEMA.columns[2].is_open and SCHEMA.columns[2].max_items == 2
    found = rows_of(measured, reported(measured, 2))
    share = float(measured.sampled_share)
    (pairs,) = (table for table in measured.tables if table.columns == (2, 2))
    values = measured.cells[2].values
    for combination, (noisy, _, least, most) in found.items():
        if {column for column, _ in combination} != {2}:
            continue
        at = tuple(values.index(value) for _, value in combination)
        table = measured.values[2] if len(at) == 1 else pairs
        assert noisy == table.counts[at]
        skew = TWO**2 * (1 - share) / 2
        wide = math.hypot(TWO * math.sqrt(table.scale**2 + 1 / 12 + max(0, noisy) * (1 - share)), skew) + skew
        wide /= share
        if len(at) == 2:
            assert (least, most) == (
                max(0, math.floor(noisy / share - wide)),
                max(0, math.ceil(noisy / share + wide)),
            )
        else:  # other tables say something of it too
            assert most - least <= 2 * wide + 2 and least - 1 <= noisy / share + 3 * wide
    assert len([each for each in found if {column for column, _ in each} == {2}]) == 10


def counted(records, length):
    """True counts, of combinations as `held` gives them."""
    columns = [
        [records.values[column][code - 1] if code else None for code in codes]
        for codes, column in zip(records.slots, records.slot_columns, strict=True)
    ]
    rows = zip(*columns, strict=True)
    found: Counter = Counter()
    for row in rows:
        attributes = sorted({(c, v) for c, v in zip(records.slot_columns, row, strict=True) if v is not None})
        for size in range(1, length + 1):
            found.update(itertools.combinations(attributes, size))
    return found


def coverage(records, asked, draws):
    """Of each draw, the share of true counts within their ranges: of measured combinations, and of others."""
    truth, measured, others = counted(records, 3), [], []
    for seed in range(draws):
        drawn = draw(records, asked, seed)
        inside = {True: [], False: []}
        for combination, (_, squares, least, most) in rows_of(drawn, reported(drawn, 3)).items():
            inside[squares is not None].append(least <= truth[combination] <= most)
        measured.append(np.mean(inside[True]))
        others.append(np.mean(inside[False]))
    return np.array(measured), np.array(others)


def test_true_counts_are_within_the_ranges_of_95_draws_in_100():
    """False alarm: 4 standard errors of the mean over 60 independent draws, 6e-5."""
    measured, others = coverage(
        bits(400, 4, seed=2, flips=0.1), parameters(1.0, **(PLAIN | {"tables": None})), 60
    )
    error = measured.std() / math.sqrt(len(measured))
    # Rounding outwards adds about half a record on each side.
    assert 0.95 - 4 * error < measured.mean() < 0.96 + 4 * error
    assert others.mean() > 0.96


def test_of_a_sample_the_ranges_are_of_all_records():
    """False alarm: 4 standard errors, 6e-5; without chance and scale next to nothing would be inside."""
    measured, _ = coverage(people(1200, 3, tags=True), parameters(4.0, record_limit=300, **PLAIN), 30)
    assert measured.mean() > 0.95 - 0.01 - 4 * measured.std() / math.sqrt(len(measured))


def test_ranges_are_read_as_they_were_written_and_what_was_drawn_can_be_had_alone(tmp_path):
    measured = draw(people(500, 1), parameters(2.0, **PLAIN))
    aggregates = reported(measured, 3)
    made = ranges(measured, aggregates)
    assert read_all_ranges(tmp_path, 3) == []
    write_all_ranges(made, tmp_path)
    read = read_all_ranges(tmp_path, 3)
    for one, other in zip(made, read, strict=True):
        for name in ("noisy", "least_squares", "at_least", "at_most"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
    alone = as_drawn(aggregates, read)
    assert len(alone.combinations[2]) == 0 < len(alone.combinations[1]) < len(aggregates.combinations[1]) + 1
    assert all((counts >= 0).all() for counts in alone.counts)
    assert alone.counts[0].tolist() == [max(0, n) for n in made[0].noisy[made[0].measured].tolist()]


@pytest.mark.parametrize("number", [0, 10, 2000])
def test_counts_of_another_number_of_records_are_scaled_and_no_part_is_below_its_whole(number):
    measured = draw(people(500, 1), parameters(2.0, **PLAIN))
    aggregates = reported(measured, 3, number=number)
    assert aggregates.number_of_records == measured.number_of_records
    known = {
        held(aggregates, row): count
        for ids, counts in zip(aggregates.combinations, aggregates.counts, strict=True)
        for row, count in zip(ids.tolist(), counts.tolist(), strict=True)
    }
    for combination, count in known.items():
        for part in itertools.combinations(combination, len(combination) - 1):
            assert count >= 1 and (not part or known[part] >= count)
    if number == 2000:
        women = known[((0, "female"),)] / aggregates.number_of_records
        assert women == pytest.approx(1 / 3, abs=0.08)


@pytest.mark.parametrize("noisy", [-30, 0])
def test_where_the_noisy_count_is_none_no_combination_is_reported_however_many_records_are_asked_for(
    noisy, tmp_path
):
    measured = dataclasses.replace(draw(people(40, 3), parameters(1.0)), number_of_records=noisy)
    aggregates = reported(measured, 3, number=50)
    assert aggregates.number_of_records == 0 and len(aggregates.combinations) == 3
    assert all(not len(counts) for counts in aggregates.counts)
    found = ranges(measured, aggregates)
    write_reportable_tsv(aggregates, tmp_path / "a.tsv", found)
    assert (tmp_path / "a.tsv").read_text().splitlines()[1:] == ["record_count\t0\tmeasured\t\t\t\t"]


@pytest.mark.parametrize("number", [None, 50, 0])
def test_the_estimates_say_the_same_as_text_and_as_parquet(number, tmp_path):
    """Row by row, in one order; what is absent in one is absent in the other."""
    measured = draw(people(400, 3), parameters(4.0))
    aggregates = reported(measured, 3, number=number)
    found = ranges(measured, aggregates)
    write_reportable_tsv(aggregates, tmp_path / "a.tsv", found)
    write_reportable_parquet(aggregates, tmp_path / "a.parquet", found)
    with (tmp_path / "a.tsv").open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file, delimiter="\t")
    stored = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert header == list(stored[0])[1:]
    texts = [["" if row[name] is None else str(row[name]) for name in header] for row in stored]
    assert lines == texts
    if number != 0:
        assert len(stored) > 20 and {"measured", "estimated"} == {row["basis"] for row in stored}
    for row in stored[1:]:
        assert row["length"] == len(row["selections"].split(";"))
        assert (row["noisy_count"] is not None) == (row["basis"] == "measured")
    # Each against the aggregates and ranges, which are in another order.
    order = TextOrder(aggregates.attributes)
    told = {(row["length"], row["selections"]): row for row in stored[1:]}
    assert len(told) == len(stored) - 1 == sum(map(len, aggregates.counts))
    for length, about in enumerate(found, start=1):
        for place, ids in enumerate(aggregates.combinations[length - 1]):
            ranked = order.ranks(ids[None, :])[0]
            text = ";".join(aggregates.attributes[ids[at]].text for at in np.argsort(ranked))
            row = told[length, text]
            assert row["protected_count"] == aggregates.counts[length - 1][place]
            assert (row["at_least"], row["at_most"]) == (about.at_least[place], about.at_most[place])
            noisy = int(about.noisy[place]) if about.measured[place] else None
            assert row["noisy_count"] == noisy
            squares = int(about.least_squares[place])
            assert row["least_squares"] == (None if squares == NOT_MEASURED else squares)
