"""A whole run under a contract with constraints: its records hold them, and it says so (W20, W22)."""

from pathlib import Path

import pytest

from tasks.configuration_file import from_flat
from tasks.core.errors import ParameterError
from tasks.describe import describe
from tests.flows import pipeline

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: people
version: 1.0.0
status: active
schema:
  - name: people
    customProperties:
      - {property: subjectId, value: person}
      - property: structuralZeros
        value: [{age: ["<40"], work: [retired]}, {services: [pool], sex: [m]}]
      - property: functionalDependencies
        value: [{from: town, to: shire, values: {Aberwick: north, Brenmoor: south}, otherwise: far}]
    properties:
      - {name: person}
      - {name: town}
      - {name: shire, required: true}
      - {name: age, logicalType: integer, customProperties: [{property: bins, value: [0, 18, 40, 65]}]}
      - {name: sex}
      - name: services
        logicalType: array
        logicalTypeOptions: {maxItems: 2}
        customProperties: [{property: delimiter, value: ";"}]
      - {name: work}
"""
SHIRES = {"Aberwick": "north", "Brenmoor": "south"}


def flat(folder: Path, **changes: object) -> dict[str, object]:
    """The configuration, with a table that breaks all of it: young retired, men at the pool, wrong shires."""
    rows = [[row[0], row[1], "nowhere", *row[2:]] for row in pipeline.rows()]
    for row in rows[::7]:
        row[-1] = "retired"
    header = ("person", "town", "shire", *pipeline.HEADER[2:])
    pipeline.write(folder / "people.csv", rows, header)
    (folder / "contract.yaml").write_text(CONTRACT, encoding="utf-8")
    body = pipeline.flat(folder, contract=str(folder / "contract.yaml"), synthesis_mode="fitted")
    for key in ("subject_id", "multi_value_columns", "max_items", "bins", "sensitive_zeros"):
        del body[key]
    return body | changes


@pytest.mark.server
def test_w22_a_run_holds_what_the_contract_says_and_tells_it(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    release = pipeline.run(from_flat(flat(tmp_path)))
    header, rows = pipeline.microdata(release)
    assert header[-1] == "shire" and len(rows) > 300
    for row in rows:
        record = dict(zip(header, row, strict=True))
        assert record["shire"] == SHIRES.get(record["town"], "far")
        assert record["work"] != "retired" or record["age"] not in ("<0", "[0,18)", "[18,40)")
        assert record["sex"] != "m" or record["services_pool"] != "1"
    statement = pipeline.json_of(release / "privacy.json")
    contract = pipeline.json_of(release / "contract.json")
    assert statement["constraints"]["sha256"] == contract["sha256"]
    assert (
        statement["constraints"]["rules"][0]
        == "shire follows from town; what the table holds in it was not counted."
    )
    assert all("shire" not in table["columns"] for table in statement["tables"])
    assert "constraint" in statement["prepared"]
    assert "nowhere" not in "".join(path.read_text(errors="replace") for path in release.rglob("*.*"))


def test_a_mode_without_constraints_says_that_they_have_no_effect(tmp_path: Path) -> None:
    fitted = describe(from_flat(flat(tmp_path)))
    other = describe(from_flat(flat(tmp_path, synthesis_mode="aggregate_seeded")))
    assert fitted.schema.constraints and not other.schema.constraints
    assert not any("here it has no effect" in note for note in fitted.notes)
    assert any("here it has no effect" in note for note in other.notes)


@pytest.mark.parametrize("changes", [{"target": "shire"}, {"workload": [["sex", "shire"]]}])
def test_a_column_that_another_one_decides_is_in_no_workload(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    with pytest.raises(ParameterError, match="workload and target can't name 'shire'"):
        describe(from_flat(flat(tmp_path, **changes)))
