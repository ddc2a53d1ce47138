"""Which tables a dataset had: public facts of a table go in, a second name for one is refused.

Budgets, and the salts of SynDiffix's noise, are kept by a dataset's name, so each new name would open a new
budget, or draw new noise, for the same people. What a program can compare is public: the path of the file,
its header, the columns that are used. The chain keeps keyed hashes of these, which tell equal from different
and hold no header. Whether two tables with the same columns are about the same people only a person knows,
and writes down.
"""

import hashlib
import hmac
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tasks.core.dp.digest import canonical
from tasks.core.ledger.entries import Entry, Phase, Transaction
from tasks.core.ledger.names import fold_name
from tasks.core.tables.places import normal_place, remote_url

#: The place of all tables that a notebook hands over.
_MEMORY = "memory://"


@dataclass(frozen=True)
class PublicTable:
    """What is publicly known of a run's table.

    Attributes:
        header: the names of all columns of the file.
        columns: those that are used, without ids.
        pattern: the path of the files of all vintages of the table, where each has one of its own.
    """

    path: Path
    header: tuple[str, ...]
    columns: tuple[str, ...]
    pattern: Path | None = None

    def marks(self, entries: list[Entry]) -> "Marks":
        places = (self.path,) if self.pattern is None else (self.path, self.pattern)
        paths = (keyed_mark(entries, canonical(["path", _place(place)])) for place in places)
        columns = (columns_mark(entries, names) for names in (self.header, self.columns))
        return Marks(frozenset(paths), frozenset(columns))


def _place(path: Path) -> str:
    """Where a table is. All tables in memory have one place: a program names them as it likes.

    A notebook could otherwise rename a column and a dataset, and be given a second budget for a table that
    it already had; of a file the path would tell.
    """
    return _MEMORY if _is_in_memory(path) else normal_place(path)


def _is_in_memory(path: Path) -> bool:
    return (remote_url(path) or "").startswith(_MEMORY)


def columns_mark(entries: list[Entry], names: Collection[str]) -> str:
    """Of a set of columns, whatever their order, case, blanks and invisible characters.

    >>> chain = [Entry(seq=1, sha256="", body={"phase": "open", "ledger": "a name of its own"})]
    >>> columns_mark(chain, ["Age", "town"]) == columns_mark(chain, ["town ", "AGE"])
    True
    """
    return keyed_mark(entries, canonical(["columns", *sorted(map(fold_name, names))]))


def keyed_mark(entries: list[Entry], text: str) -> str:
    return hmac.new(entries[0].text("ledger").encode(), text.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Marks:
    """Hashes of the paths and the sets of columns that one dataset had."""

    paths: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()

    def plus(self, other: "Marks") -> "Marks":
        return Marks(self.paths | other.paths, self.columns | other.columns)

    def shared(self, other: "Marks", place: str = "path") -> list[str]:
        """What both have, in words. Args: place: what paths are called."""
        found = ((place, self.paths & other.paths), ("columns", self.columns & other.columns))
        return [words for words, both in found if both]

    def __le__(self, other: "Marks") -> bool:
        return self.paths <= other.paths and self.columns <= other.columns

    @classmethod
    def of(cls, entry: Entry) -> "Marks":
        return cls(_texts(entry.body["paths"]), _texts(entry.body["columns"]))

    def as_body(self) -> dict[str, object]:
        return {"paths": sorted(self.paths), "columns": sorted(self.columns)}


def note_table(work: Transaction, phase: Phase, dataset: str, table: PublicTable, code: str = "") -> None:
    """Write down that a dataset had a table, unless that is there already."""
    marks = table.marks(work.entries)
    if not marks <= known_marks(work.entries, phase).get(dataset, Marks()):
        # Not under "dataset": an account is made of the entries that have that.
        work.append({"phase": phase, "table_of": dataset, "code": code, **marks.as_body()})


def known_marks(entries: Iterable[Entry], phase: Phase = "table") -> dict[str, Marks]:
    """What each dataset's tables had, by dataset: those of its budget, or those of its salt."""
    found: dict[str, Marks] = {}
    for entry in entries:
        if entry.phase == phase:
            dataset = entry.text("table_of")
            found[dataset] = found.get(dataset, Marks()).plus(Marks.of(entry))
    return found


def _texts(value: object) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list) else frozenset()


def are_apart(entries: Iterable[Entry], one: str, other: str) -> bool:
    """Whether a person wrote down of one of two datasets that its people are others, and knew of the other.

    What is written of a dataset is about those that were there: one that comes later may be of its people.
    """
    known: set[str] = set()
    for entry in entries:
        if entry.phase == "salt":
            known.add(entry.text("salt_of"))
        elif entry.phase in ("register", "apart"):
            written = entry.text("apart" if entry.phase == "apart" else "dataset")
            known.add(written)
            if written in (one, other) and entry.body.get("reason") and known >= {one, other}:
                return True
    return False


class Resemblance(NamedTuple):
    """That a table of one dataset has what a table of another one had: ``words`` say what."""

    dataset: str
    other: str
    words: str


def find_resemblance(
    entries: list[Entry], phase: Phase, dataset: str, table: PublicTable
) -> Resemblance | None:
    """The first other dataset whose table this was, by its hashes, and that no person told apart from it."""
    known = known_marks(entries, phase)
    own = known.get(dataset, Marks())
    marks = table.marks(entries)
    fresh = Marks(marks.paths - own.paths, marks.columns - own.columns)
    place = "place (a notebook's memory)" if _is_in_memory(table.path) else "path"
    for other, its in known.items():
        words = fresh.shared(its, place)
        if other != dataset and words and not are_apart(entries, dataset, other):
            return Resemblance(dataset, other, " and ".join(words))
    return None
