"""Names, units and circumstances of a draw, on the steps themselves: no server."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.command import main as command
from flows.command.checking import report
from tasks.batch.budget import require_budget
from tasks.batch.file import Batch, read_batch, require_inputs
from tasks.configuration.flat_file import from_flat, read_configuration
from tasks.configuration.model import RunConfiguration
from tasks.core.errors import (
    ContractViolation,
    InputError,
    InternalError,
    LedgerError,
    ParameterError,
    ResourceLimit,
    StoredTableMismatch,
)
from tasks.core.ledger.ledger import open_ledger
from tasks.core.queries import QueryResources
from tasks.core.statement.differential_privacy.words import FittedWords
from tasks.core.stored_files import file_sha256
from tasks.plan.describe import describe
from tasks.public.bundles import open_drawn, require_made_as_configured
from tasks.public.generate import estimate_counts, fit_records, normalise_counts
from tasks.public.page import state_privacy
from tasks.sensitive.account import note_unread_table
from tasks.sensitive.protect import (
    admit_release,
    describe_or_recall_run,
    protect_records,
    public_table,
    release_name,
)
from tasks.sensitive.read import EncodingRules, SensitiveTable, encode_records, judge_contract
from tasks.storage import RunWorkspace, StoredTable, Workspace
from tests.flows import pipeline


def measured(configuration: RunConfiguration) -> tuple[Workspace, StoredTable]:
    """The configured release's measurement, handed over."""
    workspace, described = Workspace.of(configuration), describe(configuration)
    workspace.prepare()
    run = RunWorkspace(workspace.root, "people", "run", QueryResources())
    admitted = admit_release.fn(workspace, configuration, described)
    table, judged = SensitiveTable(described.source), None
    if described.contract is not None and configuration.input.contract_mode == "strict":
        drawn_as = (described.vintage, public_table(described))
        judged = judge_contract.fn(run, table, described.contract, described.schema, drawn_as)
    rules = EncodingRules.of(configuration, described.parameters)
    records = encode_records.fn(run, table, described.schema, rules)
    table_hash = workspace.keyed_hash(table.sha256)
    return workspace, protect_records.fn(workspace, records, judged, admitted, table_hash)


#: Settings of a draw by lengths, as SDS makes it.
BY_LENGTHS = {"synthesis_mode": "aggregate_seeded"}


def reported(configuration: RunConfiguration, run: RunWorkspace, measurement: StoredTable) -> StoredTable:
    """The reportable aggregates of either draw."""
    if not configuration.draws_workload:
        return normalise_counts.fn(run, measurement)
    records = fit_records.fn(run, measurement, configuration.synthesis, 1)
    return estimate_counts.fn(run, measurement, records, configuration.reporting_length)


def statement_of(configuration: RunConfiguration, workspace: Workspace, measurement: StoredTable) -> dict:
    run = RunWorkspace(workspace.root, "people", "work", QueryResources())
    stored = state_privacy.fn(run, configuration, measurement, reported(configuration, run, measurement))
    return pipeline.json_of(workspace.path(stored) / "privacy.json")


@pytest.mark.parametrize("registered_by", ["command", "run"])
def test_rule_7_rows_are_not_charged_to_a_budget_of_subjects(registered_by, tmp_path, own_ledger):
    # The statement would promise all rows of a person the protection of one.
    if registered_by == "command":
        assert command.main(["ledger", "people", "--cap", "20", "1e-5"]) == 0
    else:
        measured(pipeline.prepared(tmp_path))
    plain: dict[str, object] = {
        "multi_value_columns": {},
        "max_items": {},
        "domains": {},
        "vintage": "2026-12",
    }
    plain |= {"subject_id": None, "use_columns": ["town", "age"], "bins": {"age": [0, 40]}}
    plain["vintage"] = "2026-12"
    by_row = pipeline.prepared(tmp_path, **plain)
    with pytest.raises(ParameterError, match="same unit"):
        measured(by_row)
    registered = ["people rows", "--cap", "20", "1e-5", "--unit", "row", "--reason", "rows"]
    assert command.main(["ledger", *registered]) == 0
    workspace, measurement = measured(by_row.model_copy(update={"dataset": "people rows"}))
    assert statement_of(by_row, workspace, measurement)["guarantee"]["unit"] == "row"


def test_rule_7_check_refuses_the_other_unit_too(tmp_path, own_ledger):
    assert command.main(["ledger", "people", "--cap", "20", "1e-5", "--unit", "row"]) == 0
    pipeline.prepared(tmp_path)
    path = tmp_path / "people.json"
    path.write_text(json.dumps(pipeline.flat(tmp_path)))
    with pytest.raises(ParameterError, match="same unit"):
        report(read_configuration(path))


@pytest.mark.parametrize("mode", ["fitted", "aggregate_seeded"])
def test_rule_2_the_statement_says_strict_where_the_draw_was(mode, tmp_path, own_ledger):
    contract: dict[str, object] = {
        "synthesis_mode": mode,
        "contract": pipeline.contract(tmp_path, "sex", ["m", "f"]),
        "use_columns": ["sex"],
        "bins": {},
        "domains": {},
    }
    contract |= {"multi_value_columns": {}, "max_items": {}, "sensitive_zeros": []}
    strict = pipeline.prepared(tmp_path, **contract, contract_mode="strict")
    workspace, measurement = measured(strict)
    assert open_drawn(workspace, measurement).drawn().private
    repair = pipeline.prepared(tmp_path, **contract)
    assert statement_of(strict, workspace, measurement)["contract"]["strict"] is True
    verdicts = pipeline.json_of(
        tmp_path / "out" / "intermediate" / "people" / "work" / "statement" / "contract.json"
    )
    assert {entry["verdict"] for entry in verdicts["rules"]} == {"passed"}
    require_made_as_configured(workspace, strict, measurement)
    with pytest.raises(ParameterError, match="other settings"):
        require_made_as_configured(workspace, repair, measurement)


#: One for each thing that is compared; which settings name a release is tested in `test_release_names`.
CHANGES: list[tuple[dict[str, object], str]] = [
    ({"noise_epsilon": 0.1}, "other settings"),
    ({"dataset": "others"}, "the dataset"),
    ({"vintage": "2026-12"}, "the vintage"),
    ({"use_columns": ["town"]}, "other declarations"),
]


@pytest.mark.parametrize("mode", ["fitted", "aggregate_seeded"])
def test_a_measurement_is_not_published_under_settings_it_was_not_drawn_with(mode, tmp_path, own_ledger):
    drawn = pipeline.prepared(tmp_path, synthesis_mode=mode)
    workspace, measurement = measured(drawn)
    require_made_as_configured(workspace, drawn, measurement)
    for changed, said in CHANGES:
        other = pipeline.prepared(tmp_path, **{"synthesis_mode": mode} | changed)
        with pytest.raises(ParameterError, match=said):
            require_made_as_configured(workspace, other, measurement)


@pytest.mark.parametrize("dataset", ["people", "others"])
def test_a_replaced_ledger_is_refused_also_where_no_release_is_left(
    dataset, tmp_path, own_ledger, monkeypatch
):
    workspace, _ = measured(pipeline.prepared(tmp_path))
    assert not (workspace.release / "people").exists()
    monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / "another"))
    with pytest.raises(LedgerError, match="another ledger"):
        measured(pipeline.prepared(tmp_path, vintage="2026-12", dataset=dataset))


def datasets() -> tuple[str, ...]:
    return open_ledger().datasets()


NAMES = {
    "its case": {"dataset": "People"},
    "a prefix where no dataset is named": {"dataset": None, "prefix": "p2"},
    "fewer columns": {"dataset": "people2", "use_columns": ["town", "sex", "age", "services"]},
}


@pytest.mark.parametrize("changed", NAMES.values(), ids=NAMES)
def test_a_new_name_opens_no_new_budget_for_the_same_table(changed, tmp_path, own_ledger, capsys):
    measured(pipeline.prepared(tmp_path))
    second = {key: value for key, value in pipeline.flat(tmp_path, **changed).items() if value is not None}
    with pytest.raises(ParameterError, match=r"keep its name to the letter|share one budget"):
        measured(from_flat(second))
    assert datasets() == ("people",)
    path = tmp_path / "second.json"
    path.write_text(json.dumps(second))
    with pytest.raises(ParameterError, match=r"'people'"):
        report(read_configuration(path))
    copied = shutil.copy(tmp_path / "people.csv", tmp_path / "copied.csv")
    with pytest.raises(ParameterError, match=r"'people'"):
        measured(from_flat(second | {"sensitive_microdata_path": str(copied)}))
    assert datasets() == ("people",)


def test_a_batch_of_several_names_for_one_table_is_refused_whole(tmp_path, own_ledger):
    runs = [pipeline.prepared(tmp_path, dataset=name) for name in ("e", "e2")]
    with pytest.raises(ParameterError, match=r"dataset 'e2' has the same path and columns"):
        require_budget(runs)
    with pytest.raises(ParameterError, match="to the letter"):
        require_budget([pipeline.prepared(tmp_path, dataset=name) for name in ("e", "E")])
    assert require_budget(runs[:1])
    assert datasets() == ()


def under(folder: Path, least_rows: int, vintage: str = "2026-11", **changes: object) -> RunConfiguration:
    """A table of 600 rows under a strict contract of that many."""
    made = folder / f"at least {least_rows}"
    made.mkdir(exist_ok=True)
    plain: dict[str, object] = {"use_columns": ["sex"], "bins": {}, "domains": {}, "sensitive_zeros": []}
    plain |= {"multi_value_columns": {}, "max_items": {}, "vintage": vintage, "contract_mode": "strict"}
    plain["contract"] = pipeline.contract(made, "sex", ["m", "f"], least_rows)
    return pipeline.prepared(folder, **(plain | changes))


def phases(dataset: str = "people") -> list[str]:
    return [each.phase for each in open_ledger().account(dataset).reservations]


def told_of(configuration: RunConfiguration, workspace: Workspace, measurement: StoredTable) -> dict:
    """``privacy.json``, and ``contract.json`` beside it."""
    stated = statement_of(configuration, workspace, measurement)
    place = workspace.root / "intermediate" / "people" / "work" / "statement" / "contract.json"
    return {"privacy": stated["contract"], "contract": pipeline.json_of(place)}


def test_another_strict_contract_is_another_release_drawn_and_charged(tmp_path, own_ledger):
    # Over one draw, "at least 100" and "at least 600" would tell the exact number for one charge.
    names = []
    for least in (100, 600):
        configuration = under(tmp_path, least)
        workspace, measurement = measured(configuration)
        told = told_of(configuration, workspace, measurement)
        digest = file_sha256(Path(str(configuration.input.contract)))
        assert told["contract"]["sha256"] == told["privacy"]["sha256"] == digest
        assert f"at least {least} records" in json.dumps(told["contract"])
        names.append(release_name(configuration, describe(configuration)))
    assert len(set(names)) == 2
    assert phases() == ["commit", "commit"]
    with pytest.raises(ContractViolation):
        measured(under(tmp_path, 601))
    assert phases() == ["commit", "commit"], "a broken contract reserves nothing"


def test_runs_that_a_strict_contract_stopped_are_in_the_ledger_and_in_every_later_statement(
    tmp_path, own_ledger, capsys
):
    # By changing the contract, whoever sees that runs stop would learn the exact number of records, free.
    for least in (700, 601, 601):
        configuration = under(tmp_path, least)
        with pytest.raises(ContractViolation, match="The ledger keeps that this run was stopped"):
            measured(configuration)
    said = capsys.readouterr().err
    assert said.count("was stopped by another strict contract than this one") == 2
    assert datasets() == ()
    assert command.main(["ledger", "people"]) == 0
    assert "3 runs were stopped by a strict contract" in capsys.readouterr().out
    configuration = under(tmp_path, 600, privacy={"releases": 2})
    workspace, measurement = measured(configuration)
    statement = statement_of(configuration, workspace, measurement)
    assert statement["contract"]["strict"]
    stopped = statement["stopped_by_contract"]
    assert (stopped["runs"], stopped["contracts"]) == (3, 2)
    assert stopped["sentence"].startswith("3 runs of this dataset were stopped by strict contracts before")
    assert "neither epsilon nor the cap covers it" in stopped["sentence"]
    assert stopped["sentence"] in FittedWords(statement).sentences()
    capsys.readouterr()
    assert command.main(["ledger", "people", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert [each["vintage"] for each in body["stopped"]] == 3 * ["2026-11"]
    # A later release that repairs tells of them as well; which rules were broken is in no entry.
    repaired = configuration.input.model_copy(update={"contract_mode": "repair"})
    later = configuration.model_copy(update={"input": repaired})
    assert statement_of(later, *measured(later))["stopped_by_contract"]["runs"] == 3
    assert all("records" not in str(entry.body) for entry in open_ledger().entries())


def test_runs_whose_table_could_not_be_read_are_in_the_ledger_and_in_every_later_statement(
    tmp_path, own_ledger, capsys
):
    # By another delimiter, encoding or limit of memory, whoever sees runs stop would learn facts for free.
    configuration = under(tmp_path, 600)
    described = describe(configuration)
    unforeseen = InternalError("the step failed unexpectedly")
    for error in (InputError("a ragged row"), ResourceLimit("too little memory"), unforeseen):
        with pytest.raises(type(error)), note_unread_table(configuration, described):
            raise error
    with pytest.raises(StoredTableMismatch), note_unread_table(configuration, described):
        raise StoredTableMismatch("nothing about the table")
    rounded = pipeline.prepared_anonymous(tmp_path)
    with pytest.raises(InputError), note_unread_table(rounded, describe(rounded)):
        raise InputError("k-anonymity, whose statement tells of no run")
    statement = statement_of(configuration, *measured(configuration))
    assert "stopped_by_contract" not in statement
    told = statement["stopped_unread"]
    assert told["runs"] == 3 and told["sentence"].startswith("In 3 runs of this dataset before this release")
    assert told["sentence"] in FittedWords(statement).sentences()
    capsys.readouterr()
    assert command.main(["ledger", "people"]) == 0
    assert "3 runs were stopped, or compared nothing, as the table could" in capsys.readouterr().out


def test_verdicts_are_those_of_the_table_that_was_drawn_from_whatever_it_holds_later(tmp_path, own_ledger):
    configuration = under(tmp_path, 600)
    workspace, measurement = measured(configuration)
    before = told_of(configuration, workspace, measurement)
    assert {rule["verdict"] for rule in before["contract"]["rules"]} == {"passed"}
    pipeline.write(tmp_path / "people.csv", pipeline.rows(10))
    admitted = admit_release.fn(workspace, configuration, describe(configuration))
    assert admitted.is_committed
    again = protect_records.fn(workspace, None, None, admitted, "")
    assert told_of(configuration, workspace, again) == before
    assert phases() == ["commit"]
    judged_again = under(tmp_path, 600, "2026-12")
    pipeline.write(tmp_path / "people.csv", pipeline.rows(10))
    with pytest.raises(ContractViolation):
        measured(judged_again)


def test_verdicts_are_in_the_measurement_that_the_ledger_commits(tmp_path, own_ledger):
    configuration = under(tmp_path, 600)
    workspace, measurement = measured(configuration)
    (kept,) = (own_ledger / "measurements").glob("*/contract.json")
    assert kept.read_bytes() == (workspace.path(measurement) / "measurement" / "contract.json").read_bytes()
    kept.write_text("{}")
    with pytest.raises(StoredTableMismatch):
        admit_release.fn(workspace, configuration, describe(configuration))


NAMED = {"use_columns": ["town", "sex"], "bins": {"age": [0, 40]}, "sensitive_zeros": ["age"]}


@pytest.mark.parametrize(
    ("changes", "damage"),
    [
        ({}, lambda path: path.unlink()),
        (BY_LENGTHS, lambda path: path.write_bytes(b"")),
        (NAMED, lambda path: path.write_text("sex\nm\n")),
    ],
    ids=["it goes", "it is emptied", "it loses a column"],
)
def test_a_committed_release_is_found_though_its_table_can_not_be_read(changes, damage, tmp_path, own_ledger):
    configuration = pipeline.prepared(tmp_path, **changes)
    workspace, measurement = measured(configuration)
    digest = measurement.sha256
    damage(tmp_path / "people.csv")
    recalled = describe_or_recall_run(configuration, None)
    assert recalled.unreadable is not None
    admitted = admit_release.fn(workspace, configuration, recalled.described)
    assert protect_records.fn(workspace, None, None, admitted, "").sha256 == digest
    assert phases() == ["commit"]
    for other in ({"vintage": "2026-12"}, {"noise_epsilon": 1.0}):
        flat = pipeline.flat(tmp_path, **(changes | other))
        with pytest.raises(ParameterError):
            describe_or_recall_run(from_flat(flat), None)


def test_a_batch_whose_release_is_committed_needs_no_table(tmp_path, own_ledger):
    measured(pipeline.prepared(tmp_path))
    (tmp_path / "people.csv").unlink()

    def asked(**run: str) -> Batch:
        body = {"base_config": pipeline.flat(tmp_path), "runs": {"all": [{"name": "again", **run}]}}
        (tmp_path / "batch.json").write_text(json.dumps(body))
        return read_batch(tmp_path / "batch.json")

    require_inputs(asked())
    assert require_budget([run.configuration for run in asked().runs]) == []
    with pytest.raises(ParameterError, match="does not exist"):
        require_inputs(asked(vintage="2026-12"))


def test_a_committed_release_of_a_parquet_file_is_found_without_it(tmp_path, own_ledger):
    path = tmp_path / "people.parquet"
    members, towns = [n % 2 == 0 for n in range(400)], ["a", "b"] * 200
    columns = {"person": list(range(400)), "member": members, "town": towns}
    pq.write_table(pa.table(columns), path)
    plain = {key: {} for key in ("multi_value_columns", "max_items", "bins", "domains")}
    flat = pipeline.flat(tmp_path, sensitive_microdata_path=str(path), **plain)
    configuration = from_flat({k: v for k, v in flat.items() if k != "sensitive_zeros"})
    workspace, measurement = measured(configuration)
    path.unlink()
    described = describe_or_recall_run(configuration, None).described
    admitted = admit_release.fn(workspace, configuration, described)
    assert protect_records.fn(workspace, None, None, admitted, "").sha256 == measurement.sha256
