"""What a person says against what was recognised of a column: another `Recognised` comes out.

Here a person writes down what is public, so a list of values is a public list.
"""

from dataclasses import replace
from datetime import date

import numpy as np

from tasks.core.errors import ParameterError
from tasks.core.recognition.cells import SeenColumn
from tasks.core.recognition.columns import Context, recognise_column, treat_dates
from tasks.core.recognition.dates import date_column
from tasks.core.recognition.edges import AGE_BANDS, Edges, choose_edges, with_limits
from tasks.core.recognition.init_answers import Correction
from tasks.core.recognition.numbers import NumberColumn, number_column
from tasks.core.recognition.treatment import NOT_A_NUMBER, OTHER, Recognised, Treatment
from tasks.core.records.cell_reading import CellReading
from tasks.core.records.columns import bin_problems, domain_problems

_KINDS = {
    "skip": "not wanted",
    "text": "text",
    "bins": "number",
    "values": "public list",
    "items": "several items",
    "prefix": "code",
    "year": "date",
    "month": "date",
    "day": "date",
    "hour": "time",
    "age": "age",
}


def correct_column(found: Recognised, said: Correction, cells: SeenColumn, context: Context) -> Recognised:
    """The column as the person says.

    Raises:
        ParameterError: it can't be so.
    """
    treatment = found.treatment
    kept = Treatment(reading=CellReading(missing=treatment.reading.missing))
    word, detail = said.word, said.detail
    if word == "skip":
        treatment = Treatment(is_used=False)
    elif word == "text":
        treatment = kept
    elif word == "missing":
        return _correct_missing(found, _split_list(detail), cells, context)
    elif word == "values":
        _refuse_problems(domain_problems(_split_list(detail)), said)
        treatment = replace(kept, domain=_split_list(detail), other=OTHER)
    elif word == "items":
        _refuse_problems([] if detail else ["give the delimiter, such as items:;"], said)
        strip = treatment.reading.strip if treatment.delimiter else ""
        treatment = replace(kept, delimiter=detail, reading=replace(kept.reading, strip=strip))
    elif word == "prefix":
        is_length = detail.isdigit() and 0 < int(detail) < 10_000
        _refuse_problems([] if is_length else ["give how many characters to keep, such as prefix:3"], said)
        treatment = replace(kept, reading=replace(kept.reading, cut=str(int(detail))))
    else:
        bare = cells.read(context.connection, kept.reading)
        numbers = None
        if bare.filled and word in ("bins", "age"):
            numbers = number_column(context.connection, bare, comma=context.comma)
        if word == "bins" or (word == "age" and numbers is not None and not detail):
            treatment = _correct_bins(said, bare, kept, numbers)
        else:
            treatment = _correct_dates(said, bare, kept, context)
    return Recognised(found.name, _KINDS[word], "you say so", treatment, is_said=True)


def without_missing(
    found: Recognised, words: tuple[str, ...], cells: SeenColumn, context: Context
) -> Recognised:
    """The column looked at again without words for a missing value; what a person said before stands."""
    known = tuple(dict.fromkeys((*found.treatment.reading.missing, *words)))
    if not found.is_said:
        found = recognise_column(cells.read(context.connection, CellReading(missing=known)), context)
        known = tuple(dict.fromkeys((*known, *found.treatment.reading.missing)))
    return replace(found, treatment=found.treatment.with_missing(known))


def _correct_missing(
    found: Recognised, words: tuple[str, ...], cells: SeenColumn, context: Context
) -> Recognised:
    if words:
        found = without_missing(found, words, cells, context)
    treatment = found.treatment if words else found.treatment.with_missing(())
    shown = ", ".join(map(repr, words)) or "no word"
    reason = f"{found.reason}; you say that {shown} stands for a missing value"
    return replace(found, reason=reason, treatment=replace(treatment, is_used=True))


def _split_list(detail: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, detail.split(","))))


def _refuse_problems(problems: list[str], said: Correction) -> None:
    if problems:
        raise ParameterError([f"{said.column}={said.word}: {problem}" for problem in problems])


def _correct_bins(
    said: Correction, cells: SeenColumn, kept: Treatment, found: NumberColumn | None
) -> Treatment:
    if found is None:
        edges = _parse_edges(said)
        if not edges:
            raise ParameterError(
                f"{said.column}={said.word}: its cells are no numbers, so there are no edges to propose. "
                "Give them, such as bins:0,18,65, or another word."
            )
        return replace(kept, bins=edges, other=NOT_A_NUMBER)
    real = np.isfinite(found.numbers)
    numbers, held = found.numbers[real], cells.held[real]
    edges = _parse_edges(said)
    if not edges:
        edges = choose_edges(numbers, held, whole=found.whole, few=cells.margin)
        if said.word == "age":
            edges = AGE_BANDS
        if any(found.limits):
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
    return treat_dates(cells, found, cut, "").treatment.with_missing(kept.reading.missing)
