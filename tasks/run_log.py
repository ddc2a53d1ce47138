"""Carries what a run says into the log that Prefect keeps of it, and keeps out of it what must not be there.

Imported by whatever makes steps or flows, so it holds in a worker's process as in the command's: no setting
is needed. A record outside a run goes nowhere but to the terminal. Of an exception the log holds its text and
no traceback: paths of this machine, lines of code and a library's chained exceptions are nobody's business
there, and only errors of our own, whose texts are safe, leave a step or a flow.
"""

import logging
import re
from collections import Counter
from uuid import UUID

from prefect.context import FlowRunContext, TaskRunContext
from prefect.logging.handlers import APILogHandler

from tasks.core import errors
from tasks.core.errors import MarginaliaError
from tasks.messages import LOGGER, TerminalHandler

_PREFECT = ("prefect.flow_runs", "prefect.task_runs")
#: How an exception is shown in Prefect's own lines; the text of ours is a sentence, and stands by itself.
_SAID_AGAIN = re.compile(r"^(Task run failed with exception|Encountered exception during execution): ")
#: The last line of a run that an error stopped. Of ours "The run stops: ..." has told the text.
_STOPPED = re.compile(r"^Finished in state Failed\(.Flow run encountered an exception: (\w+): ")
_OURS = frozenset(name for name, kind in vars(errors).items() if isinstance(kind, type))


class RunLogHandler(APILogHandler):
    """Prefect's, silent outside a run."""

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record to the run that is under way. Args: record: of the project's logger."""
        if FlowRunContext.get() is not None or TaskRunContext.get() is not None:
            super().emit(record)


class WithoutTraceback(logging.Filter):
    """Lets an exception's text into a run's log, once, and no traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is kept. Args: record: of Prefect's; its traceback is taken away."""
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        record.exc_info = record.exc_text = record.stack_info = None
        # `fail`, and of a step the line on its final state, say the same.
        is_told = _SAID_AGAIN.match(str(record.msg)) or isinstance(error, MarginaliaError)
        if not is_told and error is not None:
            record.msg = f"{record.msg} ({type(error).__name__})"
        stopped = _STOPPED.match(str(record.msg))
        if stopped is not None and stopped[1] in _OURS:
            record.msg = f"Finished in state Failed({stopped[1]})"
        return not is_told


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
