"""Runs one after another and side by side: what is cached, drawn and published, and what Prefect is told."""

import os
import re
from collections import Counter
from typing import NamedTuple

import pytest

from flows.command import main as command
from flows.command.arguments import parse_command_line
from tasks.core.lineage import SOURCES, TABLE, Lineage
from tasks.request import STAGES
from tests.flows import pipeline
from tests.flows.processes import Run, assert_whole, configuration_file, configured, phases, releases
from tests.flows.server_objects import Known, settled, step
from tests.flows.whole_runs import WholeRun

pytestmark = pytest.mark.server

#: Step -> the steps whose results it is given, but for those that another of them was made from.
_COMMON = {
    "admit_release": set(),
    "locate_table": set(),
    "encode_records": {"locate_table"},
    "protect_records": {"encode_records", "admit_release"},
    "write_release_files": {"write_page"},
    "publish_release": {"write_release_files"},
    "summarise_release": {"publish_release"},
    "record_lineage": {"publish_release"},
    "record_account": set(),
    "count_records": {"encode_records"},
    "describe_records": {"count_records"},
}
_BY_LENGTHS = {
    "normalise_counts": {"protect_records"},
    "state_privacy": {"normalise_counts"},
    "generate_records": {"normalise_counts"},
    "recount_records": {"generate_records"},
    "compare_with_reportable": {"recount_records"},
    "write_page": {"state_privacy", "compare_with_reportable"},
    "evaluate_against_raw": {"count_records", "generate_records"},
}
_FITTED = {
    "fit_records": {"protect_records"},
    "estimate_counts": {"fit_records"},
    "state_privacy": {"estimate_counts"},
    "evaluate_fitted": {"fit_records"},
    "write_page": {"state_privacy", "evaluate_fitted"},
    "evaluate_against_raw": {"count_records", "estimate_counts"},
}
#: The same by kind of whole run.
EDGES = {"fitted": _COMMON | _FITTED, "by_lengths": _COMMON | _BY_LENGTHS}


class Twice(NamedTuple):
    """The same job, run twice."""

    run: WholeRun
    first: list[str]
    known: Known


@pytest.fixture(scope="module", params=EDGES)
def twice(request, prefect_server, whole_run):
    """A whole run, done again, and what the server then knows."""
    run = whole_run(request.param)
    first = releases(run.folder, run.dataset)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MARGINALIA_LEDGER", str(run.folder / "ledger"))
        assert command.main(["run", str(run.path)]) == 0
    return Twice(run, first, settled(prefect_server, run.dataset, 2 * len(EDGES[run.kind])))


def states(twice: Twice, number: int) -> dict[str, str]:
    """State of each step of the first or second run."""
    flow = twice.known.flow_runs[number]["id"]
    return {step(run): run["state_name"] for run in twice.known.task_runs if run["flow_run_id"] == flow}


def test_the_first_run_does_every_step(twice):
    assert states(twice, 0) == dict.fromkeys(EDGES[twice.run.kind], "Completed")


#: What every run does: ask the ledger, find the measurement, say what holds, put in place.
NEVER_CACHED = {
    "admit_release",
    "locate_table",
    "protect_records",
    "state_privacy",
    "publish_release",
    "summarise_release",
    "record_lineage",
    "record_account",
}


def test_the_second_run_does_again_nothing_that_is_current(twice):
    done = {name for name, state in states(twice, 1).items() if state != "Cached"}
    assert done == NEVER_CACHED


def test_the_second_run_draws_nothing_and_returns_the_same_release(twice):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MARGINALIA_LEDGER", str(twice.run.folder / "ledger"))
        assert phases(twice.run.dataset) == ["commit"]
    assert releases(twice.run.folder, twice.run.dataset) == twice.first == ["2026-11-1", "latest"]
    assert_whole(twice.run.folder, twice.run.dataset)


@pytest.mark.parametrize("number", [0, 1])
def test_the_graph_has_the_true_edges_but_for_those_that_a_longer_way_shows(number, twice):
    flow = twice.known.flow_runs[number]["id"]
    runs = {run["id"]: run for run in twice.known.task_runs if run["flow_run_id"] == flow}
    found = {
        step(run): {
            step(runs[given["id"]])
            for inputs in run["task_inputs"].values()
            for given in inputs
            if given["input_type"] == "task_run"
        }
        for run in runs.values()
    }
    edges = EDGES[twice.run.kind]
    if number == 1:  # it returns what is committed before it reads the table
        edges = edges | {"protect_records": {"admit_release"}}
    assert found == edges


def test_both_runs_have_their_lineage(twice):
    found = [
        artifact for artifact in twice.known.artifacts if artifact["key"] == f"lineage-{twice.run.dataset}"
    ]
    assert {artifact["flow_run_id"] for artifact in found} == {run["id"] for run in twice.known.flow_runs}
    for artifact in found:
        assert "](data:image/svg+xml;base64," in artifact["data"]
        assert "* **people\\_synthetic\\_microdata.tsv**: " in artifact["data"]
    first, second = (artifact["data"] for artifact in sorted(found, key=lambda each: str(each["created"])))
    # The second run returns what the first one drew, whatever the table is by then.
    assert re.search(
        r"\* \*\*coded records\*\*: sensitive; made from sensitive table; keyed hash [0-9a-f]{16}\n", first
    )
    assert "keyed hash" not in second and "as it was when an earlier run drew the release" in second


def test_every_released_file_leads_back_to_the_table(twice):
    release = twice.run.folder / "out" / "release" / twice.run.dataset / "2026-11-1"
    entries = {entry["file"]: entry for entry in pipeline.json_of(release / "MANIFEST.json")["files"]}
    lineage = Lineage.of_json(pipeline.json_of(release / "lineage.json"))
    assert {*entries, *SOURCES} == {*(node.name for node in lineage.nodes), "lineage.json", "data contract"}
    for node in lineage.nodes:
        assert node.zone != "release" or list(node.parents) == entries[node.name]["parents"]
        is_static = node.name.endswith(".pbit")
        if not is_static and node.name not in ("configuration.json", *SOURCES):
            assert TABLE in [each.name for each in lineage.before(node.name)]
    made = {"people_noisy_tables.parquet", "people_reportable_aggregates.tsv", "privacy.json"}
    from_measurement = {node.name for node in lineage.nodes if "measurement" in node.parents}
    assert made & set(entries) <= from_measurement
    (records,) = [node for node in lineage.nodes if node.name == "people_synthetic_microdata.tsv"]
    fitted = twice.run.kind == "fitted"
    assert records.parents == (("measurement",) if fitted else ("people_reportable_aggregates.tsv",))


def test_both_runs_have_their_summary_and_the_second_says_that_it_is_the_same_release(twice):
    found = [each for each in twice.known.artifacts if each["key"] == f"summary-{twice.run.dataset}"]
    first, second = (artifact["data"] for artifact in sorted(found, key=lambda each: str(each["created"])))
    for told in (first, second):
        assert "| protection | epsilon 6, delta 1e-06, of each subject |" in told
        assert r"people\_data\_showcase.html](file:///" in told and "](data:image/svg+xml;base64," in told
    same = re.compile(
        r"This is the same release as on \d{4}-\d\d-\d\d: nothing was drawn and nothing was charged"
    )
    assert not same.search(first) and same.search(second)


def test_a_new_vintage_draws_though_nothing_changed_and_the_old_one_does_not_though_the_table_did(
    tmp_path, capfd
):
    path = configuration_file(tmp_path)
    assert command.main(["run", "--agg", str(path)]) == 0
    before = pipeline.tree(tmp_path / "out" / "release" / "people" / "2026-11-1")
    configured(tmp_path, vintage="2026-12")
    assert command.main(["run", "--agg", str(path)]) == 0
    assert phases() == ["commit", "commit"]
    assert releases(tmp_path) == ["2026-11-1", "2026-12-1", "latest"]
    assert "has changed" not in capfd.readouterr().err
    configuration_file(tmp_path, pipeline.rows(40, seed=5))
    for _ in range(2):
        assert command.main(["run", "--agg", str(path)]) == 0
        assert "the table has changed since a run measured it as vintage '2026-11'" in capfd.readouterr().err
    assert phases() == ["commit", "commit"]
    assert releases(tmp_path) == ["2026-11-1", "2026-12-1", "latest"]
    assert pipeline.tree(tmp_path / "out" / "release" / "people" / "2026-11-1") == before


def test_two_runs_of_a_release_at_once_draw_once(tmp_path):
    path = configuration_file(tmp_path)
    runs = [Run(tmp_path, ["run", str(path)]) for _ in range(2)]
    for run in runs:
        assert run.finish() == 0, run.said
    assert phases() == ["commit"]
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert_whole(tmp_path)


_AGGREGATES = {
    "CITATION.cff",
    "croissant.json",
    "lineage.json",
    "methods.md",
    "registry.yaml",
    "configuration.json",
    "privacy.json",
    "MANIFEST.json",
    "people_reportable_aggregated_data.json",
    "people_reportable_aggregates.parquet",
    "people_reportable_aggregates.tsv",
}
#: What only one mode releases, by stage.
_RELEASED_BY = {
    "fitted": {"--aggregate": {"people_noisy_tables.parquet"}},
    "aggregate_seeded": {"--evaluate": {"people_synthetic_aggregates.tsv"}},
}


@pytest.mark.parametrize("mode", ["fitted", pytest.param("aggregate_seeded", marks=pytest.mark.slow)])
def test_each_stage_publishes_what_then_exists_as_a_run_of_the_same_vintage(mode, tmp_path):
    path = configuration_file(tmp_path, synthesis_mode=mode)
    home = tmp_path / "out" / "release" / "people"
    expected = set(_AGGREGATES)
    stages = {
        "--aggregate": set(),
        "--generate": {"people_synthetic_microdata.tsv"},
        "--evaluate": {"evaluation.json"},
        "--navigate": {"people_data_showcase.html", "people_data_showcase.pbit"},
    }
    for number, (flag, more) in enumerate(stages.items(), start=1):
        expected |= more | _RELEASED_BY[mode].get(flag, set())
        assert command.main(["run", flag, str(path)]) == 0
        assert {file.name for file in (home / f"2026-11-{number}").iterdir()} == expected
        assert (home / "latest").resolve().name == f"2026-11-{number}"
        sensitive = tmp_path / "out" / "sensitive" / "people"
        assert list(sensitive.glob("*/aggregate/people_sensitive_rare_by_length.svg"))
        assert bool(list(sensitive.glob("*/evaluation"))) == (number >= 3)
    assert_whole(tmp_path)
    assert phases() == ["commit"]


@pytest.mark.parametrize(
    ("flags", "last"),
    [
        ([], "navigate"),
        (["--aggregate"], "aggregate"),
        (["--agg"], "aggregate"),
        (["--gen", "-v"], "generate"),
        (["--generate", "--aggregate", "--v"], "generate"),
        (["--eval", "--verbose"], "evaluate"),
        (["--evaluate"], "evaluate"),
        (["--nav"], "navigate"),
        (["--navigate", "--agg"], "navigate"),
    ],
)
def test_sds_spellings_of_the_flags(flags, last):
    options = parse_command_line(["run", *flags, "x.json"])
    named = [stage for stage in STAGES if getattr(options, stage)] or list(STAGES)
    assert named[-1] == last
    assert options.verbose == any(flag in ("-v", "--v", "--verbose") for flag in flags)


def test_parallel_datasets_of_one_workspace_do_not_meet(tmp_path, own_ledger):
    paths = []
    for name in ("one", "two"):
        reason = ["--reason", "other people, for a test"]
        assert command.main(["ledger", name, "--cap", "20", "1e-5", *reason]) == 0
        configuration_file(tmp_path, dataset=name)
        paths.append((tmp_path / "people.json").rename(tmp_path / f"{name}.json"))
    runs = [Run(tmp_path, ["run", "--agg", str(path)]) for path in paths]
    assert Counter(run.finish() for run in runs) == {0: 2}, [run.said for run in runs]
    for name in ("one", "two"):
        assert phases(name) == ["commit"]
        assert releases(tmp_path, name) == ["2026-11-1", "latest"]
        assert_whole(tmp_path, name)
    assert os.environ["MARGINALIA_LEDGER"] == str(own_ledger)
