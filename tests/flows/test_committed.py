"""A committed release comes before its table; what a strict contract said of it is said once."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from flows.command import main as command
from tasks.core.ledger.ledger import open_ledger
from tests.flows import pipeline
from tests.flows.processes import configuration_file, configured, phases, releases

pytestmark = pytest.mark.server


def _is_ragged(path: Path) -> None:
    with path.open("a") as file:
        file.write("p1,Aberwick,33\n")


def _is_missing(path: Path) -> None:
    path.unlink()


def test_a_committed_release_is_returned_where_its_table_is_ragged_or_missing(tmp_path, capfd):
    path = configuration_file(tmp_path)
    assert command.main(["run", "--agg", str(path)]) == 0
    release = tmp_path / "out" / "release" / "people" / "2026-11-1"
    before = pipeline.tree(release)
    for damage in (_is_ragged, _is_missing):
        damage(tmp_path / "people.csv")
        capfd.readouterr()
        assert command.main(["run", "--agg", str(path)]) == 0
        assert "ATTENTION: the table can't be read any more" in capfd.readouterr().err
    assert pipeline.tree(release) == before
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert phases() == ["commit"]
    # That it is ragged is an exact answer here, too, and whoever sees the log may ask of other tables.
    assert [stop.why for stop in open_ledger().stops("people")] == ["unread"]
    assert command.main(["run", "--agg", str(configured(tmp_path, vintage="2026-12"))]) == 2
    assert phases() == ["commit"]


@contextmanager
def _no_file_above(size: int) -> Iterator[None]:
    """Within it, a file that would grow above so many bytes can't be written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_committed_release_is_returned_where_its_table_outgrew_what_can_be_coded(tmp_path, capfd):
    path = configuration_file(tmp_path)
    assert command.main(["run", "--agg", str(path)]) == 0
    release = tmp_path / "out" / "release" / "people" / "2026-11-1"
    before = pipeline.tree(release)
    pipeline.write(tmp_path / "people.csv", pipeline.rows(100_000))
    capfd.readouterr()
    with _no_file_above(80_000):
        assert command.main(["run", "--agg", str(path)]) == 0
        told = capfd.readouterr().err
        assert "ATTENTION: the table can't be read any more. The step encode_records failed" in told
        assert pipeline.tree(release) == before
        assert command.main(["run", "--agg", str(configured(tmp_path, vintage="2026-12"))]) == 1
        assert "The step encode_records failed" in capfd.readouterr().err
    assert phases() == ["commit"]
    noted = [(stop.vintage, stop.why) for stop in open_ledger().stops("people")]
    assert noted == [("2026-11", "unread"), ("2026-12", "unread")]


def test_what_a_strict_contract_told_is_told_of_the_table_that_was_drawn_from(tmp_path):
    def under(least: int) -> str:
        plain: dict[str, Any] = {"use_columns": ["sex"], "bins": {}, "domains": {}, "sensitive_zeros": []}
        plain |= {"multi_value_columns": {}, "max_items": {}, "contract_mode": "strict"}
        (tmp_path / str(least)).mkdir(exist_ok=True)
        contract = pipeline.contract(tmp_path / str(least), "sex", ["m", "f"], least)
        return str(configured(tmp_path, **plain, contract=contract))

    pipeline.write(tmp_path / "people.csv", pipeline.rows(300))
    codes = [command.main(["run", "--agg", under(least)]) for least in (100, 300, 301)]
    assert codes == [0, 0, 4]
    # Three facts of one table: the two that were published were each drawn and charged for.
    assert phases() == ["commit", "commit"]
    home = tmp_path / "out" / "release" / "people"
    before = pipeline.tree(home / "2026-11-1")
    drawn = [
        pipeline.json_of(home / name / "privacy.json")["measurement_sha256"]
        for name in ("2026-11-1", "2026-11-2")
    ]
    assert drawn[0] != drawn[1]
    pipeline.write(tmp_path / "people.csv", pipeline.rows(50))
    assert command.main(["run", "--agg", under(100)]) == 0
    assert pipeline.tree(home / "2026-11-1") == before
    assert phases() == ["commit", "commit"]
    entries = {entry["file"]: entry for entry in json.loads(before["MANIFEST.json"])["files"]}
    assert "none: exact" in entries["contract.json"]["protection"]
