"""Whether a column holds numbers, how they are written, and what stands around them.

Cells go in; a `NumberColumn` or None comes out.
"""

import re
from dataclasses import dataclass, replace

import duckdb
import numpy as np

from tasks.core.arrays import Flags, Floats
from tasks.core.recognition.cells import SeenColumn, usual_number
from tasks.core.records.cells import numbers_of_texts
from tasks.core.tables.number_format import BOOKKEEPING, PLAIN, NumberFormat

#: The share of filled cells that must be numbers, and how many different texts beside them are codes.
_MOST_ARE, _FEW_CODES, _AT_LEAST = 0.95, 5, 0.5
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
#: What may stand around numbers: signs of currencies, their codes, a percent sign, some units.
_SIGNS = "€$£¥₹%"
_AROUND = re.compile(
    r"(?P<before>[€$£¥₹]|EUR|USD|GBP|CHF|Fr\.)?\s*"
    r"(?P<number>\([\d.,][\d.,' \u00a0\u202f\u2019]*\)|[-+]?[\d.,][\d.,' \u00a0\u202f\u2019]*?-?)\s*"
    r"(?P<behind>[€$£¥₹%]|EUR|USD|GBP|CHF|Fr\.|kg|cm|km|mm|km/h|min|years|Jahre|ans)?"
)
#: What bookkeepers write of a number below zero.
_BELOW_ZERO = re.compile(r"\([\d.,][\d.,' \u00a0\u202f\u2019]*\)|[\d.,][\d.,' \u00a0\u202f\u2019]*-")
#: Groups of three digits behind a mark, which may be a mark of thousands or of decimals.
_IN_THREES = {mark: re.compile(rf"[-+]?[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+") for mark in ".,"}


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers.

    Attributes:
        format: how they are written.
        strip: the characters that stand around them.
        numbers: for each text its number; NaN: it is none.
        whole: whether all are whole.
    """

    format: NumberFormat
    strip: str
    numbers: Floats
    whole: bool


def has_decimal_comma(cells: SeenColumn) -> bool:
    """Whether most texts are numbers, and a comma before decimals is the only way to read some of them."""
    bare = [_bare(text)[0] for text in cells.texts]
    commas = [
        NumberFormat(",", "").plain_text(text) is not None
        and "," in text
        and _IN_THREES[","].fullmatch(text) is None
        for text in bare
    ]
    grouped = [
        "." in text and "," in text and NumberFormat(",", ".").plain_text(text) is not None for text in bare
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
    stripped = [_bare(text) for text in cells.texts]
    strip = _strip(cells, [around for _, around in stripped])
    texts = [
        text if set(around) <= set(strip) else whole
        for whole, (text, around) in zip(cells.texts, stripped, strict=True)
    ]
    best: tuple[float, NumberFormat] | None = None
    least = cells.margin / max(cells.filled, 1)
    below = np.array([_BELOW_ZERO.fullmatch(text) is not None for text in texts], np.bool_)
    negative = "" if cells.is_few(below) else BOOKKEEPING
    for each in _ordered(cells, texts, comma=comma):
        number_format = replace(each, negative=negative)
        pattern = re.compile(number_format.pattern)
        share = cells.share(np.array([pattern.fullmatch(text) is not None for text in texts], np.bool_))
        if best is None or share >= best[0] + least:
            best = (share, number_format)
    if best is None:
        return None
    numbers = numbers_of_texts(connection, texts, best[1])
    finite = np.isfinite(numbers)
    if not finite.any():
        return None
    if best[0] < _MOST_ARE:
        others = usual_number(cells.held[~finite], cells.margin)
        if best[0] < _AT_LEAST or others > _FEW_CODES:
            return None
    return NumberColumn(best[1], strip, numbers, cells.is_few(finite & (numbers != np.floor(numbers))))


def _strip(cells: SeenColumn, around: list[str]) -> str:
    """The signs that stand around more than a few numbers."""
    signs = dict.fromkeys(sign for each in around for sign in each)
    return "".join(
        sign for sign in signs if not cells.is_few(np.array([sign in each for each in around], np.bool_))
    )


def _bare(text: str) -> tuple[str, str]:
    """A number without what stands around it, and that; any other text as it is."""
    match = _AROUND.fullmatch(text)
    if match is None:
        return text, ""
    return match["number"].strip(), (match["before"] or "") + (match["behind"] or "")


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
    if comma and has_point and not has_comma and in_threes["."]:
        likely.append(NumberFormat(",", "."))
    if not comma and has_comma and not has_point and in_threes[","]:
        likely.append(NumberFormat(".", ","))
    return [*likely, *(each for each in _FORMATS if each not in likely)]


def leading_zeros(cells: SeenColumn) -> Flags:
    """Which texts are digits that begin with a needless zero, as codes do."""
    return cells.matching("0[0-9]+")
