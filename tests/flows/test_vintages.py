"""A vintage that is late, that is committed whatever became of its table, or that was withdrawn."""

import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from flows.command import main as command
from flows.measure import measure
from flows.syndiffix import syndiffix
from tasks.configuration.flat_file import from_flat
from tasks.core.errors import LateInput
from tasks.core.ledger.ledger import open_ledger
from tests.flows import pipeline
from tests.flows.processes import configuration_file, configured, phases, releases

pytestmark = pytest.mark.server


def _asked(folder: Path, vintage: str) -> str:
    path = str(folder / "people-{vintage}.csv")
    return str(configured(folder, sensitive_microdata_path=path, vintage=vintage))


def _arrives(folder: Path, vintage: str) -> None:
    pipeline.write(folder / f"people-{vintage}.csv", pipeline.rows(300))


def test_a_late_vintage_leaves_nothing_and_the_same_run_releases_it_once_it_is_there(
    tmp_path, own_ledger, capfd
):
    assert command.main(["run", "--agg", _asked(tmp_path, "2026-11")]) == 5
    assert "people-2026-11.csv, but it is not there yet" in capfd.readouterr().err
    assert not own_ledger.exists() and not (tmp_path / "out").exists()
    _arrives(tmp_path, "2026-11")
    assert command.main(["run", "--agg", _asked(tmp_path, "2026-11")]) == 0
    assert command.main(["run", "--agg", _asked(tmp_path, "2026-12")]) == 5
    assert command.main(["check", _asked(tmp_path, "2026-12")]) == 5
    assert (phases(), releases(tmp_path)) == (["commit"], ["2026-11-1", "latest"])
    (tmp_path / "people-2026-11.csv").unlink()
    assert command.main(["run", "--agg", _asked(tmp_path, "2026-11")]) == 0
    assert "the release that was drawn before" in " ".join(capfd.readouterr().err.split())
    assert (phases(), releases(tmp_path)) == (["commit"], ["2026-11-1", "latest"])


def _events(server: str, dataset: str) -> list[dict[str, Any]]:
    asked = {"filter": {"event": {"name": ["marginalia.input.late"]}}}
    found = httpx.post(f"{server}/events/filter", json=asked).json()["events"]
    return [event["payload"] for event in found if event["payload"]["dataset"] == dataset]


@pytest.mark.slow
@pytest.mark.parametrize("flow", [measure, syndiffix], ids=lambda flow: str(flow.name))
def test_a_late_input_is_announced_in_public_words(flow, tmp_path, prefect_server):
    dataset = f"late-{flow.name}"
    flat = pipeline.flat(tmp_path) if flow is measure else pipeline.anonymous(tmp_path)
    if flow is syndiffix:
        flat = {key: flat[key] for key in ("subject_id", "vintage", "prefix", "output_dir")}
        flat |= {"synthesis_mode": "syndiffix"}
    path = str(tmp_path / "closed-folder" / "people-{vintage}.csv")
    configuration = from_flat(flat | {"dataset": dataset, "sensitive_microdata_path": path})
    with pytest.raises(LateInput):
        flow(configuration)
    deadline = time.monotonic() + 60
    while not (found := _events(prefect_server, dataset)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert found == [{"dataset": dataset, "vintage": "2026-11", "file": "people-{vintage}.csv"}]
    assert phases(dataset) == []


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


def test_a_withdrawn_vintage_is_not_published_again_and_another_is(tmp_path, capfd):
    path = configuration_file(tmp_path)
    assert command.main(["run", "--agg", str(path)]) == 0
    home = tmp_path / "out" / "release" / "people"
    before = pipeline.tree(home / "2026-11-1")
    words = ["--correct", "The region is Norland.", "--replaced-by", "2026-12"]
    assert command.main(["errata", str(home / "latest"), *words]) == 0
    capfd.readouterr()
    # A corrected one is returned as it is, and said to be.
    assert command.main(["run", "--agg", str(path)]) == 0
    assert "2026-11-1 was corrected on" in capfd.readouterr().err
    assert command.main(["errata", str(home / "2026-11-1"), "--withdraw", "It is of a test table."]) == 0
    for action in ("run", "publish"):
        assert command.main([action, str(path)]) == 2
        assert "It is of a test table. Give what is released instead" in capfd.readouterr().err
    configured(tmp_path, noise_epsilon=5.0)  # another draw of the same vintage
    assert command.main(["run", "--agg", str(path)]) == 2
    assert phases() == ["commit"] and not (home / "latest").is_symlink()
    configured(tmp_path, vintage="2026-12")
    assert command.main(["run", "--agg", str(path)]) == 0
    assert (home / "latest").resolve().name == "2026-12-1"
    assert releases(tmp_path) == ["2026-11-1", "2026-12-1", "latest"] and (home / "INDEX.json").is_file()
    after = pipeline.tree(home / "2026-11-1")
    assert {name: after[name] for name in before} == before and set(after) - set(before) == {"ERRATA.md"}
    capfd.readouterr()
    assert command.main(["compare", "--over-time", str(home), "--output", str(tmp_path / "over")]) == 0
    assert "Withdrawn, so shown and not compared: 2026-11-1." in capfd.readouterr().err
