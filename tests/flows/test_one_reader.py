"""Every command reads the operator's table by one reader: same names, quotes, encodings; opened once."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from flows.command import main as command
from tests.flows import pipeline, syndiffix_people
from tests.flows.whole_runs import OPENED

SPELLINGS = ["id", "'id'", " ID ", '"id"']
REGIMES: dict[str, dict[str, Any]] = {
    "differential privacy": {"dp_aggregates": True, "noise_epsilon": 1},
    "k-anonymity": {"reporting_resolution": 5},
    "syndiffix": {"synthesis_mode": "syndiffix"},
}


def write(folder: Path, name: str = "people.csv", **changes: Any) -> str:
    """A table whose header stands in single quotes, and its configuration."""
    lines = ["'id','age','town'", *(f"{n},{20 + n % 5},{('Ulm', 'Graz')[n % 2]}" for n in range(300))]
    data = ("\n".join(lines) + "\n").encode(changes.get("encoding", "utf-8"))
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    body = {"sensitive_microdata_path": str(folder / name), "output_dir": str(folder / "out")}
    return pipeline.saved(folder, body | {"dataset": "people", "vintage": "2026-11", **changes})


@pytest.mark.parametrize(
    ("regime", "spelling"),
    [*((regime, "'id'") for regime in REGIMES), *(("k-anonymity", spelling) for spelling in SPELLINGS)],
)
def test_a_quoted_header_is_known_by_all_its_spellings_in_every_regime(tmp_path, regime, spelling, capsys):
    path = write(tmp_path, subject_id=spelling, **REGIMES[regime])
    assert command.main(["check", path]) == 0, capsys.readouterr().err
    assert "age, town" in capsys.readouterr().out


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_and_by_the_command_and_its_output(tmp_path, spelling):
    write(tmp_path)
    typed = spelling.replace("id", "age").replace("ID", "Age") + ":i"
    asked = (tmp_path / "people.csv", "--aidcolumns", spelling, "--columns", typed, "town")
    assert syndiffix_people.run(*asked, "-o", tmp_path / "out.csv") == 0
    assert syndiffix_people.read(tmp_path / "out.csv")[0] == ["age", "town"]


@pytest.mark.parametrize(("name", "encoding"), [("people.csv", "utf-8"), ("people.csv.gz", "utf-16")])
def test_every_command_that_needs_no_server_opens_the_table_once(tmp_path, name, encoding):
    table = str(tmp_path / name)
    commands = [
        ["init", table, "--encoding", encoding, "--output", str(tmp_path / "drafts"), "--yes"],
        ["syndiffix", table, "--encoding", encoding, "--aidcolumns", "id", "-o", str(tmp_path / "out.csv")],
    ]
    for settings in REGIMES.values():
        path = write(tmp_path, name, subject_id="id", encoding=encoding, **settings)
        OPENED.clear()
        assert command.main(["check", path]) == 0
        assert OPENED.count(table) == 1
    for arguments in commands:
        OPENED.clear()
        assert command.main(arguments) == 0
        assert OPENED.count(table) == 1, arguments


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"use_columns": ["agee"]}, "use_columns names the column 'agee'"),
        ({"subject_id": "person"}, "subject_id names"),
        ({"sensitive_microdata_path": "none.csv"}, "does not exist"),
    ],
)
def test_wrong_columns_are_refused_before_a_server_is_asked_for(
    tmp_path, monkeypatch, changes, words, capsys
):
    monkeypatch.setenv("MARGINALIA_SERVER", str(tmp_path / "server"))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    path = write(tmp_path, **(REGIMES["k-anonymity"] | changes))
    assert command.main(["run", path]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "server").exists()
    assert not (tmp_path / "out").exists()
