"""What the ledger needs of a place that keeps it: the chain, the measurements and the salts together.

Whoever backs a store up backs up all. A folder serves one user on one machine, a database workers on many.
"""

import shutil
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.ledger.entries import Entry, Transaction, Whereabouts
from tasks.core.ledger.place import begin_folder, private_folder


class Measurements(ABC):
    """The measurements of releases, each under the name of its reservation.

    Each is drawn into a folder of this machine.
    """

    def __init__(self, folder: Path) -> None:
        self.root = private_folder(folder)

    @abstractmethod
    def names(self) -> set[str]:
        """Of all that are kept or begun here."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """Whether a complete one is kept."""

    def part(self, name: str) -> Path:
        return self.root / f"{name}.part"

    def begin(self, name: str) -> Path:
        """An empty folder to draw into, closed to others. What was begun before goes."""
        return begin_folder(self.part(name))

    def give_up(self, name: str) -> None:
        shutil.rmtree(self.part(name), ignore_errors=True)

    @abstractmethod
    def keep(self, name: str) -> None:
        """Keep what was begun: durable, and under its name complete or not there at all."""

    @abstractmethod
    def make_durable(self, name: str) -> None:
        """Make sure that one survives which a run that died kept."""

    @abstractmethod
    def folder(self, name: str, sha256: str | None = None) -> Path:
        """A kept one's files, to be read alone. Args: sha256: what they should be, where it is known."""

    @abstractmethod
    def where(self, name: str) -> str:
        """Where it is, for whoever must restore it."""


class LedgerStore(ABC):
    """One place.

    Attributes:
        scope: where budgets are counted together, in words that may be published (R22).
        folder: on this machine, with the head that it knows.
    """

    scope: ClassVar[str]
    whereabouts: Whereabouts
    measurements: Measurements
    folder: Path

    @abstractmethod
    def entries(self) -> list[Entry]:
        """All entries, verified. Raises LedgerError where the chain is broken."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Transaction]:
        """Exclusive use: what it appends is durable, all or nothing, when it ends without an error."""

    @abstractmethod
    def release_lock(self, key: str, waiting: Callable[[], None] | None) -> AbstractContextManager[None]:
        """Exclusive use of one release's name; freed by the system when its holder dies."""

    @abstractmethod
    def is_at_work(self, key: str) -> bool:
        """Whether somebody holds that release's lock."""

    @abstractmethod
    def make_salt(self, dataset: str) -> None:
        """Make one of 32 random bytes, whole or not at all, unless there is one: its maker may have died."""

    @abstractmethod
    def read_salt(self, dataset: str) -> bytes:
        """Raises LedgerError where it is gone, damaged or open to others."""

    @abstractmethod
    def where_salt(self, dataset: str) -> str: ...


def first_entry() -> Entry:
    """Of a new chain: the ledger's own name, which no other ledger has."""
    return Transaction([]).append({"phase": "open", "ledger": uuid.uuid4().hex})


def entry_row(entry: Entry) -> dict[str, object]:
    return {"seq": entry.seq, "body": canonical(entry.body), "sha256": entry.sha256}


def salt_key(dataset: str) -> str:
    return sha256_of(dataset)[:32]
