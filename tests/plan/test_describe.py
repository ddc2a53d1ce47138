"""What is told of a run before any row is read."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.configuration.flat_file import from_flat
from tasks.core.errors import ParameterError
from tasks.plan.describe import describe
from tests.flows import pipeline, visits
from tests.oracles.contracts import HEAD


def _told(folder: Path, properties: list[dict[str, Any]]) -> str:
    body = yaml.safe_load(HEAD + "      - name: x\n")
    body["schema"][0] = {"name": "people", "properties": properties}
    path = folder / "contract.yaml"
    path.write_text(yaml.safe_dump(body), encoding="utf-8")
    pipeline.write(folder / "people.csv", [["1", "x"]], ("age", "town"))
    flat = {"sensitive_microdata_path": str(folder / "people.csv"), "contract": str(path)}
    return "\n".join(describe(from_flat(flat)).notes)


def test_a_contract_that_calls_0_absent_in_a_column_with_bins_is_told_that_it_is_a_number(tmp_path):
    age: dict[str, Any] = {"name": "age", "logicalType": "integer"}
    bins = {"property": "bins", "value": [0, 18, 65]}
    town = {"name": "town", "customProperties": [{"property": "zeroIsValue", "value": False}]}
    said = [*town["customProperties"], bins]
    assert "zeroIsValue has no effect on 'age'" in _told(tmp_path, [age | {"customProperties": said}, town])
    assert "zeroIsValue" not in _told(tmp_path, [age | {"customProperties": [bins]}, town])


def test_what_syndiffix_synthesizes_is_selected_once_and_known_to_the_whole_run(tmp_path):
    pipeline.write(tmp_path / "people.csv", [["1", "x"]], ("age", "town"))
    flat = {"sensitive_microdata_path": str(tmp_path / "people.csv"), "use_columns": ["TOWN"]}
    facts = describe(from_flat(flat | {"synthesis_mode": "syndiffix"}))
    assert facts.synthesized.columns == ("town",)
    assert describe(from_flat(flat | {"reporting_resolution": 2})).selection is None


@pytest.mark.parametrize(
    "protection", [{}, {"dp_aggregates": True, "noise_epsilon": 1}, {"synthesis_mode": "syndiffix"}]
)
def test_a_draft_of_the_table_is_told_until_somebody_has_checked_it(protection, tmp_path):
    pipeline.write(tmp_path / "people.csv", [["1", "x"]], ("age", "town"))
    flat = {"sensitive_microdata_path": str(tmp_path / "people.csv")} | protection
    told = "\n".join(describe(from_flat(flat | {"drafted_from_table": True})).notes)
    assert "drafted_from_table is true" in told and "then set it to false" in told
    assert "drafted_from_table" not in "\n".join(describe(from_flat(flat)).notes)


def test_that_one_row_of_each_person_counts_is_told_where_people_are_counted(tmp_path):
    pipeline.write(tmp_path / "people.csv", [["p", "x"]], ("person", "town"))
    flat = {"sensitive_microdata_path": str(tmp_path / "people.csv"), "vintage": "1", "dataset": "people"}
    noisy, people = flat | {"dp_aggregates": True, "noise_epsilon": 1}, {"subject_id": "person"}
    items = {"multi_value_columns": {"town": ";"}, "max_items": {"town": 2}}
    said = "One row counts of each person in 'person' who has several"
    for asked in (noisy | people, flat | people):
        [line] = [note for note in describe(from_flat(asked)).notes if note.startswith(said)]
        assert "not how many ever had it" in line and "multi_value_columns" in line
    for others in (noisy, flat, noisy | people | items):
        assert said not in "\n".join(describe(from_flat(others)).notes)


def test_an_epsilon_without_differential_privacy_is_told_as_what_it_is_not(tmp_path):
    pipeline.write(tmp_path / "people.csv", [["1", "x"]], ("age", "town"))
    flat = {"sensitive_microdata_path": str(tmp_path / "people.csv"), "reporting_resolution": 2}
    told = describe(from_flat(flat | {"noise_epsilon": 1.0, "dp_aggregates": False})).notes
    [said] = [note for note in told if "noise_epsilon" in note]
    assert said.startswith("ATTENTION: ") and "this release is not differentially private" in said


@pytest.mark.parametrize(
    ("section", "changes", "told"),
    [
        ({"columns": ["twon"]}, {}, r"^syndiffix\.columns .*did you mean the name of column \d"),
        ({"columns": ["twon:s", "age"], "tables": [["aeg"]]}, {}, r"'twon'(.|\n)*'aeg'"),
        ({"columns": ["person", "town"]}, {}, "can't be synthesized"),
        ({"main_column": "household"}, {}, "must be among the selected columns"),
        (
            {"clustering": {"target": "twon"}},
            {},
            r"^syndiffix\.clustering .*did you mean the name of column \d",
        ),
        ({"clustering": [["TOWN", "household"]]}, {}, "'household' is not one(.|\n)*every selected column"),
        ({"tables": [["town", "household"]]}, {}, "must name columns that are synthesized"),
        ({"tables": [["town", "age"], ["age", "town"]]}, {}, "each set of columns once"),
        ({"value_safe_columns": ["household"]}, {}, "is not synthesized"),
        ({}, {"bins": {"person": [1, 2]}}, "person"),
    ],
)
def test_columns_that_syndiffix_cannot_mean_are_refused(section, changes, told, tmp_path):
    with pytest.raises(ParameterError, match=told):
        describe(visits.prepared(tmp_path, section=section, **changes))
