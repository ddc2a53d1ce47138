"""In a column with bins 0 is a number like any other, whatever its spelling and type; elsewhere as in SDS."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import build_schema
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.statement.preparation import preparation_paragraph
from tasks.core.tables.header import InputFile
from tests.oracles.contracts import contract_of, judged, write_table

EDGES = (0.0, 100.0, 1000.0)


def binned(path, *, total: bool, header: str = "income"):
    """How many records of a file are in each bin, from the first, after how many in none."""
    headers = InputFile(path).headers
    schema = build_schema(headers.names, Declarations(bins={header: EDGES}), cap_required=total)
    codes = encode(InputFile(path), schema, EncodingOptions(total=total, key=b"k")).slots[0]
    return [codes.tolist().count(code) for code in range(5)]


@pytest.mark.parametrize("total", [True, False], ids=["private", "anonymous"])
def test_every_spelling_of_zero_is_counted(tmp_path, total):
    cells = ["0"] * 10 + ["0.0"] * 5 + ["00"] * 2 + ["-0", " 0 ", "0e0", "+0", "-0.0", "0.", ".0"]
    path = tmp_path / "t.csv"
    path.write_text("income,x\n" + "".join(f"{cell},a\n" for cell in [*cells, ""]), encoding="utf-8")
    assert binned(path, total=total) == [1, 0, 24, 0, 0]


@pytest.mark.parametrize("total", [True, False], ids=["private", "anonymous"])
@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int64(), pa.uint16(), pa.float32(), pa.float64(), pa.decimal128(9, 2), pa.string()]
)
def test_zeros_of_every_type_of_a_parquet_file_are_counted(tmp_path, kind, total):
    cells = [Decimal(0), None, Decimal(100), Decimal(0)]
    texts = pa.array([None if cell is None else str(cell) for cell in cells])
    column = texts if pa.types.is_string(kind) else pa.array(cells, pa.decimal128(9, 2)).cast(kind)
    pq.write_table(pa.table({"income": column}), tmp_path / "t.parquet")
    assert binned(tmp_path / "t.parquet", total=total) == [1, 0, 2, 1, 0]


def test_what_is_stated_of_zeros_is_how_they_were_counted():
    schema = Schema((Column("town"), Column("income", domain=bin_labels(EDGES), bins=EDGES)), "person")
    assert [column.keeps_zero for column in schema.columns] == [False, True]
    assert Schema.from_json(schema.to_json()) == schema
    assert "0 among them" in preparation_paragraph(schema)


def test_a_strict_contract_does_not_call_the_zeros_of_bins_empty(tmp_path):
    column = "      - {name: income, logicalType: integer, required: true"
    rows = ("1,0", "2,0", "3,5")
    source = write_table(tmp_path / "t.csv", rows, "person,income")
    custom = ", customProperties: [{property: bins, value: [0, 100]}]}\n"
    assert all(judged(source, contract_of(column + custom)).verdicts)
    assert not all(judged(source, contract_of(column + "}\n")).verdicts)
