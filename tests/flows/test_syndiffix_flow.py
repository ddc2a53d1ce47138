"""SynDiffix as a flow: what is released, what is done again, what is left by a kill, what appears nowhere."""

import json
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.command import main as command
from flows.measure import measure
from tasks.configuration.flat_file import from_flat
from tasks.core.errors import InputError, ParameterError
from tests.flows import pipeline, visits
from tests.flows.processes import Blow, Run, assert_whole, releases, unfinished
from tests.flows.server_objects import known, steps_done, text_of_everything
from tests.flows.whole_runs import fresh_name

pytestmark = pytest.mark.server

LABEL = "SynDiffix, not differentially private"
COLUMNS = ["town", "age", "income", "visited", "smoker"]
#: Steps that no cache knows.
ALWAYS = {
    "locate_table",
    "hand_over_tables",
    "state_tables",
    "publish_release",
    "summarise_release",
    "record_lineage",
}
#: A few columns need no dependence: the shortest run.
FEW = {"columns": ["town", "age"]}


def table_of(release: Path) -> pa.Table:
    return pq.read_table(release / "visits_synthetic_microdata.parquet")


def test_a_second_run_does_nothing_again_and_a_change_only_what_it_touches(tmp_path, prefect_server):
    dataset = fresh_name("again")

    def done(table=None, section=None, **changes):
        before = known(prefect_server, dataset)
        pipeline.run(visits.prepared(tmp_path, table, section, dataset=dataset, **changes))
        return steps_done(prefect_server, dataset, before, "evaluate_tables")

    first = done()
    made = {"type_columns", "measure_dependence", "solve_clusters", "synthesize_cluster", "stitch_clusters"}
    assert first == ALWAYS | made | {"write_table_page", "write_release_files", "evaluate_tables"}
    release = pipeline.tree(tmp_path / "out" / "release" / dataset / "latest")
    assert done() == ALWAYS
    assert pipeline.tree(tmp_path / "out" / "release" / dataset / "latest") == release
    assert done(report_title="Another title") == ALWAYS | {"write_table_page", "write_release_files"}
    subset = done(section=FEW)
    assert "type_columns" not in subset and "measure_dependence" not in subset
    assert made - {"type_columns", "measure_dependence"} < subset
    assert "type_columns" not in done(section={"low_threshold": 4})
    assert done(visits.rows(200)) >= made


def test_the_contract_may_say_whose_the_rows_are(tmp_path, capfd):
    (tmp_path / "promised").mkdir()
    every = {"columns": []}
    under = visits.prepared(tmp_path, section=every, contract=visits.contract(tmp_path))
    given = pipeline.run(under, "generate")
    visits.prepared(tmp_path / "promised")
    flat = visits.flat(tmp_path / "promised", every)
    flat |= {"subject_id": None, "contract": visits.contract(tmp_path / "promised", subject_id="person")}
    promised = pipeline.run(from_flat(flat), "generate")
    assert table_of(promised).equals(table_of(given))
    assert pipeline.json_of(promised / "privacy.json")["guarantee"]["ids"] == ["person"]
    assert "no subject_id is given" not in capfd.readouterr().err
    with pytest.raises(ParameterError, match="'household' in the configuration and 'person' in the contract"):
        pipeline.run(from_flat(flat | {"subject_id": "household"}))


def test_a_pair_that_was_measured_is_taken_from_what_is_known(tmp_path):
    pipeline.run(visits.prepared(tmp_path), "generate")
    (path,) = (tmp_path / "out" / "sensitive" / "visits" / "dependence").glob("*.json")
    stored = {tuple(row[:2]): row[4] for row in pipeline.json_of(path)}
    assert len(stored) == 10
    marked = [[*row[:4], 0.123] if row[:2] == ["town", "smoker"] else row for row in pipeline.json_of(path)]
    path.write_text(json.dumps(marked))
    pipeline.run(visits.prepared(tmp_path, section={"columns": [*COLUMNS, "household"]}), "generate")
    again = {tuple(row[:2]): row[4] for row in pipeline.json_of(path)}
    assert len(again) == 15 and (stored | {("town", "smoker"): 0.123}).items() <= again.items()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, prefect_server):
    """A ledger, and what is released with its salt if nothing happens."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MARGINALIA_LEDGER", str(folder / "ledger"))
        release = pipeline.run(visits.prepared(folder, section=FEW))
    return folder / "ledger", table_of(release)


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(("mkdir", r"/\.cluster-1-"), marks=pytest.mark.slow),
        ("rename", r"/cluster-1$"),
        pytest.param(("mkdir", r"/\.synthetic_table-"), marks=pytest.mark.slow),
        ("mkdir", r"/\.\.candidate-"),
    ],
)
def test_a_run_that_is_killed_is_taken_up_and_gives_the_same_release(
    point, undisturbed, tmp_path, monkeypatch
):
    ledger, expected = undisturbed
    monkeypatch.setenv("MARGINALIA_LEDGER", str(ledger))
    configuration = visits.prepared(tmp_path, section=FEW)
    path = pipeline.saved(tmp_path, visits.flat(tmp_path, FEW))
    killed = Run(tmp_path, ["run", path], Blow(signal.SIGKILL, *point))
    assert killed.finish() == -signal.SIGKILL, killed.said
    assert releases(tmp_path, "visits") == []
    release = pipeline.run(configuration)
    assert releases(tmp_path, "visits") == ["2026-11-1", "latest"]
    assert_whole(tmp_path, "visits")
    assert unfinished(tmp_path) == []
    assert table_of(release).equals(expected), "all follows from table, salt and settings"


def test_several_ids_none_and_earlier_releases_are_told(tmp_path, capfd):
    both = visits.prepared(tmp_path, section=FEW, subject_id=["person", "household"])
    stated = pipeline.json_of(pipeline.run(both, "generate") / "privacy.json")
    assert stated["guarantee"]["ids"] == ["person", "household"]
    none = visits.prepared(tmp_path, section=FEW, subject_id=None, vintage="2026-12")
    release = pipeline.run(none)
    stated = pipeline.json_of(release / "privacy.json")
    assert (stated["guarantee"]["unit"], stated["earlier_releases"]) == ("row", 1)
    page = (release / "visits_data_showcase.html").read_text()
    assert "People with several rows are not protected" in page.replace("\n", " ")
    assert "1 release of this dataset with other content was found in this workspace" in page
    pipeline.run(both, "generate")  # of an older vintage: ``latest`` stays where it is
    (older,) = release.parent.glob("2026-11-*")
    again = pipeline.json_of(older / "privacy.json")
    assert again["earlier_releases"] == 0, "what is released again keeps its number"
    finer = visits.prepared(tmp_path, section=FEW | {"low_threshold": 4}, subject_id=["person", "household"])
    pipeline.run(finer, "generate")
    (added,) = set(release.parent.glob("2026-11-*")) - {older}
    stated = pipeline.json_of(added / "privacy.json")
    assert stated["earlier_releases"] == 2, "other content under a known vintage is a further release"
    capfd.readouterr()
    without_page = pipeline.run(none, last="generate")
    assert "This release has no page" in capfd.readouterr().err
    assert pipeline.json_of(without_page / "privacy.json")["earlier_releases"] == 1


def test_a_second_name_for_a_table_is_refused_by_check_batch_and_run(tmp_path, own_ledger, capfd):
    """Before anything is read: what a salt was used for is public."""
    pipeline.write(tmp_path / "visits.csv", visits.rows(100), visits.HEADER)
    section = {"columns": ["town", "smoker"]}
    bodies = [visits.flat(tmp_path, section, dataset=name) for name in ("visits", "visits again")]
    runs = {"g": [{"name": "a"}, {"name": "b", "dataset": "visits again"}]}
    assert command.main(["batch", pipeline.saved(tmp_path, {"base_config": bodies[0], "runs": runs})]) == 2
    assert not list(own_ledger.rglob("*.salt"))
    assert "which has a salt already" in capfd.readouterr().err
    first, again = (pipeline.saved(tmp_path, body, f"{body['dataset']}.json") for body in bodies)
    assert command.main(["run", "--agg", first]) == 0
    for words in (["check"], ["run", "--agg"]):
        assert command.main([*words, again]) == 2
        assert "which has a salt already" in capfd.readouterr().err
    assert len(list(own_ledger.rglob("*.salt"))) == 1
    assert command.main(["ledger", "visits again", "--reason", "other people"]) == 0
    assert command.main(["run", "--agg", again]) == 0
    assert len(list(own_ledger.rglob("*.salt"))) == 2


def test_a_private_release_of_the_same_dataset_is_told_and_goes_on(tmp_path, capfd):
    private = pipeline.prepared(tmp_path, dataset="visits")
    pipeline.run(private, "aggregate")
    pipeline.run(visits.prepared(tmp_path, section=FEW, vintage="2026-12"), "generate")
    assert "also has differentially private releases" in capfd.readouterr().err
    pipeline.run(private.model_copy(update={"vintage": "2027-01"}), "aggregate")


def released(folder: Path, section: dict[str, object], table: list[list[str]] | None = None) -> pa.Table:
    """What is released in a folder's workspace."""
    folder.mkdir(exist_ok=True)
    return table_of(pipeline.run(visits.prepared(folder, table, section), "generate"))


def test_trees_of_another_salt_or_of_lower_thresholds_are_not_found(tmp_path, monkeypatch):
    strict = {**FEW, "low_threshold": 30}
    ways = [("one", FEW), ("other", FEW), ("other", strict)]

    def synthesized(workspace: str, ledger: str, section: dict[str, object]) -> pa.Table:
        monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / ledger))
        return released(tmp_path / workspace, section)

    alone = [synthesized(f"alone-{number}", *way) for number, way in enumerate(ways)]
    # One after the other: neither files nor what this process holds may be another's.
    assert [synthesized("shared", *way) for way in ways] == alone


def test_trees_of_public_values_are_not_found_once_values_are_no_longer_public(tmp_path):
    rare = [[row[0], f"Rare {n}", *row[2:]] if n < 40 else row for n, row in enumerate(visits.rows())]
    # A cluster without the public column is drawn from a forest that has it.
    section = {"columns": ["town", "age", "smoker"], "clustering": "none"}
    alone = released(tmp_path / "other", section, rare)
    public = released(tmp_path, {**section, "value_safe_columns": ["town"]}, rare)
    assert "Rare" in str(public["town"].unique()), "what is public may be shown"
    assert released(tmp_path, section, rare).equals(alone)


def test_trees_of_another_subset_of_the_columns_are_found_and_those_of_another_table_go(tmp_path):
    def trees() -> dict[Path, int]:
        found = (tmp_path / "out" / "sensitive" / "visits" / "trees").rglob("*.npz")
        return {path: path.stat().st_mtime_ns for path in found}

    released(tmp_path, {"columns": COLUMNS[:3]})
    first = trees()
    assert len([path for path in first if ".tree." in path.name]) == 7
    released(tmp_path, {"columns": COLUMNS[:2] + COLUMNS[3:4]})
    second = trees()
    assert first.items() < second.items(), "what was there is as it was"
    assert len([path for path in second if ".tree." in path.name]) == 11
    released(tmp_path, {"columns": COLUMNS[:3]}, visits.rows(200))
    assert len({path.parent for path in trees()}) == 1 and not trees().keys() & first.keys()


def test_a_ledger_among_the_outputs_another_flow_and_an_empty_table_are_refused(
    tmp_path, own_ledger, monkeypatch
):
    with pytest.raises(ParameterError, match="Run the flow syndiffix"):
        measure(visits.prepared(tmp_path))
    monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / "out" / "release" / "ledger"))
    with pytest.raises(ParameterError, match="apart from the outputs"):
        pipeline.run(visits.prepared(tmp_path))
    assert not list(tmp_path.rglob("*.salt"))
    monkeypatch.setenv("MARGINALIA_LEDGER", str(own_ledger))
    with pytest.raises(InputError, match="must hold rows"):
        pipeline.run(visits.prepared(tmp_path, []))


@pytest.mark.parametrize("header", ["zqxheader", "zqxheader,'zqxheader'"])
def test_a_header_that_nobody_declared_is_told_on_the_terminal_alone(tmp_path, prefect_server, header):
    names, dataset = header.split(","), fresh_name("headers")
    columns = [pa.array([1.5, float("inf")] * 100) for _ in names]
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table([pa.array([1, 2] * 100), *columns], names=["age", *names]), path)
    changes = {"sensitive_microdata_path": str(path), "subject_id": None, "syndiffix": {}}
    with pytest.raises(InputError) as raised:
        pipeline.run(from_flat(visits.flat(tmp_path, dataset=dataset, **changes)))
    assert "zqx" not in str(raised.value)
    assert "zqx" in raised.value.operator_detail or "Columns 2 and 3" in str(raised.value)
    assert "zqx" not in text_of_everything(prefect_server, dataset)
