"""What a release says of itself: synthetic records against reported counts."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.parameters import DpParameters
from tasks.core.evaluation.compared_sides import code_synthetic
from tasks.core.evaluation.release import compare_release, noise_errors
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Column, Schema
from tests.oracles.marginals import T1, coded, count, read_back, rows
from tests.oracles.synthetic import synthetic

ABC = Schema(tuple(Column(name) for name in "ABC"))
MIXED = Schema((Column("A"), Column("M", delimiter=";", max_items=2), Column("B", domain=("w", "v"))))
TABLE = st.lists(
    st.tuples(
        st.sets(st.sampled_from("xyz"), max_size=1),
        st.sets(st.sampled_from("pqrs"), max_size=4),
        st.sets(st.sampled_from("vw"), max_size=1),
    ).map(list),
    max_size=20,
)


@given(table=TABLE)
@settings(max_examples=25, deadline=None)
def test_synthetic_records_are_counted_as_the_oracle_counts_them(tmp_path_factory, table):
    records = code_synthetic(synthetic(MIXED, table), MIXED)
    assert records.number_of_records == len(table)
    assert records.values[2] == ("w", "v")
    aggregates = count_in_memory(records, 3)
    for length in (1, 2, 3):
        assert read_back(aggregates, length) == count(table, length)


def test_items_of_a_declared_domain_stand_in_its_order():
    schema = Schema((Column("M", domain=("s", "p", "r", "q"), delimiter=";", max_items=2),))
    table = [[{"p", "q", "s"}], [{"q", "r"}], [set()]]
    records = code_synthetic(synthetic(schema, table), schema)
    assert [codes.tolist() for codes in records.slots] == [[1, 3, 0], [2, 4, 0], [4, 0, 0]]
    aggregates = count_in_memory(records, 3)
    for length in (1, 2, 3):
        assert read_back(aggregates, length) == count(table, length)


def exact(tmp_path: Path, table) -> Aggregates:
    return count_in_memory(coded(ABC, table), 3)


def recount(folder_of_test: Path, records) -> Aggregates:
    return count_in_memory(code_synthetic(records, ABC), 3)


def test_records_that_keep_every_count_have_no_error(tmp_path):
    found = compare_release(
        exact(tmp_path, T1), recount(tmp_path, synthetic(ABC, T1)), resources=QueryResources(tmp_path, 1)
    )
    assert found["summary"]["missed_pct"] == found["summary"]["unreported_pct"] == 0
    assert found["summary"]["mean_error_of_union"] == 0
    assert [row["reported"] for row in found["by_length"]] == [6, 8, 3]
    assert [row["kept"] for row in found["by_length"]] == [6, 8, 3]
    assert {row["preservation"] for row in found["by_length"]} == {1.0}


def test_what_was_reported_and_is_missed_is_counted(tmp_path):
    drawn = rows("a1,b2,c1 a1,b2,c1 a2,, a2,,c1 ,,c1")
    found = compare_release(exact(tmp_path, T1), recount(tmp_path, synthetic(ABC, drawn)))
    assert found["summary"]["missed_pct"] == pytest.approx(47.0588, abs=5e-5)
    assert found["summary"]["mean_error"] == pytest.approx(0.44444, abs=5e-6)
    assert [row["mean_error"] for row in found["by_length"]] == [0.75, 0, 1]
    assert found["noise"] == []


def test_a_release_of_nothing_is_evaluated(tmp_path):
    nothing = exact(tmp_path, [])
    found = compare_release(nothing, recount(tmp_path, synthetic(ABC, [])))
    assert set(found["summary"].values()) == {0.0}


def test_the_error_of_the_noise_is_that_of_its_scale():
    level = Level(
        sigma=2.0, sensitivity=3, scale=10.0, threshold=None, candidates=None, expected_spurious=None,
        combinations=np.zeros(0, np.uint32), codes=np.zeros((0, 1), np.uint32),
        counts=np.zeros(0, np.int64), survives=np.zeros(0, np.bool_),
    )  # fmt: skip
    parameters = DpParameters(epsilon=1, delta=1e-6, reporting_length=1)
    measurement = Measurement(ABC, parameters, False, 1.0, 0.0, 5, 1.0, ((), (), ()), (level,))
    (error,) = noise_errors(measurement)
    draws = np.random.default_rng(7).normal(0, 10, 200_000)
    assert error["mean_absolute_error"] == pytest.approx(np.abs(draws).mean(), rel=0.01)
    assert (np.abs(draws) <= error["error_bar_95"]).mean() == pytest.approx(0.95, abs=0.003)
