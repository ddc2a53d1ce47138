"""What runs, in order: a flow says which steps a job has, and nothing is computed here.

Steps are in `tasks`, algorithms in `tasks.core`, and what a person types in `flows.command`; no flow imports
that one, so that a deployment runs the same flow as the command. Read `showcase` first: the whole job, which
takes the steps of `steps.measure` and `steps.publish` in turn.

A process in which Prefect and DuckDB were at work ends without pages on objects that outlive DuckDB: its
bindings (nanobind, since duckdb-python 522) write hundreds of lines while the interpreter is taken down. They
say nothing of the run, and would bury what is said of it.
"""

import atexit
import os
import sys


def hide_what_follows_exit() -> None:
    """Close standard error when all exit functions have run that are registered from now on."""
    atexit.register(_close_standard_error)


def _close_standard_error() -> None:
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


if "PREFECT__FLOW_RUN_ID" in os.environ:  # a worker started this process for a run
    hide_what_follows_exit()
