"""What is told reaches the terminal once, and the run's log by one handler; a long step says what is new."""

import logging

import pytest

from tasks.core.errors import InputError
from tasks.messages import LOGGER, Progress, fail, say, tell, tell_log
from tasks.step import RunLogHandler, WithoutTraceback, carry_messages


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append((record.name, record.levelno, record.getMessage()))


@pytest.fixture
def kept(monkeypatch):
    handler = Kept()
    monkeypatch.setattr(LOGGER, "handlers", [*LOGGER.handlers, handler])
    return handler


def test_who_hears_what_and_how_loud(kept, capfd):
    tell("Registered 100 % of it.")
    tell("ATTENTION: the cap is not in force.")
    tell_log("Step 1 begins.")
    fail("The run stops.")
    say("For the operator alone.")
    assert kept.told == [
        ("marginalia", logging.INFO, "Registered 100 % of it."),
        ("marginalia", logging.WARNING, "ATTENTION: the cap is not in force."),
        ("marginalia.notes", logging.INFO, "Step 1 begins."),
        ("marginalia.notes", logging.ERROR, "The run stops."),
    ]
    said = ["Registered 100 % of it.", "ATTENTION: the cap is not in force.", "For the operator alone."]
    assert capfd.readouterr().err.splitlines() == said


def test_handlers_that_prefect_adds_by_its_settings_tell_nothing_twice(monkeypatch):
    monkeypatch.setattr(LOGGER, "handlers", [*LOGGER.handlers, Kept()])  # PREFECT_LOGGING_EXTRA_LOGGERS
    carry_messages()
    carry_messages()
    assert sum(isinstance(each, RunLogHandler) for each in LOGGER.handlers) == 1
    assert not any(isinstance(each, Kept) for each in LOGGER.handlers) and not LOGGER.propagate


@pytest.mark.parametrize("name", ["prefect.flow_runs", "prefect.task_runs"])
def test_a_run_log_takes_no_traceback(name):
    logger = logging.getLogger(name)
    assert sum(isinstance(each, WithoutTraceback) for each in logger.filters) == 1
    try:
        raise ValueError("zqxcell")
    except ValueError as error:
        found = logger.makeRecord(
            name, logging.ERROR, "", 0, "Finished in state %s", ("Failed()",), (type(error), error, None)
        )
    assert logger.filter(found) and found.exc_info is None
    assert found.getMessage() == "Finished in state Failed() (ValueError)"
    ours = InputError("The table must be a table.")
    ended = (type(ours), ours, None)
    assert not logger.filter(
        logger.makeRecord(name, logging.ERROR, "", 0, "Engine execution exited", (), ended)
    )
    said = "Encountered exception during execution: %r"
    assert not logger.filter(
        logger.makeRecord(name, logging.ERROR, "", 0, said, (ValueError("zqxcell"),), None)
    )


Told = list[tuple[float, str, float]]


def lines(told: Told, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What is written where each is told at its second."""
    now = [0.0]
    progress = Progress("work", lambda: now[0])
    for second, what, fraction in told:
        now[0] = second
        progress(what, fraction)
    progress.close()
    return [line.strip() for line in capfd.readouterr().err.splitlines()]


def test_a_step_that_stands_still_is_told_once(capfd):
    assert lines([(second, "solve", 0) for second in range(200)], capfd) == ["work: solve   0%"]


def test_each_step_is_told_at_once_after_ten_seconds(capfd):
    told: Told = [(9, "read", 0), (11, "read", 0.5), (12, "solve", 0), (13, "write", 0)]
    assert lines(told, capfd) == ["work: read  50%", "work: solve   0%", "work: write   0%"]


def test_a_further_tenth_is_told_ten_seconds_after_the_last_line(capfd):
    told: Told = [
        (10, "draw", 0),
        (15, "draw", 0.3),
        (21, "draw", 0.35),
        (40, "draw", 0.39),
        (41, "draw", 0.4),
    ]
    assert lines(told, capfd) == ["work: draw   0%", "work: draw  35%", "work: draw  40%"]
