"""What a person says of a table against what was recognised, before any table is looked at.

Texts of a command line go in, what they mean comes out. The help of the command is made of this, so nothing
heavy is imported here.

>>> parse_correction("born=age"), parse_correction("age=bins:0,18")
(Correction(column='born', word='age', detail=''), Correction(column='age', word='bins', detail='0,18'))
"""

from dataclasses import dataclass
from typing import Literal

from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.tables.column_names import Encoding

#: What may protect the people, as an option names it.
ProtectionName = Literal["dp", "k_anonymity", "syndiffix"]

_A_LIST = "A,B,..."
#: Each word, what follows its colon ("" for nothing), what it means, and what a column is then called.
WORDS = {
    "skip": ("", "leave the column out", "not wanted"),
    "text": ("", "take its values as they stand, an open list", "text"),
    "bins": (
        "EDGES",
        "numbers in bins: at these edges, or without them at round ones that are proposed",
        "number",
    ),
    "values": (
        _A_LIST,
        "these are all its values: a public list, as you know it without the table",
        "public list",
    ),
    "items": ("DELIMITER", "several items a cell, separated so", "several items"),
    "prefix": ("N", "keep the first N characters of each cell", "code"),
    "year": ("FORMAT", "a date, cut to the year; a format such as %d.%m.%Y where it is not found", "date"),
    "month": ("FORMAT", "a date, cut to the month", "date"),
    "day": ("FORMAT", "a date, as the day", "date"),
    "hour": ("FORMAT", "a time, cut to the hour", "time"),
    "age": ("FORMAT or DAY", "a date of birth, turned into the age; a number, in bands of ages", "age"),
    "missing": (_A_LIST, "these words stand for a missing value; an empty list: none do", ""),
}


@dataclass(frozen=True)
class FileAnswers:
    """What a person says of how a file is written; None: it is found out."""

    encoding: Encoding | None = None
    delimiter: str | None = None
    quote: str | None = None
    has_header: bool | None = None
    skip_lines: int | None = None
    escape: str | None = None


@dataclass(frozen=True)
class Correction:
    """What a person says of a column, in one of `WORDS`."""

    column: str
    word: str
    detail: str = ""


def parse_correction(text: str) -> Correction:
    """``COLUMN=WORD`` or ``COLUMN=WORD:DETAIL``; the last equals sign before a known word parts them.

    Raises:
        ParameterError: it is neither.
    """
    column, sign, rest = text.partition("=")
    while sign and rest.partition(":")[0] not in WORDS and "=" in rest:
        more, _, rest = rest.partition("=")
        column = f"{column}={more}"
    word, _, detail = rest.partition(":")
    if not sign or not column.strip():
        raise ParameterError(
            f"What a column is must be given as COLUMN=WORD, and {text!r} is not: give both."
        )
    if word not in WORDS:
        meant = did_you_mean(word, WORDS) or f"give one of {', '.join(WORDS)}."
        raise ParameterError(f"{text!r}: {word!r} is no word for what a column is: {meant}")
    return Correction(column.strip(), word, detail)


def parse_value_names(text: str) -> tuple[str, dict[str, str]]:
    """``COLUMN:CODE=WORD,CODE=WORD``: the column, and what its codes mean.

    >>> parse_value_names("SEX:1=men,2=women")
    ('SEX', {'1': 'men', '2': 'women'})

    Raises:
        ParameterError: it is no such text.
    """
    head, sign, rest = text.partition("=")
    column, colon, code = head.rpartition(":")
    pairs = [pair.partition("=") for pair in f"{code}{sign}{rest}".split(",")]
    named = {key.strip(): word.strip() for key, _, word in pairs}
    if not (sign and colon and column.strip() and all(named) and all(named.values())):
        raise ParameterError(
            f"What codes mean must be given as COLUMN:CODE=WORD,CODE=WORD, and {text!r} is not: give such as "
            "sex:1=men,2=women."
        )
    return column.strip(), named
