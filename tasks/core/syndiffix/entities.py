"""Whose the rows are: hashes of entities from id columns, or from the rows themselves where there are none.

In: id columns, or encoded columns. Out: hashes, uint64 (n, id columns), 0 where an id is missing.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tasks.core.syndiffix.columns import EncodedColumn
from tasks.core.syndiffix.hashing import Hashes, crypto, hash_entities, hash_string


def entities_of_ids(columns: Sequence[pa.Array | pa.ChunkedArray]) -> Hashes:
    """The hash of each row's entity in each id column, (n, columns); 0 where it is null or an empty text.

    Texts and integers are hashed as they are, other types by the text that Arrow casts them to.
    """
    return np.stack([_hash_column(column) for column in columns], axis=1)


def entities_of_rows(columns: Sequence[EncodedColumn], salt: bytes) -> Hashes:
    """An entity for each row, (n, 1): the hash of its content and of how many equal rows are before it.

    It follows from the table's content alone, whatever the order of its rows and columns, and a row that is
    added changes no other's: noise sticks from one month to the next. Give it all columns of a table, also
    those that are not asked for.
    """
    content = np.zeros(len(columns[0].values) if columns else 0, np.uint64)
    for column in columns:
        key = np.uint64(crypto(salt, hash_string(column.name)))
        content += _mixed(_hash_values(column) ^ key)
    content = _mixed(content)
    order = np.argsort(content, kind="stable")
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = content[order[1:]] != content[order[:-1]]
    places = np.arange(len(order))
    repetition = np.empty(len(order), np.uint64)
    repetition[order] = places - np.maximum.accumulate(np.where(is_first, places, 0))
    hashes = _mixed(content ^ _mixed(repetition + np.uint64(1)))
    return np.maximum(hashes, np.uint64(1))[:, None]  # 0 would be no entity


def _hash_column(column: pa.Array | pa.ChunkedArray) -> Hashes:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()
    distinct = encoded.dictionary
    known = pa.types.is_integer(distinct.type) or pa.types.is_string(distinct.type)
    texts = distinct if known else distinct.cast(pa.string())
    hashes = np.append(hash_entities(texts.to_pylist()), np.uint64(0))
    return np.asarray(hashes[encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)])


def _hash_values(column: EncodedColumn) -> Hashes:
    """A hash of each cell; of a text its own, as its rank depends on other rows."""
    missing = np.isnan(column.values)
    if column.vocabulary is None:
        hashes = np.where(missing, 0.0, column.values + 0.0).view(np.uint64).copy()
    else:
        texts = np.array([hash_string(text) for text in column.vocabulary.to_pylist()] or [0], np.uint64)
        hashes = texts[np.where(missing, 0, column.values).astype(np.int64)]
    hashes = _mixed(hashes)
    hashes[missing] = 1
    return hashes


def _mixed(numbers: Hashes) -> Hashes:
    """Numbers whose bits all depend on all of each: SplitMix64's step (Steele, Lea and Flood 2014)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
