"""The type of a column, which libraries infer from all rows, changes nobody's coded record (R2 and R6).

For each kind of column, and each person whose cell changes its type: the table without the person and the
table with it have the same schema, and the same coded records but for the person's. What pandas itself
rounds, such as integers beyond 2^53 that it makes floats of, nobody can read as it was.
"""

import datetime
import decimal
import io
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from marginalia.tables import to_parquet
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import build_schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tests.oracles.loading import decode

UTC = datetime.UTC
DAY, NOON = datetime.date(2026, 3, 1), datetime.datetime(2026, 3, 1, 12)
PRICE = decimal.Decimal("1.50")
#: Values of a column, its dtype (None: as pandas infers), and cells of which each changes its type.
KINDS: dict[str, tuple[list[Any], Any, list[Any]]] = {
    "int64": ([1, 2, 3, 2], "int64", [None, np.nan, 0.5, "x", 2**63, 2**70, True, PRICE, [1], {"a": 1}, 1j]),
    "long integers": ([2**60, 5, 2**53 - 1], "int64", ["x", 2**64 - 1, PRICE]),
    "uint64": ([2**63 + 5, 1, 2], "uint64", ["x", None]),
    "int8": ([1, -2, 3], "int8", [300, None, 1.25]),
    "nullable Int64": ([1, None, 3], "Int64", [0.5, "x"]),
    "float64": ([1.0, 0.5, np.nan, 2.0, 1e300, -0.0], "float64", ["x", None, PRICE, True, 2**70, 1 + 1j]),
    "float32": ([1.0, 0.1, 3.5], "float32", [1e300, None, 0.1, "x", 2**40]),
    "float16": ([1.0, 0.5], "float16", [7e10, "x"]),
    "bool": ([True, False, True], "bool", [None, "x", 2, 0.5]),
    "boolean": ([True, None, False], "boolean", ["x", 3]),
    "text": (["a", "b", "1"], None, [1, None, 0.5, b"a", NOON, ["a"]]),
    "surrogates": (["a", "b"], object, ["\ud800"]),
    "string": (["a", None, "b"], "string", [3, b"a"]),
    "mixed objects": ([1, "a", 0.5, True, None], object, [NOON, b"x", [2], 2**80]),
    "objects": ([1, 2], object, [0.5, "a", decimal.Decimal("0.001"), np.int8(5), np.float32(0.1)]),
    "categories of texts": (["a", "b"], "category", ["c", 1]),
    "categories of numbers": ([1, 2, 2], "category", [None, 3.5, "x"]),
    "datetime64[s]": (
        [NOON, NOON.replace(hour=5)],
        "datetime64[s]",
        [None, "x", DAY, NOON.replace(tzinfo=UTC)],
    ),
    "datetime64[s] and finer": ([NOON], "datetime64[s]", [pd.Timestamp("2026-01-01 00:00:00.123456789")]),
    "datetime64[ns]": ([NOON], "datetime64[ns]", [np.datetime64("2026-01-01T00:00:00.5", "us"), "x"]),
    "zones": (
        [pd.Timestamp("2026-03-01", tz="Europe/Vienna")],
        None,
        [NOON, pd.Timestamp("2026-03-01", tz="Asia/Tokyo"), "x"],
    ),
    "dates": ([DAY, DAY.replace(day=2)], object, [NOON, None, "x", pd.Timestamp("2026-01-01")]),
    "times": ([datetime.time(5), datetime.time(6, 7)], object, [None, "x", NOON]),
    "timedelta": ([datetime.timedelta(hours=30)], "timedelta64[s]", [pd.Timedelta(1, "ns"), None, "x", 5]),
    "decimals": ([PRICE, decimal.Decimal(2)], object, [decimal.Decimal("0.00001"), 0.25, None, "x", 7]),
    "decimals that no type holds": ([PRICE], object, [decimal.Decimal("1E+60"), decimal.Decimal("1E-60")]),
    "bytes": ([b"ab", b"\xff"], object, ["ab", None, 1]),
    "periods": (pd.period_range("2026-01", periods=2, freq="M").tolist(), None, [None, "x", 1]),
    "nothing": ([None, None], object, ["x", 1, [1], {"a": 1}, b"x", NOON, PRICE]),
    "lists": ([["a", "b"], ["b"]], object, [[1], ["c", None, 2.5], "a;d", None, [], {"a": 1}, [["a"]]]),
    "lists of numbers": ([[1, 2], [3]], object, [[0.5], ["x"], 7, "1;2", [None], (4,), {5}, np.array([6])]),
    "texts with items": (["1;2", "3"], object, [[0.5, 1], 4]),
}
CASES = [(kind, place) for kind, (_, _, cells) in KINDS.items() for place in range(len(cells))]
LISTS = {kind for kind in KINDS if "list" in kind or "items" in kind}
ROWS = max(len(values) for values, _, _ in KINDS.values())


class Pair(NamedTuple):
    """The records of everybody but one person, and of all, a dictionary of columns each."""

    without: dict[str, list[Any]]
    together: dict[str, list[Any]]


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table without and with the person, whose row is put below as a user of pandas does.

    A case has three columns: one of which nothing is declared, one with a list of values, one with bins.
    """
    columns: dict[str, pd.Series] = {}
    more: dict[str, pd.Series] = {}
    for kind, place in CASES:
        values, dtype, cells = KINDS[kind]
        held = pd.Series((values * ROWS)[:ROWS], dtype=dtype)
        own = pd.Series([cells[place]], dtype=object if kind == "surrogates" else None)
        joined = pd.concat([held, own], ignore_index=True)
        for use in ("open", "listed", "binned"):
            columns[f"{kind} {place} {use}"], more[f"{kind} {place} {use}"] = held, joined
    return pd.DataFrame(columns), pd.DataFrame(more)


def records(file: bytes, path: Path, *, total: bool = True) -> dict[str, list[Any]]:
    path.write_bytes(file)
    source = InputFile(path)
    names = source.headers.names
    declarations = Declarations(
        sensitive_zeros=("*",),
        domains={
            name: ("1", "2", "3", "1.5", "true", "a", "b", "2026-03-01") for name in names if "listed" in name
        },
        bins={
            name: (0, 1, 2, 2**61) for name in names if "binned" in name and name.split(" ")[0] not in LISTS
        },
        multi_value_columns={
            name: ";" for name in names if name.rsplit(" ", 2)[0] in LISTS and "binned" not in name
        },
    )
    schema = build_schema(names, declarations, cap_required=total)
    found = encode(source, schema, EncodingOptions(total=total, key=b"secret"))
    return decode(found).to_pydict()


@pytest.fixture(scope="module", params=["DataFrame", "Parquet"])
def pair(request, tmp_path_factory):
    """Both tables, read under differential privacy."""
    folder = tmp_path_factory.mktemp("types")
    made = to_parquet if request.param == "DataFrame" else _as_pandas_writes
    one, both = (records(bytes(made(frame)[0]), folder / "table.parquet") for frame in frames())
    return Pair(one, both)


def _as_pandas_writes(frame: pd.DataFrame) -> tuple[bytes, None]:
    """As Parquet, by Arrow's own conversion; a column that it can't write is left out."""
    columns = {}
    for name in frame.columns:
        with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
            column = pa.Array.from_pandas(frame[name])
            pq.write_table(pa.table({name: column}), io.BytesIO())
            columns[name] = column
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue(), None


@pytest.mark.parametrize(("kind", "place"), CASES, ids=[f"{kind} {place}" for kind, place in CASES])
def test_rule_6_a_person_whose_cell_changes_the_type_changes_no_other_record(pair, kind, place):
    for use in ("open", "listed", "binned"):
        name = f"{kind} {place} {use}"
        if name in pair.together:
            assert pair.together[name][:-1] == pair.without[name], name
