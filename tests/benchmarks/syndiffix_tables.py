"""The typed tables, as Parquet, that SynDiffix is measured on.

Real ones from ``$MARGINALIA_DATA``, else ``../shared/data``; where they are absent, generated ones of the
same shape, and the name says so.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq

from tests.benchmarks.data import FOLDER, ROOT, Table, generated_codes

_TAXI_LEFT_OUT = ("med", "hack", "lastname")
_TAXI_NUMBERS = ("trip_time_in_secs", "trip_distance", "fare_amount", "tip_amount", "total_amount")
_ADULT_FIRST = ("age", "income>50K", "education-num", "hours-per-week", "sex")


def adult_columns(count: int) -> Table:
    """Adult's ``count`` columns, 48,842 records, whole numbers; beyond five, all 14."""
    return _real(
        "adult.csv", 48_842, list(_ADULT_FIRST[:count]) if count <= len(_ADULT_FIRST) else None, count
    )


def taxi_19() -> Table:
    """A thousand taxi rides, 19 columns: numbers, texts and times."""
    return _taxi(19, _TAXI_LEFT_OUT)


def _taxi(columns: int, left_out: Sequence[str] = (), names: Sequence[str] | None = None) -> Table:
    return _real("taxi-1000.csv", 1000, names, columns, left_out)


def national_24() -> Table:
    """A thousand people of national2019, 24 columns: numbers and texts."""
    return _real("na2019_1000.csv", 1000, None, 24, ("",))


def baselines() -> list[tuple[Table, str]]:
    """The tables of the published baselines (syndiffix.md 5), and the strategy of each (`STRATEGIES`)."""
    adult = {count: adult_columns(count) for count in (1, 2, 3, 5, 14)}
    return [
        *((adult[count], "default") for count in (1, 2, 3, 5)),
        (adult[5], "single"),
        (_taxi(5, names=_TAXI_NUMBERS), "default"),
        (taxi_19(), "default"),
        (_taxi(22), "default"),
        (_taxi(20, ("hack", "lastname")), "ids=med"),
        (national_24(), "default"),
        (adult[14], "target=income>50K"),
        (adult[14], "default"),
    ]


def mixed(records: int, columns: int) -> Table:
    """A generated table of whole numbers, texts and reals in turn; one cell in ten is null."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"mixed-{records}x{columns}.parquet"
    if not path.exists():
        _write(_generated(records, columns), path)
    return Table(f"generated {records} x {columns}", path)


def _real(
    file: str, records: int, names: Sequence[str] | None, columns: int, without: Sequence[str] = ()
) -> Table:
    source = Path(os.environ.get("MARGINALIA_DATA", ROOT.parent / "shared" / "data")) / file
    if not source.is_file():
        return mixed(records, columns)
    FOLDER.mkdir(exist_ok=True)
    name = f"{source.stem}_{columns}"
    path = FOLDER / f"{name}.parquet"
    if not path.exists():
        options = pv.ConvertOptions(null_values=[""], strings_can_be_null=True)
        table = pv.read_csv(source, convert_options=options)
        kept = names or [header for header in table.column_names if header not in without]
        _write(_microseconds(table.select(kept)), path)
    return Table(name, path)


def _microseconds(table: pa.Table) -> pa.Table:
    """Times in a unit that both sides read from Parquet."""
    fields = [
        field.with_type(pa.timestamp("us")) if pa.types.is_timestamp(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def _generated(records: int, columns: int) -> pa.Table:
    generator = np.random.default_rng(4)
    found = {}
    for place, codes in enumerate(generated_codes(records, columns)):
        is_null = codes == 0
        if place % 3 == 1:
            names = np.array([f"v{code:02d}" for code in range(256)], object)
            found[f"c{place}"] = pa.array(names[codes], mask=is_null)
        elif place % 3 == 2:
            reals = np.round(codes * 10 + generator.normal(0, 4, records), 2)
            found[f"c{place}"] = pa.array(reals, mask=is_null)
        else:
            found[f"c{place}"] = pa.array(codes.astype(np.int64), mask=is_null)
    return pa.table(found)


def _write(table: pa.Table, path: Path) -> None:
    part = path.with_suffix(".part")
    pq.write_table(table, part)
    part.replace(path)
