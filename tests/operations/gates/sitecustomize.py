"""Stops a process at a chosen point of a run: Python reads this file first where PYTHONPATH leads here.

``MARGINALIA_TEST_GATE`` names a JSON file: a function of `os`, a pattern of its path (of a rename: of the
target), and what to do right after the first call that matches, once for all processes:

    kill     the process kills itself
    wait     the process writes its id beside the file (``.here``), and goes on when ``.go`` is there
"""

import json
import os
import re
import signal
import time
from pathlib import Path
from typing import Any


def _install(place: Path) -> None:
    gate = json.loads(place.read_text(encoding="utf-8"))
    original = getattr(os, gate["call"])
    wanted = re.compile(gate["pattern"])

    def watched(*arguments: Any, **keywords: Any) -> Any:
        result = original(*arguments, **keywords)
        path = arguments[1 if gate["call"] in ("rename", "replace") else 0]
        if isinstance(path, str | os.PathLike) and wanted.search(os.fspath(path)) and _first(place):
            _stop(place, gate["do"])
        return result

    setattr(os, gate["call"], watched)


def _first(place: Path) -> bool:
    """Whether no process was stopped here yet."""
    try:
        os.close(os.open(place.with_suffix(".here"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def _stop(place: Path, what: str) -> None:
    place.with_suffix(".here").write_text(str(os.getpid()))
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    while not place.with_suffix(".go").exists():
        time.sleep(0.05)


if _place := os.environ.get("MARGINALIA_TEST_GATE"):
    _install(Path(_place))
