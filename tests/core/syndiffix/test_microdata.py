"""Cells follow the column's own buckets, are of its type, and show no text (X3.3)."""

from collections import Counter
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from math import nextafter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.errors import InternalError
from tasks.core.syndiffix.columns import encode_column
from tasks.core.syndiffix.microdata import draw_cells, nearest_values
from tasks.core.tables.writing import plain_type
from tests.core.syndiffix.cells import DRAWS, draw, repeated, source
from tests.oracles.law import check_law
from tests.oracles.syndiffix_microdata import law, parts_of, prefix_of

NUMBERS = pa.array([*range(64), None])
MARGINAL = [(0, 8, 40), (8, 8, 25), (9, 9, 10), (16, 32, 64), (40, 40, 5), (48, 56, 20), (126, 126, 30)]


@pytest.mark.parametrize(
    ("lower", "upper"), [(0, 16), (4, 12), (8, 9), (16, 20), (32, 64), (33, 40), (34, 39), (0, 128), (60, 64)]
)
def test_integers_follow_the_columns_own_buckets(lower, upper):
    cells_of = source(NUMBERS, *MARGINAL)
    _, numbers = repeated(cells_of, lower, upper)
    check_law(Counter(numbers.tolist()), law(lower, upper, MARGINAL, top=128))


def test_cells_of_disjoint_intervals_follow_the_law_of_each():
    cells_of = source(NUMBERS, *MARGINAL)
    intervals = [(0, 16), (33, 40), (32, 33), (64, 128)] * 5000
    numbers = draw(cells_of, *intervals).numbers.reshape(-1, 4)
    for place, (lower, upper) in enumerate(intervals[:4]):
        check_law(Counter(numbers[:, place].tolist()), law(lower, upper, MARGINAL, top=128))


def test_wider_cells_get_what_narrower_ones_have_left_of_the_columns_own_counts():
    marginal = [(0, 0, 40), (1, 1, 30), (2, 2, 20), (3, 3, 10)]
    cells_of = source(pa.array([0, 1, 2, 3]), *marginal)
    intervals = [(0, 4)] * 40 + [(0, 2)] * 30 + [(0, 0)] * 30
    for seed in range(20):
        seen = Counter(draw(cells_of, *intervals, seed=seed).numbers)
        assert all(abs(seen[value] - count) <= 2 for value, _, count in marginal)


def test_wider_cells_follow_the_columns_own_counts_where_nothing_is_left():
    cells_of = source(pa.array([0, 1]), (0, 0, 10), (1, 1, 30))
    numbers = draw(cells_of, *[(0, 2)] * 40, *[(0, 0)] * 500, *[(1, 1)] * 1500).numbers
    assert abs(Counter(numbers[:40])[0.0] - 10) <= 1


@given(st.data())
def test_no_cell_lies_outside_of_the_parts_that_its_interval_shares_with_the_marginal(data):
    edges = sorted(data.draw(st.sets(st.integers(-40, 40), min_size=2, max_size=12)))
    marginal = []
    for low, high in pairwise(edges):
        kind = data.draw(st.sampled_from(["range", "value", "none"]))
        if kind != "none":
            marginal.append((low, high if kind == "range" else low, data.draw(st.integers(1, 9))))
    cells_of = source(pa.array([-40, 0, 17, 39]), *marginal)
    intervals = data.draw(
        st.lists(st.tuples(st.integers(-48, 40), st.integers(1, 30)), min_size=1, max_size=20)
    )
    intervals = [(low, low + size) for low, size in intervals]
    for number, (lower, upper) in zip(draw(cells_of, *intervals).numbers, intervals, strict=True):
        assert law(lower, upper, marginal, top=cells_of.top)[number] > 0


def test_a_single_value_is_given_whatever_the_marginal_says():
    cells = draw(source(NUMBERS, *MARGINAL), (63, 63), (8, 8), (126, 126))
    assert cells.values.to_pylist() == [63, 8, None]
    assert cells.numbers.tolist() == [63.0, 8.0, 126.0]


@pytest.mark.parametrize("marginal", [[], [(16, 32, 5)]])
def test_an_interval_without_buckets_of_its_own_is_drawn_from_evenly(marginal):
    _, numbers = repeated(source(NUMBERS, *marginal), 3, 11)
    check_law(Counter(numbers.tolist()), {float(k): Fraction(1, 8) for k in range(3, 11)})


def test_integers_from_below_zero_are_as_frequent_as_those_above():
    _, numbers = repeated(source(pa.array([-4, 4])), -4, 4)
    check_law(Counter(numbers.tolist()), {float(k): Fraction(1, 8) for k in range(-4, 4)})


def test_nulls_at_the_columns_upper_end_belong_to_its_last_interval():
    cells_of = source(pa.array([0, 1, 2, 4, None]), (0, 4, 10), (4, 4, 20), (8, 8, 10))
    values, _ = repeated(cells_of, 4, 8)
    assert set(values) == {4, None} and 6000 < values.count(None) < 7300
    assert set(repeated(cells_of, 2, 4)[0]) == {2, 3}


@pytest.mark.parametrize("kind", [pa.int32(), pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.null()])
def test_a_column_without_a_value_gives_nulls(kind):
    cells_of = source(pa.nulls(5, kind))
    cells = draw(cells_of, (1, 1), (0, 1))
    assert cells.values.to_pylist() == [None, None] and cells.values.type == kind
    assert cells.numbers.tolist() == [cells_of.null_value] * 2


def test_no_rows_give_no_cells():
    for array in (pa.array(["aa", "b"]), NUMBERS):
        cells = draw_cells(source(array), np.zeros(0), np.zeros(0), np.random.default_rng(1))
        assert len(cells.values) == len(cells.numbers) == 0


WORDS = pa.array(["aa", "ab", "ac", "ad", "c", "d"])


def test_texts_of_a_range_are_a_prefix_and_a_rank():
    values, numbers = repeated(source(WORDS), 0, 3)
    assert values == [f"a*{int(rank)}" for rank in numbers]
    check_law(Counter(numbers.tolist()), {k: Fraction(1, 3) for k in (0.0, 1.0, 2.0)})
    words = source(pa.array(["ab", "abc", "abd"]))  # a prefix that is a whole text in range is cut
    assert set(repeated(words, 0, 3)[0]) == {"a*0", "a*1", "a*2"}
    assert set(repeated(words, 1, 3)[0]) == {"ab*1", "ab*2"}
    assert set(repeated(source(WORDS), 0, 16)[0]) == {f"*{k}" for k in range(6)}
    assert set(repeated(source(WORDS), 8, 16, times=9)[0]) == {"*5"}
    assert set(repeated(source(WORDS, value_safe=True), 0, 8)[0]) == set(WORDS.to_pylist())


CLINICS = pa.array(["clinic a", "clinic b", "secret clinic"])


@pytest.mark.parametrize(
    ("interval", "marginal"),
    [
        *product([(2, 3), (1.5, 3), (2, 4), (2, 16)], [[], [(2, 4, 20)], [(0, 2, 9), (2, 8, 20)]]),
        *product([(1, 3), (1, 8)], [[(2, 4, 20)]]),  # the marginal leaves one of several
    ],
)
def test_a_range_of_one_text_shows_nothing_of_it(interval, marginal):
    assert set(repeated(source(CLINICS, *marginal), *interval, times=50)[0]) == {"*2"}


@given(st.data())
def test_texts_show_no_more_than_the_oracle(data):
    words = data.draw(st.lists(st.text("abé", max_size=4), min_size=2, max_size=12))
    ranked = sorted(set(words))
    marginal = []
    for rank in range(0, len(ranked), 2):
        kind = data.draw(st.sampled_from(["pair", "single", "none"]))
        marginal += [(rank, rank + 2 if kind == "pair" else rank, 7)] if kind != "none" else []
    cells_of = source(pa.array(words), *marginal)
    pairs = st.tuples(st.integers(0, len(ranked) - 1), st.integers(1, 8))
    intervals = [(low, low + size) for low, size in data.draw(st.lists(pairs, min_size=1, max_size=15))]
    cells = draw(cells_of, *intervals)
    for text, rank, (lower, upper) in zip(cells.values.to_pylist(), cells.numbers, intervals, strict=True):
        allowed = set()
        for low, high in parts_of(lower, upper, marginal, cells_of.top):
            if low == high:
                allowed.add(ranked[int(low)])
            else:
                allowed.add(f"{prefix_of(ranked[int(low) : int(high)])}*{int(rank)}")
        assert text in allowed


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_texts_keep_their_type(kind):
    array = pa.array([*WORDS.to_pylist(), None], kind)
    cells = draw(source(array), (0, 1), (4, 4), (10, 10))
    assert cells.values.type == plain_type(kind)
    assert cells.values.to_pylist() == ["*0", "c", None]


@pytest.mark.parametrize(
    ("interval", "value"),
    [((0, 0), False), ((1, 1), True), ((0, 0.5), False), ((0.5, 1), True), ((2, 2), None)],
)
def test_booleans_come_back_as_themselves(interval, value):
    assert set(repeated(source(pa.array([True, False, None])), *interval, times=50)[0]) == {value}


def test_booleans_of_a_wider_interval_keep_their_share():
    cells_of = source(pa.array([True, False, None]), (0, 0, 30), (1, 1, 10), (2, 2, 60))
    _, numbers = repeated(cells_of, 0, 2)
    check_law(Counter(numbers.tolist()), {0.0: Fraction(3, 10), 1.0: Fraction(1, 10), 2.0: Fraction(6, 10)})
    assert set(repeated(source(pa.array([True, False])), 1, 2)[0]) == {True}


def test_drawn_integers_fit_their_type():
    assert set(repeated(source(pa.array([100, 101], pa.int8())), 100, 256)[0]) == set(range(100, 128))
    big = source(pa.array([2**63 - 1, 2**63 - 9]))
    assert set(repeated(big, 0, 2**20)[0]) <= {2**63 - 1 - k for k in range(2**20)}
    values = repeated(source(pa.array([Decimal(998), Decimal(999)], pa.decimal128(3, 0))), 998, 1024)[0]
    assert set(values) == {998, 999}
    assert set(repeated(source(pa.array([100], pa.int8())), 150, 256, times=9)[0]) == {127}


def test_integers_beyond_2_to_the_53_are_drawn_whole_and_within():
    values, _ = repeated(source(pa.array([0, 2**62 + 1])), 2**61, 2**62)
    assert all(2**61 <= value < 2**62 for value in values) and len(set(values)) > DRAWS * 0.99


def test_reals_are_drawn_with_the_columns_decimals():
    values, numbers = repeated(source(pa.array([0.25, 3.1, 2.75])), 0.25, 0.5)
    check_law(Counter(numbers.tolist()), {k / 100: Fraction(1, 25) for k in range(25, 50)})
    assert {str(value) for value in values} <= {str(k / 100) for k in range(25, 50)}


@given(st.integers(-1000, 1000), st.integers(-60, 20), st.integers(0, 2**32))
def test_reals_are_never_outside_of_their_interval(place, exponent, seed):
    lower, upper = place * 2.0**exponent, (place + 1) * 2.0**exponent
    for kind in (pa.float64(), pa.float32()):
        cells_of = source(pa.array([0.1, 2.5, 1e7], kind))
        _, numbers = repeated(cells_of, lower, upper, seed, times=20)
        assert ((numbers >= lower) & (numbers < upper)).all()


def test_an_interval_without_a_number_of_so_few_decimals_gets_more_decimals():
    values, _ = repeated(source(pa.array([1.5, 2.0])), 1.5625, 1.59375)
    assert set(values) == {1.57, 1.58, 1.59}


def test_tiny_reals_do_not_collapse():
    values, _ = repeated(source(pa.array([1e-07, 3e-07])), 0, 2.0**-21)
    assert set(values) == {0.0, 1e-07, 2e-07, 3e-07, 4e-07}
    all_digits, _ = repeated(source(pa.array([1e-30, 3e-30])), 0, 2.0**-97)
    assert len(set(all_digits)) > DRAWS * 0.99


def test_cells_stay_within_their_type_s_scale_and_ends():
    values, _ = repeated(source(pa.array([Decimal("1.25"), Decimal("3.10")])), 1, 1.125)
    assert {str(value) for value in values} == {f"1.{k:02}" for k in range(13)}
    end_in_2262 = source(pa.array([datetime(2250, 1, 1)], pa.timestamp("ns")))
    assert max(repeated(end_in_2262, 2.0**33, 2.0**34)[1]) < 1.46e10
    times, _ = repeated(source(pa.array([1, 86399], pa.time32("s"))), 65536, 131072)
    assert max(times).hour == 23


def test_timestamps_are_drawn_on_whole_seconds_unless_the_column_has_fractions():
    moments = [datetime(2020, 1, 1, 0, 0, 1), datetime(2020, 1, 2, 5, 6, 7)]
    start = float(encode_column("c", pa.array([datetime(2020, 1, 1)])).values[0])
    values, numbers = repeated(source(pa.array(moments)), start, start + 4)
    assert set(values) == {datetime(2020, 1, 1, 0, 0, k) for k in range(4)}
    check_law(Counter(numbers.tolist()), {start + k: Fraction(1, 4) for k in range(4)})
    tenths = source(pa.array([m.replace(microsecond=500) for m in moments]))
    assert len(set(repeated(tenths, start, start + 4)[0])) > DRAWS * 0.98


def test_timestamps_of_days_are_drawn_as_days_and_finer_where_there_is_none():
    moments = [datetime(2020, 1, 1), datetime(2020, 3, 1)]
    start = float(encode_column("c", pa.array(moments)).values[0])
    cells_of = source(pa.array(moments))
    assert set(repeated(cells_of, start, start + 3 * 86400)[0]) == {datetime(2020, 1, k) for k in (1, 2, 3)}
    assert set(repeated(cells_of, start + 1, start + 3)[0]) <= {
        datetime(2020, 1, 1),
        datetime(2020, 1, 1, 0, 0, 2),
    }
    dates = source(pa.array([m.date() for m in moments]))
    assert set(repeated(dates, start, start + 3 * 86400)[0]) == {
        datetime(2020, 1, k).date() for k in (1, 2, 3)
    }


SNAPS = [(2.0, 1), (2.1, 3), (4.0, 3), (-10, 1), (15, 9), (9, 9), (1, 1), (5, 5)]


@pytest.mark.parametrize(("number", "nearest"), SNAPS)
def test_safe_numbers_are_the_nearest_value_and_ties_go_left(number, nearest):
    assert nearest_values(np.array([number], float), np.array([1.0, 3, 5, 7, 9])).tolist() == [nearest]
    with pytest.raises(InternalError, match="nearest value"):
        nearest_values(np.array([1.0]), np.array([]))


@pytest.mark.parametrize(
    "values", [[1, 8, 9, 30, None], [0.123456789012345, 7.25, None, 1e-9], [datetime(2020, 1, 1), None]]
)
def test_a_value_safe_column_holds_only_its_values(values):
    cells_of = source(pa.array(values), value_safe=True)
    top = cells_of.top
    drawn, numbers = repeated(cells_of, top - 2 ** np.ceil(np.log2(top)), top)
    assert set(drawn) <= set(values) - {None}
    assert set(numbers) <= set(cells_of.values)
    cells = draw(source(pa.array([7.25, None]), value_safe=True), (14.5, 14.5), (0, 8))
    assert cells.values.to_pylist() == [None, 7.25]


def test_a_cell_just_below_its_interval_s_end_is_not_the_end():
    lower = 1e16
    _, numbers = repeated(source(pa.array([1e16, 1.5])), lower, nextafter(lower, 2e16), times=100)
    assert set(numbers) == {lower}
