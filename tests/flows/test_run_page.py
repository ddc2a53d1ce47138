"""What a run leaves for whoever looks at it in the browser: a link to the right page, a log without noise."""

import logging

import pytest

from flows.command import main as command
from flows.command.run import page_of
from tasks.core.errors import InputError
from tasks.step import StoredTableSerializer
from tests.flows.processes import configuration_file
from tests.flows.server_objects import answering, logged
from tests.flows.whole_runs import fresh_name


@pytest.mark.server
def test_what_a_run_tells_is_in_its_log_once_but_for_what_depends_on_raw_data(
    tmp_path, prefect_server, capfd
):
    dataset = fresh_name("telling")
    path = configuration_file(tmp_path, dataset=dataset, privacy={}, domains={"sex": ["m", "f", "zqx"]})
    assert command.main(["run", "--aggregate", str(path)]) == 0
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
    assert {step["name"] for step in found.task_runs} >= {"admit_release", "fit_records"}


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
def test_a_server_without_the_new_interface_is_linked_to_the_old_one(told, below, version):
    from prefect.settings import PREFECT_UI_URL, temporary_settings

    with (
        answering(404 if told is None else 200, told) as address,
        temporary_settings(updates={PREFECT_UI_URL: address + below}),
    ):
        assert page_of("runs/flow-run", "1234") == f"{address}{below}{version}/runs/flow-run/1234"


def test_what_a_step_raised_is_kept_as_a_text_without_cells():
    serializer = StoredTableSerializer(root="nowhere")
    ours = InputError("The input must be a table.", operator_detail="row 7: Aberwick")
    for error, kept in ((ours, "The input must be a table."), (ValueError("Aberwick"), "ValueError")):
        assert serializer.loads(serializer.dumps(error)) == kept
