"""Carries what a run says into the log that Prefect keeps of it, and keeps out of it what must not be there.

Imported by whatever makes steps or flows, so it holds in a worker's process as in the command's: no setting
is needed. A record outside a run goes nowhere but to the terminal. Of an exception the log holds its text and
no traceback: paths of this machine, lines of code and a library's chained exceptions are nobody's business
there, and only errors of our own, whose texts are safe, leave a step or a flow.
"""

import logging
from collections import Counter
from uuid import UUID

from prefect.context import FlowRunContext, TaskRunContext
from prefect.logging.handlers import APILogHandler

from tasks.core.errors import MarginaliaError
from tasks.messages import LOGGER, TerminalHandler

_PREFECT = ("prefect.flow_runs", "prefect.task_runs")


class RunLogHandler(APILogHandler):
    """Prefect's, silent outside a run."""

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record to the run that is under way. Args: record: of the project's logger."""
        if FlowRunContext.get() is not None or TaskRunContext.get() is not None:
            super().emit(record)


class WithoutTraceback(logging.Filter):
    """Lets an exception's text into a run's log, and no traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is kept. Args: record: of Prefect's; its traceback is taken away."""
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        record.exc_info = record.exc_text = record.stack_info = None
        # `fail`, and of a step the line on its final state, say the same.
        return not isinstance(error, MarginaliaError)


def carry_messages() -> None:
    """Begin; again and again it is the same."""
    for handler in list(LOGGER.handlers):  # those of PREFECT_LOGGING_EXTRA_LOGGERS would tell all twice
        if not isinstance(handler, TerminalHandler):
            LOGGER.removeHandler(handler)
    LOGGER.addHandler(RunLogHandler())
    for name in _PREFECT:
        logger = logging.getLogger(name)
        if not any(isinstance(each, WithoutTraceback) for each in logger.filters):
            logger.addFilter(WithoutTraceback())


def step_number() -> int:
    context = FlowRunContext.get()
    run = context.flow_run.id if context is not None and context.flow_run is not None else None
    _begun[run] += 1
    return _begun[run]


_begun: Counter[UUID | None] = Counter()
carry_messages()
