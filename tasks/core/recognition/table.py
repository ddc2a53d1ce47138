r"""A whole table: a file goes in, what it is and what each of its columns is comes out, with reasons.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     people = Path(folder, "people.csv")
...     rows = "".join(f"p{i % 60};{i % 80};{i},5\n" for i in range(120))
...     _ = people.write_text("person;age;income\n" + rows)
...     found = recognise_table(people)
>>> found.source.delimiter, found.candidates[0].name
(';', 'person')
>>> [(column.name, column.kind) for column in found.columns]
[('person', 'id'), ('age', 'age'), ('income', 'money')]
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from tasks.core.errors import ParameterError
from tasks.core.queries import connect
from tasks.core.recognition.cells import MOST_ROWS, SeenColumn, load_cells
from tasks.core.recognition.columns import Context, recognise_column
from tasks.core.recognition.dates import date_column
from tasks.core.recognition.dialect import Dialect, recognise_dialect
from tasks.core.recognition.functions import Follows, functions_of_others
from tasks.core.recognition.numbers import has_decimal_comma
from tasks.core.recognition.overrules import of_column, overruled
from tasks.core.recognition.persons import Candidate, candidates
from tasks.core.recognition.promises import with_promises
from tasks.core.recognition.said import Overrule, SaidOfFile
from tasks.core.recognition.treatment import Recognised, Treatment
from tasks.core.tables.column_names import matching_name
from tasks.core.tables.header import InputFile

#: How a row of totals begins.
_TOTAL = re.compile(
    r"(grand |sub)?total|sum\b|summe|gesamt|insgesamt|somme|totaal|suma\b|razem|totale|total general"
)
#: Kinds that a column is given back to the release for where nothing else is left.
_UNUSABLE = ("empty", "names a person", "id")


@dataclass(frozen=True)
class RecognisedTable:
    """What was seen.

    Attributes:
        source: the file and its dialect.
        reasons: of the dialect's parts, by their names.
        columns: in the file's order, as they were recognised.
        candidates: columns that may say whose row it is, the likeliest first.
        follows: columns that follow from others.
        rows: how many were looked at.
        is_part: whether there may be more rows.
        cells: of each column; sensitive.
        comma: whether numbers have a comma before decimals.
        day_first: whether dates begin with the day.
        today: by which ages are reckoned.
        doubt: why only a person can know whether the first line names the columns; empty: it is clear.
        first: the cells of the first line, where that is in doubt; sensitive.
    """

    source: InputFile
    reasons: dict[str, str]
    columns: tuple[Recognised, ...]
    candidates: tuple[Candidate, ...]
    follows: tuple[Follows, ...]
    rows: int
    is_part: bool
    cells: tuple[SeenColumn, ...]
    comma: bool
    day_first: bool
    today: date
    doubt: str = ""
    first: tuple[str, ...] = ()

    @property
    def total(self) -> str:
        """The cell by which the last row seems to hold totals; empty where it does not."""
        for each in self.cells:
            if each.rows and each.codes[-1] >= 0:
                text = each.texts[each.codes[-1]]
                return text if _TOTAL.match(text.casefold()) and each.held[each.codes[-1]] == 1 else ""
        return ""

    def column(self, name: str) -> Recognised:
        """The column of a header.

        Raises:
            ParameterError: there is none of that name.
        """
        wanted = of_column(Overrule(name, ""), [column.name for column in self.columns])
        return next(column for column in self.columns if column.name == wanted)

    def candidate(self, name: str) -> Candidate:
        """The candidate of that name, or one that nothing speaks for but the person."""
        known = self.column(name).name
        for candidate in self.candidates:
            if candidate.name == known:
                return candidate
        cells = next(cells for cells in self.cells if cells.name == known)
        several = bool((cells.held > 1).any())
        return Candidate(known, 0.0, "you say so", several)

    def with_overrules(self, said: Iterable[Overrule]) -> "RecognisedTable":
        """The same as a person corrects it; of several about one column each builds on the one before.

        Raises:
            ParameterError: all that can't be so.
        """
        found = {column.name: column for column in self.columns}
        cells = {each.name: each for each in self.cells}
        problems: list[str] = []
        with connect() as connection:
            context = Context(connection, self.comma, self.day_first, self.today)
            for each in said:
                try:
                    name = of_column(each, list(found))
                    changed = overruled(found[name], each, cells[name], context)
                    found[name] = with_promises(changed, cells[name], connection)
                except ParameterError as error:
                    problems += error.problems
        if problems:
            raise ParameterError(problems)
        return replace(self, columns=tuple(found.values()))

    def used(self, subject: str | None) -> list[Recognised]:
        """The columns of the release: all that are not left out, or all that hold something if all are."""
        others = [column for column in self.columns if not _is(column, subject)]
        used = [column for column in others if column.treatment.is_used]
        if used:
            return used
        rest = [column for column in others if column.kind not in _UNUSABLE] or others
        return [replace(column, treatment=Treatment()) for column in rest]


def _is(column: Recognised, subject: str | None) -> bool:
    return subject is not None and matching_name(column.name) == matching_name(subject)


def recognise_table(
    path: Path,
    said: SaidOfFile | None = None,
    *,
    today: date | None = None,
    source: InputFile | None = None,
) -> RecognisedTable:
    """Look at a table.

    Args:
        path: of the file.
        said: what a person says of how it is written.
        today: by which ages are reckoned.
        source: the file with its dialect, where that is declared already.

    Raises:
        InputError: the file can't be read as a table; the message carries no cell.
    """
    dialect = (
        Dialect(source, {"dialect": "as the configuration says"}) if source else recognise_dialect(path, said)
    )
    with connect() as connection:
        cells = tuple(load_cells(connection, dialect.source))
        comma = any(has_decimal_comma(each) for each in cells)
        context = Context(connection, comma, _is_day_first(cells, dialect.source), today or date.today())
        whose = candidates(cells)
        recognised = (_not_of_a_person(recognise_column(each, context), whose) for each in cells)
        columns = tuple(
            with_promises(column, each, connection) for column, each in zip(recognised, cells, strict=True)
        )
        follows = functions_of_others(
            [
                each
                for each, column in zip(cells, columns, strict=True)
                if column.treatment.is_used and column.treatment.delimiter is None
            ]
        )
    rows = cells[0].rows if cells else 0
    return RecognisedTable(
        source=dialect.source,
        reasons=dialect.reasons | _nameless(dialect.source),
        columns=tuple(_with_follows(column, follows) for column in columns),
        candidates=tuple(whose),
        follows=tuple(follows),
        rows=rows,
        is_part=rows >= MOST_ROWS,
        cells=cells,
        comma=comma,
        day_first=context.day_first,
        today=context.today,
        doubt=dialect.doubt,
        first=dialect.first,
    )


def _not_of_a_person(column: Recognised, whose: Sequence[Candidate]) -> Recognised:
    """What says whose row it is is left out, and so are numbers that may: binned they say nothing."""
    found = next((each for each in whose if each.name == column.name), None)
    if found is None or not column.treatment.is_used:
        return column
    if not found.is_proposed and not column.kind.startswith("number"):
        return column
    return Recognised(column.name, "id", found.reason, Treatment(is_used=False))


def _nameless(source: InputFile) -> dict[str, str]:
    """What is said of columns without a name."""
    places = [str(place) for place, name in enumerate(source.headers.names, start=1) if not name]
    which = "column" if len(places) == 1 else "columns"
    return {"nameless": f"{which} {', '.join(places)} left out: no name"} if places else {}


def _with_follows(column: Recognised, follows: Sequence[Follows]) -> Recognised:
    """A column that says the same as another is left out; of one that follows the reason says so."""
    found = next((each for each in follows if each.column == column.name), None)
    if found is None:
        return column
    if found.is_same:
        reason = (
            f"says the same as {found.source}: each value of one always stands with the same of the other"
        )
        return replace(
            column, kind=f"{column.kind}, a double", reason=reason, treatment=Treatment(is_used=False)
        )
    return replace(column, reason=f"{column.reason}; follows from {found.source}")


def _is_day_first(cells: Sequence[SeenColumn], source: InputFile) -> bool:
    """Whether dates begin with the day, by columns whose cells tell; else as tables with semicolons do."""
    votes = 0
    for each in cells:
        sample = each.texts[:200]
        if not any("/" in text or "-" in text for text in sample):
            continue
        first = date_column(each, day_first=True)
        if first is not None and not first.swapped and first.formats:
            told = ("%d/%m", "%m/%d", "%d-%m", "%m-%d")
            starts = [format_[:2] for format_ in first.formats if format_[:5] in told]
            votes += starts.count("%d") - starts.count("%m")
    return votes > 0 or (votes == 0 and source.delimiter == ";")
