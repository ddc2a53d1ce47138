"""Recorded heads: those of releases, and nothing of what is not one yet."""

import json
from pathlib import Path

import pytest

from tasks.core.errors import StoredTableMismatch
from tasks.sensitive.hand_over import list_recorded_heads
from tasks.storage import Workspace


def release(home: Path, name: str, head: str) -> None:
    (home / name).mkdir(parents=True)
    (home / name / "privacy.json").write_text(json.dumps({"ledger": {"head": head}}))


def test_heads_are_those_of_releases_and_not_of_candidates_links_or_what_dead_runs_left(
    tmp_path,
):
    home = tmp_path / "release" / "people"
    release(home, "2026-11-1", "first")
    release(home, "2026-12-1", "second")
    (home / "latest").symlink_to("2026-12-1")
    # The mark of a process may end in eight digits that are all decimal.
    (home / ".candidate-4711-12345678").mkdir()
    (home / ".latest-4711-12345678").symlink_to("2026-12-1")
    assert list_recorded_heads(Workspace(tmp_path), "people") == ["first", "second"]


def handed_over(workspace: Path, dataset: str, name: str, head: str) -> Path:
    place = workspace / "measurement" / dataset / name
    place.mkdir(parents=True)
    (place / "ledger.json").write_text(json.dumps({"head": head}))
    return place


def test_heads_are_those_of_measurements_too_and_of_all_datasets_where_none_is_named(tmp_path):
    release(tmp_path / "release" / "people", "2026-11-1", "first")
    handed_over(tmp_path, "people", "2026-11-abcd", "first")
    handed_over(tmp_path, "people", "2026-12-abcd", "second")
    handed_over(tmp_path, "people", ".2026-12-abcd-x.part", "third")
    handed_over(tmp_path, "others", "2026-12-abcd", "fourth")
    (tmp_path / "measurement" / "people" / "counts").mkdir()
    assert list_recorded_heads(Workspace(tmp_path), "people") == ["first", "second"]
    assert list_recorded_heads(Workspace(tmp_path)) == ["first", "fourth", "second"]


@pytest.mark.parametrize("zone", ["release", "measurement"])
def test_what_tells_no_head_was_changed(zone, tmp_path):
    if zone == "release":
        (tmp_path / zone / "people" / "2026-11-1").mkdir(parents=True)
    else:
        (handed_over(tmp_path, "people", "2026-12-abcd", "") / "ledger.json").write_text("[]")
    with pytest.raises(StoredTableMismatch, match="where the ledger stood"):
        list_recorded_heads(Workspace(tmp_path), "people")
