"""Where a ledger lives: the environment goes in, a folder that only its owner can open comes out.

<ledger>/ledger.sqlite              the chain
<ledger>/head.json                  its last entry's place and hash
<ledger>/measurements/<key>.<seq>/  one folder a measurement, by release and reservation
<ledger>/locks/<key>.lock           one a release, one for making the ledger, one for writing to it
"""

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.core.errors import LedgerError

VARIABLE = "MARGINALIA_LEDGER"


def ledger_place() -> Path:
    """The folder named by MARGINALIA_LEDGER, else ``marginalia/ledger`` in the user's XDG state folder."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    state = os.environ.get("XDG_STATE_HOME", "")
    root = Path(state) if state and Path(state).is_absolute() else Path.home() / ".local" / "state"
    return root / "marginalia" / "ledger"


def private_folder(path: Path) -> Path:
    """The folder, made (0700) where it is missing.

    Raises:
        LedgerError: it can't be made, or others may open it, or it is another user's.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(
            f"The ledger needs a folder of its own; {path} can't be made ({os.strerror(error.errno or 0)}). "
            f"Set {VARIABLE} to a folder that you may write."
        ) from None
    check_private(path)
    return path


def check_private(path: Path) -> None:
    """Refuse a file or folder that others may open or that another user owns.

    Raises:
        LedgerError: as said.
    """
    facts = path.stat()
    wanted = "700" if stat.S_ISDIR(facts.st_mode) else "600"
    if facts.st_uid != os.geteuid():
        raise LedgerError(
            f"The ledger must belong to the user who runs the command, but {path} is another user's. "
            f"Run as its owner, or set {VARIABLE} to a folder of your own."
        )
    if stat.S_IMODE(facts.st_mode) & 0o077:
        raise LedgerError(
            f"The ledger must be closed to all other users, but {path} has mode "
            f"{stat.S_IMODE(facts.st_mode):o}. Make sure that nobody changed it, then: chmod "
            f"{wanted} '{path}'."
        )


@contextmanager
def exclusive(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock of a file; the kernel lets go of it when the process ends, however it ends.

    Args:
        path: the lock's file, made where it is missing and never removed.
        waiting: called once, before waiting, where somebody else holds it.

    Raises:
        LedgerError: the file system has no locks.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting is not None:
                waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            raise LedgerError(
                f"The ledger needs a file system with locks; {path.parent} has none "
                f"({os.strerror(error.errno or 0)}). Set {VARIABLE} to a local folder."
            ) from None
        yield
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock just now."""
    if not path.exists():
        return False
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def sync(path: Path) -> None:
    """Make a file's content, or a folder's list of names, durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
