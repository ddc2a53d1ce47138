"""Bad input: what is refused, with which exit code and which line; and what is accepted all the same."""

import csv
import json
import logging
import re
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flows.command import main as command
from tasks.core.ledger.ledger import open_ledger
from tasks.core.ledger.tables import PublicTable
from tasks.core.queries import QueryResources
from tasks.public.generate import estimate_counts, fit_records
from tasks.storage import RunWorkspace
from tests.flows import pipeline, visits
from tests.flows.processes import assert_whole, configuration_file, configured, phases, releases
from tests.flows.server_objects import logged, text_of_everything
from tests.flows.whole_runs import assert_no_trace, fresh_name, public_places
from tests.sensitive.test_protect import measured


def lines_of(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What the command said of its failure."""
    said = capfd.readouterr().err
    assert "Traceback" not in said
    return [
        line.removeprefix("marginalia: ") for line in said.splitlines() if line.startswith("marginalia: ")
    ]


def refused(path: Path, words: str, capfd: pytest.CaptureFixture[str], name: str = "check") -> None:
    """The command ends with 2 and one line that holds the words."""
    capfd.readouterr()
    assert command.main([name, str(path)]) == 2
    lines = lines_of(capfd)
    assert len(lines) == 1, lines
    assert words in lines[0]


def release_of(folder: Path) -> Path:
    return (folder / "out" / "release" / "people" / "latest").resolve()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"synthesis_mode": "aggregate_seeded", "sigma_proportions": [1.0, 1.0], "reporting_length": -1},
            "sigma_proportions must have one number for each length, and there are 6 here; it has 2",
        ),
        ({"sensitive_microdata_delimiter": ";"}, "';' leaves a single column, which holds a comma"),
    ],
)
def test_a_configuration_that_cannot_be_meant_is_refused_before_anything_runs(
    changes, words, tmp_path, capfd
):
    refused(configuration_file(tmp_path, **changes), words, capfd)
    assert not (tmp_path / "out").exists()


@pytest.mark.server
@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b"zqxa77,zqxb77\n", "must have as many cells as the header"),
        (b"zqxa77,zqxb77,33,m,pool,employed,more\n", "must have as many cells as the header"),
        (b"zqxa77,zqxb77\xe9,33,m,pool,employed\n", "must be text in utf-8"),
        (b'zqxa77,"zqxb77,33,m,pool,employed\n', "quote"),
    ],
)
def test_p7_a_row_that_cannot_be_read_is_refused_costs_nothing_and_shows_no_cell(
    row, words, tmp_path, own_ledger, prefect_server, capfd
):
    dataset = fresh_name("unread")
    path = configuration_file(tmp_path, dataset=dataset)
    with (tmp_path / "people.csv").open("ab") as file:
        file.write(row)
    capfd.readouterr()
    assert command.main(["run", str(path)]) == 2
    printed = capfd.readouterr()
    said = printed.out + printed.err
    lines = [line.partition(": ")[2] for line in said.splitlines() if line.startswith("marginalia: ")]
    (line,) = [line for line in lines if not line.startswith("for the operator alone: ")]
    assert words in line and "Traceback" not in said
    assert phases(dataset) == [] and releases(tmp_path, dataset) == []
    (stop,) = open_ledger().stops(dataset)
    assert (stop.vintage, stop.why) == ("2026-11", "unread")
    # What the server has: the same line, on a page that is linked to.
    found = logged(prefect_server, dataset, "Finished in state Failed")
    (run,) = found.flow_runs
    assert run["state_name"] == "Failed" and run["state"]["message"].endswith(line)
    (link,) = re.findall(r"^The run and its lineage: (\S+)$", said, re.MULTILINE)
    assert link == f"{prefect_server.removesuffix('/api')}/v2/runs/flow-run/{run['id']}"
    with urllib.request.urlopen(urllib.request.Request(link, headers={"Accept": "text/html"})) as page:
        assert page.url == link and b'"/v2/' in page.read()
    (failed,) = [step["state"]["message"] for step in found.task_runs if step["state_type"] == "FAILED"]
    (why,) = [told for told in found.logs if told["message"].startswith("The run stops: ")]
    assert words in failed and words in why["message"] and why["level"] == logging.ERROR
    for told in found.logs:  # no traceback, no row's position, nothing of what is done to end a run
        assert not re.search(r'Traceback|File "|\b302\b|write result', told["message"])
    everything = said + json.dumps(found._asdict())
    assert_no_trace(("zqxa77", "zqxb77"), public_places(tmp_path, own_ledger), everything)


@pytest.mark.server
def test_an_output_that_cannot_be_written_is_refused(tmp_path, own_ledger, capfd):
    path = configuration_file(tmp_path, output_dir=str(tmp_path / "file" / "out"))
    (tmp_path / "file").touch()
    refused(path, "output_dir must be a folder that you can write", capfd, "run")
    assert not (own_ledger / "ledger.sqlite").exists()


@pytest.mark.server
def test_an_exhausted_budget_ends_with_3_before_any_row_is_read(tmp_path, capfd):
    path = configuration_file(tmp_path, privacy={"cap": {"epsilon": 5.0, "delta": 1e-5}})
    with (tmp_path / "people.csv").open("a") as file:
        file.write("a row that would be refused, if anybody read it\n")
    for name in ("run", "check"):
        capfd.readouterr()
        assert command.main([name, str(path)]) == 3
        (line,) = lines_of(capfd)
        assert "people" in line and "cap" in line
    assert open_ledger().datasets() == ()
    # A run marks that it is at work there, so that no purge takes its folder away; nothing else is made.
    assert {path.name for path in (tmp_path / "out" / "sensitive" / "people").iterdir()} <= {".in_use"}


@pytest.mark.server
@pytest.mark.parametrize("protection", ["differential privacy", "k-anonymity", "SynDiffix"])
def test_a_broken_strict_contract_ends_with_4_and_its_verdict_stays_on_the_terminal(
    protection, tmp_path, prefect_server, capfd
):
    dataset, verdict = fresh_name("strict"), "98765432"
    contract = pipeline.contract_of_people(tmp_path, least_rows=int(verdict), subject_id="person")
    pipeline.write(tmp_path / "people-2026-11.csv", pipeline.rows(300))
    changes = {"contract": {"path": contract, "mode": "strict"}, "dataset": dataset}
    changes["sensitive_microdata_path"] = str(tmp_path / "people-{vintage}.csv")
    if protection == "differential privacy":
        body = pipeline.flat(tmp_path, **changes)
    elif protection == "k-anonymity":
        body = pipeline.anonymous(tmp_path, **changes)
    else:
        verdict = "outside its declared list"
        pipeline.write(tmp_path / "visits.csv", visits.rows(100), visits.HEADER)
        contract = visits.contract(tmp_path, values=visits.TOWNS[:2])
        body = visits.flat(tmp_path, contract=contract, dataset=dataset)
    path = pipeline.saved(tmp_path, body)
    capfd.readouterr()
    assert command.main(["run", path]) == 4
    said = capfd.readouterr().err
    (line,) = [line for line in said.splitlines() if line.startswith("marginalia: ")]
    assert verdict in said and verdict not in line and "must keep its data contract" in line
    assert phases(dataset) == [] and releases(tmp_path, dataset) == []
    made = [path.name for path in (tmp_path / "out" / "sensitive").rglob("*") if path.is_dir()]
    assert not {"coded_records", "marginals", "cluster-1"} & set(made)
    told = text_of_everything(prefect_server, dataset)
    assert "must keep its data contract" in told and verdict not in told and "rowCount" not in told
    if protection == "differential privacy":
        # So a budget that another vintage's file begins under another name tells of it, whatever its columns.
        (stop,) = [entry for entry in open_ledger().entries() if entry.phase == "stopped"]
        files = (tmp_path / "people-2026-11.csv", tmp_path / "people-{vintage}.csv")
        marks = [PublicTable(file, (), ()).marks(open_ledger().entries()).paths for file in files]
        assert set(stop.body["paths"]) == set().union(*marks)


@pytest.mark.server
def test_odd_values_are_released_as_they_are(tmp_path):
    towns = ["a\tb", 'say "hi"', "two\nlines", "x;y", "k:v"]
    table = [[f"p{n}", towns[n % 5], "33", "mf"[n % 2], "pool", "employed"] for n in range(500)]
    table += [["p500", "y" * 1_000_000, "33", "m", "", ""]]
    path = configuration_file(tmp_path, table)
    text = (tmp_path / "people.csv").read_text(encoding="utf-8")
    (tmp_path / "people.csv").write_text("\ufeff" + text, encoding="utf-8")
    assert command.main(["run", str(path)]) == 0
    assert_whole(tmp_path)
    with (release_of(tmp_path) / "people_synthetic_microdata.tsv").open(newline="") as file:
        found = {row["town"] for row in csv.DictReader(file, delimiter="\t")}
    # As in SDS, which joins attributes with these two.
    assert found - {""} == {"a\tb", 'say "hi"', "two\nlines", "x<semicolon>y", "k<colon>v"}


def test_of_fitted_records_combinations_are_counted_up_to_the_columns(tmp_path):
    changes: dict[str, Any] = {"multi_value_columns": {}, "max_items": {}, "bins": {}, "sensitive_zeros": []}
    configuration = pipeline.prepared(tmp_path, use_columns=["sex", "work"], **changes)
    workspace, measurement = measured(configuration)
    run = RunWorkspace(workspace.root, "people", "run", QueryResources())
    records = fit_records.fn(run, measurement, configuration.synthesis, 1)
    counts = []
    for length in (2, -1, 1):
        asked = replace(run, label=str(length))
        counts.append(estimate_counts.fn(asked, measurement, records, length).sha256)
    assert counts[0] == counts[1] != counts[2]


@pytest.mark.server
@pytest.mark.parametrize(
    "table",
    [[], [[f"p{number}", "", "", "", "", ""] for number in range(300)]],
    ids=["no record", "all missing"],
)
def test_hardly_any_data_is_a_release(table, tmp_path):
    path = configuration_file(tmp_path, table, domains={})
    assert command.main(["run", str(path)]) == 0
    assert_whole(tmp_path)
    assert (release_of(tmp_path) / "people_data_showcase.html").exists()
    assert phases() == ["commit"]


@pytest.mark.server
def test_one_column_is_a_release(tmp_path):
    body = {
        "sensitive_microdata_path": str(tmp_path / "one.csv"),
        "dp_aggregates": True,
        "noise_epsilon": 1,
        "dataset": "people",
        "output_dir": str(tmp_path / "out"),
    }
    (tmp_path / "one.csv").write_text("town\n" + "Aberwick\nBrenmoor\n\n" * 200)
    path = configured(tmp_path, **dict.fromkeys(pipeline.flat(tmp_path)) | body)
    assert command.main(["run", str(path)]) == 0
    assert_whole(tmp_path)
