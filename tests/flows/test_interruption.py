"""Signals while a compiled function's result is made."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.command.main import raise_from

STRUCK = """
import signal
import numpy as np
import pyarrow as pa
from flows.command.main import raise_from
from tasks.core.syndiffix.settings import AnonymizationParameters, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer

draw = np.random.default_rng(0)
table = pa.table({name: draw.integers(0, 50, 4000) for name in "abc"})
parameters = SynDiffixParameters(AnonymizationParameters(bytes(16)))
Synthesizer(table, parameters).sample()
signal.signal(signal.SIGALRM, lambda number, frame: raise_from(frame, KeyboardInterrupt()))
stopped = 0
for trial in range(60):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.0005 * trial)
        Synthesizer(table, parameters).sample()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        stopped += 1
assert stopped > 20, stopped
"""


def stop() -> None:
    raise_from(sys._getframe(), KeyboardInterrupt())


@pytest.mark.parametrize("module", ["namedtuple_Nodes", "numba.core.serialize"])
def test_the_exception_is_put_off_until_what_numba_calls_has_returned(module):
    returned: list[bool] = []
    called = {"__name__": module, "stop": stop, "returned": returned}
    exec("def _numba_unpickle():\n    stop()\n    returned.append(True)", called)
    with pytest.raises(KeyboardInterrupt):
        called["_numba_unpickle"]()  # type: ignore[operator]
        time.sleep(60)
        returned.append(False)
    assert returned == [True]


def test_anywhere_else_it_is_raised_at_once():
    with pytest.raises(KeyboardInterrupt):
        stop()


def test_a_process_that_is_struck_at_any_time_is_stopped_and_does_not_crash():
    done = subprocess.run([sys.executable, "-c", STRUCK], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


#: Sends itself what ctrl-C sends, as soon as a module of the command is about to be loaded.
LOADING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "flows.command.arguments":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["marginalia", "ledger"]
from flows.command.entry import start
start()
"""


def test_a_command_that_is_interrupted_while_it_is_loaded_shows_no_traceback():
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=False, cwd=root
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
