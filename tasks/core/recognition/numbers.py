"""Whether a column holds numbers, how they are written, and what stands around them.

Cells go in; a `NumberColumn` or None comes out.
"""

import re
from dataclasses import dataclass, replace

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.arrays import Flags, Floats
from tasks.core.recognition.around_numbers import BELOW_ZERO, around_numbers, bare
from tasks.core.recognition.cells import SeenColumn, usual_number
from tasks.core.recognition.edges import Limits
from tasks.core.recognition.header_words import meanings
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
_FORMATS = (
    PLAIN,
    NumberFormat(","),
    NumberFormat(",", "."),
    NumberFormat(".", ","),
    NumberFormat(",", " "),
    NumberFormat(".", " "),
    NumberFormat(".", "'"),
    NumberFormat(",", "'"),
)
_CORRECT = "if that is wrong, correct decimal and thousands in"
#: Groups of three digits behind a mark, which may be a mark of thousands or of decimals.
_IN_THREES = {mark: re.compile(rf"\D*[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+\D*") for mark in ".,"}
_THOUSAND, _SHORT = re.compile(r"\D*[1-9]\d{0,2}\.\d{3}\D*"), re.compile(r"\D*\d{1,3}\D*")


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers.

    Attributes:
        format: how they are written.
        strip: the characters that stand around them.
        is_money: whether a currency is among them.
        numbers: for each text its number, of a limit (90+) that of the limit; NaN: it is none.
        limits: numbers that more than a few cells lie below or above without saying how far.
        whole: whether all are whole.
        doubt: what the person should look at; empty: nothing.
    """

    format: NumberFormat
    strip: str
    is_money: bool
    numbers: Floats
    limits: Limits
    whole: bool
    doubt: str


def has_decimal_comma(cells: SeenColumn) -> bool:
    """Whether most texts are numbers, and a comma before decimals is the only way to read some of them."""
    numbers = [bare(text)[0] for text in cells.texts]
    commas = [
        NumberFormat(",", "").plain_text(text) is not None
        and "," in text
        and _IN_THREES[","].fullmatch(text) is None
        for text in numbers
    ]
    grouped = [
        "." in text and "," in text and NumberFormat(",", ".").plain_text(text) is not None
        for text in numbers
    ]
    needed = np.array(commas, np.bool_) | np.array(grouped, np.bool_)
    return not cells.is_few(needed) and cells.share(needed) >= 0.2


def number_column(
    connection: duckdb.DuckDBPyConnection, cells: SeenColumn, *, comma: bool
) -> NumberColumn | None:
    """The column as numbers, or None where too few cells are numbers.

    Args:
        connection: what reads numbers.
        cells: without words for missing values.
        comma: whether other columns of the table have commas before decimals.
    """
    around = around_numbers(cells)
    texts = around.numbers
    best: tuple[float, NumberFormat] | None = None
    least = cells.margin / max(cells.filled, 1)
    below = np.array([BELOW_ZERO.fullmatch(text) is not None for text in texts], np.bool_)
    negative = "" if cells.is_few(below) else BOOKKEEPING
    for each in _ordered(cells, texts, comma=comma):
        number_format = replace(each, negative=negative)
        pattern = re.compile(number_format.pattern)
        share = cells.share(np.array([pattern.fullmatch(text) is not None for text in texts], np.bool_))
        if best is None or share >= best[0] + least:
            best = (share, number_format)
    if best is None:
        return None
    array = pa.array(texts, pa.string())
    at_limits = without_limits(array).to_pylist()
    numbers = numbers_of_texts(connection, at_limits, best[1])
    finite = np.isfinite(numbers)
    is_limit = np.logical_or(*sides_of_limits(array))
    of_plain = cells.share(finite & ~is_limit)
    if of_plain < _AT_LEAST_PLAIN:
        return None
    if best[0] < _MOST_ARE:
        others = usual_number(cells.held[~finite], cells.margin)
        if of_plain < _AT_LEAST or others > _FEW_CODES:
            return None
    return NumberColumn(
        best[1],
        around.strip,
        around.is_money,
        numbers,
        _limits(cells, array, numbers),
        cells.is_few(finite & (numbers != np.floor(numbers))),
        _doubt(cells, texts, best[1], comma=comma),
    )


def _limits(cells: SeenColumn, texts: pa.Array, numbers: Floats) -> Limits:
    """Below which numbers, and above which, more than a few cells lie."""
    return tuple(
        tuple(
            float(number)
            for number in np.unique(numbers[side & np.isfinite(numbers)])
            if not cells.is_few(side & (numbers == number))
        )
        for side in sides_of_limits(texts)
    )


def _may_be_thousands(cells: SeenColumn, texts: list[str]) -> bool:
    """Whether a point stands before three digits, and no cell says whether these are decimals."""
    has_point = np.array(["." in text for text in texts], np.bool_)
    others = np.array(["." in text and _THOUSAND.fullmatch(text) is None for text in texts], np.bool_)
    long = np.array([re.fullmatch(r"\D*\d{4,}\D*", text) is not None for text in texts], np.bool_)
    return not cells.is_few(has_point) and cells.is_few(others) and cells.is_few(long)


def _are_likely_thousands(cells: SeenColumn, texts: list[str]) -> bool:
    """Whether such points stand between thousands: of money, or where smaller numbers have no decimals."""
    short = np.array([_SHORT.fullmatch(text) is not None for text in texts], np.bool_)
    return _may_be_thousands(cells, texts) and ("money" in meanings(cells.name) or not cells.is_few(short))


def _doubt(cells: SeenColumn, texts: list[str], chosen: NumberFormat, *, comma: bool) -> str:
    """What to say where points before three digits could be read in two ways."""
    example = next((text for text in texts if _THOUSAND.fullmatch(text)), "")
    if comma or chosen.thousands not in ("", ".") or not example or not _may_be_thousands(cells, texts):
        return ""
    joined = example.replace(".", "")
    taken = f"for {joined}" if chosen.thousands else f"as it stands, not for {joined}"
    return f"is {example} {joined}? No cell tells, and it is taken {taken}; {_CORRECT} the draft"


def _ordered(cells: SeenColumn, texts: list[str], *, comma: bool) -> list[NumberFormat]:
    """The formats, the likelier of two that read the same texts first."""
    has = {mark: np.array([mark in text for text in texts], np.bool_) for mark in ".,"}
    has_point, has_comma = (not cells.is_few(has[mark]) for mark in ".,")
    in_threes = {
        mark: cells.is_few(
            has[mark] & np.array([_IN_THREES[mark].fullmatch(text) is None for text in texts], np.bool_)
        )
        for mark in ".,"
    }
    likely = []
    is_grouped = comma or _are_likely_thousands(cells, texts)
    if is_grouped and has_point and not has_comma and in_threes["."]:
        likely.append(NumberFormat(",", "."))
    if not comma and has_comma and not has_point and in_threes[","]:
        likely.append(NumberFormat(".", ","))
    return [*likely, *(each for each in _FORMATS if each not in likely)]


def leading_zeros(cells: SeenColumn) -> Flags:
    """Which texts are digits that begin with a needless zero, as codes do."""
    return cells.matching("0[0-9]+")
