"""``marginalia lineage FILE``: back to the table and forth to the page, with every hash compared."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.command import main as command
from tasks.core.lineage import LINEAGE, MEASUREMENT, Lineage
from tasks.core.stored_files import file_sha256

PARENTS = {
    "people_records.tsv": [MEASUREMENT],
    "tables/1.parquet": [MEASUREMENT],
    "privacy.json": ["public configuration", MEASUREMENT],
    "people_data_showcase.html": ["people_records.tsv", "privacy.json"],
}


def entry(path: Path, folder: Path, parents: list[str]) -> dict[str, Any]:
    name = path.relative_to(folder).as_posix()
    protection = {"protection": "differential privacy", "made_from": "words"}
    return {"file": name, "sha256": file_sha256(path), "parents": parents, "rows": 1234, **protection}


@pytest.fixture
def release(tmp_path):
    """A small release, as far as the command reads it."""
    folder = tmp_path / "2026-11-1"
    (folder / "tables").mkdir(parents=True)
    for name in PARENTS:
        (folder / name).write_text(json.dumps({"measurement_sha256": "abc"}))
    files = [entry(folder / name, folder, parents) for name, parents in PARENTS.items()]
    manifest: dict[str, Any] = {"dataset": "people", "vintage": "2026-11", "files": files}
    measurement = {"sha256": "abc", "protection": "epsilon 1", "crossing": "drawn once"}
    body = Lineage.of_manifest(manifest, measurement, has_contract=False).to_json()
    (folder / LINEAGE).write_text(json.dumps(body))
    files.append(entry(folder / LINEAGE, folder, list(PARENTS)))
    (folder / "MANIFEST.json").write_text(json.dumps(manifest))
    return folder


def told(capfd: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    assert command.main(["lineage", *map(str, arguments)]) == code
    said = capfd.readouterr()
    return said.err if code else said.out


def test_from_a_file_back_and_forth(release, capfd):
    said = told(capfd, release / "people_records.tsv")
    first, back, forth = (
        said.partition("Made from, back to the table:")[0],
        *said.split("Made from")[1].split("What was made from it"),
    )
    assert "people_records.tsv, of dataset people, vintage 2026-11 (2026-11-1)" in first
    assert "1,234 rows; differential privacy; words" in first and "as the manifest says" in first
    assert back.index("sensitive table") < back.index("measurement  <-  sensitive table")
    assert "sha256 abc: the same in privacy.json" in back
    assert (
        "people_data_showcase.html  <-  people_records.tsv, privacy.json" in forth
        and "privacy.json  <-" not in forth
    )


def test_a_file_in_a_folder_of_the_release(release, capfd):
    assert "tables/1.parquet, of dataset people" in told(capfd, release / "tables" / "1.parquet")


def test_a_file_and_its_manifest_are_enough(release, tmp_path, capfd):
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in ("people_data_showcase.html", "MANIFEST.json"):
        shutil.copy(release / name, alone / name)
    said = told(capfd, alone / "people_data_showcase.html")
    assert said.count(": as the manifest says") == 1 and said.count(": not here") == 3
    assert "not compared" in said


@pytest.mark.parametrize("changed", ["people_records.tsv", "people_data_showcase.html", LINEAGE])
def test_a_changed_file_is_named(changed, release, capfd):
    with (release / changed).open("a") as file:
        file.write(" ")
    said = told(capfd, release / "people_records.tsv", code=1)
    assert f"{release / changed} is not what MANIFEST.json says" in said


def test_a_statement_of_another_measurement_is_named(release, capfd):
    body = json.loads((release / LINEAGE).read_text().replace('"abc"', '"another"'))
    (release / LINEAGE).write_text(json.dumps(body))
    manifest = json.loads((release / "MANIFEST.json").read_text())
    manifest["files"][-1]["sha256"] = file_sha256(release / LINEAGE)
    (release / "MANIFEST.json").write_text(json.dumps(manifest))
    assert "privacy.json is not what" in told(capfd, release / "people_data_showcase.html", code=1)


def test_what_can_not_be_answered_says_why(release, tmp_path, capfd):
    assert "does not exist" in told(capfd, release / "people_record.tsv", code=2)
    (release / "people_record.tsv").touch()
    assert "did you mean people_records.tsv?" in told(capfd, release / "people_record.tsv", code=2)
    (tmp_path / "other.tsv").touch()
    assert "none is beside" in told(capfd, tmp_path / "other.tsv", code=2)
    (release / "MANIFEST.json").write_text("{")
    assert "can't be read" in told(capfd, release / "people_data_showcase.html", code=2)


def test_what_was_found_wrong_with_the_release_is_told(release, capsys):
    assert command.main(["errata", str(release), "--withdraw", "It is of a test table."]) == 0
    capsys.readouterr()
    assert command.main(["lineage", str(release / "people_data_showcase.html")]) == 0
    assert "ATTENTION: release 2026-11-1 was withdrawn on" in capsys.readouterr().out
