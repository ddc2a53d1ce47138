"""Cramer's V of synthetic records and of noisy counts."""

import numpy as np
import pytest
from scipy.stats.contingency import association

from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.workload.draw import draw_workload
from tasks.core.dp.workload.parameters import WorkloadParameters, default_steps
from tasks.core.navigation.associations import (
    MeasuredPairs,
    MeasuredTables,
    PairTable,
    ReportedPairs,
    associations,
    cramers_v,
    ranked,
)
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.records.table import RecordTable
from tasks.core.synthesis.fitted import draw_fitted
from tests.oracles.anonymous_releases import rounded
from tests.oracles.releases import SCHEMA, records, release


@pytest.mark.parametrize("seed", range(5))
def test_v_is_scipys(seed):
    table = np.random.default_rng(seed).integers(1, 90, (4, 3))
    assert cramers_v(table.astype(float)) == pytest.approx(association(table, method="cramer"))


def test_a_column_that_decides_another_has_v_1_and_one_value_has_none():
    assert cramers_v(np.diag([5.0, 9.0, 2.0])) == pytest.approx(1)
    assert np.isnan(cramers_v(np.array([[3.0, 4.0]])))


def exact(one: int, other: int, number: int) -> float:
    cells = {}
    for record in records(number):
        cells[record[one], record[other]] = cells.get((record[one], record[other]), 0) + 1
    rows, columns = sorted({a for a, _ in cells}), sorted({b for _, b in cells})
    return cramers_v(np.array([[cells.get((a, b), 0) for b in columns] for a in rows], float))


def test_the_estimate_from_noisy_counts_finds_what_is_associated_and_nothing_else():
    measurement, _, synthetic = release(4000)
    found = associations(MeasuredPairs(measurement), SCHEMA, synthetic)
    pairs = {names: (noisy, drawn) for names, noisy, drawn in ranked(found, SCHEMA)}
    assert ranked(found, SCHEMA)[0][0] == "region × town"
    assert pairs["age × health"][0] == pytest.approx(exact(0, 5, 4000), abs=0.08)
    assert pairs["age × health"][1] == pytest.approx(exact(0, 5, 4000), abs=0.05)
    for unrelated in ("region × sector", "age × region", "sector × town"):
        assert pairs[unrelated][0] < 0.1


@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_is_not_taken_for_association(seed):
    """Independent columns, all cells known: plain V of these tables is about 0.2."""
    measurement, _, _ = release(4000)
    scale = measurement.levels[1].scale
    rows, columns = np.array([1500.0, 1300, 1200]), np.array([1400.0, 1000, 900, 700])
    noisy = np.outer(rows, columns) / 4000 + np.random.default_rng(seed).normal(0, scale, (3, 4))
    table = PairTable(noisy, np.ones((3, 4), bool), rows, columns)
    assert MeasuredPairs(measurement).v((0, 1), table) < 0.1


def test_who_holds_nothing_in_the_other_column_makes_no_association_of_fitted_tables():
    """Who stays at home has no way to travel: both sides are about those who have both."""
    generator, number = np.random.default_rng(1), 20_000
    work = generator.integers(1, 4, number)
    travel = np.where(work == 3, 0, generator.integers(1, 4, number))
    town = np.where(generator.random(number) < 0.4, np.minimum(work, 3), generator.integers(1, 4, number))
    domains = tuple("abc"), tuple("pqr"), tuple("xyz")
    columns = zip(("work", "travel", "town"), domains, strict=True)
    coded = CodedRecords(
        Schema(tuple(Column(name, domain=domain) for name, domain in columns)),
        tuple(each.astype(np.uint8) for each in (work, travel, town)),
        (0, 1, 2),
        domains,
        number,
    )
    parameters = WorkloadParameters(4.0, 1e-6, default_steps()[0].shares, tables=((0, 1), (0, 2), (1, 2)))
    measured = draw_workload(
        RecordTable.in_memory(coded), parameters, SeededStream(1), before_first_word=lambda: None
    )
    found = associations(MeasuredTables(measured), coded.schema, draw_fitted(measured, 1).records)
    true = cramers_v(np.histogram2d(work, town, bins=3)[0])
    assert found.released[0, 2] == pytest.approx(true, abs=0.02)
    assert np.nanmax(np.abs(found.released - found.synthetic)) < 0.03
    assert found.released[0, 1] < 0.03 and found.synthetic[0, 1] < 0.03


def test_columns_without_two_values_have_no_association():
    measurement, _, _ = release(4000)
    table = PairTable(np.array([[5.0]]), np.ones((1, 1), bool), np.array([5.0]), np.array([5.0]))
    assert np.isnan(MeasuredPairs(measurement).v((0, 1), table))


@pytest.mark.parametrize(("resolution", "within"), [(1, 1e-9), (10, 0.02), (50, 0.06)])
def test_the_estimate_from_reported_counts_is_near_the_exact_one(resolution, within):
    aggregates, synthetic = rounded(4000, resolution, 2)
    found = associations(ReportedPairs(aggregates, len(SCHEMA.columns), resolution), SCHEMA, synthetic)
    places = {column: place for place, column in enumerate(found.columns)}
    for one, other in ((0, 5), (1, 2), (0, 2), (2, 5)):
        estimate = found.released[places[one], places[other]]
        assert estimate == pytest.approx(exact(one, other, 4000), abs=within)


def rounded_independent(records: int, seed: int) -> tuple[float, float]:
    """V squared, estimated and exact, of ten by ten values without association; k = 10."""
    drawn = np.random.default_rng(seed).integers(0, 100, records)
    cells = np.bincount(drawn, minlength=100).reshape(10, 10).astype(float)
    floors = cells // 10 * 10
    aggregates, _ = rounded(600, 10, 2)
    pairs = ReportedPairs(aggregates, len(SCHEMA.columns), 10)
    middles = np.where(floors > 0, floors + 4.5, 0)
    table = PairTable(middles, floors > 0, middles.sum(axis=1), middles.sum(axis=0))
    return pairs.v((0, 1), table) ** 2, cramers_v(cells) ** 2


def test_the_spread_of_rounding_is_not_taken_for_association():
    """About 40 a cell: without the correction the mean is 0.0006 too high (fixed seeds)."""
    found = np.array([rounded_independent(4000, seed) for seed in range(40)])
    assert abs(float(np.diff(found.mean(axis=0))[0])) < 0.0002


def test_what_is_not_reported_is_not_taken_for_association():
    """About 9 a cell, half of them reported: taken as 0, the others would make it 0.3 and more."""
    estimates = [rounded_independent(900, seed)[0] ** 0.5 for seed in range(20)]
    assert max(estimates) < 0.25


def test_no_reported_pair_is_no_association():
    aggregates, synthetic = rounded(600, 10, 1)
    found = associations(ReportedPairs(aggregates, len(SCHEMA.columns), 10), SCHEMA, synthetic)
    assert ranked(found, SCHEMA) == []
