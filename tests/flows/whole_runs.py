"""A whole run of each protection and mode, whose files many tests read, and traces that nobody may find."""

import contextlib
import io
import json
import secrets
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from flows.command import main as command
from flows.command import server
from tasks.configuration.flat_file import read_configuration
from tasks.configuration.model import RunConfiguration
from tests.flows import pipeline, visits

#: How many people the table has. Its digits are nowhere by chance, nor as an end of the interval that its
#: rounded count stands for.
ROWS = 4713
#: With another seed there may be as many synthetic records as rows, by chance.
SEED = 771177117711
#: One person's cells, an unused column's header, and what nobody else has.
CANARIES = (
    "zqxid77",
    "zqxtown77",
    "zqxwork77",
    "zqxitem77",
    "zqxmore77",
    "zqxeven77",
    "zqxsex77",
    "zqxheader77",
)
VISIT_CANARIES = ("zqxid77", "zqxtown77", "977112.25", "2031-07-07", "zqxhouse77", "zqxheader77")
#: What every release's readers are told, and that declarations were drafted from the table.
READERS = {"publisher": "Office of Numbers", "license": "CC-BY-4.0", "first_published": "2026-11-01"}
DRAFTED = {"drafted_from_table": True}

_ANONYMOUS = {"reporting_resolution": 50, "random_seed": SEED}
_PRIVATE: dict[str, dict[str, Any]] = {
    "fitted": {"synthesis_mode": "fitted"},
    "by_lengths": {"synthesis_mode": "aggregate_seeded"},
}
_ROUNDED: dict[str, dict[str, Any]] = {
    "row_seeded": {"synthesis_mode": "row_seeded", "synthetic_forms": ["long", "condensed"]},
    "value_seeded": {"synthesis_mode": "value_seeded"},
    "unseeded": {"synthesis_mode": "unseeded", "reporting_length": -1},
    "aggregate_seeded": {"synthesis_mode": "aggregate_seeded"},
    "held": {
        "synthesis_mode": "aggregate_seeded",
        "aggregate_seeded_hold_resolution": True,
        "reporting_length": 2,
    },
    "fitted_to_counts": {"synthesis_mode": "fitted"},
}
PRIVATE, ROUNDED = tuple(_PRIVATE), tuple(_ROUNDED)
KINDS = (*PRIVATE, *ROUNDED, "syndiffix")


#: The least number of rows that a contract demands, by the kind of run that is under it, and its mode.
CONTRACTS = {"aggregate_seeded": (100, "strict"), "value_seeded": (50, "repair")}

#: Every file that this process opens, while somebody looks.
OPENED: list[str] = []
sys.addaudithook(lambda event, given: OPENED.append(str(given[0])) if event == "open" else None)


class WholeRun(NamedTuple):
    """A run of all stages by the command.

    Attributes:
        folder: of the table, the configuration, the ledger and the workspace `out`.
        said: all that it printed.
        times_opened: how often it opened the table.
    """

    folder: Path
    kind: str
    configuration: RunConfiguration
    release: Path
    said: str
    times_opened: int

    @property
    def dataset(self) -> str:
        return self.configuration.dataset

    @property
    def path(self) -> Path:
        """The configuration's file."""
        return self.folder / "configuration.json"


def fresh_name(word: str) -> str:
    """A dataset's name that no earlier session left on a server that is used again."""
    return f"{word}-{secrets.token_hex(4)}"


def canary_row() -> list[str]:
    """One record full of tokens that nobody else has."""
    return ["zqxid77", "zqxtown77", "33", "zqxsex77", "zqxitem77;zqxmore77;zqxeven77", "zqxwork77"]


def table_of_people() -> list[list[str]]:
    return [*pipeline.rows(ROWS - 1), canary_row()]


def make_whole_run(kind: str, folder: Path) -> WholeRun:
    """Write a table and a configuration of this kind and run it, with a ledger of its own."""
    body = _visits(folder) if kind == "syndiffix" else _people(kind, folder)
    body |= READERS | DRAFTED | {"dataset": fresh_name(kind.replace("_", "-"))}
    (folder / "configuration.json").write_text(json.dumps(body))
    OPENED.clear()
    said = _run(folder, "configuration.json")
    times_opened = OPENED.count(body["sensitive_microdata_path"])
    configuration = read_configuration(folder / "configuration.json")
    return WholeRun(folder, kind, configuration, pipeline.latest(configuration), said, times_opened)


def run_again(run: WholeRun, **changes: Any) -> str:
    """Run it once more in its own folder, under its configuration with changes; return what it printed."""
    (run.folder / "again.json").write_text(json.dumps(pipeline.json_of(run.path) | changes))
    return _run(run.folder, "again.json")


def _run(folder: Path, name: str) -> str:
    printed = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        patch.setenv("MARGINALIA_LEDGER", str(folder / "ledger"))
        assert command.main(["run", str(folder / name)]) == 0, printed.getvalue()
    return printed.getvalue()


def _people(kind: str, folder: Path) -> dict[str, Any]:
    table = [[*row, "x"] for row in table_of_people()]
    pipeline.write(folder / "people.csv", table, [*pipeline.HEADER, "zqxheader77"])
    used: dict[str, Any] = {"use_columns": list(pipeline.HEADER[1:])}
    if kind in CONTRACTS:
        least, mode = CONTRACTS[kind]
        values = ("m", "f") if mode == "repair" else ()
        others: list[dict[str, Any]] = [{"name": name} for name in ("person", "town", "age", "work")]
        delimiter = {"property": "delimiter", "value": ";"}
        items = {"name": "services", "logicalType": "array", "customProperties": [delimiter]}
        used["contract"] = pipeline.contract(folder, "sex", values, least, [*others, items])
        used |= {"contract_mode": mode, "domains": {}}
    if kind in _PRIVATE:
        return pipeline.flat(folder, **used, **_PRIVATE[kind])
    return pipeline.anonymous(folder, **{**used, **_ANONYMOUS, **_ROUNDED[kind]})


def _visits(folder: Path) -> dict[str, Any]:
    canary = ["zqxid77", "zqxtown77", "33", "977112.25", "2031-07-07 07:07:07", "true", "zqxhouse77"]
    table = [[*row, "x"] for row in [*visits.rows(), canary]]
    pipeline.write(folder / "visits.csv", table, [*visits.HEADER, "zqxheader77"])
    contract = visits.contract(folder, "smoker", ("true", "false"))
    return visits.flat(folder, {"tables": [["town", "age"], ["smoker"]]}, contract=contract)


def assert_no_trace(tokens: tuple[str, ...], places: list[Path], said: str) -> None:
    for token in tokens:
        assert token not in said, f"{token} on the terminal"
        for place in places:
            for path in (place,) if place.is_file() else place.rglob("*"):
                if path.is_file():
                    assert token.encode() not in path.read_bytes(), f"{token} in {path}"


def public_places(folder: Path, ledger: Path) -> list[Path]:
    """Everywhere but ``sensitive/`` and the table itself."""
    zones = [folder / "out" / zone for zone in ("release", "measurement", "intermediate")]
    return [*zones, ledger, server.state_folder()]
