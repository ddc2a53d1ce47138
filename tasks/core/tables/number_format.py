"""How numbers are written in text: the mark before decimals, the one between thousands, what is below zero.

>>> NumberFormat(",", ".").plain_texts(pa.array(["1.234,56", "-7", "12.34,56"])).to_pylist()
['1234.56', '-7', None]
>>> NumberFormat(negative=BOOKKEEPING).plain_texts(pa.array(["(120.00)", "1.5-", "-7", "(-7)"])).to_pylist()
['-120.00', '-1.5', '-7', None]

A limit is a number, too:

>>> PLAIN.plain_texts(pa.array(["<0.5", "90+", "≥ 90", "<90+"])).to_pylist()
['0.5', '90', '90', None]

Whoever makes the table declares it, for a table or for a column; nothing is found out from the cells, which
would let one record change how another is read (R6).
"""

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Flags

#: In a declaration by column, all columns that it does not name.
EVERY_COLUMN = "*"
DECIMALS = (".", ",")
#: A space stands for every kind of space, and an apostrophe for the typographic one.
THOUSANDS = {"": "", ".": ".", ",": ",", " ": " \u00a0\u2009\u202f", "'": "'\u2019"}

#: How bookkeepers write what is below zero, beside a sign in front: (120.00) or 120.00-.
BOOKKEEPING = "bookkeeping"
_IS_BELOW_ZERO = r"^\(|-$"
#: What a limit has around its number.
_BELOW, _ABOVE = "^(?:<=?|≤) ?", r"^(?:>=?|≥) ?| ?\+$"
_LIMIT = f"{_BELOW}|{_ABOVE}"


def without_limits(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, _LIMIT, "", max_replacements=1)


def sides_of_limits(texts: pa.Array) -> tuple[Flags, Flags]:
    """Which texts lie below a limit, and which above it: between two bins both 90+ and >90 are in the upper.

    >>> [side.tolist() for side in sides_of_limits(pa.array(["<0.5", "90+", "90", None]))]
    [[True, False, False, False], [False, True, False, False]]
    """
    below, above = (pc.match_substring_regex(texts, side).fill_null(False) for side in (_BELOW, _ABOVE))
    return below.to_numpy(zero_copy_only=False), above.to_numpy(zero_copy_only=False)


def canonical_thousands(mark: object) -> object:
    """The key of `THOUSANDS` that a mark belongs to; itself where it belongs to none."""
    return next((key for key, family in THOUSANDS.items() if mark in tuple(family)), mark)


@dataclass(frozen=True)
class NumberFormat:
    """The marks of numbers.

    A number is decimal digits with an optional sign, decimals and exponent. Between thousands it has either
    no mark or all of them: groups of three digits behind a first one of one to three, not beginning with 0.
    Around it may be the signs of a limit: <, <=, >, >= (or one sign of these) before it, or + behind it.

    Attributes:
        decimal: one of `DECIMALS`.
        thousands: a key of `THOUSANDS`; empty: digits are not grouped.
        negative: `BOOKKEEPING` where brackets around a number and a minus behind it mean that it is below
            zero, too; empty: only a sign in front does. Such a number has no sign and no exponent.
    """

    decimal: str = "."
    thousands: str = ""
    negative: str = ""

    @property
    def problem(self) -> str:
        """What keeps the two marks from being meant together; empty if nothing does."""
        if self.decimal != self.thousands:
            return ""
        other = next(mark for mark in DECIMALS if mark != self.decimal)
        return (
            f"Numbers must have different marks before decimals and between thousands, but {self.decimal!r} "
            f"is both: give {other!r} as decimal, or another mark as thousands."
        )

    @property
    def pattern(self) -> str:
        """A regular expression of a whole number or fraction, for RE2 and Python, to be matched in full."""
        decimal = re.escape(self.decimal)
        amount = f"(?:{self._digits}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)"
        return self._as_written(f"[+-]?{amount}(?:[eE][+-]?[0-9]+)?", amount)

    @property
    def whole_pattern(self) -> str:
        return self._as_written(f"[+-]?{self._digits}", self._digits)

    @property
    def _digits(self) -> str:
        if not self.thousands:
            return "(?:[0-9]+)"
        return f"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:[{THOUSANDS[self.thousands]}][0-9]{{3}})+)"

    def _as_written(self, signed: str, amount: str) -> str:
        number = rf"(?:{signed}|\({amount}\)|{amount}-)" if self.negative else f"(?:{signed})"
        return rf"(?:(?:(?:[<>]=?|[≤≥]) ?)?{number}|{number} ?\+)"

    def plain_text(self, text: str) -> str | None:
        if re.fullmatch(self.pattern, text) is None:
            return None
        text = re.sub(_LIMIT, "", text, count=1)
        if self.negative and re.search(_IS_BELOW_ZERO, text):
            text = f"-{text.strip('()-')}"
        plain = re.sub(f"[{THOUSANDS[self.thousands]}]", "", text) if self.thousands else text
        return plain.replace(self.decimal, ".")

    def plain_texts(self, texts: pa.Array) -> pa.Array:
        """Numbers with a point and without marks between thousands; null for texts that are no numbers."""
        is_number = pc.match_substring_regex(texts, f"^(?:{self.pattern})$")
        numbers = without_limits(pc.if_else(is_number, texts, pa.scalar(None, texts.type)))
        if self.negative:
            is_below = pc.match_substring_regex(numbers, _IS_BELOW_ZERO)
            bare = pc.replace_substring_regex(numbers, r"[()]|-$", "")
            sign = pa.scalar("-", texts.type)
            below = pc.binary_join_element_wise(sign, bare, pa.scalar("", texts.type))
            numbers = pc.if_else(is_below, below, numbers)
        if self.thousands:
            numbers = pc.replace_substring_regex(numbers, f"[{THOUSANDS[self.thousands]}]", "")
        return pc.replace_substring(numbers, self.decimal, ".")


#: As programs write numbers, and as a typed column's text has them.
PLAIN = NumberFormat()
