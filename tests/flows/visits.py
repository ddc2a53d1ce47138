"""Visits of people, a small table for SynDiffix, with ids, gaps, moments; and its configuration."""

import datetime
from pathlib import Path
from typing import Any

import numpy as np

from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration
from tests.flows import pipeline

HEADER = ("person", "town", "age", "income", "visited", "smoker", "household")
TOWNS = ("Aberwick", "Brenmoor", "Caldwell", "Dunsford")
_START = datetime.datetime(2025, 1, 1)


def rows(people: int = 250, seed: int = 3) -> list[list[str]]:
    """One to three visits each."""
    draw = np.random.default_rng(seed)
    found = []
    for person in range(people):
        town, age = TOWNS[int(draw.integers(0, 4))], int(draw.integers(0, 90))
        for _ in range(int(draw.integers(1, 4))):
            visited = _START + datetime.timedelta(hours=int(draw.integers(0, 8000)))
            shown = "" if draw.random() < 0.2 else str(age)
            income = f"{draw.lognormal(7, 0.5):.2f}"
            smoker = str(age > 50).lower()
            found.append(
                [f"p{person:05}", town, shown, income, visited.isoformat(" "), smoker, f"h{person // 2}"]
            )
    return found


def flat(folder: Path, section: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """The configuration of that table as a flat dictionary."""
    return {
        "sensitive_microdata_path": str(folder / "visits.csv"),
        "subject_id": "person",
        "synthesis_mode": "syndiffix",
        "syndiffix": {"columns": ["town", "age", "income", "visited", "smoker"]} | (section or {}),
        "dataset": "visits",
        "vintage": "2026-11",
        "prefix": "visits",
        "output_dir": str(folder / "out"),
    } | changes


def prepared(
    folder: Path, table: list[list[str]] | None = None, section: dict[str, Any] | None = None, **changes: Any
) -> RunConfiguration:
    """Write the table and return its configuration."""
    pipeline.write(folder / "visits.csv", rows() if table is None else table, HEADER)
    return from_flat(flat(folder, section, **changes))


def contract(
    folder: Path, column: str = "town", values: tuple[str, ...] = TOWNS, subject_id: str = ""
) -> str:
    """Write a data contract on a column's values, which may say whose the rows are; return its path."""
    others = [{"name": name} for name in HEADER if name not in ("person", column)]
    return pipeline.contract(folder, column, values, others=others, subject_id=subject_id)
