"""A worker's process of one run ends without DuckDB's pages; all that should be said is said."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: The loop is a thread of Prefect's that outlives the flow, and what it holds outlives DuckDB.
_RUN = """
import asyncio, atexit, sys
import flows.release
atexit.register(lambda: print("said at the end", file=sys.stderr))
from prefect.utilities.asyncutils import run_coro_as_sync
run_coro_as_sync(asyncio.sleep(0))
sys.exit(3)
"""


@pytest.mark.parametrize("by_a_worker", [True, False])
def test_what_is_written_while_the_interpreter_is_taken_down_is_not_seen(by_a_worker):
    environment = dict(os.environ) | ({"PREFECT__FLOW_RUN_ID": "1"} if by_a_worker else {})
    done = subprocess.run(
        [sys.executable, "-c", _RUN], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "said at the end" in done.stderr
    # The other process shows that there is something to keep out.
    assert ("nanobind: leaked" in done.stderr) is not by_a_worker
