from typing import Any

import pytest

from tasks.core.lineage import (
    CONFIGURATION,
    CONTRACT,
    MEASUREMENT,
    TABLE,
    Lineage,
    LineageNode,
    parents_present,
)

#: What each file is made from.
PARENTS = {
    "people_data_showcase.html": ["privacy.json", "counts.tsv", "records.tsv"],
    "records.tsv": [MEASUREMENT],
    "counts.tsv": [MEASUREMENT, "records.tsv"],
    "privacy.json": [CONFIGURATION, MEASUREMENT],
    "configuration.json": [CONFIGURATION],
}


def entry(name: str, parents: list[str]) -> dict[str, Any]:
    return {"file": name, "sha256": f"hash of {name}", "made_from": "words", "parents": parents, "rows": 3}


@pytest.fixture
def lineage():
    manifest = {"dataset": "people", "vintage": "1", "files": [entry(*each) for each in PARENTS.items()]}
    return Lineage.of_manifest(manifest, {"sha256": "m"}, has_contract=False)


def names(nodes: list[LineageNode]) -> list[str]:
    return [node.name for node in nodes]


def test_parents_stand_before_what_is_made_from_them(lineage):
    for place, node in enumerate(lineage.nodes):
        assert set(node.parents) <= set(names(list(lineage.nodes[:place])))


def test_back_to_the_table_and_forth_to_the_page(lineage):
    assert names(lineage.before("counts.tsv")) == [TABLE, CONFIGURATION, MEASUREMENT, "records.tsv"]
    assert names(lineage.after("records.tsv")) == ["counts.tsv", "people_data_showcase.html"]
    assert names(lineage.before("configuration.json")) == [CONFIGURATION]
    assert lineage.after("people_data_showcase.html") == []
    assert {"people_data_showcase.html", MEASUREMENT} <= set(names(lineage.after(TABLE)))


def test_it_is_read_back_as_it_was_written(lineage):
    assert Lineage.of_json(lineage.to_json()) == lineage


def test_of_what_is_sensitive_there_is_a_name_and_no_more(lineage):
    (told,) = [node for node in lineage.to_json()["nodes"] if node["zone"] == "sensitive"]
    assert told == {"name": TABLE, "zone": "sensitive", "parents": []}


def test_a_contract_is_one_of_the_sources_where_there_is_one():
    found = Lineage.of_manifest({"dataset": "d", "vintage": "1", "files": []}, {}, has_contract=True)
    assert found[MEASUREMENT].parents == (TABLE, CONFIGURATION, CONTRACT)


def test_a_parent_that_is_not_released_stands_for_its_own():
    present = {"counts.tsv": "people_counts.tsv"}
    assert parents_present("counts.tsv", PARENTS, present) == [MEASUREMENT]
    assert parents_present("people_data_showcase.html", PARENTS, present) == [
        CONFIGURATION,
        MEASUREMENT,
        "people_counts.tsv",
    ]
