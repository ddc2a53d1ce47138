"""What a run leaves for whoever looks at it in the browser: a link to the right page, a log without noise."""

import json
import logging
import re
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from flows.command import main as command
from flows.command.run import page_of_run
from tasks.caching import StoredTableSerializer
from tasks.core.errors import InputError
from tests.flows.processes import configuration_file
from tests.flows.server_objects import Known, known
from tests.flows.whole_runs import fresh_name


def logged(url: str, dataset: str, last: str = "Finished in state Failed") -> Known:
    """What the server knows of a run once it has its last line: lines come a little later than states."""
    deadline = time.monotonic() + 60
    while True:
        found = known(url, dataset)
        if any(line["message"].startswith(last) and line["task_run_id"] is None for line in found.logs):
            return found
        assert time.monotonic() < deadline, found.logs
        time.sleep(0.3)


@pytest.mark.server
def test_a_failed_run_is_linked_to_its_new_page_and_logs_only_why_it_failed(tmp_path, prefect_server, capfd):
    dataset = fresh_name("failed")
    path = configuration_file(tmp_path, dataset=dataset)
    with (tmp_path / "people.csv").open("a") as file:
        file.write("a row with too few cells\n")
    assert command.main(["run", str(path)]) == 2
    (link,) = re.findall(r"^The run and its lineage: (\S+)$", capfd.readouterr().err, re.MULTILINE)
    found = logged(prefect_server, dataset)
    (run,) = found.flow_runs
    assert link == f"{prefect_server.removesuffix('/api')}/v2/runs/flow-run/{run['id']}"
    with urllib.request.urlopen(urllib.request.Request(link, headers={"Accept": "text/html"})) as page:
        assert page.url == link and b'"/v2/' in page.read()
    failed = [step["state"]["message"] for step in found.task_runs if step["state_type"] == "FAILED"]
    assert len(failed) == 1 and "must have as many cells as the header" in failed[0]
    assert [line["message"] for line in found.logs if "write result" in line["message"]] == []
    for line in found.logs:  # no traceback, and no row's position
        assert "Traceback" not in line["message"] and 'File "' not in line["message"]
        assert "302" not in line["message"]
    (why,) = [line for line in found.logs if line["message"].startswith("The run stops: ")]
    assert why["level"] == logging.ERROR and "must have as many cells as the header" in why["message"]


@pytest.mark.server
def test_what_a_run_tells_is_in_its_log_once_but_for_what_depends_on_raw_data(
    tmp_path, prefect_server, capfd
):
    dataset = fresh_name("telling")
    path = configuration_file(tmp_path, dataset=dataset, privacy={}, domains={"sex": ["m", "f", "zqx"]})
    assert command.main(["run", str(path)]) == 0
    terminal = capfd.readouterr().err.splitlines()
    found = logged(prefect_server, dataset, "Finished in state Completed")
    told = {line["message"]: line["level"] for line in found.logs if line["name"] == "marginalia"}
    lines = [line["message"] for line in found.logs if line["name"].startswith("marginalia")]
    assert len(lines) == len(set(lines))
    registered = [said for said in told if said.startswith(f"Registered dataset {dataset!r}")]
    cap = [said for said in told if said.startswith("ATTENTION: the cap is the cost of this release alone")]
    assert told[registered[0]] == logging.INFO and told[cap[0]] == logging.WARNING
    for said in told:
        assert terminal.count(said) == 1
    assert any("lists the cells that were not counted" in said for said in terminal)
    assert not any("lists the cells that were not counted" in line["message"] for line in found.logs)
    steps = [line for line in lines if line.startswith("Step ")]
    assert steps[0] == "Step 1 begins: admit_release." and len(steps) == len(found.task_runs)
    assert {step["name"] for step in found.task_runs} >= {"admit_release", "fit_records", "write_page"}


class Answering(BaseHTTPRequestHandler):
    """A server that says of its interfaces what a test wants."""

    told: Any = None

    def do_GET(self) -> None:
        self.send_response(200 if self.path.endswith("/ui-settings") and self.told is not None else 404)
        self.end_headers()
        self.wfile.write(json.dumps(self.told).encode())

    def log_message(self, *words: Any) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def address() -> Iterator[str]:
    """Of such a server."""
    server = HTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("told", "below", "version"),
    [
        ({"v1_base_url": "/", "v2_base_url": "/v2"}, "", "/v2"),
        ({"v1_base_url": "/pages", "v2_base_url": "/pages/v2"}, "/pages", "/v2"),
        ({"v1_base_url": None, "v2_base_url": "/v2"}, "/v2", ""),
        ({"v1_base_url": "/", "v2_base_url": None}, "", ""),
        ({"another": "answer"}, "", ""),
        (["no object"], "", ""),
        (None, "", ""),
    ],
)
def test_a_server_without_the_new_interface_is_linked_to_the_old_one(
    told, below, version, address, monkeypatch
):
    from prefect.settings import PREFECT_UI_URL, temporary_settings

    monkeypatch.setattr(Answering, "told", told)
    with temporary_settings(updates={PREFECT_UI_URL: address + below}):
        assert page_of_run("1234") == f"{address}{below}{version}/runs/flow-run/1234"


def test_what_a_step_raised_is_kept_as_a_text_without_cells():
    serializer = StoredTableSerializer(root="nowhere")
    ours = InputError("The input must be a table.", operator_detail="row 7: Aberwick")
    for error, kept in ((ours, "The input must be a table."), (ValueError("Aberwick"), "ValueError")):
        assert serializer.loads(serializer.dumps(error)) == kept
