"""Keyed choices: who keeps which item is a function of the record itself and a secret, nothing else.

The workspace's secret and texts go in, 64-bit hashes come out (R13).

Why differential privacy holds for every fixed key, good or bad: a record's identity is a fixed function
of its subject id, or of its own content together with how many earlier records have the same content.
Adding a record to a table therefore adds one identity to the table's collection of them and changes no
other (with equal contents 1..m becomes 1..m+1, whatever the order of the rows), so every other record
keeps exactly the items, values and tag that it had. Sensitivity is bounded choice by choice; that the
function looks random matters to fairness and to sampling, not to the bound. Two contents whose hashes
collide merely choose alike. Which of a subject's rows its record is made of is likewise a function of that
subject's id and rows alone: of their contents, as equal rows have equal hashes, and of no order of them.
"""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Codes, Integers, Words
from tasks.core.errors import InternalError
from tasks.core.records.kernels import fold_hashes, pair_hashes, text_hashes

#: Of numbers of 64 bits with a sign.
_MOST_GROUPS = 2**62


class KeyedChoices:
    """The hashes of one workspace; a hash is of its own text alone, wherever the text stands."""

    def __init__(self, key: bytes) -> None:
        if not key:
            raise InternalError("A keyed choice needs the workspace's secret, but was given none.")
        self._key = hashlib.blake2b(key).digest()

    def words(self, purpose: str) -> tuple[np.uint64, np.uint64]:
        derived = hashlib.blake2b(purpose.encode(), key=self._key, digest_size=16).digest()
        return np.uint64(int.from_bytes(derived[:8], "little")), np.uint64(
            int.from_bytes(derived[8:], "little")
        )

    def of_texts(self, purpose: str, texts: pa.Array | Sequence[str]) -> Words:
        array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
        _, offsets, data = array.cast(pa.large_string()).buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
        bytes_of_texts = np.frombuffer(data, dtype=np.uint8) if data else np.zeros(0, dtype=np.uint8)
        return np.asarray(text_hashes(*self.words(purpose), bytes_of_texts, ends))

    def of_codes(self, purpose: str, values: Sequence[str]) -> Words:
        """For each code the hash of its text; 0 for code 0, which is absence."""
        return np.append(np.zeros(1, dtype=np.uint64), self.of_texts(purpose, values))

    def of_pairs(self, purpose: str, firsts: Words, seconds: Words) -> Words:
        return np.asarray(pair_hashes(*self.words(purpose), firsts, seconds))

    def of_contents(self, contents: Sequence[tuple[Codes, Words]], number_of_rows: int) -> Words:
        """Each row's identity where there is no subject id: its content and which of its equals it is.

        Args:
            contents: for each column its rows' codes, and for each code the hash of what it stands
                for. Equal codes must mean equal content.
        """
        state = self.of_content(contents, number_of_rows)
        occurrences = _occurrences([codes for codes, _ in contents], number_of_rows)
        return self.of_pairs("occurrence", state, occurrences)

    def of_rows(self, contents: Iterable[tuple[Codes, Words]], subjects: Words) -> Words:
        """For each row of a subject the hash of it among that subject's rows; of equal rows the same."""
        return self.of_pairs("row", subjects, self.of_content(contents, len(subjects)))

    def of_content(self, contents: Iterable[tuple[Codes, Words]], number_of_rows: int) -> Words:
        """For each row the hash of its content alone: equal rows have equal hashes."""
        state = np.zeros(number_of_rows, dtype=np.uint64)
        words = self.words("content")
        for codes, of_code in contents:
            fold_hashes(*words, state, codes, of_code)
        return state


def _occurrences(contents: Sequence[Codes], number_of_rows: int) -> Words:
    """For each row how many earlier rows have the same content, told by the codes themselves.

    >>> _occurrences([np.array([1, 2, 1, 1], np.uint8)], 4).tolist()  # Lille, Lyon, Lille, Lille
    [0, 0, 1, 2]
    """
    groups, size = np.zeros(number_of_rows, np.int64), 1
    for codes in contents:
        width = int(codes.max(initial=0)) + 1
        if size * width > _MOST_GROUPS:
            groups = _numbered(groups)
            size = int(groups.max(initial=0)) + 1
        groups, size = groups * width + codes, size * width
    groups = _numbered(groups)
    order = np.argsort(groups, kind="stable")  # so that earlier rows come first
    sizes = np.bincount(groups)
    result = np.zeros(number_of_rows, dtype=np.uint64)
    result[order] = np.arange(number_of_rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return result


def _numbered(groups: Integers) -> Integers:
    """Equal numbers again, but from 0 and none left out."""
    return np.asarray(pa.array(groups).dictionary_encode().indices.to_numpy(), np.int64)
