"""A PostgreSQL server of the tests' own: a folder goes in, the address of an empty database comes out.

PostgreSQL refuses to run as root, so a test run by root starts it as the user ``postgres``, which Debian's
package makes.
"""

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_DEBIAN = Path("/usr/lib/postgresql")


def programs() -> Path | None:
    """Folder of PostgreSQL's programs; None where they are not installed."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = sorted(_DEBIAN.glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


@dataclass
class PostgreSQL:
    """A server on loopback.

    Attributes:
        folder: its data.
        port: where it listens.
        made: databases of tests.
    """

    folder: Path
    port: int
    made: set[str] = field(default_factory=set)

    def url(self, database: str = "postgres") -> str:
        """Connection string of a database, as its superuser; the password is none."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        log = self.folder.parent / "server.log"
        _run("pg_ctl", "-D", self.folder, "-o", options, "-l", log, "-w", "-t", "120", "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it. Args: mode: fast, or immediate, which is a crash."""
        _run("pg_ctl", "-D", self.folder, "-m", mode, "-w", "stop")

    def of_test(self, folder: Path, name: str) -> str:
        """A database of a test's own, made once; its connection string. Args: folder: the test's."""
        database = "t" + hashlib.sha256(f"{folder} {name}".encode()).hexdigest()[:24]
        if database not in self.made:
            self.made.add(database)
            self.create(database)
        return self.url(database)

    def create(self, database: str) -> str:
        """A new empty database; its connection string."""
        sql = f'create database "{database}"'
        _run("psql", "-q", "-d", self.url(), "-c", sql)
        return self.url(database)


@contextmanager
def running(folder: Path) -> Iterator[PostgreSQL]:
    """A new server with its data below a folder that the tests may write; ended at the end."""
    with _home(folder) as home:
        _run("initdb", "-D", home / "data", "-A", "trust", "-U", "postgres", "--no-sync")
        server = PostgreSQL(home / "data", _free_port())
        server.start()
        try:
            yield server
        finally:
            with suppress(subprocess.CalledProcessError):
                server.stop("immediate")


@contextmanager
def _home(folder: Path) -> Iterator[Path]:
    """A folder of the server's user. Run by root, it is in none of pytest's: these are closed to others anew
    whenever another session of pytest begins, and a server that can't reach its data any more is gone.
    """
    if os.geteuid() != 0:
        (folder / "postgresql").mkdir(parents=True)
        yield folder / "postgresql"
        return
    with tempfile.TemporaryDirectory(prefix="postgresql.", ignore_cleanup_errors=True) as home:
        shutil.chown(home, "postgres")
        yield Path(home)


def _run(program: str, *arguments: object) -> None:
    folder = programs()
    assert folder is not None, "the fixture skips where PostgreSQL is missing"
    command = [str(folder / program), *map(str, arguments)]
    if os.geteuid() == 0:
        command = ["runuser", "-u", "postgres", "--", *command]
    # No pipe: the server would inherit it, and reading it would never end.
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
