"""Errata: files stay, ERRATA.md grows, the index has it, ``latest`` never leads to what was withdrawn."""

import json
import os
from pathlib import Path

import pytest

from flows.command import main as command
from tasks.core.errors import ParameterError, StoredTableMismatch
from tasks.core.metadata.errata import ERRATA, errata_markdown, read_errata
from tasks.public.releases import (
    all_releases,
    point_latest,
    released_on,
    require_not_withdrawn,
    write_index,
)
from tasks.storage import Workspace


def released(home: Path, *names: str) -> Path:
    """Releases with a manifest and a file; ``latest`` links to the last."""
    for name in names:
        place = home / name
        place.mkdir(parents=True)
        (place / "table.tsv").write_text(name)
        body = {"dataset": "people", "vintage": name.rpartition("-")[0], "files": []}
        (place / "MANIFEST.json").write_text(json.dumps(body))
        point_latest(home, place, body["vintage"])  # type: ignore[arg-type]
    write_index(home)
    return home


@pytest.fixture
def home(tmp_path):
    return released(tmp_path / "release" / "people", "2026-9-1", "2026-10-1", "2026-11-1", "2026-11-2")


def tell(place: Path, *words: str) -> int:
    return command.main(["errata", str(place), *words])


def index(home: Path) -> dict[str, dict[str, object]]:
    return {each["release"]: each for each in json.loads((home / "INDEX.json").read_text())["releases"]}


def test_the_index_has_every_release_in_the_order_of_their_vintages(home):
    assert list(index(home)) == ["2026-9-1", "2026-10-1", "2026-11-1", "2026-11-2"]
    assert {each["status"] for each in index(home).values()} == {"published"}


def test_the_index_keeps_the_date_of_a_release_whose_files_get_another_time(home):
    place = home / "2026-10-1"
    body = json.loads((home / "INDEX.json").read_text())
    body["releases"][1]["released"] = "2026-10-03"
    (home / "INDEX.json").write_text(json.dumps(body))
    os.utime(place / "MANIFEST.json", (0, 0))  # as a copy does
    write_index(home)
    assert index(home)["2026-10-1"]["released"] == released_on(place) == "2026-10-03"
    (home / "INDEX.json").unlink()
    assert released_on(place) == "1970-01-01"


def test_withdrawing_changes_no_file_and_moves_latest_back(home, capsys):
    before = {path: path.read_bytes() for path in home.rglob("*") if path.suffix in (".tsv", ".json")}
    assert tell(home / "2026-11-2", "--withdraw", "Counts of  a test table.", "--replaced-by", "2026-12") == 0
    assert (home / "latest").resolve().name == "2026-11-1"
    assert "2026-11-1 still stand" in capsys.readouterr().err
    assert tell(home / "2026-11-1", "--withdraw", "The same.") == 0
    assert (home / "latest").resolve().name == "2026-10-1"
    assert "A later run of vintage '2026-11' is refused" in capsys.readouterr().err
    assert all(path.read_bytes() == held for path, held in before.items() if path.name != "INDEX.json")
    (entry,) = read_errata(home / "2026-11-2")
    assert entry.said == ("withdrawn", "Counts of a test table.", "2026-12")
    assert index(home)["2026-11-2"]["status"] == "withdrawn"
    assert index(home)["2026-11-2"]["errata"] == [entry.to_json()]


def test_without_a_release_that_stands_there_is_no_latest(tmp_path):
    home = released(tmp_path / "people", "one-1")
    tell(home / "latest", "--withdraw", "wrong")
    assert not (home / "latest").is_symlink() and read_errata(home / "one-1")
    point_latest(home, home / "one-1", "one")
    assert not (home / "latest").is_symlink()


def test_the_same_twice_is_once_and_what_follows_is_appended(home, capsys, monkeypatch):
    place = home / "2026-10-1"
    for day in ("2026-12-01", "2026-12-02"):
        monkeypatch.setattr("flows.command.errata.today", lambda day=day: day)
        assert tell(place, "--correct", "Read EUR for USD.") == 0
    assert "say so since 2026-12-01" in capsys.readouterr().err
    (home / "INDEX.json").unlink()  # as after a crash between the two files
    monkeypatch.setattr("flows.command.errata.today", lambda: "2026-12-03")
    assert tell(place, "--correct", "Read EUR for USD.") == 0
    assert tell(place, "--withdraw", "Of another table.", "--replaced-by", "2026-11") == 0
    found = read_errata(place)
    assert [(each.date, each.kind) for each in found] == [
        ("2026-12-01", "corrected"), ("2026-12-03", "withdrawn")
    ]  # fmt: skip
    assert index(home)["2026-10-1"]["status"] == "withdrawn"
    text = (place / ERRATA).read_text()
    assert "**This release is withdrawn" in text and "Replaced by: 2026-11" in text
    assert text == errata_markdown("people", "2026-10", "2026-10-1", found)


def test_a_correction_leaves_latest_where_it_is(home):
    tell(home / "2026-11-2", "--correct", "A typing error.")
    assert (home / "latest").resolve().name == "2026-11-2"
    assert index(home)["2026-11-2"]["status"] == "corrected"


def test_an_erratum_that_disappears_is_noticed(home):
    tell(home / "2026-9-1", "--withdraw", "wrong")
    (home / "2026-9-1" / ERRATA).unlink()
    with pytest.raises(StoredTableMismatch, match="never disappear"):
        write_index(home)
    assert tell(home / "2026-10-1", "--withdraw", "wrong") == 1


def test_errata_that_cannot_be_read_are_refused(home):
    (home / "2026-9-1" / ERRATA).write_text("nothing of ours")
    with pytest.raises(StoredTableMismatch, match="nothing can be read"):
        read_errata(home / "2026-9-1")


@pytest.mark.parametrize(
    "words",
    [
        ["--withdraw", " "],
        ["--correct", "# a heading"],
        ["--withdraw", "x", "--replaced-by", "2026-10-1"],
        ["--withdraw", "x", "--replaced-by", "2026-10"],
        ["--withdraw", "x", "--replaced-by", "a/b"],
    ],
)
def test_what_says_nothing_is_refused_and_nothing_is_written(words, home):
    assert tell(home / "2026-10-1", *words) == 2
    assert not (home / "2026-10-1" / ERRATA).exists()


def test_a_folder_that_is_no_release_is_refused(home, capsys):
    assert tell(home, "--withdraw", "x") == 2 and tell(home / "none", "--withdraw", "x") == 2
    assert "OUTPUT_DIR/release/DATASET" in capsys.readouterr().err


def test_only_a_vintage_that_is_withdrawn_whole_is_refused(home):
    workspace = Workspace(home.parents[1])
    tell(home / "2026-11-1", "--withdraw", "wrong")
    require_not_withdrawn(workspace, "people", "2026-11")
    tell(home / "2026-11-2", "--withdraw", "wrong, too", "--replaced-by", "2026-12")
    with pytest.raises(ParameterError, match=r"2026-11-2 was withdrawn on .*: wrong, too\. It is"):
        require_not_withdrawn(workspace, "people", "2026-11")
    for vintage in ("2026-10", "2027-1", None):
        require_not_withdrawn(workspace, "people", vintage)


def test_what_is_under_way_is_no_release(home):
    (home / ".candidate-1").mkdir()
    (home / "notes").mkdir()
    assert [path.name for path in all_releases(home)] == list(index(home))


def test_what_replaces_a_release_is_asked_where_a_name_is_a_release_and_a_vintage(tmp_path, capsys):
    names = [f"2026-{number}" for number in range(1, 12)]
    home = released(tmp_path / "people", *names, "2026-11-1")
    for place in ("2026-10", "2026-11"):
        assert tell(home / place, "--withdraw", "wrong", "--replaced-by", "2026-11") == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "2026-11 is a release of vintage '2026' and a vintage, too" in said and "2026-11-1" in said
        assert not read_errata(home / place)
    assert tell(home / "2026-11", "--withdraw", "wrong", "--replaced-by", "2026-11-1") == 0
    assert "Replaced by: 2026-11-1" in (home / "2026-11" / ERRATA).read_text()
