"""What a column is: each kind is asked for in turn, and the first that recognises the column answers.

Cells go in; a `Recognised` comes out. Its reason may show values. Its treatment shows only what is public
without the table: bins are round, lists are public ones and whole, and words and codes for missing values
come from lists of ours. What fewer rows than a margin say decides nothing of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

import duckdb
import numpy as np

from tasks.core.recognition.cells import FEW, SeenColumn, usual_ends, usual_number
from tasks.core.recognition.code_lists import BOOLEANS, code_list
from tasks.core.recognition.dates import DateColumn, counted_moments, date_column, proposed_cut
from tasks.core.recognition.edges import (
    AGE_BANDS,
    CHILD_BANDS,
    PERCENTS,
    TENTHS,
    chosen_edges,
    linear_edges,
    with_limits,
)
from tasks.core.recognition.header_words import header_words, meanings, names_a_person
from tasks.core.recognition.items import item_column
from tasks.core.recognition.missing_words import code_numbers, missing_words
from tasks.core.recognition.numbers import NumberColumn, leading_zeros, number_column
from tasks.core.recognition.subject_names import NONE, OF_SOMETHING, SOMEBODY, likeness
from tasks.core.recognition.treatment import NOT_A_NUMBER, OTHER, Recognised, Treatment
from tasks.core.records.cell_reading import WHOLE, CellReading, has_empty_fraction, without_fraction

#: With so few different numbers, each is a value of its own: whole ones, other ones, those of a category.
_MOST_LISTED_WHOLE, _MOST_LISTED, _MOST_CATEGORIES = 20, 12, 60
#: Codes are cut to as many characters as leave at most so many of them.
_MOST_CODES = 100
#: From this share of rows on that differ, a column tells them apart.
_TELLS_APART, _FEWEST_ROWS = 0.9, 50
#: A text of more words than this, or more characters, is free text where most cells differ.
_FREE_WORDS, _FREE_LENGTH, _MOSTLY_DIFFERENT = 3.0, 40, 0.3
#: A value in fewer cells than this is rare; where more than this share of cells is rare, none is of use.
_RARE, _MOSTLY_RARE = 10, 0.7
_OLDEST, _YEARS = 125, (1850, 2150)
_SHOWN, _LONGEST_MARK = 3, 8
_EACH_BY_ITSELF = "and each is counted by itself: write them alike"
#: Words of a header whose numbers may be days of something that happened.
_EVENTS = frozenset(
    ["visit", "visited", "admission", "admitted", "discharge", "discharged", "registered", "joined", "hired"]
)
#: Long hexadecimal ids, accounts (IBAN), and long texts of letters and digits without a blank.
_PROGRAMMED = (
    r"[0-9A-Fa-f]{12,}|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{20,}|[A-Z]{2}[0-9]{2} ?(?:[0-9A-Z]{4} ?){2,7}[0-9A-Z]{0,4}"
    r"|[0-9A-Za-z_+/=-]{20,}"
)
#: Amounts below zero with a sign of a currency within, which nothing takes off: ($120.00), -$120.00.
_UNREAD_MINUS = r"\((?:[€$£¥] ?[0-9][0-9.,' ]*|[0-9][0-9.,' ]*[€$£¥])\)|- ?[€$£¥] ?[0-9][0-9.,' ]*"


@dataclass(frozen=True)
class Context:
    """What is known of the whole table when a column is looked at.

    Attributes:
        connection: what reads numbers and dates.
        comma: whether numbers of the table have a comma before decimals.
        day_first: whether dates of the table begin with the day.
        today: by which ages are reckoned.
    """

    connection: duckdb.DuckDBPyConnection
    comma: bool
    day_first: bool
    today: date


def recognise_column(cells: SeenColumn, context: Context) -> Recognised:
    """What a column is taken for."""
    if not cells.filled:
        return _left_out(cells, "empty", "no cell holds anything")
    whole = _whole(cells)
    if whole is not cells:
        found = recognise_column(whole, context)
        if found.treatment.bins is None:  # with bins it is read as numbers, as they are written
            return _read_as_whole(found)
    words = _missing(cells)
    bare = cells.where(~words)
    if bare.filled < FEW:
        beside = f" but {_shown(cells, words)}" if words.any() else ""
        return _left_out(cells, "empty", f"hardly a cell holds anything{beside}")
    if bare.usual == 1 and _is_mark(bare):
        reason = f"{_percent(bare.filled / bare.rows)} of the cells hold {_example(bare)}, the others nothing"
        return Recognised(cells.name, "a mark, or nothing", reason, Treatment())
    if bare.usual == 1:
        return _left_out(
            cells, "one value", f"hardly a cell that isn't empty holds anything but {_example(bare)}"
        )
    found = _with_spellings(next(filter(None, (kind(bare, context) for kind in _KINDS))), bare, context)
    often = words & (cells.held >= cells.margin)
    if not often.any() or not found.treatment.is_used:
        return found
    known = tuple(sorted({*found.treatment.reading.missing, *_texts(cells, often)}))
    return replace(
        found,
        treatment=found.treatment.with_missing(known),
        reason=f"{found.reason}; {_shown(cells, often)} stand for missing values",
    )


def _whole(cells: SeenColumn) -> SeenColumn:
    """The same rows without zeros behind the decimal marks of whole numbers, where hardly one is not whole.

    So programs write whole numbers where some cells are empty: 0.0 and 1.0, or 2,00.
    """
    has_zeros = np.array([has_empty_fraction(text, ".") for text in cells.texts], np.bool_)
    if cells.is_few(has_zeros) or not cells.is_few(cells.matching(r"[-+]?[0-9]*[.,][0-9]+") & ~has_zeros):
        return cells
    return cells.mapped(lambda texts: [without_fraction(text, ".") for text in texts])


def _read_as_whole(found: Recognised) -> Recognised:
    """The column, whose run drops the zeros as well; of declared values it knows that they are whole."""
    treatment = found.treatment
    if not treatment.is_used or treatment.domain is not None or treatment.reading.cut:
        return found
    return replace(found, treatment=replace(treatment, reading=replace(treatment.reading, cut=WHOLE)))


def _with_spellings(found: Recognised, cells: SeenColumn, context: Context) -> Recognised:
    """The column with a hint where values of an open list differ in case only: each counts by itself."""
    treatment = found.treatment
    if not treatment.is_used or treatment.bins is not None or treatment.domain is not None or found.doubt:
        return found
    spelt: dict[str, list[str]] = {}
    for text in cells.read(context.connection, treatment.reading).texts:
        spelt.setdefault(text.casefold(), []).append(text)
    pairs = [sorted(texts) for texts in spelt.values() if len(texts) > 1]
    if not pairs:
        return found
    shown = ", ".join(" and ".join(map(repr, texts)) for texts in pairs[:_SHOWN])
    more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
    doubt = f"values differ in case only ({shown}{more}), {_EACH_BY_ITSELF}"
    return replace(found, doubt=doubt)


def _is_mark(cells: SeenColumn) -> bool:
    """Whether one short text stands in some cells and not in others, as a cross does in a form."""
    usual = cells.texts[int(np.argmax(cells.held))]
    is_in_some = cells.filled >= FEW <= cells.rows - cells.filled
    return len(usual) <= _LONGEST_MARK and cells.rows >= _FEWEST_ROWS and is_in_some


def _missing(cells: SeenColumn) -> np.ndarray:
    """Words for missing values; not those that are codes of a list all other values are in."""
    words = missing_words(cells)
    if words.any() and code_list(cells) is not None:
        return np.zeros(cells.distinct, np.bool_)
    among = missing_words(cells, among_numbers=True)
    others = cells.where(~among)
    are_numbers = others.filled and others.share(others.matching(r".*\d.*")) > 0.9
    return among if are_numbers else words


def _ids_by_name(cells: SeenColumn, context: Context) -> Recognised | None:
    """Ids that their name tells: of people, however often each stands, and of things where there are many."""
    likely = likeness(cells.name)
    if likely == NONE or cells.usual <= (_MOST_CODES if likely == OF_SOMETHING else _MOST_LISTED_WHOLE):
        return None
    if likely == SOMEBODY and not cells.is_few(cells.matching(r"[0-9]+(?:[.,'][0-9]+)*")):
        return None  # numbers under a word for somebody count them, unless other columns follow from them
    if meanings(cells.name) & {"postcode", "code", "money", "share", "age", "date", "birth"}:
        return None
    return _left_out(cells, "id", f"its name says so, and it holds {cells.distinct:,} different texts")


def _people(cells: SeenColumn, context: Context) -> Recognised | None:
    """Names and contacts of people, whatever they hold."""
    return _left_out(cells, "names a person", "its name says so") if names_a_person(cells.name) else None


def _made(cells: SeenColumn, context: Context) -> Recognised | None:
    """Ids that nobody chose by hand, however often each stands, such as pseudonyms and accounts."""
    looks = cells.matching(_PROGRAMMED) & cells.matching(r".*[0-9].*")
    if cells.usual <= _MOST_CODES // 4 or cells.share(looks) < _TELLS_APART:
        return None
    reason = f"{cells.distinct:,} different texts such as only a program makes, like {_example(cells)}"
    return _left_out(cells, "id", reason)


def _bracketed(cells: SeenColumn, context: Context) -> Recognised | None:
    """Amounts whose minus no run can read."""
    unread = cells.matching(_UNREAD_MINUS)
    if cells.is_few(unread):
        return None
    rest = cells.where(~unread)
    if rest.filled and number_column(context.connection, rest, comma=context.comma) is None:
        return None
    reason = f"amounts whose minus can't be read, such as {_example(cells.where(unread))}: write them as -1.5"
    return _left_out(cells, "money", reason)


def _items(cells: SeenColumn, context: Context) -> Recognised | None:
    found = item_column(cells)
    if found is None:
        if "list<" in cells.kind:  # it can't be read as a single value
            return _left_out(cells, "lists", "most of its items stand once")
        return None
    treatment = Treatment(reading=CellReading(strip=found.strip), delimiter=found.delimiter, cap=found.cap)
    reason = (
        f"{_percent(found.several)} of the cells hold several, and nearly all of the {found.different} items "
        "recur"
    )
    return Recognised(cells.name, "several items", reason, treatment)


def _dates(cells: SeenColumn, context: Context) -> Recognised | None:
    found = date_column(cells, day_first=context.day_first)
    if found is None:
        return None
    is_birth = "birth" in meanings(cells.name)
    if is_birth and found.has_short_years:
        why = (
            "dates of birth whose years of two digits don't say the century; where nobody was born before "
            f"1969, say --column {cells.name!r}=age:{found.formats[0]}"
        )
        return _left_out(cells, "date of birth", why)
    if found.is_month and not is_birth:
        cut, why = ("month" if found.years[1] - found.years[0] <= 3 else "year"), "months"
    else:
        cut, why = proposed_cut(found, is_birth=is_birth, today=context.today)
    reason = f"{why}, written {found.written}, such as {_example(cells.where(found.readable))}"
    if not found.readable.all():
        reason += f"; beside them words such as {_shown(cells, ~found.readable)}, which count as empty"
    return dates_treated(cells, found, cut, reason)


def dates_treated(cells: SeenColumn, found: DateColumn, cut: str, reason: str) -> Recognised:
    """A column of dates, cut so."""
    treatment = Treatment(reading=found.reading(cut))
    kind = "time" if found.is_time else "moment" if found.has_time or found.has_zone else "date"
    if cut.startswith("age"):
        kind, treatment = "date of birth", replace(treatment, bins=AGE_BANDS)
    elif cut == "year" and found.years[1] - found.years[0] > _RARE * 4:
        treatment = replace(treatment, bins=linear_edges(*map(float, found.years)))
    doubt = "day and month could be swapped: no cell tells them apart" if found.swapped else ""
    return Recognised(cells.name, kind, reason, treatment, doubt)


def _numbers(cells: SeenColumn, context: Context) -> Recognised | None:
    found = number_column(context.connection, cells, comma=context.comma)
    if found is None:
        return None
    said = meanings(cells.name)
    if not cells.is_few(leading_zeros(cells)) or (said & {"postcode"} and found.whole):
        return None
    is_code = code_numbers(cells, found.numbers)
    real = np.isfinite(found.numbers) & ~is_code
    missing = _texts(cells, is_code)
    if "contact" in said:
        return None
    if _is_serial(cells, found) and not said & {"money", "age", "year"}:
        return _left_out(cells, "number of a row", f"each of {cells.distinct} cells has its own whole number")
    kind, edges, reason = _kind_of_numbers(cells, found, real)
    if any(found.limits):
        edges = with_limits(edges, found.limits, found.numbers[real], cells.held[real], cells.margin)
    if _is_code(cells, found, real) and kind == "number":
        return None
    reading = CellReading(strip=found.strip, missing=missing)
    if missing:
        reason += f"; {', '.join(missing)} stand for missing values, far from all other numbers"
    most = _MOST_LISTED_WHOLE if found.whole else _MOST_LISTED
    most = _MOST_CATEGORIES if found.whole and "category" in said else most
    if _usual_numbers(cells, found.numbers, real) <= most and kind != "age" and not found.strip:
        return Recognised(cells.name, f"{kind}, few values", reason, Treatment(reading=reading))
    words = not cells.is_few(np.isnan(found.numbers))
    treatment = Treatment(
        reading=reading,
        bins=edges,
        number_format=found.format,
        other=NOT_A_NUMBER if words else None,
    )
    if words:
        reason += f"; beside them words such as {_shown(cells, np.isnan(found.numbers))}"
    doubt = found.doubt
    if found.whole and not said & {"money", "contact"}:
        is_named = "date" in said or not _EVENTS.isdisjoint(header_words(cells.name))
        if counted := counted_moments(edges[0], edges[-1], is_named_date=is_named):
            doubt = f"these look like {counted}: export them as dates"
    return Recognised(cells.name, kind, reason, treatment, doubt)


def _usual_numbers(cells: SeenColumn, numbers: np.ndarray, real: np.ndarray) -> int:
    """How many different numbers the column has, without the rarest: 1 and 1.0 are the same."""
    _, place = np.unique(numbers[real], return_inverse=True)
    return usual_number(np.bincount(place, weights=cells.held[real]).astype(np.int64), FEW)


def _kind_of_numbers(
    cells: SeenColumn, found: NumberColumn, real: np.ndarray
) -> tuple[str, tuple[float, ...], str]:
    """What numbers are, their edges, and why."""
    said = meanings(cells.name)
    numbers, held = found.numbers[real], cells.held[real]
    low, high = usual_ends(numbers, held, cells.margin)
    span = " to ".join(f"{float(f'{end:.4g}'):.15g}" for end in (low, high))
    span = f"mostly from {span}"
    if "age" in said and low >= 0 and high <= _OLDEST:
        is_children = high <= AGE_BANDS[1]
        return "age", CHILD_BANDS if is_children else AGE_BANDS, f"its name says age, and it is {span}"
    if found.whole and _YEARS[0] <= low and high <= _YEARS[1] and ("year" in said or "birth" in said):
        return "year", linear_edges(low, high), f"its name says year, and it is {span}"
    if "%" in found.strip:
        return (
            "share",
            _of_range(PERCENTS, low, high) or chosen_edges(numbers, held, whole=False, few=cells.margin),
            "percent signs",
        )
    if "share" in said and not (found.whole and high <= 1):
        for grid in (TENTHS, PERCENTS):
            if fits := _of_range(grid, low, high):
                return "share", fits, f"its name says share, and it is {span}"
    if not found.whole and low >= 0 and high <= 1 and high > 0.3:
        return "share", TENTHS, f"fractions {span}"
    edges = chosen_edges(numbers, held, whole=found.whole, few=cells.margin)
    if "money" in said or found.is_money:
        why = f"{found.strip} stands beside it" if found.is_money else "its name says money"
        return "money", edges, f"{why}, and it is {span}"
    kind = "number"
    return kind, edges, f"{'whole ' if found.whole else ''}numbers {span}"


def _of_range(grid: tuple[float, ...], low: float, high: float) -> tuple[float, ...] | None:
    """The grid, where numbers keep to it and use a good part of it."""
    return grid if low >= 0 and grid[-1] / 4 < high <= grid[-1] else None


def _is_serial(cells: SeenColumn, found: NumberColumn) -> bool:
    """Whether whole numbers number the rows."""
    if not found.whole or cells.rows < _FEWEST_ROWS or cells.distinct < 0.99 * cells.rows:
        return False
    finite = np.isfinite(found.numbers)
    low, high = usual_ends(found.numbers[finite], cells.held[finite], cells.margin)
    return high - low < 3 * cells.rows


def _is_code(cells: SeenColumn, found: NumberColumn, real: np.ndarray) -> bool:
    """Whether whole numbers are codes: the name says so, and many have the same number of digits."""
    lengths = np.array([len(text) for text in cells.texts])
    counted = np.bincount(lengths[real], weights=cells.held[real]).astype(np.int64)
    are_two = usual_number(counted, cells.margin) <= 2 and counted[:2].sum() < cells.margin
    named = "code" in meanings(cells.name)
    return found.whole and cells.is_few(real & (found.numbers < 0)) and named and are_two


def _listed(cells: SeenColumn, context: Context) -> Recognised | None:
    found = code_list(cells)
    if found is None:
        return None
    if found.closed:
        other = None if found.name == BOOLEANS else OTHER
        treatment = Treatment(domain=found.values, other=other)
    else:
        treatment = Treatment()
    kind = "boolean" if found.name == BOOLEANS else found.name
    is_twice = len({value.casefold() for value in found.values}) < len(found.values)
    return Recognised(
        cells.name,
        kind,
        f"every value is of this public list, such as {_example(cells)}",
        treatment,
        f"values differ in case only, {_EACH_BY_ITSELF}" if is_twice else "",
    )


def _named(cells: SeenColumn, context: Context) -> Recognised | None:
    said = meanings(cells.name)
    if cells.usual <= _MOST_CODES // 4:
        return None
    if "name" in said or "contact" in said:
        return _left_out(cells, "names a person", "its name says so, and it holds many different texts")
    if "text" in said:
        return _left_out(cells, "free text", "its name says so, and it holds many different texts")
    at_sign = cells.matching(r"[^@\s]+@[^@\s]+\.[^@\s]+")
    if cells.share(at_sign) > 0.5:
        return _left_out(cells, "names a person", "most cells are mail addresses")
    return None


def _codes(cells: SeenColumn, context: Context) -> Recognised | None:
    """Postcodes and other codes: many short texts of one shape."""
    said = meanings(cells.name)
    plain = cells.matching(r"[0-9A-Za-z][0-9A-Za-z .\-/]{0,14}")
    digits = cells.matching(r".*[0-9].*")
    if cells.share(plain & digits) < 0.9:
        return None
    zeros = not cells.is_few(leading_zeros(cells))
    is_post, is_named = "postcode" in said, "code" in said
    if _tells_apart(cells) and not (is_post or is_named):
        return None
    lengths = np.array([len(text) for text in cells.texts])
    usual = int(np.median(np.repeat(lengths, np.minimum(cells.held, 100))))
    of_one_shape = float((lengths == usual).mean()) > 0.8
    if not (is_post or is_named or zeros or of_one_shape):
        return None
    if cells.usual <= _MOST_CODES // 4 and not is_post:
        return Recognised(cells.name, "code", f"codes such as {_example(cells)}", Treatment())
    length = _prefix(cells, longest=2 if is_post else max(1, usual - 1))
    kind = "postcode" if is_post else "code"
    if not length:
        return None
    why = (
        "its name says so"
        if is_post or is_named
        else "leading zeros"
        if zeros
        else "short texts of one shape"
    )
    reason = f"{why}, such as {_example(cells)}; {cells.distinct:,} different ones"
    return Recognised(cells.name, kind, reason, Treatment(reading=CellReading(cut=str(length))))


def _prefix(cells: SeenColumn, *, longest: int) -> int:
    """The most characters that leave few different beginnings; 0: even one leaves too many."""
    for length in range(longest, 0, -1):
        if cells.mapped(lambda texts: [text[:length] for text in texts]).usual <= _MOST_CODES:  # noqa: B023
            return length
    return 0


def _free_text(cells: SeenColumn, context: Context) -> Recognised | None:
    held = np.minimum(cells.held, 100)
    words = float(np.average([len(text.split()) for text in cells.texts], weights=held))
    length = float(np.average([len(text) for text in cells.texts], weights=held))
    differs = cells.distinct / cells.filled
    is_long = words > _FREE_WORDS or length > _FREE_LENGTH
    if is_long and differs > _MOSTLY_DIFFERENT and cells.distinct > _RARE:
        return _left_out(
            cells, "free text", f"words a cell: {words:.0f}; different ones: {_percent(differs)}"
        )
    return None


def _ids(cells: SeenColumn, context: Context) -> Recognised | None:
    if _tells_apart(cells):
        share = cells.distinct / cells.filled
        return _left_out(cells, "id", f"{_percent(share)} of the cells are different")
    rare = cells.held < _RARE
    if cells.rows >= _FEWEST_ROWS and cells.share(rare) > _MOSTLY_RARE and cells.usual > _MOST_CODES // 4:
        return _left_out(
            cells,
            "rare texts",
            f"{_percent(cells.share(rare))} of the cells hold a text that fewer than {_RARE} cells have",
        )
    return None


def _tells_apart(cells: SeenColumn) -> bool:
    return cells.rows >= _FEWEST_ROWS and cells.distinct >= _TELLS_APART * cells.filled


def _text(cells: SeenColumn, context: Context) -> Recognised | None:
    return Recognised(
        cells.name, "text", f"{cells.distinct} different texts, such as {_example(cells)}", Treatment()
    )


#: In the order in which they are asked.
_KINDS: tuple[Callable[[SeenColumn, Context], Recognised | None], ...] = (
    _people,
    _listed,
    _ids_by_name,
    _dates,
    _bracketed,
    _numbers,
    _made,
    _items,
    _named,
    _codes,
    _free_text,
    _ids,
    _text,
)


def _left_out(cells: SeenColumn, kind: str, reason: str) -> Recognised:
    return Recognised(cells.name, kind, reason, Treatment(is_used=False))


def _example(cells: SeenColumn) -> str:
    """The commonest text."""
    text = cells.texts[int(np.argmax(cells.held))]
    return repr(text if len(text) <= _FREE_LENGTH else text[:_FREE_LENGTH] + "...")


def _texts(cells: SeenColumn, chosen: np.ndarray) -> tuple[str, ...]:
    return tuple(sorted(text for text, is_one in zip(cells.texts, chosen.tolist(), strict=True) if is_one))


def _shown(cells: SeenColumn, chosen: np.ndarray) -> str:
    texts = list(map(repr, _texts(cells, chosen)))
    return ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
