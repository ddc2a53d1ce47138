"""Whose rows are: by their content or by ids."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.syndiffix.columns import encode_column
from tasks.core.syndiffix.entities import entities_of_ids, entities_of_rows
from tasks.core.syndiffix.hashing import hash_int, hash_string
from tests.oracles.syndiffix import SALT

NUMBERS = st.lists(st.sampled_from([None, -1.5, 0.0, 2.0]), min_size=1, max_size=12)


def encoded(numbers, texts):
    return [
        encode_column("x", pa.array(numbers, pa.float64())),
        encode_column("y", pa.array(texts, pa.string())),
    ]


def hashes_of(numbers, texts, salt=SALT):
    return entities_of_rows(encoded(numbers, texts), salt)[:, 0].tolist()


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
    assert entities_of_rows(encoded(*zip(*rows, strict=True))[::-1], SALT)[:, 0].tolist() == hashes


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
    assert hashes_of(*zip(*rows, (number, text), strict=True))[:-1] == hashes


def test_a_text_is_hashed_as_it_is_and_not_by_its_rank():
    one, other = hashes_of([1.0], ["a"]), hashes_of([1.0], ["b"])
    assert one != other  # each has the rank 0


def test_a_null_is_no_value():
    rows = [(None, "a"), (0.0, "a"), (0.0, None), (0.0, "")]
    assert len({hashes_of([number], [text])[0] for number, text in rows}) == len(rows)


def test_entities_depend_on_the_salt_and_on_the_columns_names():
    column = pa.array([1.0, 2.0])
    x, y = encode_column("x", column), encode_column("y", column)
    found = [entities_of_rows([x], SALT), entities_of_rows([x], b"other salt"), entities_of_rows([y], SALT)]
    assert len({tuple(each[:, 0].tolist()) for each in found}) == 3
    assert set(found[0].ravel().tolist()).isdisjoint(found[1].ravel().tolist())


def test_values_that_change_places_between_columns_are_another_entity():
    x, y = pa.array([1.0]), pa.array([2.0])
    one = entities_of_rows([encode_column("x", x), encode_column("y", y)], SALT)
    other = entities_of_rows([encode_column("x", y), encode_column("y", x)], SALT)
    assert one[0, 0] != other[0, 0]


def test_only_null_and_the_empty_text_are_missing_ids():
    integers, texts = [0, -7, None, 5, 5], ["", "a", None, "0", "a"]
    hashes = entities_of_ids([pa.array(integers), pa.array(texts)])
    assert hashes.dtype == np.uint64
    assert hashes[:, 0].tolist() == [0 if value is None else hash_int(value) for value in integers]
    assert hashes[:, 1].tolist() == [hash_string(text) if text else 0 for text in texts]


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


def test_ids_of_other_types_are_hashed_by_their_text():
    assert entities_of_ids([pa.array([1.5, None])])[:, 0].tolist() == [hash_string("1.5"), 0]
