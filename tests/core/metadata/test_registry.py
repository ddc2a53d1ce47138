"""``registry.yaml`` holds against the registry's own schema, and invents nothing."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tasks.core.metadata.registry import registry_yaml
from tasks.core.metadata.release_facts import Publication
from tests.oracles.described import SAID, described

DRAWN = ("lengths", "fitted")
DATA = Path(os.environ.get("MARGINALIA_DATA", Path(__file__).parents[4] / "shared" / "data"))


def entry(protection: str, folder: Path, said: Publication = SAID, **changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(registry_yaml(described(protection, folder, said, **changes)))
    return found


@pytest.mark.needs_shared
@pytest.mark.parametrize("said", [SAID, Publication()], ids=["said", "nothing said"])
@pytest.mark.parametrize("records", [True, False])
@pytest.mark.parametrize("protection", DRAWN)
def test_it_holds_against_the_schema(protection, records, said, tmp_path):
    path = DATA.parent / "reference" / "registry" / "deployments-schema.yaml"
    if not path.is_file():
        pytest.skip(f"needs {path}")
    schema = yaml.safe_load(path.read_text(encoding="utf-8"))
    found = entry(protection, tmp_path, said, records=records)
    jsonschema.validate(found, schema, format_checker=jsonschema.FormatChecker())
    assert found["tier"] == 3 and found["status"] == "Draft"
    # The third tier has every part, and every field that the program can know.
    known = schema["properties"]["deployment"]["properties"]
    assert set(found["deployment"]) == set(known)
    empty = {
        f"{part}.{field}"
        for part, fields in known.items()
        for field in fields["properties"]
        if not found["deployment"][part].get(field)
    }
    unsaid = {"basic.intended_use", "basic.data_product_region", "basic.data_product_sector"}
    unsaid.add("deployment_model.data_source_type")
    assert empty == (set() if said == SAID else unsaid)


def test_what_nobody_said_is_empty_and_named(tmp_path):
    found = entry("lengths", tmp_path, Publication())["deployment"]
    assert found["basic"]["data_curators"] == [""] and found["basic"]["intended_use"] == ""
    assert found["basic"]["publication_date"] == "1900-01-01"
    notes = found["administrative"]["notes"].replace("\\", "")
    for field in ("data_curators", "intended_use", "publication_date", "data_source_type", "justification"):
        assert field in notes
    said = entry("lengths", tmp_path)["deployment"]
    assert "Not said" not in said["administrative"]["notes"]
    assert said["deployment_model"]["data_source_type"] == "Dynamic"


@pytest.mark.parametrize(("remaining", "kind"), [(0, "One release"), (3, "Many releases")])
def test_one_release_is_told_from_many_by_the_ledger(remaining, kind, tmp_path):
    model = entry("lengths", tmp_path, remaining_releases=remaining)["deployment"]["deployment_model"]
    assert model["release_type"] == kind


def test_the_loss_is_that_of_the_statement(tmp_path):
    release = described("lengths", tmp_path)
    loss = yaml.safe_load(registry_yaml(release))["deployment"]["privacy_loss"]
    claim = release.statement["guarantee"]
    assert loss["privacy_parameters"] == {"epsilon": claim["epsilon"], "delta": claim["delta"]}
    assert claim["neighbours"] in loss["privacy_unit_details"]


def test_a_draft_of_the_table_is_told(tmp_path):
    def told(**changes: Any) -> str:
        release = described("lengths", tmp_path)
        stated = dataclasses.replace(release, statement=release.statement | changes)
        return str(yaml.safe_load(registry_yaml(stated))["deployment"]["implementation"])

    assert "was drafted by looking at it" in told(drafted_from_table=True)
    assert "Whether the operator looked at the table before" in told()
    assert "looked at the table before" not in told(drafted_from_table=True)
