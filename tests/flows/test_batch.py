"""Batches: failures that stop nobody, joined statistics, comparisons, the cost beforehand."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from flows.command import main as command
from tasks.core.ledger.ledger import open_ledger
from tests.flows import pipeline, visits
from tests.flows.processes import phases
from tests.flows.server_objects import known
from tests.flows.whole_runs import fresh_name

pytestmark = pytest.mark.server

ALL = {"aggregate": True, "generate": True, "evaluate": True, "navigate": True}


def batch_file(folder: Path, base: dict[str, Any], runs: dict[str, Any], **execute: bool) -> str:
    pipeline.write(folder / "people.csv", pipeline.rows())
    return pipeline.saved(folder, {"execute": ALL | execute, "base_config": base, "runs": runs})


def test_a_failure_stops_no_other_run_and_the_command_ends_with_one_and_the_list(
    tmp_path, prefect_server, capfd
):
    dataset = fresh_name("several")
    runs = {
        "modes": [
            {"name": "rows"},
            {"name": "left out", "skip": True},
            {"name": "broken", "sensitive_microdata_path": str(tmp_path / "other.csv")},
            {"name": "values", "synthesis_mode": "value_seeded"},
        ],
        "coarse": [{"name": "fifty", "reporting_resolution": 50}],
    }
    path = batch_file(tmp_path, pipeline.anonymous(tmp_path, dataset=dataset), runs)
    pipeline.write(tmp_path / "other.csv", [["a row", "of two cells"]])
    assert command.main(["batch", path]) == 1
    said = capfd.readouterr().err
    assert re.search(r"1 of 4 runs failed", said)
    out = tmp_path / "out"
    # Which run, what kind of failure, why and what to do: at once, at the end, and in a closed file.
    why = next(line.strip() for line in said.splitlines() if line.startswith("marginalia:     "))
    why = why.removeprefix("marginalia:").strip()
    assert "marginalia:   modes/2_broken (configuration or input):" in said and "must" in why
    assert f"failed (configuration or input): {why}" in said and "run the batch again" in said
    closed = out / "modes" / "sensitive" / "failed.tsv"
    header, (name, kind, told, row) = (line.split("\t") for line in closed.read_text().splitlines())
    assert header[0] == "run" and (name, kind, told) == ("2_broken", "configuration or input", why)
    assert (
        row == "row 2, counting the header as row 1"
        and said.count(row) == 1
        and closed.stat().st_mode & 0o077 == 0
    )
    assert "sensitive/failed.tsv" in (out / "modes" / "comparison.html").read_text()
    assert not (out / "coarse" / "sensitive" / "failed.tsv").exists()
    assert f"All other runs are done; their comparisons are in {out / 'modes'}." in said
    for name in ("modes/0_rows", "modes/3_values", "coarse/0_fifty"):
        assert (out / name / "release" / "people_data_showcase.html").is_file(), name
        assert (out / name / "evaluation" / "people_stats_synthetic_data.tsv").is_file(), name
    assert not (out / "modes" / "2_broken").exists()
    assert not (out / "modes" / "1_left out").exists()
    for name in ("stats_aggregate_counts", "stats_synthetic_data"):
        joined = (out / "modes" / "sensitive" / f"people_joined_{name}.tsv").read_text().splitlines()
        assert joined[0].split("\t")[1:] == ["0_rows", "3_values"]
    assert "0_rows" in (out / "modes" / "comparison.html").read_text()
    asked = [str(out / "modes" / name) for name in ("0_rows", "3_values")]
    assert command.main(["compare", *asked, "--output", str(tmp_path / "again")]) == 0
    again, batch = [
        [line.split("\t") for line in (home / "comparison.tsv").read_text().splitlines()]
        for home in (tmp_path / "again", out / "modes")
    ]
    # The batch's also lists the run that failed, and which did not.
    assert batch[1][1:] == ["outcome", "", "done", "done", "failed"]
    assert [line[:-1] for line in batch if line[1] != "outcome"] == again
    assert batch[0][-1] == "2_broken" and "2_broken" in (out / "modes" / "comparison.html").read_text()
    assert command.main(["compare", *asked, str(out / "modes" / "gone")]) == 2
    assert "there is none at" in capfd.readouterr().err
    assert (out / "sensitive" / "batch-modes" / "comparison.tsv").is_file()
    found = known(prefect_server, dataset)
    assert Counter(run["state_type"] for run in found.flow_runs) == {"COMPLETED": 3, "FAILED": 1}
    assert row not in json.dumps(found.flow_runs)
    # The table is coded and counted once for all runs.
    done = [run["name"] for run in found.task_runs if run["state_name"] == "Completed"]
    for work in ("encode_records", "count_records"):
        assert sum(name.startswith(work) for name in done) == 1


def test_protections_are_mixed_and_what_they_share_is_compared_against_the_raw_table(tmp_path, capfd):
    base = {
        "sensitive_microdata_path": str(tmp_path / "visits.csv"),
        "subject_id": "person",
        "use_columns": ["town", "smoker"],
        "dataset": "visits",
        "prefix": "visits",
        "output_dir": str(tmp_path / "out"),
    }
    trees = {"synthesis_mode": "syndiffix"}
    runs = {
        "g": [
            {"name": "solved", "vintage": "1"} | trees,
            {"name": "alone", "vintage": "2", "syndiffix": {"clustering": "none"}} | trees,
            {"name": "rows", "vintage": "3", "reporting_length": 2},
        ]
    }
    pipeline.write(tmp_path / "visits.csv", visits.rows(), visits.HEADER)
    path = batch_file(tmp_path, base, runs)
    assert command.main(["batch", path]) == 0
    out = tmp_path / "out"
    place = out / "g" / "sensitive" / "comparison.html"
    assert f"Must stay on this machine, g against the raw table: {place}" in capfd.readouterr().err
    lines = (out / "sensitive" / "batch-g" / "comparison.tsv").read_text().splitlines()
    table = {line.split("\t")[1]: line.split("\t")[3:] for line in lines}
    label = "SynDiffix, not differentially private"
    assert table["protection"] == [label, label, "k-anonymity, not differentially private"]
    assert table["synthesis mode"] == ["syndiffix", "syndiffix", "row_seeded"]
    assert table["protection.clustering"] == ["default", "none", ""]
    assert all(table["total variation of shares of records, length 2"])
    assert not (out / "g" / "comparison.html").exists(), "releases of SynDiffix hold no counts to compare"
    assert list((out / "g" / "1_alone" / "release").glob("*_data_showcase.html"))


@pytest.mark.parametrize(("works", "said"), [([], False), (["rows"], True)])
def test_nothing_is_said_to_be_done_or_compared_that_is_not(works, said, tmp_path, capfd):
    broken = {"sensitive_microdata_path": str(tmp_path / "other.csv")}
    runs = {"g": [*({"name": name} for name in works), *({"name": name} | broken for name in "ab")]}
    path = batch_file(tmp_path, pipeline.anonymous(tmp_path), runs, navigate=False)
    pipeline.write(tmp_path / "other.csv", [["a row", "of two cells"]])
    # Of an earlier batch, of which more was done.
    (tmp_path / "out" / "g").mkdir(parents=True)
    (tmp_path / "out" / "g" / "comparison.html").touch()
    assert command.main(["batch", path]) == 1
    told = capfd.readouterr().err
    assert "comparisons are in" not in told and "compared" not in told
    assert ("All other runs are done." in told) == said
    assert not (tmp_path / "out" / "g" / "comparison.html").exists()


def test_inputs_that_are_not_there_and_wrong_columns_are_told_before_the_first_run(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.setenv("MARGINALIA_SERVER", str(tmp_path / "server"))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    gone = {"sensitive_microdata_path": str(tmp_path / "gone.csv")}
    runs = {
        "g": [
            {"name": "works"},
            {"name": "no table"} | gone,
            {"name": "nothing", "contract": str(tmp_path / "gone.yaml")} | gone,
            {"name": "bad", "use_columns": ["twon"]},
        ]
    }
    path = batch_file(tmp_path, pipeline.anonymous(tmp_path), runs)
    assert command.main(["batch", path]) == 2
    said = capfd.readouterr().err
    assert "g/bad: use_columns names the column 'twon'" in said and "g/works" not in said
    missing = f"The input file {tmp_path / 'gone.csv'} does not exist: correct its path."
    assert [line.removeprefix("marginalia: ") for line in said.splitlines() if "gone" in line] == [
        f"g/no table: {missing}",
        f"g/nothing: {missing}",
        f"g/nothing: The data contract {tmp_path / 'gone.yaml'} does not exist: correct its path.",
    ]
    assert not (tmp_path / "out").exists() and not (tmp_path / "server").exists()


def test_the_cost_of_a_private_batch_is_checked_before_its_first_draw(tmp_path, capfd):
    base = pipeline.flat(tmp_path, privacy={"cap": {"epsilon": 7, "delta": 1e-5, "population": "people"}})
    runs = {"g": [{"name": str(epsilon), "noise_epsilon": epsilon} for epsilon in (4.0, 5.0, 6.0)]}
    path = batch_file(tmp_path, base, runs)
    assert command.main(["batch", path]) == 3
    said = capfd.readouterr().err
    assert "3 new draws" in said and "of 7" in said
    assert open_ledger().datasets() == ()
    assert not (tmp_path / "out" / "release" / "people").exists()


def test_every_draw_of_a_private_batch_is_charged_and_shared_draws_once(tmp_path, capfd):
    drawn = [{"name": "one", "noise_epsilon": 1.0}, {"name": "two", "noise_epsilon": 2.0}]
    runs = {"g": [*drawn, drawn[1] | {"name": "two again", "use_synthetic_counts": True}]}
    path = batch_file(
        tmp_path, pipeline.flat(tmp_path), runs, **(dict.fromkeys(ALL, False) | {"aggregate": True})
    )
    for draws in (2, 0):
        assert command.main(["batch", path]) == 0
        assert f"makes {draws} new draws" in capfd.readouterr().err
        assert phases() == ["commit", "commit"]


def test_a_group_is_not_called_as_a_zone(tmp_path, capfd):
    for zone in ("sensitive", "measurement", "intermediate", "release"):
        path = batch_file(tmp_path, pipeline.anonymous(tmp_path), {zone: [{"name": "a"}]})
        assert command.main(["batch", path]) == 2
        assert "rename" in capfd.readouterr().err
