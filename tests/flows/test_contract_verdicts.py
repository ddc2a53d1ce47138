"""What a release says of its data contract: in ``contract.json`` and on the page."""

from pathlib import Path

import pytest

from flows.command import main as command
from tests.flows import pipeline
from tests.flows.processes import configured

pytestmark = pytest.mark.server


def test_a_k_anonymous_release_holds_the_verdicts_of_a_contract_that_repairs(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    contract = pipeline.contract(tmp_path, "town", ["Aberwick", "Brenmoor"], least_rows=50)
    changes = {"use_columns": ["town"], "multi_value_columns": {}, "bins": {}, "domains": {}}
    configuration = pipeline.prepared_anonymous(
        tmp_path, contract=contract, contract_mode="repair", sensitive_zeros=[], **changes
    )
    release = pipeline.run(configuration)
    body = pipeline.json_of(release / "contract.json")
    assert body["mode"] == "repair"
    assert {entry["rule"]: entry["verdict"] for entry in body["rules"]} == {
        "every record has a subject id": "enforced",
        "at least 50 records": "passed",
        "town: every value is one of those listed": "enforced",
    }
    entries = {entry["file"]: entry for entry in pipeline.json_of(release / "MANIFEST.json")["files"]}
    assert "released numbers" in entries["contract.json"]["made_from"]
    assert entries["expectations.json"]["protection"] == "none: public"
    assert "synthetic" not in " ".join(entries["expectations.json"]["parents"])
    suite = pipeline.json_of(release / "expectations.json")
    assert {"column": "town", "value_set": ["Aberwick", "Brenmoor"]} in [
        expectation["kwargs"] for expectation in suite["expectations"]
    ]
    assert "town: every value is one of those listed" in (release / "people_data_showcase.html").read_text()
    assert "blanked or replaced" in pipeline.json_of(release / "privacy.json")["contract"]["sentence"]


def test_a_table_that_can_not_be_read_stops_the_draw_and_is_counted_by_the_ledger(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    from tasks.core.ledger.ledger import open_ledger

    path = str(configured(tmp_path))
    pipeline.write(tmp_path / "people.csv", pipeline.rows(300))
    with (tmp_path / "people.csv").open("ab") as file:
        file.write(b"p1,Aberwick,33\n")
    assert command.main(["run", "--agg", path]) == 2
    (stop,) = open_ledger().stops("people")
    assert (stop.vintage, stop.why) == ("2026-11", "unread")
    assert "Aberwick" not in str([entry.body for entry in open_ledger().entries()])
