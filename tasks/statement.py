"""The privacy statement of a release, and the contract's table rules judged on released numbers."""

import json
from pathlib import Path

from prefect import task

from tasks.configuration import RunConfiguration
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.contracts.contract import load_contract
from tasks.core.contracts.released import judge_released
from tasks.core.dp.measurement import measurement_sha256, read_measurement
from tasks.core.dp.statement import RunChoices, statement
from tasks.core.errors import InternalError
from tasks.handover import drawn_preparation, ledger_facts, unit_of
from tasks.storage import StoredTable, Workspace
from tasks.version import code_version


@task
def state_privacy(
    workspace: Workspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    aggregates: StoredTable,
    work: str,
) -> StoredTable:
    """Write ``privacy.json`` and, where there is a contract, ``contract.json``."""
    bundle = workspace.path(measurement)
    measured = read_measurement(bundle / "measurement")
    if not measured.private:
        raise InternalError("A measurement of the seeded test engine can't be released.")
    facts = ledger_facts(workspace, measurement)
    if facts.unit != unit_of(measured.schema):
        raise InternalError("The unit of a release's account must be that of its records.")
    choices = RunChoices(
        strict_contract=drawn_preparation(workspace, measurement)["contract_mode"] == "strict",
        unused_keys=configuration.unused_keys,
        measurement_sha256=measurement_sha256(bundle / "measurement"),
    )
    body = statement(measured, facts, code_version(), choices)

    def write(folder: Path) -> None:
        _write_json(folder / "privacy.json", body)
        if configuration.input.contract:
            contract = load_contract(Path(configuration.input.contract))
            results = judge_released(contract, measured, read_aggregates(workspace.path(aggregates)))
            _write_json(
                folder / "contract.json",
                {"rules": [{"rule": result.rule, "passed": result.passed} for result in results]},
            )

    return workspace.store(workspace.root / work / "statement", "privacy statement", write)


def _write_json(path: Path, body: object) -> None:
    path.write_text(json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
