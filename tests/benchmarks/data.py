"""The tables that the figures are taken on.

Real tables from ``$MARGINALIA_DATA``, else ``../shared/data``; where they are absent, generated ones of about
the same shape, and the name says so.
"""

import csv
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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


def made_once(name: str, write: Callable[[Path], object]) -> Path:
    """A file or folder in `FOLDER`, written when it is missing."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / name
    if not path.exists():
        part = FOLDER / f"{name}.part"
        write(part)
        part.replace(path)
    return path


def adult() -> Table:
    """Adult, 48,842 x 14; or a generated table of that shape."""
    source = shared_file("adult.csv")
    if not source.is_file():
        return generated(48_842, 14, seed=1)

    def write(path: Path) -> None:
        with source.open(newline="") as file:
            rows = list(csv.reader(file))
        coarse = [rows[0].index(name) for name in _COARSER]
        for row in rows[1:]:
            for place in coarse:
                row[place] = str(int(row[place]) // 10)
        write_csv(path, rows)

    return Table("adult", made_once("adult.csv", write))


def generated(records: int, columns: int, seed: int = 1, empty: float = 0.1) -> Table:
    """Chained dependence: each column leans on the one before; cardinalities 2 to 50; a share of empties."""

    def write(path: Path) -> None:
        texts = np.array(["", *[f"v{code}" for code in range(1, 256)]])
        codes = generated_codes(records, columns, seed, empty)
        header = [f"c{place}" for place in range(columns)]
        write_csv(path, [header, *zip(*(texts[column] for column in codes), strict=True)])

    path = made_once(f"generated-{records}x{columns}-{seed}.csv", write)
    return Table(f"generated {records} x {columns}", path)


def generated_parquet(records: int, columns: int = 15) -> Path:
    """The same table as a Parquet file of texts."""

    def write(path: Path) -> None:
        names = pa.array([None, *[f"v{code}" for code in range(1, 256)]])
        texts = {
            f"c{place}": pa.DictionaryArray.from_arrays(pa.array(codes), names).dictionary_decode()
            for place, codes in enumerate(generated_codes(records, columns))
        }
        pq.write_table(pa.table(texts), path)

    return made_once(f"generated-{records}x{columns}.parquet", write)


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


def write_csv(path: Path, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
