"""What a claim is worth: refused or told in check, in a run and in the released statement."""

from pathlib import Path
from typing import Any

import pytest

from tasks.configuration.flat_file import from_flat
from tasks.core.aggregates.aggregates import read_aggregates, read_all_ranges
from tasks.core.dp.group_privacy import group_guarantees
from tasks.core.navigation.inputs import ReportInputs
from tasks.core.navigation.report import render_page
from tasks.core.queries import QueryResources
from tasks.plan.describe import describe
from tasks.public.bundles import open_drawn
from tasks.storage import RunWorkspace
from tests.flows import pipeline
from tests.flows.pipeline import checked
from tests.sensitive.test_protect import measured, reported, statement_of


def by_row(folder: Path, **changes: Any) -> dict[str, Any]:
    """The test's table without a subject id."""
    body = pipeline.flat(folder, use_columns=["town", "sex"], domains={"sex": ["m", "f"]}, bins={})
    for key in ("subject_id", "multi_value_columns", "max_items", "sensitive_zeros"):
        del body[key]
    return body | changes


def contracted(folder: Path, least_rows: int) -> dict[str, Any]:
    """Settings of the test's table under a contract of one column that promises so many rows."""
    contract = pipeline.contract(folder, "sex", least_rows=least_rows)
    nothing: dict[str, Any] = {"bins": {}, "domains": {}, "multi_value_columns": {}, "max_items": {}}
    return nothing | {"contract": contract, "use_columns": ["sex"], "sensitive_zeros": []}


@pytest.fixture(autouse=True)
def table(tmp_path):
    return pipeline.write(tmp_path / "people.csv", pipeline.rows(60))


@pytest.mark.parametrize(
    ("changes", "least_rows", "said"),
    [
        ({"noise_epsilon": 25, "privacy": {}}, None, "epsilon 25 is above 20"),
        ({"delta": 2e-5, "privacy": {}}, None, "delta 2e-05 is above 1e-05"),
        ({}, 200_000, "delta 1e-06 is above 1 / (10 x 200,000)"),
        (
            {"privacy": {"cap": {"epsilon": 30, "delta": 1e-5}}},
            None,
            "all releases together may cost epsilon 30",
        ),
    ],
)
def test_check_run_and_statement_tell_of_a_claim_that_promises_little(
    changes, least_rows, said, tmp_path, capsys
):
    if least_rows:
        changes = changes | contracted(tmp_path, least_rows)
    body = pipeline.flat(tmp_path, **changes)
    assert f"ATTENTION: {said}" in checked(tmp_path, capsys, body)
    configuration = from_flat(body)
    workspace, measurement = measured(configuration)
    told = [*describe(configuration).notes, *capsys.readouterr().err.splitlines()]
    assert any(f"ATTENTION: {said}" in line for line in told)
    stated = statement_of(configuration, workspace, measurement)["attention"]
    assert [sentence for sentence in stated if said in sentence]


def test_an_ordinary_claim_needs_no_attention(tmp_path, capsys):
    body = pipeline.flat(tmp_path, **contracted(tmp_path, 500))
    assert "ATTENTION" not in checked(tmp_path, capsys, body)
    workspace, measurement = measured(from_flat(body))
    assert statement_of(from_flat(body), workspace, measurement)["attention"] == []


@pytest.mark.parametrize("mode", ["fitted", "aggregate_seeded"])
def test_without_a_subject_id_check_run_and_statement_say_that_a_row_is_protected(mode, tmp_path, capsys):
    body = by_row(tmp_path, synthesis_mode=mode)
    shown = checked(tmp_path, capsys, body)
    assert "ATTENTION: no subject_id is given: a row is protected, not a person" in shown
    assert "All rows of a person who has several are protected less" in shown
    configuration = from_flat(body)
    assert any("a row is protected, not a person" in note for note in describe(configuration).notes)
    workspace, measurement = measured(configuration)
    drawn = open_drawn(workspace, measurement).drawn()
    # Nothing was dropped, so that check knew every constant before the draw.
    worth = group_guarantees(drawn.mu_squared, drawn.parameters.delta, drawn.length_one)
    for entry in worth:
        if entry["epsilon"] is not None:
            assert f"{entry['rows']:>3} rows: epsilon {entry['epsilon']:.3g}" in shown
    stated = statement_of(configuration, workspace, measurement)
    assert "a row is protected, not a person" in stated["attention"][0]
    assert stated["group_privacy"] == worth
    run = RunWorkspace(workspace.root, "people", "page", QueryResources())
    made = workspace.path(reported(configuration, run, measurement))
    aggregates = read_aggregates(made)
    ranges = read_all_ranges(made, aggregates.reporting_length)
    page = render_page(ReportInputs(stated, drawn.schema, aggregates, drawn, ranges=ranges))
    assert "a row is protected, not a person" in page and "Attention" in page


def test_the_statement_says_who_can_tell_that_the_table_changed(tmp_path):
    configuration = pipeline.prepared(tmp_path)
    workspace, measurement = measured(configuration)
    not_covered = " ".join(statement_of(configuration, workspace, measurement)["not_covered"])
    assert "Anybody who can see the Prefect server can tell whether the table has changed" in not_covered
