"""What is shown of what the other process writes: lines stay, progress is rewritten and goes."""

from typing import Any

import pytest

import marginalia
from marginalia.process import CallDisplay


class Display:
    """IPython's, as far as it is used: the outputs of a cell, each as it was last updated."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def __call__(self, content: dict[str, str], **_: Any) -> "Display":
        self.shown.append(content)
        return self

    def update(self, content: dict[str, str], **_: Any) -> None:
        self.shown.append(content)


@pytest.fixture
def display(monkeypatch):
    """A notebook's, in which every update is shown."""
    display = Display()
    monkeypatch.setattr("marginalia.process._notebook_display", lambda: display)
    monkeypatch.setattr("marginalia.process._REWRITTEN_SECONDS", 0)
    monkeypatch.setattr("marginalia.process._QUIET_SECONDS", 0)
    return display


def test_lines_are_notes_and_progress_is_none(capsys):
    shown = CallDisplay()
    for piece in ("one li", "ne\n\r\033[K  fit: 1", "0%\r\033[K  fit: 20%\r\033[K", "another\n"):
        shown.write(piece)
    shown.tell("for all")
    shown.close("done")
    assert shown.notes == ["one line", "another"]
    assert capsys.readouterr().err.splitlines() == ["one line", "another", "for all", "done"]


def test_a_terminal_gets_the_line_that_is_rewritten(capsys, monkeypatch):
    shown = CallDisplay()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    shown.write("\r\033[K  fit: 10%")
    shown.close()
    said = capsys.readouterr().err
    assert "fit: 10%" in said and said.endswith("\r\033[K")


def test_a_notebook_gets_a_bar_and_keeps_the_sentences_alone(display):
    with CallDisplay() as shown:
        shown.write("\r\033[K  fit: <records>  30%")
        assert '<progress max="100" value="30"' in display.shown[-1]["text/html"]
        assert "fit: &lt;records&gt;, 30 %" in display.shown[-1]["text/html"]
        shown.write("\r\033[K")  # the step is over, and the next one says nothing
        shown.tick()
        assert "fit" not in str(display.shown[-1]) and "At work (0 s)" in display.shown[-1]["text/plain"]
        shown.tell("for all")
        shown.write("for you alone\n")
        shown.close("done")
    assert display.shown[-1] == {
        "text/plain": "for all\ndone",
        "text/html": "<div>for all</div><div>done</div>",
    }
    assert shown.notes == ["for you alone"] and "alone" not in str(display.shown)


@pytest.mark.parametrize("error", [marginalia.ContractViolation("no"), KeyboardInterrupt()])
def test_no_progress_is_left_in_a_notebook_whose_call_fails(display, error):
    with pytest.raises(type(error)), CallDisplay() as shown:
        shown.write("row 7\n\r\033[K  fit: 30%")
        raise error
    assert display.shown[-1]["text/plain"] == "" and "30" in str(display.shown)
    assert not isinstance(error, marginalia.MarginaliaError) or vars(error)["owner_notes"] == ("row 7",)


def test_a_short_call_shows_no_progress(display, monkeypatch):
    monkeypatch.setattr("marginalia.process._QUIET_SECONDS", 60)
    with CallDisplay() as shown:
        shown.write("\r\033[K  fit: 30%")
        shown.tick()
    assert not display.shown
