"""A small table and a whole run of it, in a folder of a test's own."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from flows.command import main as command
from flows.command.run import run_showcase
from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration

#: Of synthesis, under k-anonymity.
MODES = ("row_seeded", "unseeded", "value_seeded", "aggregate_seeded")
ROOT = Path(__file__).resolve().parents[2]
HEADER = ("person", "town", "age", "sex", "services", "work")
_TOWNS = ("Aberwick", "Brenmoor", "Caldwell", "Dunsford")
_SERVICES = ("library", "pool", "clinic")
_WORK = ("employed", "retired", "student")


def rows(number: int = 600, seed: int = 1) -> list[list[str]]:
    """People: an id, an open and a declared column, a binned one, a multi-valued one, one with gaps."""
    generator = np.random.default_rng(seed)
    found = []
    for person in range(number):
        age = int(generator.integers(0, 95))
        services = [name for name in _SERVICES if generator.random() < 0.4]
        work = "" if generator.random() < 0.1 else _WORK[0 if age < 65 else 1]
        town = _TOWNS[int(generator.integers(0, 4))]
        found.append([f"p{person:05}", town, str(age), "mf"[age % 2], ";".join(services), work])
    return found


def write(path: Path, table: Sequence[Sequence[object]], header: Sequence[str] = HEADER) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(table)
    return path


def flat(folder: Path, **changes: Any) -> dict[str, Any]:
    """The configuration of that table as a flat dictionary."""
    body: dict[str, Any] = {
        "sensitive_microdata_path": str(folder / "people.csv"),
        "subject_id": "person",
        "multi_value_columns": {"services": ";"},
        "max_items": {"services": 2},
        "bins": {"age": [0, 18, 40, 65]},
        "domains": {"sex": ["m", "f"]},
        "sensitive_zeros": ["age"],
        "reporting_length": 2,
        "dp_aggregates": True,
        "noise_epsilon": 6.0,
        "dataset": "people",
        "vintage": "2026-11",
        "prefix": "people",
        "output_dir": str(folder / "out"),
        "privacy": {"cap": {"epsilon": 20, "delta": 1e-5, "population": "people of a test"}},
    }
    return body | changes


def anonymous(folder: Path, **changes: Any) -> dict[str, Any]:
    """The same table under k-anonymity: no caps, no budget, and the age as it is binned."""
    body = flat(folder)
    for key in ("dp_aggregates", "noise_epsilon", "privacy", "max_items"):
        del body[key]
    return body | {"reporting_resolution": 10, "reporting_length": 3} | changes


def prepared_anonymous(
    folder: Path, table: Sequence[Sequence[str]] | None = None, **changes: Any
) -> RunConfiguration:
    """Write the table and return its configuration under k-anonymity."""
    write(folder / "people.csv", rows() if table is None else table)
    return from_flat(anonymous(folder, **changes))


def prepared(folder: Path, table: Sequence[Sequence[str]] | None = None, **changes: Any) -> RunConfiguration:
    """Write the table and return its configuration."""
    write(folder / "people.csv", rows() if table is None else table)
    return from_flat(flat(folder, **changes))


def contract(
    folder: Path,
    column: str,
    values: Sequence[str] = (),
    least_rows: int | None = None,
    others: Sequence[dict[str, Any]] = (),
    subject_id: str = "",
) -> str:
    """Write a data contract on one column; return its path.

    Args:
        folder: where to.
        column: its name.
        values: the only ones that it may have, if there are any.
        least_rows: how many rows there must be.
        others: further columns.
        subject_id: whose the rows are, if it says so.
    """
    valid = {"metric": "invalidValues", "mustBe": 0, "arguments": {"validValues": list(values)}}
    rows = {"metric": "rowCount", "mustBeGreaterOrEqualTo": least_rows}
    table = {
        "name": "people",
        "quality": [rows] if least_rows is not None else [],
        "properties": [{"name": column, "quality": [valid] if values else []}, *others],
        "customProperties": [{"property": "subjectId", "value": subject_id}] if subject_id else [],
    }
    head = {"apiVersion": "v3.1.0", "kind": "DataContract", "id": "people", "version": "1.0.0"}
    path = folder / "contract.yaml"
    path.write_text(yaml.safe_dump(head | {"status": "active", "schema": [table]}), encoding="utf-8")
    return str(path)


def contract_of_people(
    folder: Path, values: Sequence[str] = (), least_rows: int | None = None, subject_id: str = ""
) -> str:
    """Write a contract on all of that table, with these values of the sex; return its path."""
    delimiter = {"property": "delimiter", "value": ";"}
    items = {"name": "services", "logicalType": "array", "customProperties": [delimiter]}
    others = [{"name": name} for name in ("person", "town", "age", "work")]
    return contract(folder, "sex", values, least_rows, [*others, items], subject_id)


def saved(folder: Path, body: dict[str, Any], name: str = "configuration.json") -> str:
    """Write the file of a run or of a batch; return its path."""
    (folder / name).write_text(json.dumps(body), encoding="utf-8")
    return str(folder / name)


def checked(folder: Path, capture: pytest.CaptureFixture[str], body: dict[str, Any], code: int = 0) -> str:
    """What check prints of a configuration: of one that it refuses, the errors."""
    path = saved(folder, body)
    capture.readouterr()
    assert command.main(["check", path]) == code
    printed = capture.readouterr()
    return printed.err if code else printed.out


def run(configuration: RunConfiguration, last: str = "navigate") -> Path:
    """Run the whole job as the command does; return the newest release's folder."""
    run_showcase(configuration, (last,), verbose=False)
    return latest(configuration)


def latest(configuration: RunConfiguration) -> Path:
    return (Path(configuration.output_dir) / "release" / configuration.dataset / "latest").resolve()


def microdata(release: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the released records."""
    lines = (release / "people_synthetic_microdata.tsv").read_text().splitlines()
    header, *body = [line.split("\t") for line in lines]
    return header, body


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
