"""The page for the owner of the data: true counts, exactly, and that it must stay where it is."""

from pathlib import Path

import pyarrow as pa
import pytest

from tasks.core.aggregates.marginals import count_marginals
from tasks.core.evaluation.typed_tables import TableDistances
from tasks.core.navigation.inputs import Naming, UnitName
from tasks.core.navigation.owner_page import (
    OwnerNames,
    answers_of_tables,
    payload_of_true_table,
    payload_of_truth,
    render_owner_page,
    true_counts,
)
from tasks.core.navigation.payload.release import Payload, no_records
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Column, Schema
from tests.oracles.marginals import T1, coded, count
from tests.oracles.pages import check
from tests.oracles.payloads import decoded, read_back

SCHEMA = Schema(tuple(map(Column, "ABC")))
OWNER = OwnerNames(
    "<b>visits",
    Naming(prefix="my", unit=UnitName.of("visit"), value_names={"b": {"b1": "blue"}}),
    "row",
)


def of_records(folder: Path, most: int) -> Payload:
    for name in ("records", "duckdb"):
        (folder / name).mkdir()
    coded(SCHEMA, T1).write(folder / "records")
    marginals = count_marginals(folder / "records", folder / "duckdb", 3, QueryResources(threads=1))
    exact = true_counts(marginals, most)
    return payload_of_truth(OWNER, SCHEMA, exact, no_records(exact))


@pytest.mark.parametrize(("most", "lengths"), [(1000, 3), (15, 2), (1, 1)])
def test_the_counts_are_the_true_ones_of_as_many_lengths_as_there_is_room_for(most, lengths, tmp_path):
    found = read_back(of_records(tmp_path, most))
    expected = {key: n for length in range(1, lengths + 1) for key, n in count(T1, length).items()}
    assert found.counts() == expected
    assert found.meta["number"]["value"] == len(T1)
    assert (found.meta["audience"], found.meta["resolution"]) == ("owner", 1)
    # It calls things what the release's page does.
    assert found.meta["unit"] == {"one": "visit", "many": "visits"}
    assert (
        dict(zip(found.meta["columns"][1]["values"], found.meta["columns"][1]["names"], strict=True))["b1"]
        == "blue"
    )
    assert "names" not in found.meta["columns"][0]


def test_true_counts_of_a_table_are_of_one_column_and_of_two():
    raw = pa.table({"town": ["Lyon", "Lyon", None, "Nice"], "old": [True, False, True, True]})
    made = raw.slice(0, 2)
    found = read_back(payload_of_true_table(OWNER, raw, made, {}))
    assert found.counts() == {
        frozenset([(0, "Lyon")]): 2,
        frozenset([(0, "Nice")]): 1,
        frozenset([(1, "false")]): 1,
        frozenset([(1, "true")]): 3,
        frozenset([(0, "Lyon"), (1, "true")]): 1,
        frozenset([(0, "Lyon"), (1, "false")]): 1,
        frozenset([(0, "Nice"), (1, "true")]): 1,
    }
    assert found.records() == [[{"Lyon"}, {"true"}], [{"Lyon"}, {"false"}]]
    assert found.meta["number"]["value"] == 4


def test_a_table_without_rows_or_columns_has_a_page():
    empty = pa.table({"town": pa.array([], pa.string())})
    assert read_back(payload_of_true_table(OWNER, empty, empty, {})).counts() == {}


def test_it_says_before_anything_else_that_it_must_not_be_passed_on(tmp_path):
    text = render_owner_page("<b>visits", of_records(tmp_path, 100), [("How close?", ["Near <i>."])])
    page = check(text)
    assert text.index("must not be passed on") < text.index("<h1>")
    assert "<b>visits: the release beside the table itself" in page.text and "Near <i>." in page.text
    assert decoded(text).meta["dataset"] == "<b>visits"


def test_what_is_farthest_is_named_first():
    one, other = (("a",), 0.5), (("b",), 0.25)
    found = answers_of_tables(TableDistances((10, 20), (one, other), ((("a", "b"), 0.75),)))
    assert found[0][1][0].startswith("By total variation, 38 % of the rows differ from the table for one")
    assert found[1][1] == ["a × b: 75 %", "a: 50 %", "b: 25 %"]
