"""Retention: what is too old goes, what is not or must stay does not, and no run loses what it uses."""

import os
import time
from pathlib import Path

import pytest

from flows.command import main as command
from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration
from tasks.sensitive.retention import PurgeResult, apply_retention, remove_old
from tasks.storage import Workspace
from tests.flows import pipeline
from tests.flows.processes import configured

OLD = (
    "sensitive/people/20260101T000000-abcdef/coded_records/records.parquet",
    "sensitive/people/20260101T000000-abcdef/configuration.json",
    "sensitive/people/trees/0123/a.tree.npz",
    "sensitive/people/dependence/0123.json",
    "sensitive/batch-group/comparison.html",
    "sensitive/logs/20260101T000000-encode-ab.log",
)
KEPT = (
    "sensitive/.secret",
    "sensitive/people/tables.json",
    "sensitive/people/unchanged.json",
    "sensitive/others/20260101T000000-abcdef/coded_records/records.parquet",
    "measurement/people/2026-01-0123/name.json",
    "intermediate/people/20260101T000000-abcdef/page/data_showcase.html",
    "release/people/2026-01-1/MANIFEST.json",
    "ledger/ledger.sqlite",
)


def _age(path: Path, days: float) -> None:
    then = time.time() - days * 24 * 3600
    os.utime(path, (then, then))


def _written(root: Path, names: tuple[str, ...], days: float) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        _age(path, days)


def _there(root: Path, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if (root / name).exists()]


def _asked(folder: Path) -> RunConfiguration:
    return from_flat(pipeline.anonymous(folder, retention_days=30))


def test_what_is_older_goes_and_all_else_stays(tmp_path):
    _written(tmp_path, (*OLD, *KEPT), 31)
    fresh = "sensitive/people/20260201T000000-abcdef/marginals/counts.parquet"
    _written(tmp_path, (fresh,), 29)
    used = tmp_path / "sensitive/people/20260101T000000-abcdef/coded_records"
    os.utime(used)  # a later run found it: that it was used does not keep it
    workspace = Workspace(tmp_path)
    found = PurgeResult(folders=2, files=4)
    assert remove_old(workspace, "people", 30, dry=True) == found
    assert _there(tmp_path, (*OLD, *KEPT)) == [*OLD, *KEPT]
    assert remove_old(workspace, "people", 30) == found
    assert _there(tmp_path, (*OLD, *KEPT, fresh)) == [*KEPT, fresh]
    assert not used.parent.exists()
    assert remove_old(workspace, "people", 30) == PurgeResult()


def test_a_reference_to_what_is_gone_goes_with_it(tmp_path):
    _written(tmp_path, OLD, 31)
    results = tmp_path / "sensitive" / ".results"
    results.mkdir()
    for name, table in (("gone", OLD[0]), ("other", KEPT[3])):
        key = str(Path(table).parent)
        (results / name).write_text('{"result": "{\\"key\\": \\"' + key + '\\"}"}')
    (results / "damaged").write_text("{")
    remove_old(Workspace(tmp_path), "people", 30)
    assert sorted(path.name for path in results.iterdir()) == ["damaged", "other"]


def test_a_link_out_of_the_folder_is_removed_and_not_followed(tmp_path):
    _written(tmp_path, OLD, 31)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("x")
    link = tmp_path / "sensitive/people/20260101T000000-abcdef/link"
    link.symlink_to(outside)
    then = time.time() - 40 * 24 * 3600
    os.utime(link, (then, then), follow_symlinks=False)
    remove_old(Workspace(tmp_path), "people", 30)
    assert (outside / "mine").exists() and not link.is_symlink()


def test_nothing_is_removed_while_a_run_is_at_work(tmp_path):
    configuration = _asked(tmp_path)
    workspace = Workspace.of(configuration)
    with apply_retention(workspace, configuration):
        _written(workspace.root, OLD, 31)
        with apply_retention(workspace, configuration):
            assert _there(workspace.root, OLD) == list(OLD)
        assert remove_old(workspace, "people", 30) == PurgeResult(is_busy=True)
        assert remove_old(workspace, "others", 30).is_busy is False
        _written(workspace.root, OLD, 31)
    with apply_retention(workspace, configuration):
        assert _there(workspace.root, OLD) == []


def test_the_command_says_how_much_and_needs_a_retention(tmp_path, capfd):
    _written(tmp_path / "out", OLD, 31)
    path = str(configured(tmp_path, retention_days=30))
    for dry, words in ((["--dry-run"], "would remove"), ([], "removed")):
        assert command.main(["purge", path, *dry]) == 0
        assert f"Retention: {words} 2 folders and 4 files older than 30 days" in capfd.readouterr().err
    assert command.main(["purge", path]) == 0
    assert "Retention: nothing is older than 30 days" in capfd.readouterr().err
    assert command.main(["purge", str(configured(tmp_path))]) == 2
    assert "A purge needs retention_days" in capfd.readouterr().err


@pytest.mark.server
def test_a_run_after_a_purge_makes_what_is_gone_and_releases_the_same(tmp_path, own_ledger, prefect_server):
    configuration = pipeline.prepared(tmp_path, pipeline.rows(100), retention_days=30)
    release = pipeline.run(configuration, "aggregate")
    before = pipeline.tree(release)
    assert not any(b"retention" in content for content in before.values())
    for path in (tmp_path / "out" / "sensitive" / "people").rglob("*"):
        if path.is_file():
            _age(path, 31)
    (made,) = (tmp_path / "out" / "sensitive" / "people").glob("*/coded_records")
    assert pipeline.run(configuration, "aggregate") == release
    assert pipeline.tree(release) == before
    assert not made.exists()
    assert len(list((tmp_path / "out" / "sensitive" / "people").glob("*/coded_records"))) == 1
