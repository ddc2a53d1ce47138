"""``croissant.json`` is valid by its standard's own validator, and leads to every row of the tables."""

import json
from pathlib import Path

import mlcroissant
import pytest

from tasks.core.metadata.croissant import _CONTEXT, croissant_json
from tasks.core.metadata.methods import citation_bibtex
from tasks.core.metadata.release_facts import Publication
from tests.oracles.described import PROTECTIONS, SAID, described


def opened(protection: str, folder: Path, said: Publication = SAID) -> mlcroissant.Dataset:
    release = described(protection, folder, said)
    path = folder / "croissant.json"
    path.write_text(croissant_json(release, citation_bibtex(release)), encoding="utf-8")
    return mlcroissant.Dataset(jsonld=str(path))


@pytest.mark.parametrize("said", [SAID, Publication()], ids=["said", "nothing said"])
@pytest.mark.parametrize("protection", PROTECTIONS)
def test_it_is_valid_under_every_protection(protection, said, tmp_path):
    found = opened(protection, tmp_path, said).metadata
    assert not found.ctx.issues.errors
    # What is recommended and not there was not said, or is no version number: a vintage is a label.
    recommended = {
        issue.split('"')[1].rpartition("/")[2] for issue in found.ctx.issues.warnings if '"http' in issue
    }
    assert recommended <= ({"datePublished"} if said == SAID else {"datePublished", "license"})
    assert "ifferentially private" in found.description and "privacy.json" in found.description


def test_every_file_has_its_hash_and_every_table_its_rows(tmp_path):
    dataset = opened("fitted", tmp_path)
    objects = {each.name: each for each in dataset.metadata.file_objects}
    assert {"privacy.json", "my_noisy_tables.parquet", "my_reportable_aggregates.tsv"} <= set(objects)
    rows = {each.name: list(dataset.records(each.uuid)) for each in dataset.metadata.record_sets}
    assert {name: len(found) for name, found in rows.items()} == {
        "my_noisy_tables": 1,
        "my_reportable_aggregates": 1,
        "my_synthetic_microdata": 2,
    }
    fields = {each.name: each.fields for each in dataset.metadata.record_sets}
    assert [field.name for field in fields["my_synthetic_microdata"]] == ["age", 'a "messy" / [name]', "Age"]
    assert list(rows["my_noisy_tables"][0].values())[1:] == [-2, 3.5]


def test_a_changed_file_is_noticed(tmp_path):
    dataset = opened("lengths", tmp_path)
    text = json.loads((tmp_path / "croissant.json").read_text())
    (entry,) = (each for each in text["distribution"] if each["name"] == "privacy.json")
    assert len(entry["sha256"]) == 64 and not dataset.metadata.ctx.issues.errors
    (tmp_path / "privacy.json").write_text("{}")
    assert described("lengths", tmp_path / "again").files[-1]["sha256"] == entry["sha256"]


def test_the_context_is_the_standards_own():
    from mlcroissant._src.core.context import Context, CroissantVersion
    from mlcroissant._src.core.rdf import make_context

    assert make_context(Context(conforms_to=CroissantVersion.V_1_1)) == _CONTEXT
