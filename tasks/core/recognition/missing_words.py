"""Words that stand for a missing value: known ones, and numbers that surveys use as codes.

Cells go in; which of their texts mean that nothing is known comes out. Only words of the lists here are ever
found, so a draft that names them shows no value of the table that is not public as a word.
"""

import re

import numpy as np

from tasks.core.arrays import Flags, Floats
from tasks.core.recognition.around_numbers import LETTER_FLAGS
from tasks.core.recognition.cells import SeenColumn, usual_ends

#: In small letters.
_WORDS = frozenset(
    [
        "na",
        "n/a",
        "#n/a",
        "n.a.",
        "nan",
        "null",
        "(null)",
        "<na>",
        "nat",
        "missing",
        "?",
        "??",
        "-",
        "--",
        "---",
        ".",
        "..",
        "...",
        "k.a.",
        "#null!",
        "#div/0!",
        "#ref!",
        "#value!",
        "#name?",
        "#num!",
        "keine angabe",
        "k. a.",
        "\\n",  # as databases write it
        ":",  # as Eurostat does
        "*",
        "\u2013",
        "\u2014",
    ]
)
#: The same where numbers and dates stand around them; elsewhere they may be an answer.
_AMONG_NUMBERS = _WORDS | {"none", "nil", "unknown", "unk", "c"}  # c: confidential, as Eurostat has it
#: A word of signs with a flag behind it, such as ": c".
_FLAGGED = re.compile(rf"([:.\-]+) ?[{LETTER_FLAGS}]")
#: Words by which somebody's record says that nothing is known, which no header says; none is ever drafted.
_IN_RECORDS = _AMONG_NUMBERS | {
    *(
        "ka",
        "n.v.",
        "n/v",
        "nv",
        "nc",
        "n.c.",
        "n.r.",
        "nd",
        "n.d.",
        "n/d",
        "s/d",
        "ns/nc",
        "ns",
        "tbd",
    ),
    *("not known", "not available", "not applicable", "not stated", "not reported", "no answer", "no data"),
    *("refused", "refusal", "declined", "withheld", "pending", "empty", "blank", "undefined", "other", "yes"),
    *(
        "unbekannt",
        "verweigert",
        "keine",
        "leer",
        "ohne angabe",
        "fehlt",
        "inconnu",
        "inconnue",
        "non renseigné",
    ),
    *(
        "sans réponse",
        "manquant",
        "refus",
        "desconocido",
        "desconocida",
        "no consta",
        "sin datos",
        "sconosciuto",
    ),
    *("onbekend", "geen", "brak", "nieznane", "true", "false", "ja", "nein", "oui", "non", "sí", "privat"),
}
#: Numbers that surveys use as codes: 99, 998, 9999, 88, 777, -1, -9, -999, also as 999.0.
_CODE_NUMBER = re.compile(r"(?:9{2,}|9+[6-8]|8{2,}|7{2,}|-(?:[1-9]|9+[6-9]|8{2,}|7{2,}))(?:[.,]0+)?")
#: Of a code that lies close to the numbers: how often it stands, beside the middle one of them.
_TIMES_AS_OFTEN, _GAP = 5, 3


def is_missing_word(text: str) -> bool:
    """Whether a cell of somebody's record would say so that nothing is known."""
    return text.strip().lower() in _IN_RECORDS


def missing_words(cells: SeenColumn, *, among_numbers: bool = False) -> Flags:
    """Which texts stand for a missing value. Args: among_numbers: the others are numbers or dates."""
    known = _AMONG_NUMBERS if among_numbers else _WORDS
    words = [text.lower() for text in cells.texts]
    if among_numbers:
        words = [match[1] if (match := _FLAGGED.fullmatch(word)) else word for word in words]
    return np.array([word in known for word in words], np.bool_)


def code_numbers(cells: SeenColumn, numbers: Floats) -> Flags:
    """Which texts are numbers that mean a missing value: codes that lie apart from all other numbers.

    Args:
        cells: of a numeric column.
        numbers: of its texts; NaN of those that are none.
    """
    is_code = np.array([_CODE_NUMBER.fullmatch(text) is not None for text in cells.texts], np.bool_)
    candidates = np.flatnonzero(is_code & (cells.held >= cells.margin))
    plain = ~is_code & np.isfinite(numbers)
    found = np.zeros(cells.distinct, np.bool_)
    if not len(candidates) or cells.is_few(plain):
        return found
    values, held = numbers[plain], cells.held[plain]
    low, high = usual_ends(values, held, cells.margin)
    for place in candidates:
        number = numbers[place]
        if number < 0:
            found[place] = held[values < 0].sum() < cells.margin
        elif held[values > number].sum() < cells.margin:
            is_far = number > high + 2 * (high - low)
            is_often = cells.held[place] >= _TIMES_AS_OFTEN * np.median(held)
            found[place] = is_far or (is_often and number - high >= _GAP)
    return found
