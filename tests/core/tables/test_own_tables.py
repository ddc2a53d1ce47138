"""What a run keeps closed is no input: a table would have its own budget, and a file's keys are told."""

from pathlib import Path

import pytest

from tasks.configuration.flat_file import read_configuration
from tasks.core.errors import InputError, ParameterError
from tasks.core.ledger.ledger import open_ledger
from tasks.core.recognition.dialect import find_dialect
from tasks.core.tables.header import InputFile
from tasks.storage import Workspace


def _table(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "people.csv"
    path.write_text("a,b\n1,2\n")
    return path


def test_what_a_run_keeps_in_sensitive_is_no_input_by_whatever_path(tmp_path):
    workspace = Workspace(tmp_path / "out")
    workspace.prepare()
    inside = _table(workspace.sensitive / "people" / "run" / "export")
    (tmp_path / "link.csv").symlink_to(inside)
    for path in (inside, tmp_path / "link.csv", tmp_path / "out" / ".." / inside.relative_to(tmp_path)):
        with pytest.raises(InputError, match=r"in the sensitive/ folder of a workspace\. .* Give the table"):
            _ = InputFile(path).headers
        with pytest.raises(InputError, match="sensitive/ folder of a workspace"):
            _ = find_dialect(path).headers
    # Moved as a whole, it is known by what lies in it.
    workspace.secret()
    workspace.sensitive.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="sensitive/ folder of a workspace"):
        _ = InputFile(tmp_path / "elsewhere" / "people" / "run" / "export" / "people.csv").opened


def test_what_a_ledger_keeps_is_no_input(tmp_path):
    open_ledger(tmp_path / "ledger")
    with pytest.raises(InputError, match="in a ledger's folder"):
        _ = InputFile(_table(tmp_path / "ledger" / "measurements" / "a.1")).opened


def test_what_a_run_keeps_in_sensitive_is_no_configuration(tmp_path):
    workspace = Workspace(tmp_path / "out")
    workspace.prepare()
    verdicts = workspace.sensitive / "verdicts.json"
    verdicts.write_text('{"a rare town": 1}')
    with pytest.raises(
        ParameterError, match=r"in the sensitive/ folder of a workspace\. .* you wrote"
    ) as told:
        read_configuration(verdicts)
    assert "a rare town" not in str(told.value)


def test_a_folder_that_is_only_called_sensitive_is_the_operators_own(tmp_path):
    assert InputFile(_table(tmp_path / "sensitive")).headers.names == ("a", "b")
    assert InputFile(_table(tmp_path / "out" / "release" / "people" / "1-1")).headers.names == ("a", "b")
