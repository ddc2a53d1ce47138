"""Raw tables with constraints: what is read of them, what is repaired, and where it is told."""

import pytest

from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import FunctionalDependency, StructuralZero, ValueOrdering
from tasks.core.records.columns import Column, Schema
from tasks.core.records.constraint_words import constraints_json
from tasks.core.records.dropped import BROKE_A_CONSTRAINT, DroppedCells
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.statement.preparation import preparation_paragraph
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json
from tasks.core.tables.header import InputFile
from tests.oracles import constraints as oracle
from tests.oracles.loading import decode

HEADER = "person,town,area,work,home,tongue"
COLUMNS = {column.name: column for column in oracle.COLUMNS}
SCHEMA = Schema(tuple(COLUMNS.get(name, Column(name)) for name in HEADER.split(",")[1:]), "person")
CONTRACT = oracle.plain_contract(
    "student",
    structural_zeros=(
        StructuralZero(values={"town": ("Ely",), "work": ("retired",)}),
        StructuralZero(values={"town": ("Ely",), "work": ("student",)}),
        StructuralZero(values={"work": ("employed",), "tongue": ("basque",)}),
    ),
    functional_dependencies=(
        FunctionalDependency(
            determinants=("town",), dependent="area", values={"Ely": "north", "": "south"}, otherwise=None
        ),
    ),
)


def encoded(tmp_path, rows, schema, *, total=True, told=None):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    options = EncodingOptions(total=total, key=b"k", report_dropped=None if told is None else told.append)
    return encode(InputFile(path), schema, options)


ROWS = [
    "1,Ely,south,retired,flat,arabic",
    "2,Rye,south,employed,flat,basque;czech",
    "3,,north,student,house,",
    "4,Rye,north,retired,house,basque",
]


def test_w22_the_column_described_last_becomes_its_repair_value_or_absent_and_items_go(tmp_path):
    told: list[DroppedCells] = []
    records = encoded(tmp_path, ROWS, with_constraints(SCHEMA, CONTRACT), told=told)
    found = decode(records).to_pylist()
    # work is described before town, so town is the one that is repaired.
    assert [row["town"] for row in found] == [None, "Rye", None, "Rye"]
    assert [row["work"] for row in found] == ["retired", "employed", "student", "retired"]
    assert [row["tongue"] for row in found] == ["arabic", "czech", None, "basque"]
    assert [row["area"] for row in found] == ["south", None, "south", None]
    assert told == [
        DroppedCells("town", BROKE_A_CONSTRAINT, 1),
        DroppedCells("tongue", BROKE_A_CONSTRAINT, 1),
    ]
    # A value that nobody holds any more is no candidate (C7).
    assert records.values[records.schema.columns.index(COLUMNS["town"])] == ("Rye",)


@pytest.mark.parametrize("total", [True, False])
def test_w22_a_column_that_another_one_decides_is_not_read(tmp_path, total):
    """Whatever stands in it: other values, several for one person, nothing."""
    schema = with_constraints(SCHEMA, CONTRACT)
    clean = encoded(tmp_path, ROWS, schema, total=total)
    junk = [row.replace("south", "x,").replace("x,,", "x,") for row in ROWS]
    junk.append("3,,another,student,house,")
    dirty = encoded(tmp_path, junk, schema, total=total)
    assert decode(dirty).equals(decode(clean))


def test_w20_the_statement_lists_what_is_held_and_by_which_contract():
    contract = oracle.plain_contract(
        structural_zeros=(
            StructuralZero(values={"work": ("retired", ""), "town": ("Ely",)}, excluded=("town",)),
        ),
        functional_dependencies=(
            FunctionalDependency(determinants=("town",), dependent="area", values={"Ely": "north"}),
        ),
        orderings=(ValueOrdering(columns=("started", "ended")),),
    )
    schema = with_constraints(oracle.SCHEMA, contract)
    body = constraints_json(schema, "ab12")
    assert body is not None and body["sha256"] == "ab12"
    assert body["rules"] == [
        "area follows from town; what the table holds in it was not counted.",
        "Never together: work is 'retired' or empty; town has a value other than 'Ely'.",
        "started is at most ended, where a record has both.",
    ]
    for allowed in (RELEASED_KEYS["statement"], RELEASED_KEYS["anonymity_statement"]):
        check_released_json({"constraints": body}, allowed)
    assert "'area' is not counted" in preparation_paragraph(
        schema
    ) and "repaired by itself" in preparation_paragraph(schema)
    assert constraints_json(oracle.SCHEMA, "ab12") is None
    assert "constraint" not in preparation_paragraph(oracle.SCHEMA)


def test_w22_nobody_is_left_out_for_a_constraint(tmp_path):
    rows = [f"{person},Ely,south,retired,flat,arabic" for person in range(50)]
    assert encoded(tmp_path, rows, with_constraints(SCHEMA, CONTRACT)).number_of_records == 50
    assert encoded(tmp_path, [], with_constraints(SCHEMA, CONTRACT)).number_of_records == 0
