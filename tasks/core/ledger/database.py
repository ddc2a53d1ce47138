"""Measurements and salts in a ledger's database, and copies of measurements on this machine to work with."""

import shutil
import uuid
from contextlib import suppress
from pathlib import Path, PurePosixPath

from tasks.core.dp.digest import sha256_of
from tasks.core.dp.measurement import measurement_sha256
from tasks.core.ledger import place
from tasks.core.ledger.entries import broken
from tasks.core.ledger.folder import begin_folder
from tasks.core.ledger.new_salt import SALT_BYTES, new_salt
from tasks.core.ledger.refusals import lost_salt
from tasks.core.ledger.session import Sessions, statement

#: Files are kept in parts of so many bytes: a value of PostgreSQL ends at a gigabyte, and memory before that.
_PART_BYTES = 8 << 20


class DatabaseMeasurements:
    """The files of each measurement as bytes, written in one transaction.

    Noise is drawn into a folder of this machine. A copy here is only ever used where it is what the chain
    says, and may be deleted at any time.
    """

    def __init__(self, sessions: Sessions, folder: Path) -> None:
        """Args: sessions: with the database. folder: for copies, made where it is missing."""
        self._sessions, self.root = sessions, place.private_folder(folder)

    def names(self) -> set[str]:
        """See `Measurements`."""
        with self._sessions.current() as connection:
            return {str(row["name"]) for row in connection.execute(statement("names"))}

    def has(self, name: str) -> bool:
        """See `Measurements`."""
        with self._sessions.current() as connection:
            row = connection.execute(statement("has"), {"name": name}).fetchone()
        return bool(row and row["files"])

    def begin(self, name: str) -> Path:
        """See `Measurements`."""
        return begin_folder(self._part(name))

    def give_up(self, name: str) -> None:
        """See `Measurements`."""
        shutil.rmtree(self._part(name), ignore_errors=True)

    def keep(self, name: str) -> None:
        """See `Measurements`: the transaction is durable when it ends, and the lock is still held in it."""
        part = self._part(name)
        with self._sessions.writing() as connection:
            for path in sorted(path for path in part.rglob("*") if path.is_file()):
                where = path.relative_to(part).as_posix()
                with path.open("rb") as file:
                    number = 0
                    while (content := file.read(_PART_BYTES)) or number == 0:
                        row = {"name": name, "path": where, "part": number, "content": content}
                        connection.execute(statement("keep"), row)
                        number += 1
        self._replace(part, name)

    def make_durable(self, name: str) -> None:
        """See `Measurements`: what can be read from the database is durable."""

    def folder(self, name: str, sha256: str | None = None) -> Path:
        """See `Measurements`: a copy, fetched unless the one that is here is the right one."""
        copy = self.root / name
        if sha256 is None or not copy.is_dir() or measurement_sha256(copy) != sha256:
            self._replace(self._fetched(name), name)
        return copy

    def where(self, name: str) -> str:
        """See `Measurements`."""
        return f"the measurement {name} of the database {self._sessions.whereabouts.name}"

    def _part(self, name: str) -> Path:
        return self.root / f"{name}.part"

    def _fetched(self, name: str) -> Path:
        scratch = begin_folder(self.root / f"{name}.{uuid.uuid4().hex}.copy")
        with self._sessions.current() as connection:
            rows = connection.execute(statement("parts"), {"name": name}).fetchall()
            for row in rows:
                path = PurePosixPath(str(row["path"]))
                if path.is_absolute() or ".." in path.parts:
                    raise broken(self._sessions.whereabouts, "a file of a measurement has no name of its own")
                wanted = {"name": name, "path": row["path"], "part": row["part"]}
                found = connection.execute(statement("content"), wanted, binary=True).fetchone() or {}
                (scratch / path).parent.mkdir(parents=True, exist_ok=True)
                with (scratch / path).open("ab") as file:
                    file.write(bytes(found["content"]))  # type: ignore[call-overload]
        return scratch

    def _replace(self, made: Path, name: str) -> None:
        """Give a copy its name. The same one that is there stays: another process may be reading it."""
        copy = self.root / name
        with suppress(OSError):
            made.rename(copy)
            return
        if measurement_sha256(copy) == measurement_sha256(made):
            shutil.rmtree(made, ignore_errors=True)
            return
        shutil.rmtree(copy, ignore_errors=True)
        made.rename(copy)


class DatabaseSalts:
    """One row a salt, by a hash of the dataset's name."""

    def __init__(self, sessions: Sessions) -> None:
        """Args: sessions: with the database."""
        self._sessions = sessions

    def make(self, dataset: str) -> None:
        """See `Salts`: it is kept with the chain's word on it, or neither is."""
        with self._sessions.current() as connection:
            connection.execute(statement("make_salt"), {"key": _key(dataset), "salt": new_salt()})

    def read(self, dataset: str) -> bytes:
        """See `Salts`."""
        with self._sessions.current() as connection:
            row = connection.execute(statement("salt"), {"key": _key(dataset)}, binary=True).fetchone()
        if row is None:
            raise lost_salt(self.where(dataset), "it is gone", "database")
        salt: bytes = row["salt"]  # type: ignore[assignment]
        if len(salt) != SALT_BYTES:
            raise lost_salt(self.where(dataset), f"it does not have {SALT_BYTES} bytes", "database")
        return salt

    def where(self, dataset: str) -> str:
        """See `Salts`."""
        return f"of dataset {dataset!r} in {self._sessions.whereabouts.name}"


def _key(dataset: str) -> str:
    return sha256_of(dataset)[:32]
