"""Whole releases of real tables, made as a person makes them: by the command, on the tables as they are.

A kind is a table and a protection: the demonstration's survey, adult or national2019, each under differential
privacy (fitted, or by lengths), k-anonymity or SynDiffix. Configurations are those of the checkout, changed
as little as a protection needs.
"""

import csv
import fcntl
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from flows.demo_survey import write_survey
from tests.flows.processes import Run

ROOT = Path(__file__).resolve().parents[5]
PROTECTIONS = ("fitted", "lengths", "k_anonymity", "syndiffix")
#: Kinds whose numbers `make test` compares; the others are slow.
QUICK = tuple(f"survey {way}" for way in PROTECTIONS)
KINDS = tuple(f"{table} {way}" for table in ("survey", "adult", "national2019") for way in PROTECTIONS)
K = 10
_RECORDS = {"survey": 10_000, "adult": 49_000, "national2019": 27_000}
#: Of SynDiffix, whose time grows with their number.
_COLUMNS = {
    "survey": ["district:s", "age:i", "housing:s", "work:s", "occupation:s", "commute_minutes:i", "health:s"],
    "adult": ["age:i", "sex:s", "education-num:i", "occupation:s", "income>50K:s"],
    "national2019": ["AGEP:i", "SEX:s", "EDU:s", "OWN_RENT:s", "PINCP:r"],
}
_OF_PRIVACY = ("noise_epsilon", "delta", "privacy")
_OF_SEEDED = ("aggregate_seeded_target_number_of_records", "use_synthetic_counts", "random_seed")
#: Pages as somebody lays them out, with a chart of chosen values.
_LAYOUT = {
    "report_visuals": {"Who rents": ["housing:rented", "housing:social", "age:[18,25)", "work:nobody"]},
    "report_pages": {
        "Homes": ["housing", "household", "Who rents"],
        "Life": ["health", "services", "age", "occupation"],
    },
}


@dataclass(frozen=True)
class Made:
    """A release. Attributes: kind: table and protection. folder: with its files. page: the one to open."""

    kind: str
    folder: Path
    page: Path

    @property
    def protection(self) -> str:
        """How its table was protected."""
        return self.kind.split()[1]

    @property
    def prefix(self) -> str:
        """Of its files."""
        return self.page.name.removesuffix("_data_showcase.html")


def made(kind: str, home: Path, data: Path) -> Made:
    """The release of a kind, made where it is not there yet; processes wait for each other.

    Args:
        kind: one of `KINDS`.
        home: a folder that all processes of this session share.
        data: folder of the real tables; the survey is made up.
    """
    table, protection = kind.split()
    folder = home / kind.replace(" ", "_")
    folder.mkdir(exist_ok=True)
    released = folder / "out" / "release" / table / "2026-11-1"
    with (folder / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not released.is_dir():
            body = configuration(kind, folder, data) | {"vintage": "2026-11"}
            if table == "survey":
                _write_survey(Path(body["sensitive_microdata_path"]), protection)
            run(body, folder)
    [page] = released.glob("*_data_showcase.html")
    return Made(kind, released, page)


def configuration(kind: str, folder: Path, data: Path) -> dict[str, Any]:
    """The checkout's configuration of a table, under a protection."""
    table, protection = kind.split()
    path = ROOT / "deployments" / "configurations" / f"{table}.json"
    body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    body = _without(body, _OF_SEEDED) | {
        "contract": str(ROOT / body["contract"]),
        "sensitive_microdata_path": str((folder if table == "survey" else data) / f"{table}.csv"),
        "output_dir": str(folder / "out"),
    }
    if protection == "fitted":
        return body | {"synthesis_mode": "fitted"}
    if protection == "lengths":
        records = _RECORDS[table]
        return body | {
            "synthesis_mode": "aggregate_seeded",
            "reporting_length": 2,
            "aggregate_seeded_target_number_of_records": records,
        }
    body = _without(body, _OF_PRIVACY)
    if protection == "k_anonymity":
        layout = _LAYOUT if table == "survey" else {}
        rounded = {"dp_aggregates": False, "reporting_resolution": K, "synthesis_mode": "row_seeded"}
        return body | rounded | layout
    names = [column.partition(":")[0] for column in _COLUMNS[table]]
    section = {"columns": _COLUMNS[table], "tables": [names[:2], names[2:4], names[1:2]]}
    counted = ("dp_aggregates", "reporting_length", "multi_value_columns", "sensitive_zeros", "contract")
    return _without(body, counted) | {"synthesis_mode": "syndiffix", "syndiffix": section}


def _without(body: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in keys}


def run(body: dict[str, Any], folder: Path) -> None:
    """Run a configuration by the command, with a ledger of the folder's own."""
    path = folder / "configuration.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    with patch.dict(os.environ, {"MARGINALIA_LEDGER": str(folder / "ledger")}):
        going = Run(folder, ["run", str(path)])
    assert going.finish() == 0, going.said


def _write_survey(path: Path, protection: str) -> None:
    """The survey; under k-anonymity, which wants one row of each respondent, with the first ones alone."""
    write_survey(path)
    if protection != "k_anonymity":
        return
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    first = {row[0]: row for row in reversed(rows)}
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *first.values()])
