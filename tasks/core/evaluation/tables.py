"""Small tab-separated tables, header first: rows of cells in, a file out, and back."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tasks.core.aggregates.delimited import quoted

Row = Sequence[Any]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a line a row; a cell is quoted only where a reader would stumble."""
    lines = ("\t".join(quoted(str(cell)) for cell in row) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def read_rows(path: Path) -> list[list[str]]:
    """The rows that `write_rows` wrote, as text."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t"))
