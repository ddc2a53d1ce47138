"""A whole run under a contract with constraints: its records hold them, and it says so (W20, W22)."""

from pathlib import Path

import pytest

from tasks.configuration.flat_file import from_flat
from tasks.core.errors import ParameterError
from tasks.plan.describe import describe
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
def test_w22_a_run_holds_what_the_contract_says_and_tells_it(tmp_path):
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


def anonymous(folder: Path, **changes: object) -> dict[str, object]:
    """The same under k-anonymity, counted as it is: it breaks every constraint."""
    body = flat(folder) | {"reporting_resolution": 10, "reporting_length": 3, "contract_mode": "repair"}
    for key in ("dp_aggregates", "noise_epsilon", "privacy"):
        del body[key]
    return body | changes


@pytest.mark.server
def test_under_k_anonymity_fitted_records_hold_it_and_counts_stay_as_they_are(tmp_path):
    release = pipeline.run(from_flat(anonymous(tmp_path)))
    header, rows = pipeline.microdata(release)
    assert "shire" in header and len(rows) == 600
    held = [dict(zip(header, row, strict=True)) for row in rows]
    for record in held:
        assert record["shire"] == SHIRES.get(record["town"], "far")
        assert record["work"] != "retired" or record["age"] not in ("<0", "[0,18)", "[18,40)")
        assert record["sex"] != "m" or record["services_pool"] != "1"
    # What was reported is of the table: the same under a mode that holds no constraint.
    name = "people_reportable_aggregates.tsv"
    counts = (release / name).read_bytes()
    assert b"shire:nowhere" in counts and b"north" not in counts
    other = pipeline.run(from_flat(anonymous(tmp_path, synthesis_mode="aggregate_seeded", vintage="other")))
    assert (other / name).read_bytes() == counts
    reported = dict(line.split(b"\t")[:2] for line in counts.splitlines()[1:])
    for town in ("Aberwick", "Caldwell"):
        drawn = sum(record["town"] == town for record in held)
        assert abs(drawn - int(reported[f"town:{town}".encode()])) <= 15
    statement = pipeline.json_of(release / "privacy.json")
    assert statement["constraints"]["rules"][0] == "shire follows from town."
    assert statement["constraints"]["sha256"] == pipeline.json_of(release / "contract.json")["sha256"]
    assert "counts are of the table as it is" in statement["constraints"]["sentence"]
    assert "a constraint brought it in" in statement["synthesis"]["holds"][0]
    assert "Never together: age is" in (release / "people_data_showcase.html").read_text()
    assert "constraints" not in pipeline.json_of(other / "privacy.json")
    drawn = (release / "people_synthetic_aggregates.tsv").read_text()
    assert "shire:north" in drawn and "shire:nowhere" not in drawn


def test_a_mode_without_constraints_says_that_they_have_no_effect(tmp_path):
    fitted = describe(from_flat(flat(tmp_path)))
    other = describe(from_flat(flat(tmp_path, synthesis_mode="aggregate_seeded")))
    assert fitted.schema.constraints and not other.schema.constraints
    assert not any("here it has no effect" in note for note in fitted.notes)
    counted = describe(from_flat(anonymous(tmp_path)))
    assert not counted.schema.constraints
    assert not any("here it has no effect" in note for note in counted.notes)
    assert any("here it has no effect" in note for note in other.notes)


def test_a_column_that_an_open_one_decides_is_warned_of(tmp_path):
    def warned(body: dict[str, object]) -> list[str]:
        return [note for note in describe(from_flat(body)).notes if "'shire' follows from 'town'" in note]

    (told,) = warned(flat(tmp_path))
    assert told.startswith("ATTENTION: ") and "Declare the domain of 'town'" in told
    towns = ["Aberwick", "Brenmoor", "Caldwell", "Dunsford"]
    assert not warned(flat(tmp_path, domains={"sex": ["m", "f"], "town": towns}))
    assert not warned(anonymous(tmp_path))


def test_under_k_anonymity_constraints_that_leave_nothing_are_refused_before_anything_is_read(tmp_path):
    body = anonymous(tmp_path)
    told = (tmp_path / "contract.yaml").read_text().replace("[{age: [", "[{sex: [m, f, ''], age: [")
    (tmp_path / "contract.yaml").write_text(told.replace('["<40"], work: [retired]', '["<40", ">=40", ""]'))
    with pytest.raises(ParameterError, match="must leave"):
        describe(from_flat(body))


@pytest.mark.parametrize("changes", [{"target": "shire"}, {"workload": [["sex", "shire"]]}])
def test_a_column_that_another_one_decides_is_in_no_workload(tmp_path, changes):
    with pytest.raises(ParameterError, match="workload and target can't name 'shire'"):
        describe(from_flat(flat(tmp_path, **changes)))
