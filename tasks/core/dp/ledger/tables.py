"""Which tables a dataset's budget was for: public facts of a table go in, a second name for one is refused.

A budget is kept by a dataset's name, so each new name would open a new budget for the same people. What a
program can compare is public: the path of the file, its header, the columns that are used. The chain keeps
keyed hashes of these, which tell equal from different and hold no header. Whether two tables with the same
columns are about the same people only a person knows, and writes down.
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tasks.core.dp.ledger.entries import Entry, canonical
from tasks.core.dp.ledger.names import folded
from tasks.core.errors import ParameterError

#: The entry that says whose table was seen, and the one that says in words that its people are others.
TABLE, APART = "table", "apart"


@dataclass(frozen=True)
class PublicTable:
    """What is publicly known of a run's table.

    Attributes:
        path: of its file.
        header: the names of all columns of the file.
        columns: those that are used, without ids.
    """

    path: Path
    header: tuple[str, ...]
    columns: tuple[str, ...]

    def marks(self, entries: list[Entry]) -> "Marks":
        """Its hashes, keyed by the ledger's own name."""
        path = canonical(["path", str(self.path.resolve())])
        columns = {columns_mark(entries, names) for names in (self.header, self.columns)}
        return Marks(frozenset({_keyed(entries, path)}), frozenset(columns))


def columns_mark(entries: list[Entry], names: Iterable[str]) -> str:
    """Of a set of columns, whatever their order, case and blanks."""
    return _keyed(entries, canonical(["columns", *sorted(map(folded, names))]))


def _keyed(entries: list[Entry], text: str) -> str:
    return hmac.new(entries[0].text("ledger").encode(), text.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Marks:
    """Hashes of the paths and the sets of columns that one dataset had."""

    paths: frozenset[str] = field(default_factory=frozenset)
    columns: frozenset[str] = field(default_factory=frozenset)

    def plus(self, other: "Marks") -> "Marks":
        """Of both."""
        return Marks(self.paths | other.paths, self.columns | other.columns)

    def shared(self, other: "Marks") -> list[str]:
        """What both have, in words."""
        found = (("path", self.paths & other.paths), ("columns", self.columns & other.columns))
        return [words for words, both in found if both]

    def __le__(self, other: "Marks") -> bool:
        """Whether all of it is in the other."""
        return self.paths <= other.paths and self.columns <= other.columns

    def as_body(self) -> dict[str, object]:
        """As an entry holds them."""
        return {"paths": sorted(self.paths), "columns": sorted(self.columns)}


def noted(entries: Iterable[Entry]) -> dict[str, Marks]:
    """What each dataset's tables had, by dataset."""
    found: dict[str, Marks] = {}
    for entry in entries:
        if entry.phase == TABLE:
            # Not under "dataset": an account is made of the entries that have that.
            dataset = entry.text("table_of")
            marks = Marks(_texts(entry.body["paths"]), _texts(entry.body["columns"]))
            found[dataset] = found.get(dataset, Marks()).plus(marks)
    return found


def _texts(value: object) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list) else frozenset()


def is_apart(entries: Iterable[Entry], dataset: str) -> bool:
    """Whether a person wrote down why the dataset has a budget of its own."""
    return any(
        entry.body.get("dataset") == dataset and bool(entry.body.get("reason"))
        if entry.phase == "register"
        else entry.phase == APART and entry.body["apart"] == dataset
        for entry in entries
    )


def require_no_other(known: Mapping[str, Marks], dataset: str, marks: Marks, unit: str) -> None:
    """Refuse a table that another dataset's budget was for.

    Args:
        known: the marks of each dataset.
        dataset: whose table it would be now.
        marks: the table's.
        unit: ``subject`` or ``row``, for the command that is advised.

    Raises:
        ParameterError: naming the other dataset, what both have, and what to do.
    """
    for other, words in _resembling(known, dataset, marks):
        rows = " --unit row" if unit == "row" else ""
        raise ParameterError(
            "All tables about the same people must share one budget. The table of dataset "
            f"{dataset!r} has the same {' and '.join(words)} as one of dataset {other!r}, which has a budget "
            f'already. Where the people are the same, set "dataset": "{other}". Where they are others, '
            f"register {dataset!r} with a written reason: "
            f"marginalia ledger '{dataset}' --cap EPSILON DELTA{rows} --reason 'other people'."
        )


def _resembling(known: Mapping[str, Marks], dataset: str, marks: Marks) -> Iterator[tuple[str, list[str]]]:
    own = known.get(dataset, Marks())
    fresh = Marks(marks.paths - own.paths, marks.columns - own.columns)
    for other, its in known.items():
        if other != dataset and (words := fresh.shared(its)):
            yield other, words
