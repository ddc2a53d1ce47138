"""What the page of a SynDiffix release is made of; a column's cells in its bins: codes and a whole scale."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Integers, Json
from tasks.core.errors import InternalError
from tasks.core.navigation.inputs import Naming
from tasks.core.syndiffix.bins import Bins

#: Of numbers or periods one apart.
_MOST_FILLED = 48


def with_scale(bins: Bins) -> Bins:
    """The bins with those between them that no row is in, so that a chart of them has a scale.

    >>> with_scale(Bins("rooms", "integer", ("1", "2", "5"))).labels
    ('1', '2', '3', '4', '5')
    """
    places = None if bins.edges is not None else _places(bins)
    if places is None or places[-1] - places[0] >= _MOST_FILLED:
        return bins
    return replace(bins, labels=tuple(_labels(bins, places)))


def _places(bins: Bins) -> Integers | None:
    """Where labels are, in steps; None where there are no steps, or labels are not in their order."""
    if not bins.labels or not (bins.period or bins.kind == "integer"):
        return None
    try:
        if bins.period is None:
            found = np.array([int(label) for label in bins.labels], np.int64)
        else:
            unit = f"datetime64[{bins.period[0]}]"
            found = np.array([label.removesuffix(" h") for label in bins.labels], unit).astype(np.int64)
    except (ValueError, OverflowError):  # a year or a number that is beyond what can be told
        return None
    return found if all(low < high for low, high in pairwise(found.tolist())) else None


def _labels(bins: Bins, places: Integers) -> Sequence[str]:
    steps = range(int(places[0]), int(places[-1]) + 1)
    if bins.period is None:
        return [str(step) for step in steps]
    unit = bins.period[0]
    texts = np.datetime_as_string(np.array(steps, f"datetime64[{unit}]"))
    return [text.replace("T", " ") + (" h" if unit == "h" else "") for text in texts.tolist()]


@dataclass(frozen=True)
class BinnedColumn:
    """A column of the table of all columns, in its bins."""

    bins: Bins
    codes: Integers


#: Reads some columns of a table by its file.
Read = Callable[[str, Sequence[str]], pa.Table]


def _no_table(file: str, columns: Sequence[str]) -> pa.Table:
    raise InternalError(f"a page without tables of questions was asked for {len(columns)} columns of one")


@dataclass(frozen=True)
class TablePage:
    """Everything a page is made of.

    Attributes:
        statement: the content of ``privacy.json``.
        bins: public edges by numeric column.
        contract: the content of ``contract.json``; None where there was no data contract.
        tables: likewise of each table of a single question its file, and its columns.
    """

    statement: Json
    table: pa.Table
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    naming: Naming = field(default_factory=Naming)
    contract: Json | None = None
    files: Sequence[str] = ()
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    read: Read = _no_table

    @property
    def title(self) -> str:
        return self.naming.title or f"{self.statement['dataset']}, {self.statement['vintage']}"

    def smallest(self, names: Sequence[str]) -> str | None:
        """The table of a question with the fewest columns that holds these; None: that of all is as small.

        The fewer columns a table has, the less is suppressed in it. Of equally small ones it is the first.
        """
        most = self.table.num_columns
        holding = [file for file, held in self.tables.items() if set(names) <= set(held) and len(held) < most]
        return min(holding, key=lambda file: len(self.tables[file]), default=None)
