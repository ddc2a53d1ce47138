"""What stands around the numbers of a column: a currency, a percent sign, a unit, or flags.

Cells go in; each text's number comes out, and the characters that a run takes off both ends of a cell.
"""

import re
from dataclasses import dataclass

import numpy as np

from tasks.core.recognition.cells import SeenColumn, usual_number

DIGITS = r"[\d.,][\d.,' \u00a0\u202f\u2019]*"
#: What bookkeepers write of a number below zero.
BELOW_ZERO = re.compile(rf"\({DIGITS}\)|{DIGITS}-")
_CODES = ("EUR", "USD", "GBP", "CHF", "Fr.")
_MONEY = "[€$£¥₹]|" + "|".join(map(re.escape, _CODES))
#: By which offices say how sure a number is: Eurostat's letters, and signs of notes.
LETTER_FLAGS, _NOTES = "bcdefnprsuz", "†‡*§"
_UNIT = r"[°µμ]?[^\W\d_]{1,12}"
_AROUND = re.compile(
    rf"(?P<before>{_MONEY})?\s*"
    rf"(?P<number>\({DIGITS}\)|(?:(?:[<>]=?|[≤≥])\s?)?[-+]?{DIGITS}?(?:[eE][-+]?\d+)?-?(?:\s?\+)?)\s*"
    rf"(?P<behind>{_MONEY}|[%‰°]|[{_NOTES}]|\([{LETTER_FLAGS}]\)|{_UNIT}(?:[/ ]{_UNIT})?)?"
)
#: So few different numbers with a unit are values by themselves, such as 36 months and 60 months.
_FEW_MEASURED = 12


@dataclass(frozen=True)
class Around:
    """What stands around numbers.

    Attributes:
        numbers: for each text the number in it; the text itself where something else is in it.
        strip: the characters to take off.
        is_money: whether a currency is among them.
    """

    numbers: list[str]
    strip: str
    is_money: bool


def bare(text: str) -> tuple[str, tuple[str, ...]]:
    """A number without what stands around it, and that; any other text as it is.

    >>> bare("€ 12.50"), bare("9.7†"), bare("12.3 degrees"), bare("12 or 13")
    (('12.50', ('€',)), ('9.7', ('†',)), ('12.3', ('degrees',)), ('12 or 13', ()))
    """
    match = _AROUND.fullmatch(text)
    if match is None:
        return text, ()
    return match["number"].strip(), tuple(filter(None, (match["before"], match["behind"])))


def around_numbers(cells: SeenColumn) -> Around:
    """What stands around more than a few of the column's numbers."""
    parted = [bare(text) for text in cells.texts]
    held = _usual(cells, [around for _, around in parted])
    money = [mark for mark in held if re.fullmatch(_MONEY, mark)]
    signs = [mark for mark in held if mark in ("%", "‰", "°")]
    words = [mark for mark in held if mark not in money + signs]
    strip = "".join(dict.fromkeys("".join([*money, *signs, _flags_or_unit(cells, parted, words)])))
    numbers = [
        number if set("".join(around)) <= {*strip, " "} else text
        for text, (number, around) in zip(cells.texts, parted, strict=True)
    ]
    return Around(numbers, strip, bool(money))


def _usual(cells: SeenColumn, around: list[tuple[str, ...]]) -> list[str]:
    """The marks that stand around more than a few numbers."""
    rows: dict[str, int] = {}
    for marks, held in zip(around, cells.held.tolist(), strict=True):
        for mark in marks:
            rows[mark] = rows.get(mark, 0) + held
    return [mark for mark, held in rows.items() if held >= cells.margin]


def _flags_or_unit(cells: SeenColumn, parted: list[tuple[str, tuple[str, ...]]], words: list[str]) -> str:
    """The characters of flags, all of a kind where one is seen, or of the one unit; of several units none.

    Flags stand behind some numbers and not behind others: a letter behind each is part of a code.
    """
    is_bare = np.array([not around and number[-1:].isdigit() for number, around in parted], np.bool_)
    letters = [word for word in words if re.fullmatch(rf"[{LETTER_FLAGS}]|\([{LETTER_FLAGS}]\)", word)]
    notes = [word for word in words if word in _NOTES]
    if len(letters) + len(notes) == len(words) and not cells.is_few(is_bare):
        has_brackets = any(word.startswith("(") for word in letters)
        has_minus = not cells.is_few(
            np.array([BELOW_ZERO.fullmatch(text) is not None for text in cells.texts])
        )
        if not (has_brackets and has_minus):
            return LETTER_FLAGS * bool(letters) + _NOTES * bool(notes) + "()" * has_brackets
    if len(words) != 1 or words[0].startswith("("):
        return ""
    has_unit = np.array([words[0] in around for _, around in parted], np.bool_)
    return words[0].replace(" ", "") if usual_number(cells.held[has_unit], 1) > _FEW_MEASURED else ""
