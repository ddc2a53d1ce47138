"""Whether a column holds numbers, how they are written, and what stands around them, such as a currency.

Cells go in; a `NumberColumn` or None comes out.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Flags, Floats
from tasks.core.recognition.cells import SeenColumn, flags, usual_ends, usual_number
from tasks.core.recognition.edges import Limits
from tasks.core.recognition.words import LETTER_FLAGS, meanings, word_list
from tasks.core.records.cells import numbers_of_texts
from tasks.core.tables.number_format import (
    BOOKKEEPING,
    PLAIN,
    NumberFormat,
    sides_of_limits,
    without_limits,
)

#: The share of filled cells that must be numbers, and how many different texts beside them are codes.
_MOST_ARE, _FEW_CODES, _AT_LEAST = 0.95, 5, 0.5
#: Of numbers, limits (90+) aside: with fewer, limits are the names of groups.
_AT_LEAST_PLAIN = 0.2
#: So many cells must need a comma before decimals, or it is none.
_LEAST_COMMAS = 0.2
#: So few different numbers with a unit are values by themselves, such as 36 months and 60 months.
_FEW_MEASURED = 12
_FORMATS = (
    PLAIN,
    *(NumberFormat(*marks) for marks in (",", ",.", ".,", ", ", ". ", ".'", ",'")),
)
#: Groups of three digits behind a mark, which may be a mark of thousands or of decimals.
_IN_THREES = {mark: re.compile(rf"\D*[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+\D*") for mark in ".,"}
_THOUSAND, _SHORT = re.compile(r"\D*[1-9]\d{0,2}\.\d{3}\D*"), re.compile(r"\D*\d{1,3}\D*")
_LONG = re.compile(r"\D*\d{4,}\D*")

_DIGITS = r"[\d.,][\d.,' \u00a0\u202f\u2019]*"
#: What bookkeepers write of a number below zero.
_BELOW_ZERO = re.compile(rf"\({_DIGITS}\)|{_DIGITS}-")
_SIGNS = word_list("number", "signs")
_MONEY = "|".join(
    map(re.escape, (*word_list("number", "currency_signs"), *word_list("number", "currencies")))
)
#: Signs of notes.
_NOTES = "†‡*§"
_UNIT = r"[°µμ]?[^\W\d_]{1,12}"
_AROUND = re.compile(
    rf"(?P<before>{_MONEY})?\s*"
    rf"(?P<number>\({_DIGITS}\)|(?:(?:[<>]=?|[≤≥])\s?)?[-+]?{_DIGITS}?(?:[eE][-+]?\d+)?-?(?:\s?\+)?)\s*"
    rf"(?P<behind>{_MONEY}|[{''.join(_SIGNS)}]|[{_NOTES}]|\([{LETTER_FLAGS}]\)|{_UNIT}(?:[/ ]{_UNIT})?)?"
)
#: Numbers that surveys use as codes: 99, 998, 9999, 88, 777, -1, -9, -999, also as 999.0.
_CODE_NUMBER = re.compile(r"(?:9{2,}|9+[6-8]|8{2,}|7{2,}|-(?:[1-9]|9+[6-9]|8{2,}|7{2,}))(?:[.,]0+)?")
#: Of a code that lies close to the numbers: how often it stands, beside the middle one of them.
_TIMES_AS_OFTEN, _GAP = 5, 3
#: A number without what stands around it, and that.
_PartedNumber = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers.

    Attributes:
        numbers: for each text its number, of a limit (90+) that of the limit; NaN: it is none.
        limits: numbers that more than a few cells lie below or above without saying how far.
        doubt: what the person should look at; empty: nothing.
    """

    format: NumberFormat
    strip: str
    is_money: bool
    numbers: Floats
    limits: Limits
    whole: bool
    doubt: str


def number_column(cells: SeenColumn, *, comma: bool) -> NumberColumn | None:
    """The column as numbers; None where too few cells are. Args: comma: others have decimal commas."""
    parted = [part_number(text) for text in cells.texts]
    strip, is_money = _find_marks_around(cells, parted)
    texts = [
        number if set("".join(around)) <= {*strip, " "} else text
        for text, (number, around) in zip(cells.texts, parted, strict=True)
    ]
    chosen, share = _choose_format(cells, texts, comma=comma)
    array = pa.array(texts, pa.string())
    numbers = numbers_of_texts(without_limits(array).to_pylist(), chosen)
    finite, sides = np.isfinite(numbers), sides_of_limits(array)
    of_plain = cells.share(finite & ~np.logical_or(*sides))
    if of_plain < _AT_LEAST_PLAIN:
        return None
    if share < _MOST_ARE:
        others = usual_number(cells.held[~finite], cells.margin)
        if of_plain < _AT_LEAST or others > _FEW_CODES:
            return None
    found = ((side, np.unique(numbers[side & finite]).tolist()) for side in sides)
    limits = tuple(
        tuple(number for number in of_side if not cells.is_few(side & (numbers == number)))
        for side, of_side in found
    )
    is_whole = cells.is_few(finite & (numbers != np.floor(numbers)))
    doubt = "" if comma else _doubt_thousands(cells, texts, chosen)
    return NumberColumn(chosen, strip, is_money, numbers, limits, is_whole, doubt)


def part_number(text: str) -> _PartedNumber:
    """A number without what stands around it, and that; any other text as it is.

    >>> part_number("€ 12.50"), part_number("9.7†"), part_number("12.3 degrees"), part_number("12 or 13")
    (('12.50', ('€',)), ('9.7', ('†',)), ('12.3', ('degrees',)), ('12 or 13', ()))
    """
    match = _AROUND.fullmatch(text)
    if match is None:
        return text, ()
    return match["number"].strip(), tuple(filter(None, (match["before"], match["behind"])))


def _find_marks_around(cells: SeenColumn, parted: Sequence[_PartedNumber]) -> tuple[str, bool]:
    rows: Counter[str] = Counter()
    for (_, marks), held in zip(parted, cells.held.tolist(), strict=True):
        for mark in marks:
            rows[mark] += held
    usual = [mark for mark, held in rows.items() if held >= cells.margin]
    money = [mark for mark in usual if re.fullmatch(_MONEY, mark)]
    signs = [mark for mark in usual if mark in _SIGNS]
    words = [mark for mark in usual if mark not in money + signs]
    found = "".join([*money, *signs, _flags_or_unit(cells, parted, words)])
    return "".join(dict.fromkeys(found)), bool(money)


def _flags_or_unit(cells: SeenColumn, parted: Sequence[_PartedNumber], words: list[str]) -> str:
    """The characters of flags, all of a kind where one is seen, or of the one unit; of several units none.

    Flags stand behind some numbers and not behind others: a letter behind each is part of a code.
    """
    is_bare = np.array([not around and number[-1:].isdigit() for number, around in parted], np.bool_)
    letters = [word for word in words if re.fullmatch(rf"[{LETTER_FLAGS}]|\([{LETTER_FLAGS}]\)", word)]
    notes = [word for word in words if word in _NOTES]
    if len(letters) + len(notes) == len(words) and not cells.is_few(is_bare):
        has_brackets = any(word.startswith("(") for word in letters)
        if not (has_brackets and _has_bookkeeping(cells, cells.texts)):
            return LETTER_FLAGS * bool(letters) + _NOTES * bool(notes) + "()" * has_brackets
    if len(words) != 1 or words[0].startswith("("):
        return ""
    has_unit = np.array([words[0] in around for _, around in parted], np.bool_)
    return words[0].replace(" ", "") if usual_number(cells.held[has_unit], 1) > _FEW_MEASURED else ""


def _has_bookkeeping(cells: SeenColumn, texts: Sequence[str]) -> bool:
    return not cells.is_few(flags(texts, _BELOW_ZERO.fullmatch))


def _choose_format(cells: SeenColumn, texts: Sequence[str], *, comma: bool) -> tuple[NumberFormat, float]:
    """The first format that reads more than a few cells more than those before it, and the share it reads."""
    chosen, most = PLAIN, -1.0
    negative = BOOKKEEPING if _has_bookkeeping(cells, texts) else ""
    for each in dict.fromkeys([*_likely_formats(cells, texts, comma=comma), *_FORMATS]):
        number_format = replace(each, negative=negative)
        share = cells.share(flags(texts, re.compile(number_format.pattern).fullmatch))
        if most < 0 or share >= most + cells.margin / max(cells.filled, 1):
            chosen, most = number_format, share
    return chosen, most


def _likely_formats(cells: SeenColumn, texts: Sequence[str], *, comma: bool) -> list[NumberFormat]:
    """Of two formats that read the same texts the likelier: by marks that stand before three digits alone."""
    has = {mark: flags(texts, lambda text: mark in text) for mark in ".,"}  # noqa: B023
    are = {mark: not cells.is_few(has[mark]) for mark in ".,"}
    in_threes = {mark: cells.is_few(has[mark] & ~flags(texts, _IN_THREES[mark].fullmatch)) for mark in ".,"}
    if are["."] == are[","]:
        return []
    if are["."]:
        is_likely = "money" in meanings(cells.name) or not cells.is_few(flags(texts, _SHORT.fullmatch))
        is_grouped = comma or (is_likely and _may_be_thousands(cells, texts))
        return [NumberFormat(",", ".")] if is_grouped and in_threes["."] else []
    return [NumberFormat(".", ",")] if not comma and in_threes[","] else []


def _may_be_thousands(cells: SeenColumn, texts: Sequence[str]) -> bool:
    """Whether a point stands before three digits, and no cell says whether these are decimals."""
    has_point = flags(texts, lambda text: "." in text)
    others = has_point & ~flags(texts, _THOUSAND.fullmatch)
    is_long = flags(texts, _LONG.fullmatch)
    return not cells.is_few(has_point) and cells.is_few(others) and cells.is_few(is_long)


def _doubt_thousands(cells: SeenColumn, texts: Sequence[str], chosen: NumberFormat) -> str:
    example = next(filter(_THOUSAND.fullmatch, texts), "")
    if chosen.thousands not in ("", ".") or not example or not _may_be_thousands(cells, texts):
        return ""
    joined = example.replace(".", "")
    taken = f"for {joined}" if chosen.thousands else f"as it stands, not for {joined}"
    return (
        f"is {example} {joined}? No cell tells, and it is taken {taken}; if that is wrong, correct decimal "
        "and thousands in the draft"
    )


def has_decimal_comma(cells: SeenColumn) -> bool:
    """Whether most texts are numbers, and a comma before decimals is the only way to read some of them."""

    def needs_comma(text: str) -> bool:
        number, _ = part_number(text)
        if "." in number:
            return "," in number and NumberFormat(",", ".").plain_text(number) is not None
        is_read = "," in number and NumberFormat(",", "").plain_text(number) is not None
        return is_read and _IN_THREES[","].fullmatch(number) is None

    needed = flags(cells.texts, needs_comma)
    return not cells.is_few(needed) and cells.share(needed) >= _LEAST_COMMAS


def leading_zeros(cells: SeenColumn) -> Flags:
    return cells.matching("0[0-9]+")


def is_code_number(text: str) -> bool:
    return _CODE_NUMBER.fullmatch(text) is not None


def code_numbers(cells: SeenColumn, numbers: Floats) -> Flags:
    """Which texts are numbers that mean a missing value: codes that lie apart from all other numbers."""
    is_code = flags(cells.texts, is_code_number)
    plain = ~is_code & np.isfinite(numbers)
    found = np.zeros(cells.distinct, np.bool_)
    if cells.is_few(plain):
        return found
    values, held = numbers[plain], cells.held[plain]
    low, high = usual_ends(values, held, cells.margin)
    for place in np.flatnonzero(is_code & (cells.held >= cells.margin)):
        number = numbers[place]
        if number < 0:
            found[place] = held[values < 0].sum() < cells.margin
        elif held[values > number].sum() < cells.margin:
            is_far = number > high + 2 * (high - low)
            is_often = cells.held[place] >= _TIMES_AS_OFTEN * np.median(held)
            found[place] = is_far or (is_often and number - high >= _GAP)
    return found
