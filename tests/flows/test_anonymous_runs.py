"""Runs under k-anonymity: what is counted, done again, told and stopped."""

import json

import pytest

from flows.command import main as command
from tests.flows import pipeline
from tests.flows.server_objects import known, steps_done
from tests.flows.whole_runs import fresh_name

pytestmark = pytest.mark.server
CHANGED = "the table has changed since a run measured it"


def test_rows_of_one_subject_count_once_whether_they_are_alike_or_not(tmp_path):
    doubled = [row for row in pipeline.rows() for _ in range(2)]
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path, doubled), last="aggregate")
    assert "record_count\t600" in (release / "people_reportable_aggregates.tsv").read_text()
    another = [*doubled, ["p00007", "zqxtown77", "1", "m", "", ""]]
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path, another, dataset="others"), last="aggregate")
    assert "record_count\t600" in (release / "people_reportable_aggregates.tsv").read_text()


@pytest.mark.parametrize("mode", ["row_seeded", "aggregate_seeded"])
def test_fewer_records_than_the_resolution_give_an_empty_release(mode, tmp_path):
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path, pipeline.rows(7), synthesis_mode=mode))
    assert (release / "people_data_showcase.html").exists()
    assert pipeline.microdata(release)[1] == []
    assert "record_count\t0" in (release / "people_reportable_aggregates.tsv").read_text()


def test_a_second_run_does_again_nothing_that_is_current_and_a_change_only_what_it_touches(
    tmp_path, prefect_server
):
    dataset = fresh_name("again")

    def done(table=None, **changes):
        before = known(prefect_server, dataset)
        pipeline.run(pipeline.prepared_anonymous(tmp_path, table, dataset=dataset, **changes))
        return steps_done(prefect_server, dataset, before, "evaluate_against_raw")

    always = {
        "locate_table",
        "hand_over_counts",
        "state_privacy",
        "publish_release",
        "summarise_release",
        "record_lineage",
    }
    first = done()
    assert always < first
    assert done() == always
    assert done(report_title="Another title") == always | {"write_page", "write_release_files"}
    again = done(synthesis_mode="unseeded")
    assert "generate_from_records" in again
    assert not again & {"encode_records", "count_records", "round_counts"}
    assert done(pipeline.rows(500)) == first


def told(folder, capfd, **changes):
    """What a run up to the aggregate stage says."""
    body = pipeline.anonymous(folder, **changes)
    (folder / "configuration.json").write_text(json.dumps(body))
    capfd.readouterr()
    assert command.main(["run", str(folder / "configuration.json"), "--aggregate"]) == 0
    return capfd.readouterr().err


@pytest.mark.parametrize("private", [False, True])
def test_a_changed_table_is_told_of_only_where_a_release_follows_from_the_change(tmp_path, capfd, private):
    settings = {"dp_aggregates": True, "noise_epsilon": 1, "max_items": {"services": 2}} if private else {}
    settings |= {"use_columns": ["town", "sex", "services"]}
    if private:
        settings |= {"reporting_resolution": None}
    table = pipeline.rows(300)
    settings |= {"bins": None, "sensitive_zeros": None}
    path = pipeline.write(tmp_path / "people.csv", table)
    assert CHANGED not in told(tmp_path, capfd, **settings)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert CHANGED not in told(tmp_path, capfd, **settings)
    pipeline.write(path, [[*row[:5], "other"] for row in table])  # a column that is not used
    assert CHANGED not in told(tmp_path, capfd, **settings)
    pipeline.write(path, table[20:])
    assert CHANGED in told(tmp_path, capfd, **settings)


def test_what_belongs_to_another_dataset_lies_in_its_own_folder(tmp_path, capfd):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(300))
    for dataset in ("one", "two"):
        told(tmp_path, capfd, dataset=dataset)
    for zone, name in (("sensitive", "coded_records"), ("intermediate", "")):
        made = {
            dataset: {path.name for path in (tmp_path / "out" / zone / dataset).glob(f"*/{name or '*'}")}
            for dataset in ("one", "two")
        }
        assert made["one"] == made["two"] != set()


def test_a_resolution_of_1_and_one_above_all_records_are_told_of(tmp_path, capfd):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(50))
    said = told(tmp_path, capfd, reporting_resolution=1, vintage="1")
    assert "ATTENTION: reporting_resolution is 1, which is no protection at all" in said
    manifest = json.loads((tmp_path / "out" / "release" / "people" / "1-1" / "MANIFEST.json").read_text())
    assert any("none at all" in entry["protection"] for entry in manifest["files"])
    assert not any("k-anonymity" in entry["protection"] for entry in manifest["files"])
    for number, resolution in enumerate((51, 10**30), start=2):
        said = told(tmp_path, capfd, reporting_resolution=resolution, vintage=str(number))
        assert "is above the number of records" in said
        released = tmp_path / "out" / "release" / "people" / f"{number}-1"
        (counts,) = released.glob("*_reportable_aggregates.tsv")
        assert counts.read_text().splitlines() == ["selections\tprotected_count", "record_count\t0"]
