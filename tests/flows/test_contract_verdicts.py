"""What a release says of its data contract: in ``contract.json`` and on the page."""

from pathlib import Path

import pytest

from tests.flows import pipeline

pytestmark = pytest.mark.server

CONTRACT = """
apiVersion: v3.1.0
kind: DataContract
id: people
name: people
version: 1.0.0
status: active
schema:
  - name: people
    quality:
      - {metric: rowCount, mustBeGreaterOrEqualTo: 50}
    properties:
      - name: town
        quality:
          - metric: invalidValues
            mustBe: 0
            arguments:
              validValues: [Aberwick, Brenmoor]
"""


def test_a_k_anonymous_release_holds_the_verdicts_of_a_contract_that_repairs(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    contract = tmp_path / "contract.yaml"
    contract.write_text(CONTRACT)
    changes = {"use_columns": ["town"], "multi_value_columns": {}, "bins": {}, "domains": {}}
    configuration = pipeline.prepared_anonymous(
        tmp_path, contract=str(contract), contract_mode="repair", sensitive_zeros=[], **changes
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
    assert "town: every value is one of those listed" in (release / "report.html").read_text()
    assert "blanked or replaced" in pipeline.json_of(release / "privacy.json")["contract"]["sentence"]
