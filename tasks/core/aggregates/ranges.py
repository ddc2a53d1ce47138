"""Where the true counts of reported combinations may lie, by the noise alone; a file a length."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates

Ints = npt.NDArray[np.int64]
#: In place of a noisy count where a combination was not measured.
NOT_MEASURED = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Ranges:
    """Of the combinations of one length, in the order of the aggregates.

    Attributes:
        noisy: int64, the count as drawn (several draws: their mean by variance); see ``measured``.
        at_least, at_most: int64, where the true count lies by the noise of 95 of 100 draws.
    """

    noisy: Ints
    at_least: Ints
    at_most: Ints

    @property
    def measured(self) -> npt.NDArray[np.bool_]:
        """Whether noise was drawn for this very combination."""
        measured: npt.NDArray[np.bool_] = self.noisy != NOT_MEASURED
        return measured

    def write(self, path: Path) -> None:
        """Parquet: noisy (null where nothing was measured), at_least, at_most."""
        noisy = pa.array(self.noisy, mask=~self.measured)
        table = {"noisy": noisy, "at_least": pa.array(self.at_least), "at_most": pa.array(self.at_most)}
        pq.write_table(pa.table(table), path, compression="zstd")


def as_drawn(aggregates: Aggregates, ranges: Sequence[Ranges]) -> Aggregates:
    """The combinations that were measured, with their noisy counts, at least 0; all others left out.

    The number of records and the list of attributes stay.
    """
    kept = [found.measured for found in ranges]
    return replace(
        aggregates,
        combinations=tuple(ids[rows] for ids, rows in zip(aggregates.combinations, kept, strict=True)),
        counts=tuple(np.maximum(found.noisy[rows], 0) for found, rows in zip(ranges, kept, strict=True)),
    )


def read_all_ranges(folder: Path, longest: int) -> list[Ranges]:
    """Those of all lengths, that `write_all_ranges` wrote; none where it wrote none."""
    if not (folder / "ranges_1.parquet").is_file():
        return []
    return [read_ranges(folder / f"ranges_{length}.parquet") for length in range(1, longest + 1)]


def write_all_ranges(ranges: Sequence[Ranges], folder: Path) -> None:
    """A file a length, beside the aggregates that they are of."""
    for length, found in enumerate(ranges, start=1):
        found.write(folder / f"ranges_{length}.parquet")


def read_ranges(path: Path) -> Ranges:
    """What `Ranges.write` wrote."""
    table = pq.read_table(path)
    noisy = table["noisy"].fill_null(NOT_MEASURED).to_numpy()
    return Ranges(noisy, table["at_least"].to_numpy(), table["at_most"].to_numpy())
