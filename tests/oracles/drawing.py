"""Draws for tests of the ledger: as small as a measurement can be."""

from collections.abc import Callable
from pathlib import Path


def write_measurement(folder: Path, leave: Callable[[], None]) -> None:
    """Ask for leave and write two files."""
    leave()
    (folder / "measurement.json").write_text('{"private": true}')
    (folder / "counts_1.parquet").write_text("counts")


def must_not_draw(folder: Path, leave: Callable[[], None]) -> None:
    """For releases that are there already."""
    raise AssertionError("a release was drawn again")
