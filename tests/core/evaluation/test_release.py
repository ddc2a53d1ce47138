"""What a release says of itself: synthetic records against reported counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.evaluation.comparison import code_synthetic
from tasks.core.evaluation.release import compare_release, noise_errors
from tasks.core.records.columns import Column, Schema
from tests.core.evaluation.test_comparison import ABC, SYNTHETIC
from tests.oracles.marginals import T1, coded, count, read_back
from tests.oracles.releases import one_length
from tests.oracles.synthetic import synthetic

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


def compared(table, drawn):
    exact, recounted = coded(ABC, table), code_synthetic(synthetic(ABC, drawn), ABC)
    return compare_release(count_in_memory(exact, 3), count_in_memory(recounted, 3))


def test_what_is_kept_has_no_error_and_what_is_missed_is_counted():
    kept = compared(T1, T1)
    assert kept["summary"]["missed_pct"] == kept["summary"]["unreported_pct"] == 0
    assert kept["summary"]["mean_error_of_union"] == 0
    assert [row["reported"] for row in kept["by_length"]] == [6, 8, 3]
    assert [row["kept"] for row in kept["by_length"]] == [6, 8, 3]
    assert {row["preservation"] for row in kept["by_length"]} == {1.0}
    missed = compared(T1, SYNTHETIC)
    assert missed["summary"]["missed_pct"] == pytest.approx(47.0588, abs=5e-5)
    assert missed["summary"]["mean_error"] == pytest.approx(0.44444, abs=5e-6)
    assert [row["mean_error"] for row in missed["by_length"]] == [0.75, 0, 1]
    assert missed["noise"] == []
    assert set(compared([], [])["summary"].values()) == {0.0}


def test_the_error_of_the_noise_is_that_of_its_scale():
    measurement = one_length(ABC, [[], [], []], 10.0)
    (error,) = noise_errors(measurement)
    draws = np.random.default_rng(7).normal(0, 10, 200_000)
    assert error["mean_absolute_error"] == pytest.approx(np.abs(draws).mean(), rel=0.01)
    assert (np.abs(draws) <= error["error_bar_95"]).mean() == pytest.approx(0.95, abs=0.003)
