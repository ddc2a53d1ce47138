"""Figures as text, rounded so that no claim is overstated; and text as Markdown takes it.

A loss (epsilon, delta, an error bar) is rounded up, what is left is rounded down. What is rounded is the
shortest decimal that gives the number back, so that 1e-6 is shown as 10⁻⁶. Commas stand between thousands and
a point before decimals, as the page's program writes them.
"""

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

_THIN_SPACE = "\u202f"
_MINUS = "\u2212"
_MARKDOWN_MARKS = re.compile(r"([\\`*_{}\[\]<>|#~$])")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _rounded(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return "∞" if value > 0 else "undefined"
    short = Context(prec=digits, rounding=rounding).plus(Decimal(repr(float(value)))).normalize()
    if short == 0:
        return "0"
    exponent = short.adjusted()
    if -4 < exponent < 9:
        return f"{short:,f}".replace("-", _MINUS)
    mantissa = f"{short.scaleb(-exponent).normalize():f}".replace("-", _MINUS)
    power = f"10{str(exponent).translate(_SUPERSCRIPTS)}"
    return power if mantissa == "1" else f"{mantissa}·{power}"


def format_up(value: float, digits: int = 3) -> str:
    """``value`` to ``digits`` significant digits, never less than it: for losses and error bars.

    >>> format_up(1.0001), format_down(1.0009), format_up(1e-6)
    ('1.01', '1', '10⁻⁶')
    """
    return _rounded(value, digits, ROUND_CEILING)


def format_down(value: float, digits: int = 3) -> str:
    """``value`` to ``digits`` significant digits, never more than it: for what remains."""
    return _rounded(value, digits, ROUND_FLOOR)


def plain_up(value: float | Decimal, digits: int = 6) -> str:
    """The same as `format_up`, written as a program reads it: costs, caps and what was spent, side by side.

    One rounding for all of them: whatever is no more than another is never shown as more.
    """
    short = Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(repr(float(value))))
    return f"{float(short):.{digits}g}"


def plain_down(value: float | Decimal, digits: int = 6) -> str:
    """The same as `format_down`, written as a program reads it: for what remains."""
    short = Context(prec=digits, rounding=ROUND_FLOOR).plus(Decimal(repr(float(value))))
    return f"{float(short):.{digits}g}"


def format_near(value: float, digits: int = 3) -> str:
    """``value`` to ``digits`` significant digits, to the nearest: for what describes and promises nothing."""
    return _rounded(value, digits, ROUND_HALF_EVEN)


def format_whole(value: int) -> str:
    """A whole number with commas between thousands and a true minus sign.

    >>> format_whole(-1832)
    '−1,832'
    """
    return f"{value:,}".replace("-", _MINUS)


def count_of(number: int, what: str) -> str:
    """So many of something that takes an s.

    >>> count_of(1, "release"), count_of(1200, "more release")
    ('1 release', '1,200 more releases')
    """
    return f"{format_whole(number)} {what}{'' if number == 1 else 's'}"


def format_percent_up(share: float, digits: int = 2) -> str:
    """A share as a percentage, rounded up."""
    return f"{format_up(share * 100, digits)}{_THIN_SPACE}%"


def as_markdown(text: object) -> str:
    r"""A text in a line or in a table's cell, its blanks and ends of lines as single blanks.

    >>> as_markdown("a_b|c")
    'a\\_b\\|c'
    """
    return _MARKDOWN_MARKS.sub(r"\\\1", " ".join(str(text).split()))
