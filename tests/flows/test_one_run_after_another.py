"""What a further run says and where it puts things: a changed table, another dataset, a useless k."""

import json
from pathlib import Path
from typing import Any

import pytest

from flows.command import main as command
from tests.flows import pipeline

pytestmark = pytest.mark.usefixtures("own_ledger", "prefect_server")
CHANGED = "the table has changed since a run measured it"


def told(folder: Path, capfd: pytest.CaptureFixture[str], **changes: Any) -> str:
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
