"""OpenLineage events: off by default; START, COMPLETE and FAIL by the standard client; nothing sensitive."""

import json
import os

import pytest

from tasks import events
from tasks.core.lineage import Lineage
from tasks.events import announce_release, collect_events, is_configured

FILES = [
    {"file": "a.tsv", "sha256": "aa", "bytes": 7, "rows": 3, "parents": ["measurement"]},
    {"file": "a.parquet", "sha256": "bb", "bytes": 9, "rows": 3, "parents": ["measurement"]},
    {"file": "people_data_showcase.html", "sha256": "cc", "bytes": 99, "parents": ["a.tsv"]},
]
LINEAGE = Lineage.of_manifest(
    {"dataset": "people", "vintage": "1", "files": FILES}, {"sha256": "mm"}, has_contract=False
)


@pytest.fixture(autouse=True)
def nobody_collects(monkeypatch):
    for name in list(os.environ):
        if name.startswith("OPENLINEAGE"):
            monkeypatch.delenv(name)


@pytest.fixture
def log(tmp_path, monkeypatch):
    path = tmp_path / "events.ndjson"
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(path))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    return path


def test_nothing_is_sent_where_nobody_collects(monkeypatch):
    assert not is_configured()
    monkeypatch.setattr(events, "RunEvents", None)  # would fail if it were made
    with collect_events("people"):
        announce_release(LINEAGE, "1-1")
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    assert not is_configured()


def test_a_run_and_what_it_released(log):
    with collect_events("people"), collect_events("people"):  # a flow in a flow is one run
        announce_release(LINEAGE, "1-1")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    jobs = [(event["job"]["name"], event["eventType"]) for event in events]
    assert jobs == [
        ("people", "START"),
        ("people.a.tsv", "START"),
        ("people.a.tsv", "COMPLETE"),
        ("people.people_data_showcase.html", "START"),
        ("people.people_data_showcase.html", "COMPLETE"),
        ("people", "COMPLETE"),
    ]
    assert (
        events[0]["run"]["runId"]
        == events[-1]["run"]["runId"]
        == events[1]["run"]["facets"]["parent"]["run"]["runId"]
    )
    made = events[2]
    assert [each["name"] for each in made["inputs"]] == ["people/measurement"]
    assert [each["name"] for each in made["outputs"]] == ["people/1-1/a.tsv", "people/1-1/a.parquet"]
    told = made["outputs"][0]
    assert told["outputFacets"]["outputStatistics"]["rowCount"] == 3
    assert told["facets"]["version"]["datasetVersion"] == "aa"
    assert [each["name"] for each in events[4]["inputs"]] == ["people/1-1/a.tsv"]
    assert len(events[-1]["outputs"]) == 3
    (table,) = events[-1]["inputs"]
    assert table["name"] == "people/sensitive table" and not table.get("facets")


def test_a_run_that_fails_says_why(log):
    with pytest.raises(ValueError), collect_events("people"):
        raise ValueError("The table must be there.")
    start, fail = [json.loads(line) for line in log.read_text().splitlines()]
    assert (start["eventType"], fail["eventType"]) == ("START", "FAIL")
    assert fail["run"]["facets"]["errorMessage"]["message"] == "The table must be there."


def test_an_endpoint_that_does_not_answer_is_told_once_and_stops_nothing(monkeypatch, capfd):
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "http")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__URL", "http://key:secret@127.0.0.1:9")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__RETRY", json.dumps({"total": 0}))
    with collect_events("people"):
        announce_release(LINEAGE, "1-1")
    told = capfd.readouterr().err
    assert told.count("could not be sent as OpenLineage events") == 1 and "secret" not in told
