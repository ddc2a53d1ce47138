"""The file of a vintage that is not there when its run begins, and the run after it came."""

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from flows.command import main as command
from flows.measure import measure
from flows.syndiffix import syndiffix
from tasks.configuration.flat_file import from_flat
from tasks.core.errors import LateInput
from tests.flows import pipeline
from tests.flows.processes import configured, phases, releases

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
