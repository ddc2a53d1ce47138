"""A whole table: a file goes in, what it is and what each of its columns is comes out, with reasons."""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.recognition.cells import FEW, MOST_ROWS, SeenColumn, load_cells
from tasks.core.recognition.columns import Context, recognise_column, treat_dates
from tasks.core.recognition.dates import date_column
from tasks.core.recognition.dialect import Dialect, recognise_dialect
from tasks.core.recognition.edges import AGE_BANDS, Edges, choose_edges, with_limits
from tasks.core.recognition.init_answers import WORDS, Correction, FileAnswers
from tasks.core.recognition.numbers import NumberColumn, has_decimal_comma, is_code_number, number_column
from tasks.core.recognition.persons import Candidate, candidates
from tasks.core.recognition.relations import columns_that_follow
from tasks.core.recognition.treatment import NOT_A_NUMBER, OTHER, Recognised, Treatment, with_promises
from tasks.core.records.cell_reading import CellReading
from tasks.core.records.columns import bin_problems, domain_problems
from tasks.core.tables.column_names import matching_name
from tasks.core.tables.header import InputFile

#: How a row of totals begins.
_TOTAL = re.compile(
    r"(grand |sub)?total|sum\b|summe|gesamt|insgesamt|somme|totaal|suma\b|razem|totale|total general"
)
#: Kinds that a column is given back to the release for where nothing else is left.
_UNUSABLE = ("empty", "names a person", "id")

#: A column is lost where more than this share of its cells hold a value that would not be released.
_MOSTLY = 0.5
#: What may be left of a date, from the finest on.
_COARSER_DATES = {"day": ("month", "year"), "hour": (), "month": ("year",), "": ("month", "year")}


@dataclass(frozen=True, kw_only=True)
class RecognisedTable(Dialect):
    """What was seen, of a file that is written so.

    Attributes:
        candidates: columns that may say whose row it is, the likeliest first.
        cells: of each column; sensitive.
    """

    columns: tuple[Recognised, ...]
    candidates: tuple[Candidate, ...]
    cells: tuple[SeenColumn, ...]
    context: Context

    @property
    def rows(self) -> int:
        return self.cells[0].rows if self.cells else 0

    @property
    def is_part(self) -> bool:
        return self.rows >= MOST_ROWS

    @property
    def total(self) -> str:
        """The cell by which the last row seems to hold totals; empty where it does not."""
        for each in self.cells:
            if each.rows and each.codes[-1] >= 0:
                text = each.texts[each.codes[-1]]
                return text if _TOTAL.match(text.casefold()) and each.held[each.codes[-1]] == 1 else ""
        return ""

    def column(self, name: str) -> Recognised:
        """Raises: ParameterError: there is none of that name."""
        known = {matching_name(column.name): column for column in self.columns}
        found = known.get(matching_name(name))
        if found is None:
            meant = did_you_mean(matching_name(name), known, lambda key: repr(known[key].name))
            raise ParameterError(f"{name!r} is not a column of the table: {meant or 'correct the name.'}")
        return found

    def cells_of(self, column: Recognised) -> SeenColumn:
        return next(cells for cells in self.cells if cells.name == column.name)

    def candidate(self, name: str) -> Candidate:
        column = self.column(name)
        known = (each for each in self.candidates if each.name == column.name)
        several = bool((self.cells_of(column).held > 1).any())
        return next(known, Candidate(column.name, 0.0, "you say so", several))

    def corrected(self, said: Iterable[Correction]) -> "RecognisedTable":
        """The same as a person corrects it; of several about one column each builds on the one before.

        Raises:
            ParameterError: all that can't be so.
        """
        table = self
        problems: list[str] = []
        for each in said:
            try:
                column = table.column(each.column)
                cells = table.cells_of(column)
                changed = with_promises(_correct_column(column, each, cells, self.context), cells)
                columns = tuple(changed if one is column else one for one in table.columns)
                table = replace(table, columns=columns)
            except ParameterError as error:
                problems += error.problems
        if problems:
            raise ParameterError(problems)
        return table

    def used(self, subject: str | None) -> list[Recognised]:
        """The columns of the release: all that are not left out, or all that hold something if all are."""
        whose = None if subject is None else matching_name(subject)
        others = [column for column in self.columns if matching_name(column.name) != whose]
        used = [column for column in others if column.treatment.is_used]
        if used:
            return used
        rest = [column for column in others if column.kind not in _UNUSABLE] or others
        return [replace(column, treatment=Treatment()) for column in rest]


def recognise_table(
    path: Path,
    said: FileAnswers | None = None,
    *,
    today: date | None = None,
    source: InputFile | None = None,
) -> RecognisedTable:
    """Look at a table. Args: source: the file with its dialect, where that is declared already.

    Raises:
        InputError: the file can't be read as a table; the message carries no cell.
    """
    as_declared = {"dialect": "as the configuration says"}
    dialect = Dialect(source, as_declared) if source else recognise_dialect(path, said)
    cells = tuple(load_cells(dialect.source))
    comma = any(map(has_decimal_comma, cells))
    context = Context(comma, _is_day_first(cells, dialect.source), today or date.today())
    whose = candidates(cells)
    columns = [_leave_out_ids(recognise_column(each, context), whose) for each in cells]
    columns = _share_missing_codes(columns, cells, context)
    columns = [*map(with_promises, columns, cells)]
    treatments = (column.treatment for column in columns)
    is_single = [each.is_used and each.delimiter is None for each in treatments]
    follows = columns_that_follow([*itertools.compress(cells, is_single)])
    reasons = dialect.reasons | _describe_nameless_columns(dialect.source)
    return RecognisedTable(
        **vars(replace(dialect, reasons=reasons)),
        columns=tuple(
            _mark_dependent(column, *follows[column.name]) if column.name in follows else column
            for column in columns
        ),
        candidates=tuple(whose),
        cells=cells,
        context=context,
    )


def _leave_out_ids(column: Recognised, whose: Sequence[Candidate]) -> Recognised:
    """What says whose row it is is left out, and so are numbers that may: binned they say nothing."""
    found = next((each for each in whose if each.name == column.name), None)
    if found is None or not column.treatment.is_used:
        return column
    if not found.is_proposed and not column.kind.startswith("number"):
        return column
    return Recognised(column.name, "id", found.reason, Treatment(is_used=False))


def _share_missing_codes(
    columns: Sequence[Recognised], cells: Sequence[SeenColumn], context: Context
) -> list[Recognised]:
    """Numbers with the same answers have the same codes for a missing value, however few cells hold one.

    A code that few cells of a column hold, such as 99, would else be counted there as an answer.
    """
    answers, codes = {}, {}
    for column, each in zip(columns, cells, strict=True):
        if column.kind == "number, few values":
            read = each.read(CellReading(cut=column.treatment.reading.cut))
            answers[column.name] = {*read.chosen(read.held >= FEW)}
            codes[column.name] = {*filter(is_code_number, column.treatment.reading.missing)}
    found = []
    for column, each in zip(columns, cells, strict=True):
        held = answers.get(column.name, set())
        alike = [
            name for name, others in answers.items() if held and held - codes[name] == others - codes[name]
        ]
        told = {code: name for name in reversed(alike) for code in codes[name] - codes[column.name]}
        if told:
            missing = tuple(sorted(told))
            column = _without_missing(column, missing, each, context)
            reason = (
                f"{column.reason}; {', '.join(missing)} as well, as in {told[missing[0]]}: the same answers"
            )
            column = replace(column, reason=reason)
        found.append(column)
    return found


def _describe_nameless_columns(source: InputFile) -> dict[str, str]:
    places = [str(place) for place, name in enumerate(source.headers.names, start=1) if not name]
    which = "column" if len(places) == 1 else "columns"
    return {"nameless": f"{which} {', '.join(places)} left out: no name"} if places else {}


def _mark_dependent(column: Recognised, source: str, is_same: bool) -> Recognised:
    """A column that says the same as another is left out; of one that follows the reason says so."""
    if not is_same:
        return replace(column, reason=f"{column.reason}; follows from {source}")
    reason = f"says the same as {source}: each value of one always stands with the same of the other"
    return Recognised(column.name, f"{column.kind}, a double", reason, Treatment(is_used=False), column.doubt)


def _is_day_first(cells: Sequence[SeenColumn], source: InputFile) -> bool:
    """Whether dates begin with the day, by columns whose cells tell; else as tables with semicolons do."""
    votes = 0
    for each in cells:
        if any("/" in text or "-" in text for text in each.texts[:200]):
            found = date_column(each, day_first=True)
            if found is not None and not found.swapped:
                starts = [format_[:5] for format_ in found.formats]
                votes += sum(
                    (start in ("%d/%m", "%d-%m")) - (start in ("%m/%d", "%m-%d")) for start in starts
                )
    return votes > 0 or (votes == 0 and source.delimiter == ";")


def _correct_column(found: Recognised, said: Correction, cells: SeenColumn, context: Context) -> Recognised:
    """The column as the person says, who writes down what is public: a list of values is a public list.

    Raises: ParameterError: it can't be so.
    """
    treatment = found.treatment
    kept = Treatment(reading=CellReading(missing=treatment.reading.missing))
    word, detail = said.word, said.detail
    listed = tuple(filter(None, map(str.strip, detail.split(","))))
    if word == "skip":
        treatment = Treatment(is_used=False)
    elif word == "text":
        treatment = kept
    elif word == "missing":
        return _correct_missing(found, listed, cells, context)
    elif word == "values":
        _refuse_problems(domain_problems(listed), said)
        treatment = replace(kept, domain=listed, other=OTHER)
    elif word == "items":
        _refuse_problems([] if detail else ["give the delimiter, such as items:;"], said)
        strip = treatment.reading.strip if treatment.delimiter else ""
        treatment = replace(kept, delimiter=detail, reading=replace(kept.reading, strip=strip))
    elif word == "prefix":
        is_length = detail.isdigit() and 0 < int(detail) < 10_000
        _refuse_problems([] if is_length else ["give how many characters to keep, such as prefix:3"], said)
        treatment = replace(kept, reading=replace(kept.reading, cut=str(int(detail))))
    else:
        bare = cells.read(kept.reading)
        numbers = None
        if bare.filled and word in ("bins", "age"):
            numbers = number_column(bare, comma=context.comma)
        if word == "bins" or (word == "age" and numbers is not None and not detail):
            treatment = _correct_bins(said, bare, kept, numbers)
        else:
            treatment = _correct_dates(said, bare, kept, context)
    return Recognised(found.name, WORDS[word][2], "you say so", treatment, is_said=True)


def _without_missing(
    found: Recognised, words: tuple[str, ...], cells: SeenColumn, context: Context
) -> Recognised:
    """The column looked at again without words for a missing value; what a person said before stands."""
    known = tuple(dict.fromkeys((*found.treatment.reading.missing, *words)))
    if not found.is_said:
        found = recognise_column(cells.read(CellReading(missing=known)), context)
        known = tuple(dict.fromkeys((*known, *found.treatment.reading.missing)))
    return replace(found, treatment=found.treatment.with_reading(missing=known))


def _correct_missing(
    found: Recognised, words: tuple[str, ...], cells: SeenColumn, context: Context
) -> Recognised:
    if words:
        found = _without_missing(found, words, cells, context)
    treatment = found.treatment if words else found.treatment.with_reading(missing=())
    shown = ", ".join(map(repr, words)) or "no word"
    reason = f"{found.reason}; you say that {shown} stands for a missing value"
    return replace(found, reason=reason, treatment=replace(treatment, is_used=True))


def _refuse_problems(problems: list[str], said: Correction) -> None:
    if problems:
        raise ParameterError([f"{said.column}={said.word}: {problem}" for problem in problems])


def _correct_bins(
    said: Correction, cells: SeenColumn, kept: Treatment, found: NumberColumn | None
) -> Treatment:
    edges = _parse_edges(said)
    if found is None:
        if not edges:
            raise ParameterError(
                f"{said.column}={said.word}: its cells are no numbers, so there are no edges to propose. "
                "Give them, such as bins:0,18,65, or another word."
            )
        return replace(kept, bins=edges, other=NOT_A_NUMBER)
    real = np.isfinite(found.numbers)
    numbers, held = found.numbers[real], cells.held[real]
    if not edges:
        edges = choose_edges(numbers, held, whole=found.whole, few=cells.margin)
        edges = AGE_BANDS if said.word == "age" else edges
        edges = with_limits(edges, found.limits, numbers, held, cells.margin)
    other = None if cells.is_few(np.isnan(found.numbers)) else NOT_A_NUMBER
    reading = replace(kept.reading, strip=found.strip)
    return replace(kept, bins=edges, number_format=found.format, reading=reading, other=other)


def _parse_edges(said: Correction) -> Edges:
    if not said.detail:
        return ()
    try:
        edges = tuple(float(edge) for edge in said.detail.split(","))
    except ValueError:
        raise ParameterError(
            f"{said.column}={said.word}:{said.detail}: edges must be numbers, such as bins:0,18,65."
        ) from None
    _refuse_problems(bin_problems(edges), said)
    return edges


def _correct_dates(said: Correction, cells: SeenColumn, kept: Treatment, context: Context) -> Treatment:
    format_, day = said.detail, f"{context.today.year}-01-01"
    if said.word == "age" and format_ and "%" not in format_:
        try:
            format_, day = "", date.fromisoformat(format_).isoformat()
        except ValueError:
            _refuse_problems([f"ages are of a day such as 2026-01-01, and {format_!r} is none"], said)
    cut = f"age on {day}" if said.word == "age" else said.word
    if format_:
        reading = replace(kept.reading, date_formats=(format_,), cut=cut)
        _refuse_problems(reading.problems, said)
        return replace(kept, reading=reading, bins=AGE_BANDS if said.word == "age" else None)
    found = date_column(cells, day_first=context.day_first) if cells.filled else None
    if found is None:
        raise ParameterError(
            f"{said.column}={said.word}: its cells were not recognised as dates. Say how they are written, "
            f"such as {said.word}:%d.%m.%Y, or give another word."
        )
    return treat_dates(cells, found, cut, "").treatment.with_reading(missing=kept.reading.missing)


@dataclass(frozen=True)
class LostColumn:
    """An open column of which most, or all (`is_empty`), would likely not be released.

    Attributes:
        coarser: the finest reading that would keep most of it, as a correction says it; empty: none.
    """

    name: str
    is_empty: bool
    coarser: str


def lost_columns(table: RecognisedTable, subject: str | None, least: float) -> list[LostColumn]:
    """The columns of which most would be lost where so many records must hold a value (`least`).

    Of a subject with several rows one counts. It is for the terminal of whoever has the table.
    """
    least_rows = least * table.rows / max(number_of_records(table, subject), 1)
    found = []
    for column in table.used(subject):
        if column.treatment.is_open:
            share, is_empty = _share_lost(column, table.cells_of(column), least_rows)
            if share > _MOSTLY:
                found.append(
                    LostColumn(column.name, is_empty, _find_coarser_reading(table, column, least_rows))
                )
    return found


def number_of_records(table: RecognisedTable, subject: str | None) -> int:
    return table.rows if subject is None else table.cells_of(table.column(subject)).distinct


def _share_lost(column: Recognised, cells: SeenColumn, least_rows: float) -> tuple[float, bool]:
    read = cells.read(column.treatment.reading)
    counted: Counter[str] = Counter()
    for text, held in zip(read.texts, read.held.tolist(), strict=True):
        parts = text.split(column.treatment.delimiter) if column.treatment.delimiter else [text]
        counted.update(dict.fromkeys({part.strip() for part in parts} - {""}, held))
    if not counted:
        return 0.0, False
    lost = sum(held for held in counted.values() if held < least_rows)
    return lost / counted.total(), lost == counted.total()


def _find_coarser_reading(table: RecognisedTable, column: Recognised, least_rows: float) -> str:
    cells = table.cells_of(column)
    for word in _coarser_readings(column, cells):
        name, _, detail = word.partition(":")
        try:
            changed = table.corrected([Correction(column.name, name, detail)]).column(column.name)
        except ParameterError:  # it can't be read so
            continue
        if not changed.treatment.is_open or _share_lost(changed, cells, least_rows)[0] <= _MOSTLY:
            return word
    return ""


def _coarser_readings(column: Recognised, cells: SeenColumn) -> Iterator[str]:
    reading = column.treatment.reading
    if reading.holds_dates:
        yield from _COARSER_DATES.get(reading.cut, ())
    elif column.kind.startswith(("number", "share", "money", "year")):
        yield "bins"
    elif column.kind.startswith(("code", "postcode")):
        longest = reading.cut_length or max(map(len, cells.texts), default=0)
        yield from (f"prefix:{length}" for length in range(longest - 1, 0, -1))
