"""What a release of a whole run carries for its readers: valid, true of its protection, rebuilt the same."""

import json
import shutil
from pathlib import Path

import mlcroissant
import pytest
import yaml

from flows.command import main as command
from tests.flows import pipeline
from tests.flows.syndiffix_people import people, write

pytestmark = pytest.mark.server
SAID = {"publisher": "Office of Numbers", "license": "CC-BY-4.0", "first_published": "2026-11-01"}
DRAFTED = {"drafted_from_table": True}


def require_told_that_it_was_drafted(release: Path) -> None:
    """That declarations were drafted from the table: in statement, methods and page, if there is one."""
    assert pipeline.json_of(release / "privacy.json")["drafted_from_table"] is True
    assert pipeline.json_of(release / "configuration.json")["input"]["drafted_from_table"] is True
    assert "drafted by looking at the table itself" in (release / "methods.md").read_text().replace("\n", " ")
    for page in release.glob("*_data_showcase.html"):
        assert "were drafted by looking at the table itself" in page.read_text()


def read_all(release: Path) -> dict[str, int]:
    """How many rows each table has by its description for machines."""
    dataset = mlcroissant.Dataset(jsonld=str(release / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    manifest = {each["file"]: each["sha256"] for each in pipeline.json_of(release / "MANIFEST.json")["files"]}
    described = {each.name: each.sha256 for each in dataset.metadata.file_objects}
    assert described.items() <= manifest.items()
    return {each.name: sum(1 for _ in dataset.records(each.uuid)) for each in dataset.metadata.record_sets}


def test_a_private_release_has_an_entry_for_the_registry_and_is_rebuilt_the_same(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    body = pipeline.flat(tmp_path, **SAID, **DRAFTED)
    pipeline.write(tmp_path / "people.csv", pipeline.rows())
    (tmp_path / "people.json").write_text(json.dumps(body))
    assert command.main(["run", str(tmp_path / "people.json")]) == 0
    release = tmp_path / "out" / "release" / "people" / "2026-11-1"
    entry = yaml.safe_load((release / "registry.yaml").read_text())["deployment"]
    assert entry["basic"]["data_curators"] == ["Office of Numbers"]
    assert entry["basic"]["publication_date"] == "2026-11-01"
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 6.0, "delta": 1e-6}
    assert pipeline.json_of(release / "configuration.json")["publication"]["license"] == "CC-BY-4.0"
    require_told_that_it_was_drafted(release)
    rows = read_all(release)
    assert rows["people_synthetic_microdata"] > 300 and rows["people_noisy_tables"] > 50
    before = pipeline.tree(release)
    for zone in ("intermediate", "release", "sensitive"):
        shutil.rmtree(tmp_path / "out" / zone)
    assert command.main(["publish", str(tmp_path / "people.json")]) == 0
    assert pipeline.tree(release) == before


@pytest.mark.parametrize("protection", ["k-anonymous", "SynDiffix"])
def test_another_release_has_none_and_says_nowhere_that_it_is_differentially_private(
    protection: str, tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    body = pipeline.anonymous(tmp_path, **SAID, **DRAFTED)
    if protection == "SynDiffix":
        write(tmp_path / "people.csv", people())
        body = {
            key: body[key]
            for key in ("sensitive_microdata_path", "dataset", "vintage", "prefix", "output_dir")
        }
        body |= SAID | DRAFTED | {"synthesis_mode": "syndiffix"}
    else:
        pipeline.write(tmp_path / "people.csv", pipeline.rows())
    (tmp_path / "people.json").write_text(json.dumps(body))
    assert command.main(["run", "--gen", str(tmp_path / "people.json")]) == 0
    release = tmp_path / "out" / "release" / "people" / "2026-11-1"
    assert not (release / "registry.yaml").exists() and read_all(release)
    require_told_that_it_was_drafted(release)
    for name in ("methods.md", "CITATION.cff", "croissant.json"):
        text = (release / name).read_text()
        assert protection in text and "ot differentially private" in text
        assert "epsilon" not in text.replace("privacy.json", "")
