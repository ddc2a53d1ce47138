"""Where a ledger lives: the environment goes in, a folder that only its owner can open comes out.

<ledger>/ledger.sqlite              the chain
<ledger>/head.json                  its last entry's place and hash
<ledger>/measurements/<key>.<seq>/  one folder a measurement, by release and reservation
<ledger>/locks/<key>.lock           one a release, one for making the ledger, one for writing to it
<ledger>/salts/<key>.salt           one a dataset that SynDiffix synthesized

Or in a database that workers on many machines share. Then this machine keeps, in a folder that only its user
can open, the last entry that it saw (``head.json``) and copies of measurements.
"""

import fcntl
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tasks.core.errors import LedgerError, ParameterError

VARIABLE = "MARGINALIA_LEDGER"


#: How an address of a database begins.
_SCHEMES = ("postgresql://", "postgres://")
#: Words in the names of libpq's settings whose values open something; ``sslkey`` and ``passfile`` name files.
_SECRET_WORDS = ("password", "secret", "scram_")
#: A port, or one for each of several hosts, any of which may be left out.
_PORTS = re.compile(r"[0-9,]*")


@dataclass(frozen=True)
class Database:
    """A PostgreSQL database that keeps a ledger.

    Attributes:
        address: its connection string, without a password.
        password: None: libpq finds it (PGPASSWORD, PGPASSFILE), or needs none.
    """

    address: str
    password: str | None = field(default=None, repr=False)


Place = Path | Database


def ledger_place(password: str | None = None) -> Place:
    """What MARGINALIA_LEDGER names, else ``marginalia/ledger`` in the user's XDG state folder.

    Raises:
        ParameterError: it names neither a folder nor a PostgreSQL database, or holds a password.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return _state() / "ledger"
    if named.startswith(_SCHEMES):
        _require_no_password(named)
        return Database(named, password)
    if "://" in named or "=" in named:
        raise ParameterError(
            f"{VARIABLE} must name a folder or a PostgreSQL database (postgresql://USER@HOST/DATABASE); it "
            "is another kind of address. Correct it."
        )
    return Path(named).expanduser().absolute()


def require_absolute() -> None:
    """Refuse a ledger that is named from the working directory, where that is one of many.

    Raises:
        ParameterError: each folder would have a ledger and budgets of its own.
    """
    named = os.environ.get(VARIABLE, "/")
    if not named.startswith(_SCHEMES) and not Path(named).expanduser().is_absolute():
        raise ParameterError(
            f"{VARIABLE} must be an absolute path where a worker runs deployments, and it is relative: each "
            "works in a folder of its own, and would have a ledger there. Start the worker with an absolute "
            "path."
        )


def local_folder(place: Place) -> Path:
    """The folder on this machine that nothing else may be put into: the ledger's, or what is kept of it."""
    return place if isinstance(place, Path) else _state() / "shared-ledgers"


def is_begun(place: Place) -> bool:
    """Whether somebody has used a ledger there, as far as that is known without opening it."""
    return isinstance(place, Database) or (place / "ledger.sqlite").is_file()


def _state() -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    root = Path(state) if state and Path(state).is_absolute() else Path.home() / ".local" / "state"
    return root / "marginalia"


def _require_no_password(address: str) -> None:
    """Refuse an address with a password in it, which lists of settings and processes would show.

    The address is not repeated in the refusal. An address names one user, before its hosts: what has the form
    of another user elsewhere (``u@a,u:SECRET@b``) libpq takes for a part of a host or a port.
    """
    parts = parts_of(address)
    hosts = f"{parts.get('host', '')},{parts.get('hostaddr', '')}"
    holds_secret = any(value and any(word in name for word in _SECRET_WORDS) for name, value in parts.items())
    holds_secret |= "@" in hosts or not _PORTS.fullmatch(parts.get("port", ""))
    holds_secret |= ":" in parts.get("user", "") or "@" in parts.get("dbname", "")
    if holds_secret:
        raise ParameterError(
            f"{VARIABLE} must hold no password, as others may see it: one user before all hosts, and "
            "numbers alone as ports. Take it out, and give it in "
            "PGPASSWORD, in a password file (PGPASSFILE), or in a Prefect block of the type Secret whose "
            "name is in MARGINALIA_LEDGER_PASSWORD_BLOCK."
        )


def parts_of(address: str) -> dict[str, str]:
    """The settings of a database's address.

    Raises:
        ParameterError: it can't be read as one; it is not repeated, nor what libpq says of it.
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return {name: str(value) for name, value in conninfo_to_dict(address).items()}
    except ProgrammingError:
        pass
    raise ParameterError(
        f"{VARIABLE} must be an address such as postgresql://USER@HOST:5432/DATABASE, and it can't be read "
        "as one. Correct it."
    )


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
    """Refuse a file or folder that others may open or that another user owns."""
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
def hold_file_lock(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
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


def is_lock_held(path: Path) -> bool:
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
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def begin_folder(part: Path) -> Path:
    """An empty folder for a draw."""
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(mode=0o700)
    except OSError as error:
        raise LedgerError(
            f"The measurement needs a folder in {part.parent}, and it can't be made "
            f"({os.strerror(error.errno or 0)}). Correct that and run again: nothing is charged twice."
        ) from None
    return part
