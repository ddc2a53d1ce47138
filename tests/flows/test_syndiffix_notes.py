"""What the flow and the command tell of a table that may not be what was expected."""

import pytest

from tests.flows import pipeline, visits
from tests.flows.syndiffix_people import people, run, write

pytestmark = pytest.mark.server

TOLD = (
    "This run made a salt for the dataset",
    "with two salts its noise could be averaged away",
    "ATTENTION: some rows have no person",
    "These columns are left out, as they do not help to predict 'smoker': ",
)


def with_gaps(rows):
    return [["", *row[1:]] if number % 7 == 0 else row for number, row in enumerate(rows)]


def test_the_flow_tells_of_a_new_salt_types_missing_ids_and_what_is_left_out(
    tmp_path, own_ledger, prefect_server, capfd
):
    section = {"clustering": {"target": "smoker"}, "drop_non_features": True}
    rows = with_gaps(visits.rows())
    release = pipeline.run(visits.prepared(tmp_path, rows, section))
    said = capfd.readouterr().err
    assert all(said.count(each) == 1 for each in TOLD)
    assert "smoker:b" in next(line for line in said.splitlines() if "Types that were inferred" in line)
    (line,) = [line for line in said.splitlines() if "are left out" in line]
    columns = {column["name"] for column in pipeline.json_of(release / "privacy.json")["columns"]}
    left = set(line.partition("'smoker': ")[2].removesuffix(".").split(", "))
    assert left and not left & columns and left | columns == {"town", "age", "income", "visited", "smoker"}
    pipeline.run(visits.prepared(tmp_path, rows, {**section, "columns": []}))
    said = capfd.readouterr().err
    assert TOLD[0] not in said and "inferred" not in said
    assert "predict 'smoker': " in said and " columns of the input." in said and "income" not in said
    pipeline.run(visits.prepared(tmp_path, visits.rows(2), {"columns": ["town"]}))
    assert "The synthetic table is empty: every group has fewer people" in capfd.readouterr().err


def test_the_command_tells_of_missing_ids_and_what_is_left_out(tmp_path, own_ledger, capfd):
    table, output = write(tmp_path / "people.csv", with_gaps(people())), tmp_path / "out.csv"
    asked = ("age", "income", "city", "member", "--aidcolumns", "pid", "-o", output)
    assert run(table, "--columns", *asked, "--ml-target", "member", "--ml-drop-non-features") == 0
    said = capfd.readouterr().err
    assert "ATTENTION: some rows have no pid. They count as nobody's" in said
    assert "These columns are left out, as they do not help to predict 'member': " in said
    assert run(write(tmp_path / "whole.csv", people()), "--columns", *asked) == 0
    said = capfd.readouterr().err
    assert "some rows" not in said and "Left out" not in said
