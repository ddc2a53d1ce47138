"""What a column is: each kind is asked for in turn, and the first that recognises the column answers.

Cells go in; a `Recognised` comes out. Its reason may show values. Its treatment shows only what is public
without the table: bins are round, lists are public ones and whole, and words and codes for missing values
come from lists of ours. What fewer rows than a margin say decides nothing of it.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from tasks.core.arrays import Flags
from tasks.core.recognition.cells import FEW, SeenColumn, flags, usual_ends, usual_number
from tasks.core.recognition.dates import DateColumn, counted_moments, date_column, proposed_cut
from tasks.core.recognition.edges import (
    AGE_BANDS,
    CHILD_BANDS,
    PERCENTS,
    TENTHS,
    Edges,
    choose_edges,
    linear_edges,
    with_limits,
)
from tasks.core.recognition.numbers import NumberColumn, code_numbers, leading_zeros, number_column
from tasks.core.recognition.treatment import NOT_A_NUMBER, OTHER, Recognised, Treatment
from tasks.core.recognition.words import (
    NONE,
    OF_SOMETHING,
    SOMEBODY,
    header_words,
    is_missing_word,
    meanings,
    names_a_person,
    read_words,
    split_words,
    subject_likeness,
    word_set,
)
from tasks.core.records.cell_reading import WHOLE, CellReading, has_empty_fraction, without_fraction

#: With so few different numbers, each is a value of its own: whole ones, other ones, those of a category.
_MOST_LISTED_WHOLE, _MOST_LISTED, _MOST_CATEGORIES = 20, 12, 60
#: Codes are cut to as many characters as leave at most so many; with so few a column has hardly any values.
_MOST_CODES, _HARDLY_ANY = 100, 25
#: From this share of rows on that differ, a column tells them apart.
_TELLS_APART, _FEWEST_ROWS = 0.9, 50
#: A text of more words than this, or more characters, is free text where most cells differ.
_FREE_WORDS, _FREE_LENGTH, _MOSTLY_DIFFERENT = 3.0, 40, 0.3
#: A value in fewer cells than this is rare; where more than this share of cells is rare, none is of use.
_RARE, _MOSTLY_RARE = 10, 0.7
_OLDEST, _YEARS = 125, (1850, 2150)
_SHOWN, _LONGEST_MARK = 3, 8
#: Of a closed list at least so much is seen; else most of its values would be counted as nothing but noise.
_LEAST_SEEN = 0.4
#: Lists of two words, of which one says yes.
_BOOLEANS = "booleans"
_EACH_BY_ITSELF = "and each is counted by itself: write them alike"
#: Long hexadecimal ids, accounts (IBAN), and long texts of letters and digits without a blank.
_PROGRAMMED = (
    r"[0-9A-Fa-f]{12,}|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{20,}|[A-Z]{2}[0-9]{2} ?(?:[0-9A-Z]{4} ?){2,7}[0-9A-Z]{0,4}"
    r"|[0-9A-Za-z_+/=-]{20,}"
)
#: Amounts below zero with a sign of a currency within, which nothing takes off: ($120.00), -$120.00.
_UNREAD_MINUS = r"\((?:[€$£¥] ?[0-9][0-9.,' ]*|[0-9][0-9.,' ]*[€$£¥])\)|- ?[€$£¥] ?[0-9][0-9.,' ]*"

#: What parts items; the share of cells that hold several, and of items that recur, each so often; the most
#: different items, and words in one.
_DELIMITERS = (";", "|", ",", "/", "+")
_LEAST_SEVERAL, _LEAST_RECURRING, _RECURS, _MOST_ITEMS, _MOST_WORDS = 0.05, 0.9, 5, 300, 3.0
#: A list as programs write it, and what then stands around items.
_BRACKETS, _AROUND_ITEMS = r"""[\[({].*[\])}]""", "[](){}'\""
_CAPS = (2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Context:
    """What is known of the whole table when a column is looked at.

    Attributes:
        comma: whether numbers of the table have a comma before decimals.
        day_first: whether dates of the table begin with the day.
    """

    comma: bool
    day_first: bool
    today: date


def recognise_column(cells: SeenColumn, context: Context) -> Recognised:
    if not cells.filled:
        return _leave_out(cells, "empty", "no cell holds anything")
    whole = _without_empty_fractions(cells)
    if whole is not cells:
        found = recognise_column(whole, context)
        treatment = found.treatment
        if treatment.bins is None:  # with bins it is read as numbers, as they are written
            # The run drops the zeros as well; of declared values it knows that they are whole.
            if treatment.is_used and treatment.domain is None and not treatment.reading.cut:
                found = replace(found, treatment=treatment.with_reading(cut=WHOLE))
            return found
    words = _find_missing_words(cells)
    bare = cells.where(~words)
    if bare.filled < FEW:
        beside = f" but {_quote_some(cells, words)}" if words.any() else ""
        return _leave_out(cells, "empty", f"hardly a cell holds anything{beside}")
    if bare.usual == 1:
        return _recognise_constant(bare)
    if names_a_person(cells.name):
        return _leave_out(cells, "names a person", "its name says so")
    found = _doubt_spellings(next(filter(None, (kind(bare, context) for kind in _KINDS))), bare)
    often = words & (cells.held >= cells.margin)
    if not often.any() or not found.treatment.is_used:
        return found
    known = tuple(sorted({*found.treatment.reading.missing, *cells.chosen(often)}))
    reason = f"{found.reason}; {_quote_some(cells, often)} stand for missing values"
    return replace(found, treatment=found.treatment.with_reading(missing=known), reason=reason)


def _without_empty_fractions(cells: SeenColumn) -> SeenColumn:
    """The same rows without zeros behind the decimal marks of whole numbers, where hardly one is not whole.

    So programs write whole numbers where some cells are empty: 0.0 and 1.0, or 2,00.
    """
    has_zeros = flags(cells.texts, lambda text: has_empty_fraction(text, "."))
    if cells.is_few(has_zeros) or not cells.is_few(cells.matching(r"[-+]?[0-9]*[.,][0-9]+") & ~has_zeros):
        return cells
    return cells.mapped(lambda texts: [without_fraction(text, ".") for text in texts])


def _find_missing_words(cells: SeenColumn) -> Flags:
    """Words for missing values; not those that are codes of a list all other values are in."""
    words = flags(cells.texts, is_missing_word)
    if words.any() and _find_public_list(cells) is not None:
        return np.zeros(cells.distinct, np.bool_)
    among = flags(cells.texts, lambda text: is_missing_word(text, among_numbers=True))
    others = cells.where(~among)
    are_numbers = others.filled and others.share(others.matching(r".*\d.*")) > 0.9
    return among if are_numbers else words


def _recognise_constant(cells: SeenColumn) -> Recognised:
    """A column of one value: kept where it is short and stands in some cells only, as a cross in a form."""
    usual = cells.texts[int(np.argmax(cells.held))]
    is_in_some = cells.rows >= _FEWEST_ROWS and cells.filled >= FEW <= cells.rows - cells.filled
    if is_in_some and len(usual) <= _LONGEST_MARK:
        share = _percent(cells.filled / cells.rows)
        reason = f"{share} of the cells hold {_example(cells)}, the others nothing"
        return Recognised(cells.name, "a mark, or nothing", reason, Treatment())
    reason = f"hardly a cell that isn't empty holds anything but {_example(cells)}"
    return _leave_out(cells, "one value", reason)


def _doubt_spellings(found: Recognised, cells: SeenColumn) -> Recognised:
    """The column with a hint where values of an open list differ in case only: each counts by itself."""
    treatment = found.treatment
    if not treatment.is_used or not treatment.is_open or found.doubt:
        return found
    spelt: dict[str, list[str]] = {}
    for text in cells.read(treatment.reading).texts:
        spelt.setdefault(text.casefold(), []).append(text)
    pairs = [sorted(texts) for texts in spelt.values() if len(texts) > 1]
    if not pairs:
        return found
    shown = ", ".join(" and ".join(map(repr, texts)) for texts in pairs[:_SHOWN])
    more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
    return replace(found, doubt=f"values differ in case only ({shown}{more}), {_EACH_BY_ITSELF}")


def _recognise_public_list(cells: SeenColumn, context: Context) -> Recognised | None:
    found = _find_public_list(cells)
    if found is None:
        return None
    name, values, is_closed = found
    is_boolean = name == _BOOLEANS
    treatment = Treatment(domain=values, other=None if is_boolean else OTHER) if is_closed else Treatment()
    is_twice = len({value.casefold() for value in values}) < len(values)
    doubt = f"values differ in case only, {_EACH_BY_ITSELF}" if is_twice else ""
    reason = f"every value is of this public list, such as {_example(cells)}"
    return Recognised(cells.name, "boolean" if is_boolean else name, reason, treatment, doubt)


def _find_public_list(cells: SeenColumn) -> tuple[str, tuple[str, ...], bool] | None:
    """The shortest public list that holds all texts but those of a few cells, in one spelling; or None.

    Its name, all its values, and whether a release may count each of them, also those that no row holds. It
    is the whole list or nothing, so which of its values occur is not told by it. Booleans may each be spelled
    in another way.
    """
    if cells.usual < 2:
        return None
    for name, words, is_closed in _public_lists():
        spellings = (str, str.lower, str.upper, str.capitalize)
        spelled = [tuple(dict.fromkeys(map(spelling, words))) for spelling in spellings]
        if name == _BOOLEANS:
            often = {*cells.chosen(cells.held >= cells.margin)}
            each = [[way for way in ways if way in often] or ways[:1] for ways in zip(*spelled, strict=True)]
            spelled.append(tuple(dict.fromkeys(itertools.chain.from_iterable(each))))
        for values in spelled:
            held = cells.among(values)
            if cells.is_few(~held):
                common = int((held & (cells.held >= FEW)).sum())
                return name, values, is_closed and common >= _LEAST_SEEN * len(values)
    return None


@functools.cache
def _public_lists() -> list[tuple[str, tuple[str, ...], bool]]:
    groups = read_words("code_lists.toml").items()
    named = ((group, name, texts) for group, lists in groups for name, texts in lists.items())
    found = [(name, split_words(text), group == "closed") for group, name, texts in named for text in texts]
    return sorted(found, key=lambda known: len(known[1]))


def _recognise_id_by_name(cells: SeenColumn, context: Context) -> Recognised | None:
    """Ids that their name tells: of people, however often each stands, and of things where there are many."""
    likely = subject_likeness(cells.name)
    if likely == NONE or cells.usual <= (_MOST_CODES if likely == OF_SOMETHING else _MOST_LISTED_WHOLE):
        return None
    if likely == SOMEBODY and not cells.is_few(cells.matching(r"[0-9]+(?:[.,'][0-9]+)*")):
        return None  # numbers under a word for somebody count them, unless other columns follow from them
    if meanings(cells.name) & {"postcode", "code", "money", "share", "age", "date", "birth"}:
        return None
    return _leave_out(cells, "id", f"its name says so, and it holds {cells.distinct:,} different texts")


def _recognise_dates(cells: SeenColumn, context: Context) -> Recognised | None:
    found = date_column(cells, day_first=context.day_first)
    if found is None:
        return None
    is_birth = "birth" in meanings(cells.name)
    if is_birth and any("%y" in each for each in found.formats):
        why = (
            "dates of birth whose years of two digits don't say the century; where nobody was born before "
            f"1969, say --column {cells.name!r}=age:{found.formats[0]}"
        )
        return _leave_out(cells, "date of birth", why)
    cut, why = proposed_cut(found, is_birth=is_birth, today=context.today)
    reason = f"{why}, written {found.written}, such as {_example(cells.where(found.readable))}"
    if not found.readable.all():
        reason += f"; beside them words such as {_quote_some(cells, ~found.readable)}, which count as empty"
    return treat_dates(cells, found, cut, reason)


def treat_dates(cells: SeenColumn, found: DateColumn, cut: str, reason: str) -> Recognised:
    treatment = Treatment(reading=CellReading(date_formats=found.formats, cut=cut))
    kind = "time" if found.is_time else "moment" if found.has_time or found.has_zone else "date"
    if cut.startswith("age"):
        kind, treatment = "date of birth", replace(treatment, bins=AGE_BANDS)
    elif cut == "year" and found.years[1] - found.years[0] > _RARE * 4:
        treatment = replace(treatment, bins=linear_edges(*map(float, found.years)))
    doubt = "day and month could be swapped: no cell tells them apart" if found.swapped else ""
    return Recognised(cells.name, kind, reason, treatment, doubt)


def _recognise_unread_amounts(cells: SeenColumn, context: Context) -> Recognised | None:
    unread = cells.matching(_UNREAD_MINUS)
    if cells.is_few(unread):
        return None
    rest = cells.where(~unread)
    if rest.filled and number_column(rest, comma=context.comma) is None:
        return None
    reason = f"amounts whose minus can't be read, such as {_example(cells.where(unread))}: write them as -1.5"
    return _leave_out(cells, "money", reason)


def _recognise_numbers(cells: SeenColumn, context: Context) -> Recognised | None:
    found = number_column(cells, comma=context.comma)
    said = meanings(cells.name)
    if found is None or "contact" in said or ("postcode" in said and found.whole):
        return None
    if not cells.is_few(leading_zeros(cells)):
        return None
    if _is_serial(cells, found) and not said & {"money", "age", "year"}:
        reason = f"each of {cells.distinct} cells has its own whole number"
        return _leave_out(cells, "number of a row", reason)
    is_code, is_word = code_numbers(cells, found.numbers), np.isnan(found.numbers)
    real = np.isfinite(found.numbers) & ~is_code
    kind, edges, reason = _kind_of_numbers(cells, found, real)
    edges = with_limits(edges, found.limits, found.numbers[real], cells.held[real], cells.margin)
    if kind == "number" and _are_codes(cells, found, real):
        return None
    missing = tuple(cells.chosen(is_code))
    reading = CellReading(strip=found.strip, missing=missing)
    if missing:
        reason += f"; {', '.join(missing)} stand for missing values, far from all other numbers"
    most = _MOST_LISTED_WHOLE if found.whole else _MOST_LISTED
    most = _MOST_CATEGORIES if found.whole and "category" in said else most
    _, place = np.unique(found.numbers[real], return_inverse=True)  # 1 and 1.0 are the same
    different = usual_number(np.bincount(place, weights=cells.held[real]).astype(np.int64), FEW)
    if different <= most and kind != "age" and not found.strip:
        return Recognised(cells.name, f"{kind}, few values", reason, Treatment(reading=reading))
    treatment = Treatment(reading=reading, bins=edges, number_format=found.format)
    if not cells.is_few(is_word):
        treatment = replace(treatment, other=NOT_A_NUMBER)
        reason += f"; beside them words such as {_quote_some(cells, is_word)}"
    doubt = found.doubt
    if found.whole and "money" not in said:
        is_named = "date" in said or bool(word_set("header", "event") & {*header_words(cells.name)})
        if counted := counted_moments(edges[0], edges[-1], is_named_date=is_named):
            doubt = f"these look like {counted}: export them as dates"
    return Recognised(cells.name, kind, reason, treatment, doubt)


def _kind_of_numbers(cells: SeenColumn, found: NumberColumn, real: Flags) -> tuple[str, Edges, str]:
    said = meanings(cells.name)
    numbers, held = found.numbers[real], cells.held[real]
    low, high = usual_ends(numbers, held, cells.margin)
    span = "mostly from " + " to ".join(f"{float(f'{end:.4g}'):.15g}" for end in (low, high))
    if "age" in said and low >= 0 and high <= _OLDEST:
        bands = CHILD_BANDS if high <= AGE_BANDS[1] else AGE_BANDS
        return "age", bands, f"its name says age, and it is {span}"
    if found.whole and _YEARS[0] <= low and high <= _YEARS[1] and said & {"year", "birth"}:
        return "year", linear_edges(low, high), f"its name says year, and it is {span}"
    edges = choose_edges(numbers, held, whole=found.whole, few=cells.margin)
    fitting = [grid for grid in (TENTHS, PERCENTS) if low >= 0 and grid[-1] / 4 < high <= grid[-1]]
    if "%" in found.strip:
        return "share", PERCENTS if PERCENTS in fitting else edges, "percent signs"
    if "share" in said and not (found.whole and high <= 1) and fitting:
        return "share", fitting[0], f"its name says share, and it is {span}"
    if not found.whole and low >= 0 and 0.3 < high <= 1:
        return "share", TENTHS, f"fractions {span}"
    if "money" in said or found.is_money:
        why = f"{found.strip} stands beside it" if found.is_money else "its name says money"
        return "money", edges, f"{why}, and it is {span}"
    return "number", edges, f"{'whole ' if found.whole else ''}numbers {span}"


def _is_serial(cells: SeenColumn, found: NumberColumn) -> bool:
    if not found.whole or cells.rows < _FEWEST_ROWS or cells.distinct < 0.99 * cells.rows:
        return False
    finite = np.isfinite(found.numbers)
    low, high = usual_ends(found.numbers[finite], cells.held[finite], cells.margin)
    return high - low < 3 * cells.rows


def _are_codes(cells: SeenColumn, found: NumberColumn, real: Flags) -> bool:
    """Whether whole numbers are codes: the name says so, and many have the same number of digits."""
    counted = np.bincount(_text_lengths(cells)[real], weights=cells.held[real]).astype(np.int64)
    are_two = usual_number(counted, cells.margin) <= 2 and counted[:2].sum() < cells.margin
    is_named = "code" in meanings(cells.name)
    return found.whole and is_named and are_two and cells.is_few(real & (found.numbers < 0))


def _recognise_made_id(cells: SeenColumn, context: Context) -> Recognised | None:
    """Ids that nobody chose by hand, however often each stands, such as pseudonyms and accounts."""
    looks = cells.matching(_PROGRAMMED) & cells.matching(r".*[0-9].*")
    if cells.usual <= _HARDLY_ANY or cells.share(looks) < _TELLS_APART:
        return None
    reason = f"{cells.distinct:,} different texts such as only a program makes, like {_example(cells)}"
    return _leave_out(cells, "id", reason)


def _recognise_items(cells: SeenColumn, context: Context) -> Recognised | None:
    if "list<" in cells.kind:  # it can't be read as a single value
        found = [_recognise_items_at(cells, "|", "", least=0.0)]
    else:
        strip = _AROUND_ITEMS if cells.share(cells.matching(_BRACKETS)) >= 0.9 else ""
        found = [_recognise_items_at(cells, mark, strip, least=_LEAST_SEVERAL) for mark in _DELIMITERS]
    likely = [each for each in found if each is not None]
    if likely:
        return max(likely, key=lambda each: each[0])[1]
    return _leave_out(cells, "lists", "most of its items stand once") if "list<" in cells.kind else None


def _recognise_items_at(
    cells: SeenColumn, delimiter: str, strip: str, *, least: float
) -> tuple[float, Recognised] | None:
    several = flags(cells.texts, lambda text: len(list(filter(str.strip, text.split(delimiter)))) > 1)
    share = cells.share(several)
    if share < least or (cells.is_few(several) and least):
        return None
    counted: Counter[str] = Counter()
    sizes = []
    for text, held in zip(cells.texts, cells.held.tolist(), strict=True):
        items = {part.strip().strip(f"{strip} " if strip else None) for part in text.split(delimiter)} - {""}
        sizes.append(len(items))
        counted.update(dict.fromkeys(items, held))
        if len(counted) > 50 * _MOST_ITEMS:
            return None
    total = counted.total()
    different = usual_number(np.array(list(counted.values())), FEW)
    if not total or different > _MOST_ITEMS or (least and different > max(cells.usual, 2)):
        return None
    recurring = sum(held for held in counted.values() if held >= _RECURS) / total
    words = sum(len(item.split()) * held for item, held in counted.items()) / total
    if recurring < _LEAST_RECURRING or words > _MOST_WORDS:
        return None
    are_numbers = sum(item.replace(".", "").isdigit() for item in counted) > 0.5 * len(counted)
    if are_numbers and delimiter in ",/" and not strip:  # 1,5 and 3/4 are numbers, or codes
        return None
    order = np.argsort(sizes)
    ranked = np.cumsum(cells.held[order])
    usual = np.asarray(sizes)[order][np.searchsorted(ranked, max(ranked[-1] - cells.margin, 1))]
    cap = next((cap for cap in _CAPS if cap >= usual), _CAPS[-1])
    reason = f"{_percent(share)} of the cells hold several, and nearly all of the {len(counted)} items recur"
    treatment = Treatment(reading=CellReading(strip=strip), delimiter=delimiter, cap=cap)
    return share, Recognised(cells.name, "several items", reason, treatment)


def _recognise_text_by_name(cells: SeenColumn, context: Context) -> Recognised | None:
    said = meanings(cells.name)
    if cells.usual <= _HARDLY_ANY:
        return None
    if said & {"name", "contact", "text"}:
        kind = "names a person" if said & {"name", "contact"} else "free text"
        return _leave_out(cells, kind, "its name says so, and it holds many different texts")
    if cells.share(cells.matching(r"[^@\s]+@[^@\s]+\.[^@\s]+")) > 0.5:
        return _leave_out(cells, "names a person", "most cells are mail addresses")
    return None


def _recognise_codes(cells: SeenColumn, context: Context) -> Recognised | None:
    said = meanings(cells.name)
    looks = cells.matching(r"[0-9A-Za-z][0-9A-Za-z .\-/]{0,14}") & cells.matching(r".*[0-9].*")
    if cells.share(looks) < 0.9:
        return None
    is_post, is_named = "postcode" in said, bool(said & {"postcode", "code"})
    if _nearly_all_differ(cells) and not is_named:
        return None
    lengths = _text_lengths(cells)
    usual = int(np.median(np.repeat(lengths, np.minimum(cells.held, 100))))
    has_zeros = not cells.is_few(leading_zeros(cells))
    if not (is_named or has_zeros or float((lengths == usual).mean()) > 0.8):
        return None
    if cells.usual <= _HARDLY_ANY and not is_post:
        return Recognised(cells.name, "code", f"codes such as {_example(cells)}", Treatment())
    length = _longest_prefix(cells, longest=2 if is_post else max(1, usual - 1))
    if not length:
        return None
    why = "its name says so" if is_named else "leading zeros" if has_zeros else "short texts of one shape"
    reason = f"{why}, such as {_example(cells)}; {cells.distinct:,} different ones"
    treatment = Treatment(reading=CellReading(cut=str(length)))
    return Recognised(cells.name, "postcode" if is_post else "code", reason, treatment)


def _longest_prefix(cells: SeenColumn, *, longest: int) -> int:
    """The most characters that leave few different beginnings; 0: even one leaves too many."""
    for length in range(longest, 0, -1):
        if cells.mapped(lambda texts: [text[:length] for text in texts]).usual <= _MOST_CODES:  # noqa: B023
            return length
    return 0


def _recognise_free_text(cells: SeenColumn, context: Context) -> Recognised | None:
    held = np.minimum(cells.held, 100)
    words = float(np.average([len(text.split()) for text in cells.texts], weights=held))
    is_long = words > _FREE_WORDS or float(np.average(_text_lengths(cells), weights=held)) > _FREE_LENGTH
    differs = cells.distinct / cells.filled
    if not is_long or differs <= _MOSTLY_DIFFERENT or cells.distinct <= _RARE:
        return None
    return _leave_out(cells, "free text", f"words a cell: {words:.0f}; different ones: {_percent(differs)}")


def _recognise_ids(cells: SeenColumn, context: Context) -> Recognised | None:
    if _nearly_all_differ(cells):
        share = cells.distinct / cells.filled
        return _leave_out(cells, "id", f"{_percent(share)} of the cells are different")
    share = cells.share(cells.held < _RARE)
    if cells.rows < _FEWEST_ROWS or share <= _MOSTLY_RARE or cells.usual <= _HARDLY_ANY:
        return None
    reason = f"{_percent(share)} of the cells hold a text that fewer than {_RARE} cells have"
    return _leave_out(cells, "rare texts", reason)


def _nearly_all_differ(cells: SeenColumn) -> bool:
    return cells.rows >= _FEWEST_ROWS and cells.distinct >= _TELLS_APART * cells.filled


def _recognise_text(cells: SeenColumn, context: Context) -> Recognised | None:
    reason = f"{cells.distinct} different texts, such as {_example(cells)}"
    return Recognised(cells.name, "text", reason, Treatment())


#: In the order in which they are asked.
_KINDS: tuple[Callable[[SeenColumn, Context], Recognised | None], ...] = (
    _recognise_public_list,
    _recognise_id_by_name,
    _recognise_dates,
    _recognise_unread_amounts,
    _recognise_numbers,
    _recognise_made_id,
    _recognise_items,
    _recognise_text_by_name,
    _recognise_codes,
    _recognise_free_text,
    _recognise_ids,
    _recognise_text,
)


def _leave_out(cells: SeenColumn, kind: str, reason: str) -> Recognised:
    return Recognised(cells.name, kind, reason, Treatment(is_used=False))


def _text_lengths(cells: SeenColumn) -> np.ndarray:
    return np.array([len(text) for text in cells.texts])


def _example(cells: SeenColumn) -> str:
    text = cells.texts[int(np.argmax(cells.held))]
    return repr(text if len(text) <= _FREE_LENGTH else text[:_FREE_LENGTH] + "...")


def _quote_some(cells: SeenColumn, chosen: Flags) -> str:
    texts = list(map(repr, cells.chosen(chosen)))
    return ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
