"""People in a table of all types, its synthesizer, and what is in a blob's file."""

import io
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tasks.core.syndiffix.settings import AnonymizationParameters, DefaultClustering, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer

SALT = b"a salt that no blob may hold"
COLUMNS = ["age", "income", "city", "joined", "member", "name"]
ROWS = 1500
OUTLIER = 987_654.25  # an income that one person has
RARE = "Zzyzx Unique"  # a city that one person lives in
FIRST_DAY = datetime(2015, 3, 1, tzinfo=UTC)


def people(rows: int = ROWS) -> pa.Table:
    """Columns of all types that depend on each other, each with nulls, of names that are nearly all rare."""
    draw = np.random.default_rng(5)
    age = draw.integers(18, 70, rows)
    income = np.round(age * 400 + draw.normal(0, 3000, rows), 2)
    income[0] = OUTLIER
    city = [f"City {age // 12}" for age in age]
    city[1] = RARE
    days = (age // 10 * 100 + draw.integers(0, 5, rows)).tolist()
    cells = {
        "age": pa.array(age.tolist(), pa.int32()),
        "income": pa.array(income.tolist()),
        "city": pa.array(city).dictionary_encode(),
        "joined": pa.array([FIRST_DAY + timedelta(days=day) for day in days], pa.timestamp("us", "UTC")),
        "member": pa.array((age > 40).tolist()),
        "name": pa.array([f"Surname{number:04d}" for number in draw.integers(0, 900, rows).tolist()]),
    }
    for place, name in enumerate(cells):
        present = pa.array(np.arange(rows) % 29 != place)
        cells[name] = pc.if_else(present, cells[name], pa.scalar(None, cells[name].type))
    return pa.table(cells)


def grown(table: pa.Table | None = None, clustering=None, ids=()) -> Synthesizer:
    table = people() if table is None else table
    parameters = SynDiffixParameters(
        AnonymizationParameters(SALT), clustering=clustering or DefaultClustering()
    )
    return Synthesizer(table, parameters, ids=ids)


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def tables(path: Path) -> dict[str, pa.Table]:
    content = members(path)
    return {n: pq.read_table(io.BytesIO(b)) for n, b in content.items() if n.endswith(".parquet")}


def rewritten(path: Path, target: Path, changed: dict[str, bytes | None]) -> Path:
    """A copy of a blob with other members, or without them."""
    with zipfile.ZipFile(target, "w") as file:
        for name, content in (members(path) | changed).items():
            if content is not None:
                file.writestr(name, content)
    return target
