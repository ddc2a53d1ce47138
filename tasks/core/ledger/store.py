"""What the ledger needs of a place that keeps it, and the two places that there are.

A store keeps the chain, the measurements and the salts together: whoever backs one up backs up all. A folder
(`tasks.core.ledger.sqlite`) serves one user on one machine, a database (`tasks.core.ledger.postgresql`)
workers on many. Nobody else asks which of them it is.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from tasks.core.ledger.entries import Entry, Transaction, Whereabouts
from tasks.core.ledger.place import Database, Place, ledger_place


class Measurements(Protocol):
    """The measurements of releases, each under the name of its reservation."""

    def names(self) -> set[str]:
        """Of all that are kept or begun here."""

    def has(self, name: str) -> bool:
        """Whether a complete one is kept."""

    def begin(self, name: str) -> Path:
        """An empty folder on this machine to draw into, closed to others. What was begun before goes."""

    def give_up(self, name: str) -> None:
        """Take away what was begun."""

    def keep(self, name: str) -> None:
        """Keep what was begun: durable, and under its name complete or not there at all."""

    def make_durable(self, name: str) -> None:
        """Make sure that one survives which a run that died kept."""

    def folder(self, name: str, sha256: str | None = None) -> Path:
        """A kept one's files, to be read alone. Args: sha256: what they should be, where it is known."""

    def where(self, name: str) -> str:
        """Where it is, for whoever must restore it."""


class Salts(Protocol):
    """The salts of SynDiffix's noise, by dataset."""

    def make(self, dataset: str) -> None:
        """Make one of 32 random bytes, whole or not at all, unless there is one."""

    def read(self, dataset: str) -> bytes:
        """Its bytes. Raises LedgerError where it is gone, damaged or open to others."""

    def where(self, dataset: str) -> str:
        """Where it is, in words."""


class LedgerStore(Protocol):
    """What a ledger needs of its store."""

    @property
    def scope(self) -> str:
        """Where budgets are counted together, in words that may be published."""

    @property
    def whereabouts(self) -> Whereabouts:
        """Where it is, for messages."""

    @property
    def measurements(self) -> Measurements:
        """The measurements."""

    @property
    def salts(self) -> Salts:
        """The salts."""

    def entries(self) -> list[Entry]:
        """All entries, verified. Raises LedgerError where the chain is broken."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Exclusive use: what it appends is durable, all or nothing, when it ends without an error."""

    def release_lock(self, key: str, waiting: Callable[[], None] | None) -> AbstractContextManager[None]:
        """Exclusive use of one release's name; freed by the system when its holder dies."""

    def is_at_work(self, key: str) -> bool:
        """Whether somebody holds that release's lock."""


def open_store(place: Place | None = None) -> LedgerStore:
    """The store at a place, made where it is missing.

    Args:
        place: of the ledger; None: the user's own (`place.ledger_place`).

    Raises:
        LedgerError: see `SqliteStore` and `PostgresqlStore`.
    """
    place = place or ledger_place()
    if isinstance(place, Database):
        # Not for those who have no database: loading its client takes a tenth of a second.
        from tasks.core.ledger.postgresql import PostgresqlStore

        return PostgresqlStore(place)
    from tasks.core.ledger.sqlite import SqliteStore

    return SqliteStore(place)


def is_begun(place: Place) -> bool:
    """Whether somebody has used a ledger there, as far as that is known without opening it."""
    return isinstance(place, Database) or (place / "ledger.sqlite").is_file()
