"""How numbers are written in text: the mark before decimals and the one between thousands.

>>> NumberFormat(",", ".").plain_texts(pa.array(["1.234,56", "-7", "12.34,56"])).to_pylist()
['1234.56', '-7', None]

Whoever makes the table declares it, for a table or for a column; nothing is found out from the cells, which
would let one record change how another is read (privacy.md, rule 6).
"""

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

#: In a declaration by column, all columns that it does not name.
EVERY_COLUMN = "*"
DECIMALS = (".", ",")
#: A space stands for every kind of space, and an apostrophe for the typographic one.
THOUSANDS = {"": "", ".": ".", ",": ",", " ": " \u00a0\u2009\u202f", "'": "'\u2019"}


def canonical_thousands(mark: object) -> object:
    """The key of `THOUSANDS` that a mark belongs to; itself where it belongs to none."""
    return next((key for key, family in THOUSANDS.items() if mark in tuple(family)), mark)


@dataclass(frozen=True)
class NumberFormat:
    """The marks of numbers.

    A number is decimal digits with an optional sign, decimals and exponent. Between thousands it has either
    no mark or all of them: groups of three digits behind a first one of one to three, not beginning with 0.

    Attributes:
        decimal: one of `DECIMALS`.
        thousands: a key of `THOUSANDS`; empty: digits are not grouped.
    """

    decimal: str = "."
    thousands: str = ""

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
        digits = self.whole_pattern.removeprefix("[+-]?")
        return f"[+-]?(?:{digits}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?"

    @property
    def whole_pattern(self) -> str:
        """The same of whole numbers alone."""
        if not self.thousands:
            return "[+-]?(?:[0-9]+)"
        return f"[+-]?(?:[0-9]+|[1-9][0-9]{{0,2}}(?:[{THOUSANDS[self.thousands]}][0-9]{{3}})+)"

    def plain_text(self, text: str) -> str | None:
        """One number with a point and without marks between thousands; None for a text that is no number."""
        if re.fullmatch(self.pattern, text) is None:
            return None
        plain = re.sub(f"[{THOUSANDS[self.thousands]}]", "", text) if self.thousands else text
        return plain.replace(self.decimal, ".")

    def plain_texts(self, texts: pa.Array) -> pa.Array:
        """Numbers with a point and without marks between thousands; null for texts that are no numbers.

        Args:
            texts: trimmed, string or large string.
        """
        is_number = pc.match_substring_regex(texts, f"^(?:{self.pattern})$")
        numbers = pc.if_else(is_number, texts, pa.scalar(None, texts.type))
        if self.thousands:
            numbers = pc.replace_substring_regex(numbers, f"[{THOUSANDS[self.thousands]}]", "")
        return pc.replace_substring(numbers, self.decimal, ".")


#: As programs write numbers, and as a typed column's text has them.
PLAIN = NumberFormat()
