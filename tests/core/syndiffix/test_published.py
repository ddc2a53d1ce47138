from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.errors import InputError, ParameterError
from tasks.core.syndiffix.published import stitch_tables


def tables():
    """Two of like people, as from two questions: pay follows from age, and so does the number of years."""
    draw = np.random.default_rng(11)
    left, right = draw.integers(18, 66, 600), draw.integers(18, 66, 560)
    pay = left * 100 + draw.integers(0, 50, 600)
    years = right - 17 + draw.uniform(0, 1, 560)
    return (
        pa.table({"age": left, "pay": pay, "letter": draw.choice(["x", "y"], 600)}),
        pa.table({"age": right, "years": years, "town": draw.choice(["i", "j"], 560)}),
    )


def rows_of(table, *names):
    return Counter(zip(*(table[name].to_pylist() for name in names), strict=True))


LEFT, RIGHT = tables()


def test_the_left_table_s_rows_are_kept_each_once_where_it_owns_them():
    for left, right in ((LEFT, RIGHT), (RIGHT, LEFT)):  # with more rows than the other, and with fewer
        found = stitch_tables(left, right, "left")
        assert rows_of(found, *left.column_names) == rows_of(left, *left.column_names)
        assert found.column_names == [*left.column_names, *(n for n in right.column_names if n != "age")]


def test_a_shared_stitch_has_as_many_rows_as_both_on_average_and_values_of_both():
    found = stitch_tables(LEFT, RIGHT, "shared")
    assert RIGHT.num_rows < found.num_rows == 580 < LEFT.num_rows
    assert not rows_of(found, "pay", "letter").keys() - rows_of(LEFT, "pay", "letter").keys()
    assert not rows_of(found, "years", "town").keys() - rows_of(RIGHT, "years", "town").keys()
    for left, right in ((LEFT, RIGHT.slice(0, 0)), (LEFT.slice(0, 0), RIGHT)):
        assert stitch_tables(left, right, "shared").num_rows == 0
    # Values of the shared column are taken by turns, so that each side gives a half of them.
    odd = pa.table({"n": [*range(1, 200, 2)]}), pa.table({"n": [*range(0, 200, 2)], "m": [*range(100)]})
    assert Counter(number % 2 for number in stitch_tables(*odd, "shared")["n"].to_pylist()) == {0: 50, 1: 50}


def test_a_chain_of_tables_pairs_rows_by_their_rank_and_takes_each_shared_column_by_turns():
    ranks = np.arange(12)
    first = pa.table({"a": 20 + ranks, "b": 3 * ranks})
    second = pa.table({"a": 40 + ranks, "c": 500 + ranks})  # of other values, in the same order
    third = pa.table({"c": 600 + ranks, "d": -ranks})
    chain = stitch_tables(stitch_tables(first, second, "shared"), third, "shared")
    assert chain.column_names == ["a", "b", "c", "d"]
    rows = sorted(chain.to_pylist(), key=lambda row: row["b"])
    assert [(row["b"], row["d"]) for row in rows] == [(3 * rank, -rank) for rank in range(12)]
    for name, (left, right) in {"a": (20, 40), "c": (500, 600)}.items():
        owners = [row[name] - rank for rank, row in enumerate(rows)]
        assert owners == [left, right] * 6


def test_what_the_shared_column_carries_is_kept_between_the_tables():
    for owner in ("shared", "left", "right"):
        found = stitch_tables(LEFT, RIGHT, owner)
        pay, years = (found[name].to_numpy().astype(float) for name in ("pay", "years"))
        assert np.corrcoef(pay, years)[0, 1] > 0.98  # 0 where rows are paired at random


def test_two_shared_columns_are_both_looked_at():
    draw = np.random.default_rng(3)
    age, sex = draw.integers(18, 66, 500), draw.choice(["f", "m"], 500)
    left = pa.table({"age": age, "sex": sex, "of_left": np.char.add(sex, (age // 24).astype(str))})
    mixed = draw.permutation(500)
    right = pa.table({"sex": sex[mixed], "age": age[mixed], "of_right": left["of_left"].to_numpy()[mixed]})
    found = stitch_tables(left, right, "left")
    assert rows_of(found, "age", "sex") == rows_of(left, "age", "sex")
    same = [a == b for a, b in zip(*(found[n].to_pylist() for n in ("of_left", "of_right")), strict=True)]
    assert np.mean(same) > 0.98  # a quarter at random


def test_nothing_secret_is_drawn_and_the_order_of_rows_tells_nothing():
    found = stitch_tables(LEFT, RIGHT, "shared")
    assert found.equals(stitch_tables(LEFT, RIGHT, "shared"))
    ages = found["age"].to_numpy()
    assert abs(np.corrcoef(ages, np.arange(len(ages)))[0, 1]) < 0.2  # 1 where it is sorted


def test_columns_of_every_type_are_shared():
    day = pa.array([1, 2, None, 4], pa.int32()).cast(pa.date32())
    for column in (
        pa.array([True, False, None, True]),
        pa.array(["a", "b*12", None, "d"]),
        pa.array(["a", "b", None, "d"]).dictionary_encode(),
        pa.array([1.5, -2.0, None, 4.0]),
        pa.array([None] * 4),
        day,
        day.cast(pa.timestamp("us", "UTC")),
    ):
        left = pa.table({"key": column, "left": [[1], [2], [3], [4]]})
        right = pa.table({"key": column, "right": [b"1", b"2", b"3", b"4"]})
        found = stitch_tables(left, right, "left")
        assert rows_of(found, "key") == rows_of(left, "key")
        if len(set(column.to_pylist())) == 4:  # each finds its like
            assert all(row["left"] == [int(row["right"])] for row in found.to_pylist())


def test_numbers_of_two_widths_are_of_one_kind_and_a_text_is_of_another():
    left = pa.table({"key": pa.array([1, 2], pa.int8()), "a": [1, 2]})
    found = stitch_tables(left, pa.table({"key": [2.0, 1.0], "b": [2, 1]}), "left")
    assert rows_of(found, "key", "a", "b") == {(1.0, 1, 1): 1, (2.0, 2, 2): 1}
    with pytest.raises(ParameterError, match="'key' must hold values of one kind in both tables"):
        stitch_tables(left, pa.table({"key": ["1", "2"]}), "left")


def test_tables_that_share_no_column_or_one_without_order_are_refused():
    with pytest.raises(ParameterError, match="must share a column of the same name"):
        stitch_tables(LEFT, RIGHT.rename_columns(["Age", "years", "town"]), "shared")
    with pytest.raises(InputError):
        stitch_tables(pa.table({"key": [[1]]}), pa.table({"key": [[1]]}), "shared")
