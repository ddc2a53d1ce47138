"""How a worker's process of one run ends: without DuckDB's pages on objects that outlive them.

With Prefect loaded, DuckDB's bindings write hundreds of lines while the interpreter is taken down, after all
that is ours and Prefect's has run. They say nothing of the run, and would bury what the worker's log says of
it.
"""

import atexit
import os
import sys

_ended = False


def leave_quietly() -> None:
    """See to it in a process that a worker started for a run; do nothing in any other."""
    if "PREFECT__FLOW_RUN_ID" in os.environ:
        atexit.register(_leave)


def _leave() -> None:
    global _ended
    if _ended:
        return
    _ended = True
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
