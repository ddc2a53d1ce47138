"""Where a run's tables live: the zones, and references to what is stored in them.

    <workspace>/sensitive/<dataset>/<run>/<table>/       0700
    <workspace>/measurement/<dataset>/<vintage>-<...>/   protected: all that publishing reads
    <workspace>/intermediate/<dataset>/<run>/<table>/    made from a measurement; kept for later runs
    <workspace>/release/<dataset>/<vintage>-<n>/         what may leave; ``latest`` points at the newest

A table is an immutable folder of files. Its reference travels between steps; reading verifies.

Unfinished work carries the mark of its process: a table, a release and a link get their own names by a rename
at their end. What dead processes left behind is cleared by a later run. Marks of another machine or container
are left alone: nobody here can tell whether they live.
"""

import contextlib
import datetime
import errno
import functools
import hashlib
import hmac
import json
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tasks.core.errors import ParameterError, ResourceLimit, StoredTableMismatch
from tasks.core.stored_files import folder_sha256

if TYPE_CHECKING:  # slow, and commands without a flow need the names of the zones alone
    from tasks.configuration.model import RunConfiguration
    from tasks.core.queries import QueryResources

SENSITIVE: Final = "sensitive"
MEASUREMENT: Final = "measurement"
INTERMEDIATE: Final = "intermediate"
RELEASE: Final = "release"
_UNUSED_SECONDS = 7 * 24 * 3600
FULL = (errno.ENOSPC, errno.EDQUOT)
_MARKED = re.compile(r"\.(?:.*?-)?(?P<pid>\d+)-(?P<place>[0-9a-f]{8})(?:-[0-9a-f]{8})?(?:\.part)?")


class Reference:
    """What a step returns and another is given, told apart by its identity.

    A plain class on purpose: Prefect would look inside a dataclass and draw false edges.
    """


class HoldsResults:
    """What a run built so far: references of several steps, as attributes."""


class StoredTable(Reference):
    """Reference to a stored folder of files; ``sha256`` is over their names and bytes."""

    def __init__(self, key: str, sha256: str, zone: str, stage: str) -> None:
        self.key, self.sha256, self.zone, self.stage = key, sha256, zone, stage

    def to_json(self) -> dict[str, str]:
        return {"key": self.key, "sha256": self.sha256, "zone": self.zone, "stage": self.stage}

    def __repr__(self) -> str:
        """Without the hash: that of a sensitive table must not reach a log."""
        return f"<{self.zone} table {self.stage}>"


@dataclass(frozen=True)
class Workspace:
    """The folder that ``output_dir`` names."""

    root: Path

    @classmethod
    def of(cls, configuration: "RunConfiguration") -> "Workspace":
        return cls(Path(configuration.output_dir).absolute())

    @property
    def sensitive(self) -> Path:
        return self.root / SENSITIVE

    @property
    def intermediate(self) -> Path:
        return self.root / INTERMEDIATE

    @property
    def release(self) -> Path:
        return self.root / RELEASE

    @property
    def results(self) -> Path:
        return self.sensitive / ".results"

    @property
    def public_results(self) -> Path:
        return self.intermediate / ".results"

    def prepare(self) -> None:
        """Make the zones. Raises ParameterError where the workspace can't be written."""
        with self._writing():
            for folder in (self.sensitive, self.results):
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o700)
            (self.sensitive / ".gitignore").write_text("*\n")  # whatever repository the workspace is in
        self.prepare_publishing()

    def require_place(self) -> None:
        """Refuse what `prepare` would, without making anything."""
        for zone in ("", SENSITIVE, INTERMEDIATE, RELEASE):
            with self._writing(zone):
                place = self.root / zone
                while not os.path.lexists(place):
                    place = place.parent
                if not place.is_dir():
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
                if not os.access(place, os.W_OK | os.X_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def prepare_publishing(self) -> None:
        """Make the zones that are written from a measurement on, as `prepare` does."""
        for zone in (self.intermediate, self.release):
            with self._writing(zone.name):
                zone.mkdir(exist_ok=True)
                probe = zone / f".probe-{process_mark()}"
                probe.touch()
                probe.unlink()

    @contextlib.contextmanager
    def _writing(self, zone: str = "") -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in FULL:
                raise self.is_full() from None
            why = error.strerror if isinstance(error, OSError) else "its name holds a zero byte"
            raise ParameterError(
                "output_dir must be a folder that you can write, and so must intermediate/ and release/ in "
                f"it; {self.root / zone} is not ({why}). Give another folder, or correct this one's "
                "permissions."
            ) from None

    def secret(self) -> bytes:
        """32 random bytes that never leave ``sensitive/``: they key hashes of sensitive tables."""
        path = self.sensitive / ".secret"
        if not path.exists():
            part = path.with_name(f".secret-{process_mark()}.part")
            part.touch(mode=0o600)
            part.write_bytes(secrets.token_bytes(32))
            try:
                os.link(part, path)  # two first runs at once: one of them wins
            except FileExistsError:
                pass
            finally:
                part.unlink()
        return path.read_bytes()

    def keyed_hash(self, text: str) -> str:
        """A hash that says nothing to whoever does not have the secret."""
        return hmac.new(self.secret(), text.encode(), hashlib.sha256).hexdigest()

    def store(self, folder: Path, stage: str, write: Callable[[Path], None]) -> StoredTable:
        """Let ``write`` fill a new folder, which then appears whole by a rename."""
        part = folder.with_name(f".{folder.name}-{process_mark()}-{secrets.token_hex(4)}.part")
        try:
            part.mkdir(parents=True)
            write(part)
            digest = folder_sha256(part)
            _give_name(part, folder, digest)
        except OSError as error:
            if error.errno in FULL:
                raise self.is_full() from None
            raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
        zone = folder.relative_to(self.root).parts[0]
        return StoredTable(folder.relative_to(self.root).as_posix(), digest, zone, stage)

    def is_full(self) -> ResourceLimit:
        return ResourceLimit(
            f"The run needs room for what it makes, but the disk that holds {self.root} is full. "
            "Free some space and run again: finished steps are kept."
        )

    def clear_leftovers(self, dataset: str) -> None:
        for folder in (self.sensitive, self.sensitive / ".scratch", self.intermediate, self.release):
            clear_marked(folder)
        for zone in (self.root / MEASUREMENT, self.release):
            clear_marked(zone / dataset)
        for zone in (self.sensitive, self.intermediate):
            for run in entries(zone / dataset):
                if clear_marked(run):
                    with contextlib.suppress(OSError):  # something was finished in it
                        run.rmdir()

    def clear_unused(self, dataset: str) -> None:
        oldest = time.time() - _UNUSED_SECONDS
        for folder in entries(self.intermediate / dataset):
            with contextlib.suppress(OSError):  # another user's, or another run is faster
                for table in folder.iterdir():
                    if table.stat().st_mtime < oldest:
                        shutil.rmtree(table, ignore_errors=True)
                folder.rmdir()  # only if nothing is left

    def path(self, table: StoredTable) -> Path:
        """The folder of a table. Raises StoredTableMismatch where it is gone or was changed."""
        folder = self.root / table.key
        if not folder.is_dir():
            raise StoredTableMismatch(
                f"The run needs the stored table {table.key}, which is gone since the run began. Run again: "
                "it is made anew."
            )
        if folder_sha256(folder) != table.sha256:
            raise StoredTableMismatch(
                f"Stored tables must never change, but {table.key} was changed after it was written. Find "
                "out what changed it. Then delete the folder and run again: it is made anew."
            )
        return folder


@dataclass(frozen=True)
class RunWorkspace(Workspace):
    """A workspace as one run works in it: with a folder of the run's own in each zone."""

    dataset: str
    label: str
    resources: "QueryResources"

    @classmethod
    def begin(cls, workspace: Workspace, dataset: str, resources: "QueryResources") -> "RunWorkspace":
        now = datetime.datetime.now(datetime.UTC)
        label = f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
        return cls(workspace.root, dataset, label, resources)

    def folder(self, zone: str) -> Path:
        return self.root / zone / self.dataset / self.label


def process_mark() -> str:
    """Of this process: its id, and where that id counts."""
    return f"{os.getpid()}-{_place()}"


@functools.cache
def _place() -> str:
    """Where process ids count: a host and, on Linux, one of its containers."""
    namespace = ""
    with contextlib.suppress(OSError):
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return hashlib.sha256(f"{socket.gethostname()} {namespace}".encode()).hexdigest()[:8]


def clear_marked(folder: Path) -> bool:
    """Remove from a folder the marked files and folders of dead processes; True if there were any."""
    leftovers = [path for path in entries(folder) if _is_left_over(path.name)]
    for path in leftovers:
        remove(path)
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


def is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it, as far as this user may."""
    if is_folder(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a file beside it, which then gets its name: readers see all of it or nothing."""
    part = path.with_name(f".{path.name}-{process_mark()}-{secrets.token_hex(4)}.part")
    try:
        write(part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, body: object) -> None:
    path.write_text(json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def vintage_in_name(folder: Path) -> str:
    """The vintage of ``<vintage>-<number>`` or ``<vintage>-<digest>``: all before the last hyphen.

    >>> vintage_in_name(Path("2026-11")), vintage_in_name(Path("2026-11-1"))
    ('2026', '2026-11')
    """
    return folder.name.rpartition("-")[0]


def entries(folder: Path) -> list[Path]:
    """What is in a folder, by name; nothing where it is not there, or is closed to this user."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _give_name(part: Path, folder: Path, digest: str) -> None:
    """Rename a finished folder; one that is there already and holds the same stays, for who reads it now."""
    while not (folder.is_dir() and folder_sha256(folder) == digest):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            part.rename(folder)
        except OSError as error:  # another run was faster: look at what it made
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
