"""The tables that the figures are taken on.

Real tables from ``$MARGINALIA_DATA``, else ``../shared/data``; where they are absent, generated ones of about
the same shape, and the name says so.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".bench"
#: Divided by ten, so that both sides count codes of similar cardinality.
_COARSER = ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week")


@dataclass(frozen=True)
class Table:
    """A CSV file in which every cell is a value, and what to call it in a figure."""

    name: str
    path: Path


def shared_file(name: str) -> Path:
    """A real table's file, whether it is there or not."""
    return Path(os.environ.get("MARGINALIA_DATA", ROOT.parent / "shared" / "data")) / name


def adult() -> Table:
    """Adult, 48,842 x 14; or a generated table of that shape."""
    source = shared_file("adult.csv")
    FOLDER.mkdir(exist_ok=True)
    if not source.is_file():
        return generated(48_842, 14, seed=1)
    path = FOLDER / "adult.csv"
    if not path.exists():
        with source.open(newline="") as file:
            rows = list(csv.reader(file))
        coarse = [rows[0].index(name) for name in _COARSER]
        for row in rows[1:]:
            for place in coarse:
                row[place] = str(int(row[place]) // 10)
        _write(path, rows[0], rows[1:])
    return Table("adult", path)


def generated(records: int, columns: int, seed: int = 1, empty: float = 0.1) -> Table:
    """Chained dependence: each column leans on the one before; cardinalities 2 to 50; a share of empties."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"generated-{records}x{columns}-{seed}.csv"
    if not path.exists():
        codes = generated_codes(records, columns, seed, empty)
        header = [f"c{place}" for place in range(columns)]
        texts = [np.array(["", *[f"v{code}" for code in range(1, 256)]])[column] for column in codes]
        _write(path, header, zip(*texts, strict=True))
    return Table(f"generated {records} x {columns}", path)


def generated_codes(records: int, columns: int, seed: int = 1, empty: float = 0.1) -> list[np.ndarray]:
    """The same table as codes, 0 for an empty cell."""
    generator = np.random.default_rng(seed)
    sizes = np.linspace(2, 50, columns).astype(int)
    generator.shuffle(sizes)
    found = []
    before = generator.integers(0, 1000, records)
    for size in sizes:
        own = np.minimum(generator.geometric(min(2.5 / size, 0.7), records) - 1, size - 1)
        column = np.where(generator.random(records) < 0.6, before * 7 % size, own) + 1
        before = column
        found.append(np.where(generator.random(records) < empty, 0, column).astype(np.uint8))
    return found


def _write(path: Path, header: list[str], rows: object) -> None:
    part = path.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)  # type: ignore[arg-type]
    part.replace(path)
