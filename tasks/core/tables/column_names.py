"""How a file's text is encoded, and how its column names and values are spelled in the outputs."""

import unicodedata
from typing import Literal

#: How the text of a file may be encoded.
Encoding = Literal["utf-8", "utf-16", "latin-1", "cp1252"]
#: Reserved in the outputs (SDS), so replaced in headers and values (S1.3).
_RESERVED = ((";", "<semicolon>"), (":", "<colon>"))


def output_spelling(text: str) -> str:
    """A header or value as the outputs spell it: trimmed, in NFC, ``;`` and ``:`` replaced (S1.3).

    >>> output_spelling(" Lyon; station: north ")
    'Lyon<semicolon> station<colon> north'
    """
    text = unicodedata.normalize("NFC", text.strip())
    for reserved, replacement in _RESERVED:
        text = text.replace(reserved, replacement)
    return text


def bare_name(text: str) -> str:
    """A column's name as its file means it: without blanks, and without quotes that stand around all of it.

    >>> bare_name(" 'age' "), bare_name("O'Brien's")
    ('age', "O'Brien's")
    """
    text = unicodedata.normalize("NFC", text.strip())
    while len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1].strip()
    return text


def column_name(text: str) -> str:
    return output_spelling(bare_name(text))


def matching_name(text: str) -> str:
    """The form under which column names are compared: of files, configurations, contracts and commands.

    >>> matching_name(' "Date visite"') == matching_name("date VISITE ")
    True
    """
    return column_name(text).lower()
