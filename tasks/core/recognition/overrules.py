"""What a person says against what was recognised of a column (`said`): another `Recognised` comes out.

Here a person writes down what is public, so a list of values is a public list.
"""

from dataclasses import replace
from datetime import date

import numpy as np

from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.recognition.cells import SeenColumn
from tasks.core.recognition.columns import Context, dates_treated, recognise_column
from tasks.core.recognition.dates import date_column
from tasks.core.recognition.edges import AGE_BANDS, chosen_edges, with_limits
from tasks.core.recognition.numbers import number_column
from tasks.core.recognition.said import Overrule
from tasks.core.recognition.treatment import NOT_A_NUMBER, OTHER, Recognised, Treatment
from tasks.core.records.cell_reading import CUTS, CellReading
from tasks.core.records.columns import bin_problems, domain_problems
from tasks.core.tables.column_names import matching_name


def overruled(found: Recognised, said: Overrule, cells: SeenColumn, context: Context) -> Recognised:
    """The column as the person says.

    Raises:
        ParameterError: it can't be so.
    """
    treatment = found.treatment
    kept = Treatment(reading=CellReading(missing=treatment.reading.missing))
    bare = cells.read(context.connection, kept.reading)
    word, detail = said.word, said.detail
    if word == "skip":
        treatment = Treatment(is_used=False)
    elif word == "text":
        treatment = kept
    elif word == "missing":
        return _without_words(found, tuple(filter(None, map(str.strip, detail.split(",")))), cells, context)
    elif word == "values":
        values = tuple(filter(None, map(str.strip, detail.split(","))))
        _require(domain_problems(values), said)
        treatment = replace(kept, domain=values, other=OTHER)
    elif word == "items":
        _require([] if detail else ["give the delimiter, such as items:;"], said)
        strip = treatment.reading.strip if treatment.delimiter else ""
        treatment = replace(kept, delimiter=detail, reading=replace(kept.reading, strip=strip))
    elif word == "prefix":
        is_length = detail.isdigit() and 0 < int(detail) < 10_000
        _require([] if is_length else ["give how many characters to keep, such as prefix:3"], said)
        treatment = replace(kept, reading=replace(kept.reading, cut=str(int(detail))))
    elif word == "bins" or (word == "age" and _as_numbers(bare, context) is not None and not detail):
        treatment = _binned(said, bare, kept, context, is_age=word == "age")
    else:
        treatment = _dated(said, bare, kept, context)
    return Recognised(found.name, _KINDS.get(word, found.kind), "you say so", treatment, is_said=True)


def _without_words(
    found: Recognised, words: tuple[str, ...], cells: SeenColumn, context: Context
) -> Recognised:
    """The column looked at again without words that a person calls missing; what was said before stands."""
    known = tuple(dict.fromkeys((*found.treatment.reading.missing, *words)))
    if words and not found.is_said:
        found = recognise_column(cells.read(context.connection, CellReading(missing=known)), context)
        known = tuple(dict.fromkeys((*known, *found.treatment.reading.missing)))
    treatment = replace(found.treatment.with_missing(known if words else ()), is_used=True)
    shown = ", ".join(map(repr, words)) or "no word"
    reason = f"{found.reason}; you say that {shown} stands for a missing value"
    return replace(found, reason=reason, treatment=treatment)


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


def _require(problems: list[str], said: Overrule) -> None:
    if problems:
        raise ParameterError([f"{said.column}={said.word}: {problem}" for problem in problems])


def _as_numbers(cells: SeenColumn, context: Context):  # type: ignore[no-untyped-def]
    return number_column(context.connection, cells, comma=context.comma) if cells.filled else None


def _binned(
    said: Overrule, cells: SeenColumn, kept: Treatment, context: Context, *, is_age: bool
) -> Treatment:
    found = _as_numbers(cells, context)
    edges: tuple[float, ...]
    if said.detail:
        try:
            edges = tuple(float(edge) for edge in said.detail.split(","))
        except ValueError:
            raise ParameterError(
                f"{said.column}={said.word}:{said.detail}: edges must be numbers, such as bins:0,18,65."
            ) from None
        _require(bin_problems(edges), said)
    elif is_age:
        edges = AGE_BANDS
    elif found is None:
        raise ParameterError(
            f"{said.column}={said.word}: its cells are no numbers, so there are no edges to propose. Give "
            "them, such as bins:0,18,65, or another word."
        )
    else:
        real = np.isfinite(found.numbers)
        edges = chosen_edges(found.numbers[real], cells.held[real], whole=found.whole, few=cells.margin)
    if found is None:
        return replace(kept, bins=edges, other=NOT_A_NUMBER)
    if not said.detail and any(found.limits):
        real = np.isfinite(found.numbers)
        edges = with_limits(edges, found.limits, found.numbers[real], cells.held[real], cells.margin)
    other = None if cells.is_few(np.isnan(found.numbers)) else NOT_A_NUMBER
    reading = replace(kept.reading, strip=found.strip)
    return replace(kept, bins=edges, number_format=found.format, reading=reading, other=other)


def _dated(said: Overrule, cells: SeenColumn, kept: Treatment, context: Context) -> Treatment:
    format_, day = said.detail, f"{context.today.year}-01-01"
    if said.word == "age" and format_ and "%" not in format_:
        try:
            format_, day = "", date.fromisoformat(format_).isoformat()
        except ValueError:
            _require([f"ages are of a day such as 2026-01-01, and {format_!r} is none"], said)
    cut = f"age on {day}" if said.word == "age" else said.word
    if format_:
        reading = replace(kept.reading, date_formats=(format_,), cut=cut)
        _require(reading.problems, said)
        return replace(kept, reading=reading, bins=AGE_BANDS if said.word == "age" else None)
    found = date_column(cells, day_first=context.day_first) if cells.filled else None
    if found is None:
        raise ParameterError(
            f"{said.column}={said.word}: its cells were not recognised as dates. Say how they are written, "
            f"such as {said.word}:%d.%m.%Y, or give another word."
        )
    treatment = dates_treated(cells, found, cut, "").treatment
    assert cut in CUTS or treatment.bins is not None
    return treatment.with_missing(kept.reading.missing)


def of_column(said: Overrule, names: list[str]) -> str:
    """The header that an overrule names.

    Raises:
        ParameterError: there is none of that name.
    """
    known = {matching_name(name): name for name in names}
    found = known.get(matching_name(said.column))
    if found is None:
        meant = did_you_mean(matching_name(said.column), known, lambda key: repr(known[key]))
        raise ParameterError(f"{said.column!r} is not a column of the table: {meant or 'correct the name.'}")
    return found
