"""What a header says of its column, in several languages: the words of `header_words.toml`.

>>> sorted(meanings("Geburtsdatum")), meanings("PLZ"), meanings("town")
(['birth', 'date'], {'postcode'}, set())
"""

import functools
import re
import tomllib
import unicodedata
from itertools import pairwise
from pathlib import Path

_WORDS = Path(__file__).with_name("header_words.toml")
#: A word of this length or more may also be the beginning of a header's word.
_LONG = 5
#: The sections of words that say no meaning.
_OTHER, _BESIDE, _MADE = "other", "beside_contact", "made_of_money"
#: What stands before a word of money whose logarithm a column holds: lnwage, log_income.
_LOGS = ("l", "ln", "log")
#: In French it is a number.
_NOT_ALWAYS_A_NAME = {"nombre"}


def header_words(name: str) -> list[str]:
    """The words of a header in small letters without accents: at blanks, signs and capitals inside a word.

    >>> header_words("N° dossierClient")
    ['no', 'dossier', 'client']
    """
    parted = re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-zß-ÿ]{2})", " ", name.strip())
    plain = unicodedata.normalize("NFKD", parted.replace("ß", "ss").replace("№", " nr ").replace("°", "o"))
    letters = "".join(mark for mark in plain if not unicodedata.combining(mark)).lower()
    return [word for word in re.split(r"[\W_]+", letters) if word]


@functools.cache
def meanings(name: str) -> set[str]:
    """The meanings (sections of the file) of which a header has a word, or begins or ends with a long one.

    >>> meanings("hourly wage"), meanings("ln_wage"), meanings("price index"), meanings("tax rate")
    ({'money'}, set(), set(), {'share'})
    """
    words = [re.sub(r"\d+$", "", word) for word in header_words(name)]
    found = {meaning for meaning, known in _known().items() if any(_is_one(word, known) for word in words)}
    return found - {"money"} if "share" in found or _is_made_of_money(words) else found


def _is_made_of_money(words: list[str]) -> bool:
    """Whether what is named is a logarithm or an index of money, and so none."""
    money, made = _known()["money"], _sections()[_MADE]
    logs = [word[len(log) :] for word in words for log in _LOGS if word.startswith(log)]
    return not made.isdisjoint(words) or any(_is_one(word, money) for word in logs)


def names_a_person(name: str) -> bool:
    """Whether a header says that the column holds names or contacts of people, and nothing about them.

    >>> [names_a_person(name) for name in ("First_Name", "e-mail", "phone no", "phone_service")]
    [True, True, True, False]
    """
    words = header_words(name)
    names = _sections()["name"] - _NOT_ALWAYS_A_NAME
    if names & set(map("".join, pairwise(words))):
        return True
    said = names | _sections()["contact"]
    return bool(said & {*words, "".join(words)}) and set(words) <= said | _sections()[_BESIDE]


def _is_one(word: str, known: frozenset[str]) -> bool:
    return word in known or any(
        len(other) >= _LONG and (word.startswith(other) or word.endswith(other)) for other in known
    )


@functools.cache
def _known() -> dict[str, frozenset[str]]:
    return {
        meaning: words for meaning, words in _sections().items() if meaning not in (_OTHER, _BESIDE, _MADE)
    }


def other_header_words() -> frozenset[str]:
    """Words that headers have and that say no meaning."""
    return _sections()[_OTHER]


@functools.cache
def _sections() -> dict[str, frozenset[str]]:
    body = tomllib.loads(_WORDS.read_text(encoding="utf-8"))
    return {meaning: frozenset(text.split()) for meaning, text in body.items()}
