"""Unfinished work carries the mark of its process; what dead processes left behind is cleared by a later run.

Nothing under a marked name was ever finished: a table, a release and a link get their own names by a rename
at their end. Marks of another machine or container are left alone: nobody here can tell whether they live.
"""

import functools
import hashlib
import os
import re
import shutil
import socket
from contextlib import suppress
from pathlib import Path

_MARKED = re.compile(r"\.(?:.*?-)?(?P<pid>\d+)-(?P<place>[0-9a-f]{8})(?:-[0-9a-f]{8})?(?:\.part)?")


def process_mark() -> str:
    """Of this process: its id, and where that id counts."""
    return f"{os.getpid()}-{_place()}"


@functools.cache
def _place() -> str:
    """Where process ids count: a host and, on Linux, one of its containers."""
    namespace = ""
    with suppress(OSError):
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return hashlib.sha256(f"{socket.gethostname()} {namespace}".encode()).hexdigest()[:8]


def clear(folder: Path) -> bool:
    """Remove from a folder the marked files and folders of dead processes; True if there were any."""
    leftovers: list[Path] = []
    with suppress(OSError):  # it is not there, or closed to this user
        leftovers = [path for path in folder.iterdir() if _is_left_over(path.name)]
    for path in leftovers:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()
    return bool(leftovers)


def _is_left_over(name: str) -> bool:
    mark = _MARKED.fullmatch(name)
    if mark is None or mark["place"] != _place():
        return False
    try:
        os.kill(int(mark["pid"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # another user's process, and so alive; or no process id at all
        return False
    return False
