"""What runs are compared by: ``metrics.tsv`` goes in, each figure's key, words and better end come out."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

Better = Literal["lower", "higher", ""]

#: Which counts were held against which: the first part of a figure's key, and its words.
GROUPS = {
    "size": "Size",
    "fitted": "Fitted records: estimated from noise alone, without the table",
    "released": "Synthetic records against the reported counts",
    "raw": "Synthetic records against the raw table",
    "reported": "Reported counts against the raw table",
}


@dataclass(frozen=True)
class Metric:
    """One figure of a run.

    Attributes:
        key: ``group.name``, the group one of `GROUPS`.
        words: what it is.
        better: which end is better; empty where neither is.
        about: its definition in a sentence.
    """

    key: str
    words: str
    better: Better
    about: str = ""

    @property
    def group(self) -> str:
        """The counts that it is of."""
        return GROUPS[self.key.split(".", 1)[0]]


def _read() -> tuple[Metric, ...]:
    """Group by group, in the file's order; a line is of each group that it names."""
    with Path(__file__).with_name("metrics.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return tuple(
        Metric(f"{group}.{row['name']}", row["words"], cast(Better, row["better"].strip("-")), row["about"])
        for group in GROUPS
        for row in rows
        if group in row["groups"].split()
    )


METRICS = _read()
