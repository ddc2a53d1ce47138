"""The data of a SynDiffix page: all rows, and one column or two as their smallest table has them."""

import datetime
from collections import Counter

import pyarrow as pa

from tasks.core.navigation.inputs import Naming, TablePage, UnitName
from tasks.core.navigation.payload.synthetic_table import payload_of_table
from tasks.core.statement.syndiffix import syndiffix_statement
from tests.core.navigation.test_table_page import FACTS
from tests.oracles.payloads import Decoded, read_back

TABLE = pa.table(
    {
        "age": [20, 20, 70, None],
        "town": ["<Lyon>", "Nice", "<Lyon>", None],
        "seen": [datetime.date(2024, 1, day) for day in (1, 3, 3, 1)],
    }
)


def made(tables: dict[str, pa.Table] | None = None, **changes: object) -> Decoded:
    tables = tables or {}
    page = TablePage(
        syndiffix_statement(FACTS, "abc"),
        changes.pop("table", TABLE),  # type: ignore[arg-type]
        lambda file, names: tables[file].select(list(names)),
        tables={file: each.column_names for file, each in tables.items()},
        **changes,  # type: ignore[arg-type]
    )
    payload = payload_of_table(page)
    assert payload == payload_of_table(page)
    return read_back(payload)


def test_every_row_comes_back_and_a_scale_has_no_gaps():
    found = made(bins={"age": (0, 30, 60)})
    assert [column["values"] for column in found.meta["columns"]] == [
        ["<0", "[0,30)", "[30,60]", ">60"],
        ["<Lyon>", "Nice"],
        ["2024-01-01", "2024-01-02", "2024-01-03"],
    ]
    assert [column["kind"] for column in found.meta["columns"]] == ["bins", "category", "date"]
    assert found.records() == [
        [{"[0,30)"}, {"<Lyon>"}, {"2024-01-01"}],
        [{"[0,30)"}, {"Nice"}, {"2024-01-03"}],
        [{">60"}, {"<Lyon>"}, {"2024-01-03"}],
        [set(), set(), {"2024-01-01"}],
    ]
    assert found.meta["tables"] == [] and found.meta["protection"] == "syndiffix"
    assert found.meta["number"] is None and found.meta["counts"] == []


def test_one_column_and_two_are_counted_in_the_smallest_table_that_holds_them():
    town = pa.table({"town": ["Nice", "Paris", "Paris", None]})
    pair = pa.table({"age": [20, 30, None], "town": ["Nice", "Oslo", "Nice"]})
    found = made({"t/1": pair, "t/2": town})
    told = {tuple(each["columns"]): each["file"] for each in found.meta["tables"]}
    assert told == {(0,): "t/1", (1,): "t/2", (0, 1): "t/1"}
    assert [column.get("table") for column in found.meta["columns"]] == ["t/1", "t/2", None]
    assert found.meta["columns"][1]["values"] == ["<Lyon>", "Nice", "Paris"]
    counted = {
        tuple(each["columns"]): {key: n for key, n in found.table(place).items() if n}
        for place, each in enumerate(found.meta["tables"])
    }
    assert counted[1,] == {("Nice",): 1, ("Paris",): 2, (None,): 1}
    assert counted[0, 1] == {("20", "Nice"): 1, ("30", "\x00other"): 1, (None, "Nice"): 1}


def test_an_empty_text_is_no_value_as_in_the_table_that_was_read():
    table = pa.table({"town": ["Nice", "", None], "age": [1, 2, 3]})
    found = made({"t/1": pa.table({"town": ["", "", "Nice"]})}, table=table)
    assert found.meta["columns"][0]["values"] == ["Nice"]
    assert [row[0] for row in found.records()] == [{"Nice"}, set(), set()]
    assert found.table(0) == {("Nice",): 1, ("\x00other",): 0, (None,): 2}


def test_ten_thousand_texts_are_all_there_and_pairs_of_them_are_left_to_the_records():
    texts = [f"t{number}" for number in range(10_000)]
    wide = pa.table({"a": texts, "b": texts[::-1], "c": [1] * 10_000})
    found = made({"t/1": wide.select(["a", "b"])}, table=wide)
    assert len(found.meta["columns"][0]["values"]) == 10_000
    assert [each["columns"] for each in found.meta["tables"]] == [[0], [1]]
    assert Counter(found.arrays["column/0/0"]) == Counter(range(1, 10_001))


def test_an_empty_table_is_a_payload_too():
    found = made(table=TABLE.slice(0, 0))
    assert found.meta["records"] == 0 and [c["values"] for c in found.meta["columns"]] == [[], [], []]


def test_its_records_are_rows_whoever_is_protected():
    assert made().meta["unit"] == {"one": "row", "many": "rows"}
    for word, many in (("patient", "rows"), ("visit", "visits")):
        assert made(naming=Naming(unit=UnitName.of(word))).meta["unit"]["many"] == many
