"""Types that the whole code shares: arrays by what they hold, column numbers, JSON, how far a long job is.

An array's shape and what it counts stand in the docstring of whoever takes or gives it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

#: Counts, places, codes of cells.
Integers = npt.NDArray[np.int64]
#: Places of attributes, ranks, slots; -1 for none.
Ids = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
#: Random words, seeds and hashes.
Words = npt.NDArray[np.uint64]
#: Stored codes and counts; halves of words.
HalfWords = npt.NDArray[np.uint32]
#: Texts, bits, and codes of a handful of kinds.
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
#: Values of a column by number, as narrow as they may be; 0 is absent.
Codes = npt.NDArray[np.unsignedinteger]
#: Keys and counts of whatever width holds them.
AnyIntegers = npt.NDArray[np.integer]

#: Columns by number, ascending; a multi-valued column once for each item.
ColumnNumbers = tuple[int, ...]
#: Slots by number, ascending.
SlotNumbers = tuple[int, ...]

Json = dict[str, Any]

#: Told the share that is done, 0 to 1.
ShareDone = Callable[[float], None]
#: Told a stage's name, and the share of it that is done.
StageDone = Callable[[str, float], None]
#: Told a step's name, how much of it is done, and of how much.
StepDone = Callable[[str, int, int], None]
