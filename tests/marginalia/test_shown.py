"""What is shown of what the other process writes: lines stay, progress is rewritten and goes."""

import pytest

from marginalia.shown import Shown


def test_lines_are_notes_and_progress_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Shown()
    for piece in ("one li", "ne\n\r\033[K  fit: 1", "0%\r\033[K  fit: 20%\r\033[K", "another\n"):
        shown.write(piece)
    shown.tell("for all")
    shown.close("done")
    assert shown.notes == ["one line", "another"]
    assert capsys.readouterr().err.splitlines() == ["one line", "another", "for all", "done"]


def test_a_terminal_gets_the_line_that_is_rewritten(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Shown()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    shown.write("\r\033[K  fit: 10%")
    shown.close()
    said = capsys.readouterr().err
    assert "fit: 10%" in said and said.endswith("\r\033[K")
