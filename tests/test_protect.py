"""Names, units and circumstances of a draw, on the steps themselves: no server."""

import json
from pathlib import Path

import pytest

from flows import command
from flows.checking import check
from tasks.bundles import require_made_as_configured
from tasks.configuration import RunConfiguration
from tasks.core.dp.measurement import read_measurement
from tasks.core.errors import LedgerError, ParameterError
from tasks.core.queries import Resources
from tasks.describe import describe
from tasks.generate import normalise_counts
from tasks.ingest import EncodingRules, SensitiveTable, encode_records
from tasks.protect import admit_release, protect_records
from tasks.statement import state_privacy
from tasks.storage import StoredTable, Workspace
from tests.flows import pipeline


def measured(configuration: RunConfiguration) -> tuple[Workspace, StoredTable]:
    """The configured release's measurement, handed over."""
    workspace, described = Workspace.of(configuration), describe(configuration)
    workspace.prepare()
    admitted = admit_release.fn(workspace, configuration, described)
    table = SensitiveTable(described.source)
    rules = EncodingRules.of(configuration, described.parameters)
    records = encode_records.fn(workspace, table, described.schema, rules, "people/run", Resources())
    table_hash = workspace.keyed_hash(table.sha256)
    return workspace, protect_records.fn(workspace, records, described, admitted, table_hash)


def statement_of(configuration: RunConfiguration, workspace: Workspace, measurement: StoredTable) -> dict:
    aggregates = normalise_counts.fn(workspace, measurement, "release/people/work")
    stored = state_privacy.fn(workspace, configuration, measurement, aggregates, "release/people/work")
    return pipeline.json_of(workspace.path(stored) / "privacy.json")


@pytest.mark.parametrize("registered_by", ["command", "run"])
def test_rule_7_rows_are_not_charged_to_a_budget_of_subjects(
    registered_by: str, tmp_path: Path, own_ledger: Path
) -> None:
    # The statement would promise all rows of a person the protection of one.
    if registered_by == "command":
        assert command.main(["ledger", "people", "--cap", "20", "1e-5"]) == 0
    else:
        measured(pipeline.prepared(tmp_path))
    by_row = pipeline.prepared(tmp_path, subject_id=None, use_columns=["town", "age"], bins={"age": [0, 40]})
    by_row = by_row.model_copy(
        update={
            "vintage": "2026-12",
            "input": by_row.input.model_copy(
                update={"multi_value_columns": {}, "max_items": {}, "domains": {}}
            ),
        }
    )
    with pytest.raises(ParameterError, match="same unit"):
        measured(by_row)
    assert command.main(["ledger", "people rows", "--cap", "20", "1e-5", "--unit", "row"]) == 0
    workspace, measurement = measured(by_row.model_copy(update={"dataset": "people rows"}))
    assert statement_of(by_row, workspace, measurement)["guarantee"]["unit"] == "row"


def test_rule_7_check_refuses_the_other_unit_too(tmp_path: Path, own_ledger: Path) -> None:
    assert command.main(["ledger", "people", "--cap", "20", "1e-5", "--unit", "row"]) == 0
    pipeline.prepared(tmp_path)
    path = tmp_path / "people.json"
    path.write_text(json.dumps(pipeline.flat(tmp_path)))
    with pytest.raises(ParameterError, match="same unit"):
        check(path, propose=False)


def test_rule_2_the_statement_says_strict_where_the_draw_was(tmp_path: Path, own_ledger: Path) -> None:
    contract: dict[str, object] = {
        "contract": pipeline.contract(tmp_path, "sex", ["m", "f"]),
        "use_columns": ["sex"],
        "bins": {},
        "domains": {},
    }
    contract |= {"multi_value_columns": {}, "max_items": {}, "sensitive_zeros": []}
    strict = pipeline.prepared(tmp_path, **contract, contract_mode="strict")
    workspace, measurement = measured(strict)
    assert read_measurement(workspace.path(measurement) / "measurement").private
    repair = pipeline.prepared(tmp_path, **contract)
    assert statement_of(strict, workspace, measurement)["contract"]["strict"] is True
    verdicts = pipeline.json_of(
        tmp_path / "out" / "release" / "people" / "work" / "statement" / "contract.json"
    )
    assert {entry["verdict"] for entry in verdicts["rules"]} == {"passed"}
    require_made_as_configured(workspace, strict, measurement)
    with pytest.raises(ParameterError, match="other settings"):
        require_made_as_configured(workspace, repair, measurement)


def test_a_rule_that_repair_enforces_is_not_said_to_have_passed(tmp_path: Path, own_ledger: Path) -> None:
    contract = pipeline.contract(tmp_path, "sex", ["m", "f"])
    changes = {"use_columns": ["sex"], "bins": {}, "domains": {}, "multi_value_columns": {}, "max_items": {}}
    repair = pipeline.prepared(tmp_path, contract=contract, sensitive_zeros=[], **changes)
    workspace, measurement = measured(repair)
    statement_of(repair, workspace, measurement)
    verdicts = pipeline.json_of(
        tmp_path / "out" / "release" / "people" / "work" / "statement" / "contract.json"
    )
    assert verdicts["rules"][-1] == {"rule": "sex: every value is one of those listed", "verdict": "enforced"}


def test_a_strict_mode_without_a_contract_is_no_promise(tmp_path: Path, own_ledger: Path) -> None:
    strict = pipeline.prepared(tmp_path)
    strict = strict.model_copy(update={"input": strict.input.model_copy(update={"contract_mode": "strict"})})
    workspace, measurement = measured(strict)
    assert statement_of(strict, workspace, measurement)["contract"]["strict"] is False


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"noise_epsilon": 0.1}, "other settings"),
        ({"reporting_length": 1}, "other settings"),
        ({"record_limit": 100}, "other settings"),
        ({"dataset": "others"}, "the dataset"),
        ({"vintage": "2026-12"}, "the vintage"),
        ({"use_columns": ["town"]}, "other declarations"),
        ({"sensitive_zeros": []}, "other declarations"),
    ],
)
def test_a_measurement_is_not_published_under_settings_it_was_not_drawn_with(
    changed: dict, said: str, tmp_path: Path, own_ledger: Path
) -> None:
    workspace, measurement = measured(pipeline.prepared(tmp_path))
    require_made_as_configured(workspace, pipeline.prepared(tmp_path), measurement)
    with pytest.raises(ParameterError, match=said):
        require_made_as_configured(workspace, pipeline.prepared(tmp_path, **changed), measurement)


@pytest.mark.parametrize("dataset", ["people", "others"])
def test_a_replaced_ledger_is_refused_also_where_no_release_is_left(
    dataset: str, tmp_path: Path, own_ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, _ = measured(pipeline.prepared(tmp_path))
    assert not (workspace.release / "people").exists()
    monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / "another"))
    with pytest.raises(LedgerError, match="another ledger"):
        measured(pipeline.prepared(tmp_path, vintage="2026-12", dataset=dataset))
