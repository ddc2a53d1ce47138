"""A committed release comes before its table: it is returned whatever became of the table."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from flows.command import main as command
from tasks.core.ledger.ledger import open_ledger
from tests.flows import pipeline
from tests.flows.processes import configuration_file, configured, phases, releases

pytestmark = pytest.mark.server


@contextmanager
def _no_file_above(size: int) -> Iterator[None]:
    """Within it, a file that would grow above so many bytes can't be written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_committed_release_is_returned_where_its_table_is_too_large_ragged_or_missing(tmp_path, capfd):
    def run(vintage: str) -> tuple[int, str]:
        code = command.main(["run", "--agg", str(configured(tmp_path, vintage=vintage))])
        return code, capfd.readouterr().err

    path = configuration_file(tmp_path)
    assert command.main(["run", "--agg", str(path)]) == 0
    release, table = tmp_path / "out" / "release" / "people" / "2026-11-1", tmp_path / "people.csv"
    before = pipeline.tree(release)
    unread = "ATTENTION: the table can't be read any more"
    capfd.readouterr()
    pipeline.write(table, pipeline.rows(50, seed=9))  # P3: another table under the same name
    code, said = run("2026-11")
    assert code == 0 and unread not in said and pipeline.tree(release) == before
    pipeline.write(table, pipeline.rows(100_000))
    with _no_file_above(80_000):
        code, said = run("2026-11")
        assert code == 0 and f"{unread}. The step encode_records failed" in said
        code, said = run("2026-12")
        assert code == 1 and "The step encode_records failed" in said
    pipeline.write(table, [*pipeline.rows(300), ["p1", "Aberwick", "33"]])
    code, said = run("2026-11")
    assert code == 0 and unread in said
    table.unlink()
    code, said = run("2026-11")
    assert code == 0 and unread in said
    assert pipeline.tree(release) == before
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert phases() == ["commit"]
    # That it could not be read is an exact answer, too, and whoever sees the log may ask of other tables.
    noted = [(stop.vintage, stop.why) for stop in open_ledger().stops("people")]
    assert noted == [(vintage, "unread") for vintage in ("2026-11", "2026-12", "2026-11")]
    assert run("2026-12")[0] == 2 and phases() == ["commit"]


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
