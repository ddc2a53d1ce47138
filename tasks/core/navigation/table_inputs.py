"""What the page of a SynDiffix release is made of: synthetic tables, their statement, what it is called."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from tasks.core.arrays import Json
from tasks.core.errors import InternalError
from tasks.core.navigation.naming import Naming

#: Reads some columns of a table by its file.
Read = Callable[[str, Sequence[str]], pa.Table]


def _no_table(file: str, columns: Sequence[str]) -> pa.Table:
    raise InternalError(f"a page without tables of questions was asked for {len(columns)} columns of one")


@dataclass(frozen=True)
class TablePage:
    """Everything a page is made of.

    Attributes:
        statement: the content of ``privacy.json``.
        table: the synthetic one.
        bins: public edges by numeric column.
        naming: titles, words and layout.
        contract: the content of ``contract.json``; None where there was no data contract.
        files: of the table of all columns, relative to the page.
        tables: likewise of each table of a single question its file, and its columns.
        read: some columns of one of these tables, by its file.
    """

    statement: Json
    table: pa.Table
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    naming: Naming = field(default_factory=Naming)
    contract: Json | None = None
    files: Sequence[str] = ()
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    read: Read = _no_table

    @property
    def title(self) -> str:
        """Of the page."""
        return self.naming.title or f"{self.statement['dataset']}, {self.statement['vintage']}"

    def smallest(self, names: Sequence[str]) -> str | None:
        """The table of a question with the fewest columns that holds these; None: that of all is as small.

        The fewer columns a table has, the less is suppressed in it. Of equally small ones it is the first.
        """
        most = self.table.num_columns
        holding = [file for file, held in self.tables.items() if set(names) <= set(held) and len(held) < most]
        return min(holding, key=lambda file: len(self.tables[file]), default=None)
