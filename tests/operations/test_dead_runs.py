"""Runs that are not dead are not marked: a schedule's that ended, and one that waits for its retry."""

import time

import pytest

from flows.command.deploy import HEARTBEAT_SECONDS, NAME
from tests.flows import pipeline
from tests.flows.processes import configuration_file
from tests.operations.installation import Gate, awaited

pytestmark = pytest.mark.operations
#: Shorter than the command makes it, as an operator may: longer than the time between two signs of life.
SILENT = HEARTBEAT_SECONDS + 15


def test_a_scheduled_run_that_ended_or_waits_for_its_retry_is_not_marked(tmp_path, worker):
    gate = Gate(tmp_path / "gate", "mkdir", r"/\.marginals-")
    worker.start_worker(**gate.environment)
    deployment = worker.deploy(configuration_file(tmp_path, dataset="alive"), "--every", "1m")
    (automation,) = [each for each in worker.post("/automations/filter", {}) if each["name"] == NAME]
    trigger = automation["trigger"] | {"within": SILENT}
    body = {key: automation[key] for key in ("name", "description", "enabled", "actions")}
    worker.put(f"/automations/{automation['id']}", body | {"trigger": trigger})
    gate.reached()
    worker.patch(f"/deployments/{deployment}", {"paused": True})
    asked = {"flow_runs": {"deployment_id": {"any_": [deployment]}, "state": {"type": {"any_": ["RUNNING"]}}}}
    (run,) = [each["id"] for each in worker.post("/flow_runs/filter", asked)]
    awaited(lambda: worker.heartbeats(run), "the run gives a sign of life")
    gate.open()
    assert worker.ended(run)["type"] == "COMPLETED"
    gate = Gate(tmp_path / "gate", "mkdir", r"/\.marginals-")
    pipeline.write(tmp_path / "people.csv", pipeline.rows(310))  # another table: nothing is cached
    waiting = worker.run(deployment, vintage="2027-01")
    gate.reached()
    awaited(lambda: worker.heartbeats(waiting), "the run gives a sign of life")
    worker.kill_worker()
    worker.found_dead(waiting)
    worker.retry(waiting, seconds=3600)
    time.sleep(2 * SILENT)
    assert worker.state(run)["type"] == "COMPLETED"
    assert worker.state(waiting)["name"] == "AwaitingRetry"
