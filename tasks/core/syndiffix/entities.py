"""Whose the rows are: hashes of entities, from id columns, or from whole rows where there are none."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Floats, Words
from tasks.core.sentences import sentences_of
from tasks.core.syndiffix.columns import (
    WideIntegers,
    any_floats_of,
    is_moment,
    is_supported_decimal,
    plain_array,
    wide_integers,
    wide_integers_of_floats,
)
from tasks.core.syndiffix.hashing import hash_entities, hash_string, salted_seed
from tasks.core.tables.texts import is_text, parse_each_way

_TEXT = sentences_of("syndiffix")
_NOTHING = 1  # the hash of a cell without a value


def entities_of_ids(columns: Sequence[pa.Array | pa.ChunkedArray]) -> Words:
    """The hash of each row's entity in each id column, (n, columns); 0 where it is null or an empty text.

    Texts and integers are hashed as they are, other types by the text that Arrow casts them to.
    """
    return np.stack([_hash_column(column) for column in columns], axis=1)


def row_contents(columns: Iterable[tuple[str, pa.Array | pa.ChunkedArray]], rows: int) -> Words:
    """What each row holds, (n, 2): what its cells say, and how they are written.

    A cell counts for itself: a text that is a number, a moment or a truth value says what it is, whatever
    else its column holds and whatever type it was declared to have, so that what is made of the rows does
    not change with what a table is declared to be, and a copy in Parquet says the same as one in CSV. Only
    what is written plainly is understood so, as declarations have no say: a copy that writes ``1.5`` for
    ``1,5``, or a boolean for ``yes``, is another table, with noise of its own.

    ``columns``: header and cells of every column of the file, in any order, also of those that are not asked
    for. Types such as lists, which can't be synthesized, tell no rows apart.
    """
    contents = np.zeros((rows, 2), np.uint64)
    for name, column in columns:
        hashes = _hash_cells(plain_array(column))
        if hashes is not None:
            contents += _mix_bits(hashes ^ np.uint64(hash_string(name)))
    return contents


def entities_of_rows(contents: Words, salt: bytes) -> Words:
    """An entity for each row, (n, 1): the hash of its content and of how many equal rows are before it.

    It follows from the table's content alone, whatever the order of its rows and columns, and a row that is
    added changes no other's, whatever it holds: noise sticks from one month to the next. Rows that say the
    same in other letters share their entities out by how they are written.

    >>> ages = [("age", pa.array(["34", "61", "34"]))]
    >>> len(np.unique(entities_of_rows(row_contents(ages, rows=3), b"salt")))  # two of 34 are two entities
    3
    """
    content = _mix_bits(contents[:, 0] ^ np.uint64(salted_seed(salt, hash_string("rows"))))
    order = np.lexsort((contents[:, 1], content))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = content[order[1:]] != content[order[:-1]]
    places = np.arange(len(order))
    repetition = np.empty(len(order), np.uint64)
    repetition[order] = places - np.maximum.accumulate(np.where(is_first, places, 0))
    hashes = _mix_bits(content ^ _mix_bits(repetition + np.uint64(1)))
    return np.maximum(hashes, np.uint64(1))[:, None]  # 0 would be no entity


def _hash_column(column: pa.Array | pa.ChunkedArray) -> Words:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()
    distinct = encoded.dictionary
    known = pa.types.is_integer(distinct.type) or pa.types.is_string(distinct.type)
    texts = distinct if known else distinct.cast(pa.string())
    hashes = np.append(hash_entities(texts.to_pylist()), np.uint64(0))
    return np.asarray(hashes[encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)])


def _hash_cells(array: pa.Array) -> Words | None:
    """Of each cell, (n, 2), what it says and how it is written; None of a type that isn't synthesized."""
    kind = array.type
    if is_text(kind):
        coded = array.dictionary_encode()
        hashes = np.append(_hash_texts(coded.dictionary), np.full((1, 2), _NOTHING, np.uint64), axis=0)
        return np.asarray(hashes[coded.indices.fill_null(len(coded.dictionary)).to_numpy()])
    values = _hash_values(array)
    return None if values is None else np.stack([values, values], axis=1)


def _hash_texts(texts: pa.Array) -> Words:
    """Of distinct texts, (n, 2): by what they say, and letter by letter."""
    trimmed = pc.utf8_trim_whitespace(texts)
    said = _mix_bits(np.array([hash_string(text) for text in trimmed.to_pylist()], np.uint64))
    said[pc.is_in(pc.utf8_lower(trimmed), pa.array(["", "nan"], trimmed.type)).to_numpy(False)] = _NOTHING
    for read in parse_each_way(trimmed):
        hashes = _hash_values(read)
        if hashes is not None:
            said = np.where(read.is_valid().to_numpy(zero_copy_only=False), hashes, said)
    written = [hash_string(text) for text in texts.to_pylist()]
    return np.stack([said, np.array(written, np.uint64)], axis=1)


def _hash_values(array: pa.Array) -> Words | None:
    """Of cells that are no texts, each by itself: of a number that of the float nearest to it."""
    kind = array.type
    if pa.types.is_integer(kind) or (pa.types.is_decimal128(kind) and kind.scale == 0):
        hashes = _hash_integers(wide_integers(array))
    else:
        numbers = _cell_numbers(array)
        if numbers is None:
            return None
        hashes = _float_bits(numbers)
    hashes = _mix_bits(hashes)
    hashes[array.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)] = _NOTHING
    return hashes


def _hash_integers(words: WideIntegers) -> Words:
    numbers = words.floats()
    rest = words.low - wide_integers_of_floats(numbers).low
    return _float_bits(numbers) ^ np.where(rest == 0, np.uint64(0), _mix_bits(rest))


def _cell_numbers(array: pa.Array) -> Floats | None:
    kind = array.type
    if is_moment(kind):
        return any_floats_of(array)
    numbers: Floats
    if pa.types.is_decimal128(kind) and is_supported_decimal(kind):
        numbers = wide_integers(array).floats() / 10.0**kind.scale
        return numbers
    if pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    elif pa.types.is_float32(kind):
        array = array.cast(pa.string())  # 0.1 is what a text that says it is
    elif not pa.types.is_floating(kind) and not is_supported_decimal(kind):
        return None
    return np.asarray(array.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def _float_bits(numbers: Floats) -> Words:
    """Of floats; there is one zero."""
    return np.where(np.isnan(numbers), 0.0, numbers + 0.0).view(np.uint64)


def _mix_bits(numbers: Words) -> Words:
    """Numbers whose bits all depend on all of each: SplitMix64's step (Steele, Lea and Flood 2014)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def unit_sentence(ids: Sequence[str]) -> str:
    if not ids:
        return _TEXT.say("what.no_id")
    if len(ids) == 1:
        return _TEXT.say("what.one_id", column=ids[0])
    return _TEXT.say("what.several_ids", kinds=str(len(ids)), columns=", ".join(ids))
