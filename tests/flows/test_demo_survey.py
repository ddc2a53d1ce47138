"""The demonstration's survey keeps its promises."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from flows.demo_survey import HEADER, write_survey
from tasks.configuration.flat_file import read_configuration
from tasks.core.contracts.odcs import load_contract
from tasks.core.tables.header import InputFile
from tests.oracles.contracts import cramers_v, judged

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    write_survey(path)
    return path


@pytest.fixture(scope="module")
def rows(survey):
    with survey.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_it_is_the_same_every_time(survey, tmp_path):
    write_survey(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == survey.read_bytes()


def test_it_has_ten_thousand_respondents_and_some_on_several_rows(rows):
    seen = Counter(row["respondent"] for row in rows)
    assert len(seen) == 10_000
    assert 100 < sum(count > 1 for count in seen.values()) < 500
    assert len(HEADER) == 13


def test_answers_depend_on_each_other(rows):
    assert cramers_v([(row["health"], row["satisfaction"]) for row in rows]) > 0.6
    assert cramers_v([(row["district"], row["travel"]) for row in rows]) > 0.5


def test_cells_are_missing_and_items_are_several(rows):
    for column in ("age", "household", "housing", "work", "health", "satisfaction", "concern"):
        assert 0.02 < sum(row[column] == "" for row in rows) / len(rows) < 0.3
    assert sum(";" in row["services"] for row in rows) / len(rows) > 0.2


def test_it_keeps_its_own_contract(survey):
    contract = load_contract(ROOT / "data_contracts" / "survey.yaml")
    assert judged(InputFile(survey), contract).broken == []


def test_its_structural_zeros_do_not_occur(rows):
    assert not any(row["work"] == "retired" and row["age"] and int(row["age"]) < 55 for row in rows)
    idle = {"retired", "carer", "job seeker", "unwell"}
    assert not any(row["work"] in idle and row["travel"] for row in rows)


@pytest.mark.parametrize("name", ["survey", "adult", "national2019", "german_credit", "adult_syndiffix"])
def test_the_configurations_of_the_project_are_read(name):
    declared = read_configuration(ROOT / "deployments" / "configurations" / f"{name}.json").input
    assert re.fullmatch(r"[\w/.]+", declared.path)
    assert name == "adult_syndiffix" or (ROOT / str(declared.contract)).is_file()
