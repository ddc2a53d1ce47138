"""Tables as pairs of features: categories, items, bins, absence, samples."""

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.errors import InternalError
from tasks.core.evaluation.utility import table_pair as module
from tasks.core.evaluation.utility.table_pair import drawn_rows, pair_of_records, pair_of_tables, table_pair
from tasks.core.records.columns import Column, Schema, bin_labels
from tests.oracles.marginals import coded
from tests.oracles.partitions import FarAway, as_table, in_partitions
from tests.oracles.synthetic import synthetic

BINS = (0.0, 10.0, 100.0)
SCHEMA = Schema(
    (
        Column("town"),
        Column("age", domain=bin_labels(BINS), bins=BINS),
        Column("services", delimiter=";", max_items=2),
    )
)
LABELS = bin_labels(BINS)
REAL = [
    [{"10"}, {LABELS[2]}, {"pool", "library"}],
    [{"9"}, {LABELS[0]}, {"pool"}],
    [{"9"}, set(), set()],
    [{"flat"}, {LABELS[2]}, {"clinic"}],
]
MADE = [
    [{"9"}, {LABELS[1]}, {"pool", "clinic", "sauna"}],
    [set(), {LABELS[2]}, set()],
    [{"10"}, {LABELS[2]}, {"library"}],
]


def test_records_become_columns_and_items_with_absence_as_0():
    pair = pair_of_records(as_table(coded(SCHEMA, REAL)), synthetic(SCHEMA, MADE), 100)
    items = ["clinic", "library", "pool", "sauna"]
    assert pair.features == ("town", "age", *(f"services: {item}" for item in items))
    # 9 < 10 < flat: numbers by size, texts behind; bins in their order.
    assert pair.real[0].tolist() == [2, 1, 1, 3] and pair.synthetic[0].tolist() == [1, 0, 2]
    assert pair.real[1].tolist() == [3, 1, 0, 3] and pair.synthetic[1].tolist() == [2, 3, 3]
    for place, item in enumerate(items, start=2):
        assert pair.real[place].tolist() == [int(item in record[2]) for record in REAL]
        assert pair.synthetic[place].tolist() == [int(item in record[2]) for record in MADE]
    assert pair.sizes == (4, 4, 2, 2, 2, 2)


def test_declared_values_stand_in_their_order_before_all_others():
    schema = Schema((Column("size", domain=("small", "large")),))
    pair = pair_of_records(
        as_table(coded(schema, [[{"large"}], [{"small"}]])), synthetic(schema, [[{"huge"}]]), 100
    )
    assert pair.real.tolist() == [[2, 1]] and pair.synthetic.tolist() == [[3]]


def test_items_beyond_the_most_frequent_are_one_feature(monkeypatch):
    monkeypatch.setattr(module, "MOST_ITEMS", 1)
    pair = pair_of_records(as_table(coded(SCHEMA, REAL)), synthetic(SCHEMA, MADE), 100)
    assert pair.features[2:] == ("services: pool", "services: any other")
    assert pair.real[3].tolist() == [1, 0, 0, 1] and pair.synthetic[3].tolist() == [1, 0, 1]


def test_tables_without_records_or_items_are_pairs_too():
    bare = [[record[0], record[1], set()] for record in REAL]
    pair = pair_of_records(as_table(coded(SCHEMA, bare)), synthetic(SCHEMA, []), 100)
    assert pair.features[2:] == ("services: any other",) and pair.rows == (4, 0)
    assert pair_of_records(as_table(coded(SCHEMA, [])), synthetic(SCHEMA, MADE), 100).rows == (0, 3)
    uncapped = Schema((Column("services", delimiter=";", max_items=0),))
    made = [[{"pool"}], [set()]]
    pair = pair_of_records(as_table(coded(uncapped, [[set()]])), synthetic(uncapped, made), 100)
    assert pair.real.tolist() == [[0]] and pair.synthetic.tolist() == [[1, 0]]


def test_a_column_is_found_however_its_name_is_spelt():
    pair = pair_of_records(as_table(coded(SCHEMA, REAL)), synthetic(SCHEMA, MADE), 100)
    assert pair.place(" AGE ") == 1
    with pytest.raises(InternalError):
        pair.place("services")


def test_typed_tables_are_compared_by_bins_with_null_as_0():
    raw = pa.table({"n": [1, 5, None, 50], "t": ["x", "y", "z", None], "unused": [1, 2, 3, 4]})
    made = pa.table({"n": [2.0, None, 60.0], "t": ["x", "x", "w"]})
    pair = pair_of_tables(raw, made, {"n": BINS}, 100)
    assert pair.features == ("n", "t") and pair.rows == (4, 3)
    assert pair.real[0].tolist() == [1, 1, 0, 2] and pair.synthetic[0].tolist() == [1, 0, 2]
    assert (pair.real[1] == 0).tolist() == [False, False, False, True]
    assert pair.real[1][1] == pair.real[1][2]  # neither is in the synthetic table


def test_of_more_rows_so_many_are_drawn_the_same_each_time():
    assert drawn_rows(5, 5).tolist() == [0, 1, 2, 3, 4]
    drawn = drawn_rows(1000, 100)
    assert len(set(drawn.tolist())) == 100 and drawn.tolist() == sorted(drawn_rows(1000, 100).tolist())
    many = [[{str(place)}, set(), set()] for place in range(40)]
    assert pair_of_records(as_table(coded(SCHEMA, many)), synthetic(SCHEMA, MADE), 10).rows == (10, 3)


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("most", [1, 10, 100])
def test_of_a_table_in_partitions_the_same_rows_are_drawn(number, most, tmp_path):
    many = [[{str(place)}, {LABELS[place % 3]}, {"pool"} if place % 2 else set()] for place in range(40)]
    records = coded(SCHEMA, many)
    parts = in_partitions(records, tmp_path, number, FarAway())
    expected, found = (
        pair_of_records(as_table(own), synthetic(SCHEMA, MADE), most) for own in (records, parts)
    )
    assert (found.features, found.sizes) == (expected.features, expected.sizes)
    assert found.real.tolist() == expected.real.tolist()
    assert found.synthetic.tolist() == expected.synthetic.tolist()


def test_a_bootstrap_draws_rows_of_the_raw_table_and_halves_share_none():
    codes = np.arange(101)
    pair = table_pair(["a", "b"], [codes, codes % 7], [codes[:5], codes[:5]])
    drawn = pair.bootstrap().synthetic
    assert drawn.shape == (2, 101) and (drawn[1] == drawn[0] % 7).all()
    assert 50 < len(set(drawn[0].tolist())) < 80  # 1 - 1/e of them
    halves = pair.halves()
    assert halves.rows == (50, 51)
    assert sorted([*halves.real[0].tolist(), *halves.synthetic[0].tolist()]) == codes.tolist()
