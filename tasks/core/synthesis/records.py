"""Synthetic records: sets of attributes, in the order in which they are published.

Compressed rows: record i holds ``attribute_ids[offsets[i]:offsets[i + 1]]``, ascending. Ids and headers
are those of the aggregates that the records were drawn from.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Attribute


@dataclass(frozen=True)
class SyntheticRecords:
    """n records over the wide form's headers.

    Attributes:
        headers: of the wide form, in output order (as `Aggregates.headers`).
        attributes: what the ids stand for (as `Aggregates.attributes`).
        offsets: int64 (n + 1,), from 0 to ``len(attribute_ids)``.
        attribute_ids: int32, at most one per header within a record.
    """

    headers: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    offsets: npt.NDArray[np.int64]
    attribute_ids: npt.NDArray[np.int32]

    @property
    def number_of_records(self) -> int:
        """n, empty records included."""
        return len(self.offsets) - 1
