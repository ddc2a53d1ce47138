"""The page's block of data: arrays go in, one compressed text of them comes out; and which records it holds.

A page holds all records, or of very many as many as a browser opens, evenly spread:

    records of the release    0 1 2 3 4 5 6 7 8 9     n = 10
    on the page               0   2   4   6   8       m = 5: record i is that at floor(i * n / m)

No random number is needed. Records that are alike stand together in the published order, so that every kind
of them is thinned evenly.
"""

import base64
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.core.arrays import Integers, Json

#: More records than these make a page that browsers fail to open.
MOST_RECORDS = 1_000_000


def sampled_places(number: int) -> Integers | None:
    """The places of the records that a page holds, ascending; None where it holds all of them."""
    if number <= MOST_RECORDS:
        return None
    return np.arange(MOST_RECORDS, dtype=np.int64) * number // MOST_RECORDS


def in_page(each: Integers) -> Integers:
    places = sampled_places(len(each))
    return each if places is None else each[places]


def number_of_page_records(number: int) -> Json:
    """What the page is told of how many records there are, and of how many it holds where that is fewer.

    >>> number_of_page_records(5), number_of_page_records(10_000_000)
    ({'records': 5}, {'records': 10000000, 'records_in_page': 1000000})
    """
    told: Json = {"records": number}
    return told if number <= MOST_RECORDS else told | {"records_in_page": MOST_RECORDS}


_ALIGNED = 8
#: Above this level time grows and size does not.
_LEVEL = 6
_NAMES = {"uint8": "u8", "uint16": "u16", "uint32": "u32", "int32": "i32"}

AnyArray = npt.NDArray[np.generic]


def type_name(dtype: npt.DTypeLike) -> str:
    return _NAMES[np.dtype(dtype).name]


@dataclass
class Buffers:
    """Arrays by name, in the order in which they were put in."""

    arrays: dict[str, AnyArray] = field(default_factory=dict)

    def put(self, name: str, array: AnyArray) -> None:
        """Add an array of one of the types that pages read; names are not repeated."""
        assert name not in self.arrays, "a name in a block must not be repeated"
        assert array.dtype.name in _NAMES, "a block holds only types that pages read"
        self.arrays[name] = array

    def index(self) -> list[Json]:
        found: list[Json] = []
        offset = 0
        for name, array in self.arrays.items():
            found.append(
                {"name": name, "type": type_name(array.dtype), "offset": offset, "length": array.size}
            )
            offset += _pad(array.nbytes)
        return found

    def text(self) -> str:
        """All arrays one after the other, compressed (gzip) and written in base64."""
        whole = np.zeros(sum(_pad(array.nbytes) for array in self.arrays.values()), np.uint8)
        offset = 0
        for array in self.arrays.values():
            plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
            whole[offset : offset + plain.nbytes] = plain.view(np.uint8)
            offset += _pad(plain.nbytes)
        packed = pa.Codec("gzip", compression_level=_LEVEL).compress(whole, asbytes=True)
        return base64.b64encode(packed).decode("ascii")


def _pad(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
