from datetime import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.syndiffix.entities import entities_of_ids, entities_of_rows, row_contents
from tasks.core.syndiffix.hashing import hash_int, hash_string
from tests.oracles.syndiffix import SALT

NUMBERS = st.lists(st.sampled_from([None, -1.5, 0.0, 2.0]), min_size=1, max_size=12)


def table_of(numbers, texts):
    return pa.table({"x": pa.array(numbers, pa.float64()), "y": pa.array(texts, pa.string())})


def entities(table, salt=SALT):
    columns = zip(table.column_names, table.columns, strict=True)
    return entities_of_rows(row_contents(columns, table.num_rows), salt)


def hashes_of(numbers, texts, salt=SALT):
    return entities(table_of(numbers, texts), salt)[:, 0].tolist()


def by_content(rows, hashes):
    found = {}
    for row, value in zip(rows, hashes, strict=True):
        found.setdefault(row, set()).add(value)
    return found


@st.composite
def records(draw):
    texts = st.sampled_from([None, "", "a", "b", "bb"])
    return [(number, draw(texts)) for number in draw(NUMBERS)]


@settings(deadline=None)
@given(records(), st.randoms(use_true_random=False))
def test_entities_do_not_depend_on_the_order_of_rows_or_columns(rows, random):
    shuffled = random.sample(rows, len(rows))
    hashes = hashes_of(*zip(*rows, strict=True))
    assert by_content(rows, hashes) == by_content(shuffled, hashes_of(*zip(*shuffled, strict=True)))
    assert entities(table_of(*zip(*rows, strict=True)).select(["y", "x"]))[:, 0].tolist() == hashes


@settings(deadline=None)
@given(records())
def test_every_row_is_an_entity_of_its_own(rows):
    hashes = hashes_of(*zip(*rows, strict=True))
    assert len(set(hashes)) == len(rows)
    assert 0 not in hashes


@settings(deadline=None)
@given(records(), st.sampled_from([None, 2.0, 9.0]), st.sampled_from([None, "", "a", "0 first", "zz"]))
def test_a_row_that_is_added_changes_no_other(rows, number, text):
    hashes = hashes_of(*zip(*rows, strict=True))
    after = hashes_of(*zip(*rows, (number, text), strict=True))
    assert set(hashes) < set(after)
    # Of rows that say the same, those that are written alike come together.
    others = [place for place, row in enumerate(rows) if row != (number, text or None) and row[1] != ""]
    assert all(after[place] == hashes[place] for place in others)


MANY_YEARS = [2**62 + day * 86_400 * 10**9 for day in range(20)]


@pytest.mark.parametrize(
    ("cells", "added", "kind"),
    [
        (MANY_YEARS, 0, pa.int64()),
        (MANY_YEARS, 2**63 + 7, pa.uint64()),
        ([7, 8, None], 10**37, pa.decimal128(38, 0)),
        ([7, 8, None], 10**60, pa.decimal256(70, 0)),
        ([1.5, float("nan"), None], float("inf"), pa.float64()),
        ([1.5, 2.5, None], 65504.0, pa.float16()),
        ([0, 10**9, None], -(2**62), pa.timestamp("s", "UTC")),
        ([0, 10**9, None], 2**62, pa.duration("us")),
        ([0, 20_000, None], 2**31 - 1, pa.date32()),
        ([b"a", b"b"], b"", pa.binary()),
        ([[1], [2, 3]], [], pa.list_(pa.int64())),
    ],
)
def test_a_row_that_is_added_changes_no_other_whatever_it_holds(cells, added, kind):
    def hashes(cells):
        table = pa.table({"t": pa.array(cells, kind), "x": pa.array([n % 2 for n in range(len(cells))])})
        return entities(table)[:, 0].tolist()

    assert hashes([*cells, added])[:-1] == hashes(cells)


def test_large_integers_are_told_apart_and_small_ones_are_their_floats():
    def hashes(cells, kind):
        return entities(pa.table({"x": pa.array(cells, kind)}))[:, 0].tolist()

    large = [2**62 + n for n in range(100)]
    numbers = hashes(large, pa.int64())
    # A table of one of them is a row that is not the second one of equal rows.
    assert [hashes([one], pa.int64())[0] for one in large] == numbers
    assert hashes(large, pa.uint64()) == hashes(large, pa.decimal128(38, 0)) == numbers
    for kind in (pa.int8(), pa.uint32(), pa.float32(), pa.decimal128(5, 2), pa.decimal256(50, 2)):
        assert hashes([None, 0, 5, 100], kind) == hashes([None, 0.0, 5.0, 100.0], pa.float64())


def test_a_null_is_no_value_and_an_empty_text_says_nothing_either():
    assert hashes_of([0.0], [None]) == hashes_of([0.0], [""]) == hashes_of([0.0], [" "])
    assert len(set(hashes_of([0.0, 0.0], [None, ""]))) == 2
    rows = [(None, "a"), (0.0, "a"), (0.0, None), (0.0, "0")]
    assert len({hashes_of([number], [text])[0] for number, text in rows}) == len(rows)
    assert hashes_of([1.0], ["a"]) != hashes_of([1.0], ["b"])  # each has the rank 0
    one, other = (pa.table({"x": [x], "y": [y]}) for x, y in ((1.0, 2.0), (2.0, 1.0)))
    assert entities(one)[0, 0] != entities(other)[0, 0]


def test_entities_depend_on_the_salt_and_on_the_columns_names():
    column = pa.array([1.0, 2.0])
    x, y = pa.table({"x": column}), pa.table({"y": column})
    found = [entities(x), entities(x, b"other salt"), entities(y)]
    assert len({tuple(each[:, 0].tolist()) for each in found}) == 3
    assert set(found[0].ravel().tolist()).isdisjoint(found[1].ravel().tolist())


def test_only_null_and_the_empty_text_are_missing_ids():
    integers, texts = [0, -7, None, 5, 5], ["", "a", None, "0", "a"]
    hashes = entities_of_ids([pa.array(integers), pa.array(texts)])
    assert hashes.dtype == np.uint64
    assert hashes[:, 0].tolist() == [0 if value is None else hash_int(value) for value in integers]
    assert hashes[:, 1].tolist() == [hash_string(text) if text else 0 for text in texts]
    assert entities_of_ids([pa.array([1.5, None])])[:, 0].tolist() == [hash_string("1.5"), 0]


@pytest.mark.parametrize("values", [["b", None, "a", "", "b"], [3, None, 0, -1, 3]])
def test_ids_in_chunks_and_dictionaries_are_the_same(values):
    plain = entities_of_ids([pa.array(values)])
    array = pa.array(values)
    same = [
        pa.chunked_array([array[:2], array[2:2], array[2:]]),
        array.dictionary_encode(),
        pa.chunked_array([array[:2].dictionary_encode(), array[2:].dictionary_encode()]),
    ]
    for column in same:
        assert (entities_of_ids([column]) == plain).all()


SAYS_THE_SAME = [
    (["7", "07", "7.0", " +7 ", "7e0"], [7] * 5),
    (["-0.5", "-.5", "-0.50"], [-0.5] * 3),
    ([str(2**62 + 1), "0" + str(10**30)], [Decimal(2**62 + 1), Decimal(10**30)]),
    (["true", "FALSE"], [True, False]),
    (["2024-02-29", "2024-02-29T00:00:00", "2024-02-29 00:00:00Z"], [datetime(2024, 2, 29)] * 3),
    (["", " ", "nan", "NaN"], [None] * 4),
    ([" a", "a ", "a"], ["a"] * 3),
]


@pytest.mark.parametrize(("texts", "values"), SAYS_THE_SAME)
@pytest.mark.parametrize("others", [[], ["x"], ["9", "1.5", "true", "2024-01-01"]])
def test_a_text_says_what_its_value_does_whatever_else_its_column_holds(texts, values, others):
    for text, value in zip(texts, values, strict=True):
        alone = entities(pa.table({"x": pa.array([value])}))[0, 0]
        assert entities(pa.table({"x": pa.array([text, *others])}))[0, 0] == alone


def test_a_short_real_is_the_text_that_writes_it():
    real = entities(pa.table({"x": pa.array([0.1, 1e-7, 3.4e38], pa.float32())}))
    assert (real == entities(pa.table({"x": pa.array(["0.1", "1e-7", "3.4e38"])}))).all()


def test_rows_that_say_the_same_are_told_apart_by_how_they_are_written_in_any_order():
    texts = ["7", "07", "7", "7.0", "07"]
    hashes = entities(pa.table({"x": pa.array(texts)}))[:, 0].tolist()
    assert len(set(hashes)) == len(texts)
    backward = entities(pa.table({"x": pa.array(texts[::-1])}))[:, 0].tolist()
    assert by_content(texts, hashes) == by_content(texts[::-1], backward)
