"""How a process ends in which Prefect and DuckDB were at work: without pages on objects that outlive DuckDB.

DuckDB's bindings (nanobind, since duckdb-python 522) write hundreds of lines while the interpreter is taken
down. They say nothing of the run, and would bury what is said of it.
"""

import atexit
import os
import sys


def leave_quietly() -> None:
    """See to it in a process that a worker started for a run; do nothing in any other."""
    if "PREFECT__FLOW_RUN_ID" in os.environ:
        hide_what_follows_exit()


def hide_what_follows_exit() -> None:
    """Close standard error when all exit functions have run that are registered from now on."""
    atexit.register(_close_standard_error)


def _close_standard_error() -> None:
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
