"""Arrays in one compressed block: named arrays go in, an index and a text of base64 come out.

    column/0/0   column/1/0        counts/1/count       each array begins at a multiple of 8 bytes
    |01021100....|0301....         |120,0,0,0,...

Numbers are little-endian. Compressed by the library that Arrow brings along, which the lock pins: equal
arrays give equal bytes on every machine.
"""

import base64
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.core.arrays import Json

_ALIGNED = 8
#: Above this level time grows and size does not.
_LEVEL = 6
_NAMES = {"uint8": "u8", "uint16": "u16", "uint32": "u32", "int32": "i32"}

AnyArray = npt.NDArray[np.generic]


def narrowest(largest: int) -> npt.DTypeLike:
    """The narrowest unsigned type that holds 0 to ``largest``.

    >>> narrowest(255), narrowest(256)
    (<class 'numpy.uint8'>, <class 'numpy.uint16'>)
    """
    if largest <= np.iinfo(np.uint8).max:
        return np.uint8
    return np.uint16 if largest <= np.iinfo(np.uint16).max else np.uint32


def type_name(dtype: npt.DTypeLike) -> str:
    """How the page's program calls a type."""
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
        """Name, type, offset in bytes and number of elements of each array."""
        found: list[Json] = []
        offset = 0
        for name, array in self.arrays.items():
            found.append(
                {"name": name, "type": type_name(array.dtype), "offset": offset, "length": array.size}
            )
            offset += _padded(array.nbytes)
        return found

    def text(self) -> str:
        """All arrays one after the other, compressed (gzip) and written in base64."""
        whole = np.zeros(sum(_padded(array.nbytes) for array in self.arrays.values()), np.uint8)
        offset = 0
        for array in self.arrays.values():
            plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
            whole[offset : offset + plain.nbytes] = plain.view(np.uint8)
            offset += _padded(plain.nbytes)
        packed = pa.Codec("gzip", compression_level=_LEVEL).compress(whole, asbytes=True)
        return base64.b64encode(packed).decode("ascii")


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
