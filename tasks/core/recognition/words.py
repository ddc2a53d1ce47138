"""The words of `words.toml`, and what those of a header say of its column and of whose row it is.

A header goes in; its meanings, and how likely it names the subject, come out. Only a draft asks: what the
operator accepts decides, and nothing in a run calls this.

>>> sorted(meanings("Geburtsdatum")), meanings("PLZ"), meanings("town")
(['birth', 'date'], {'postcode'}, set())
>>> [subject_likeness(name) for name in ("Personen-Nr.", "idcode", "child", "visit id", "region", "cases")]
[4, 3, 2, 1, 0, 0]
"""

import functools
import re
import tomllib
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any

#: A word of this length or more may also begin or end a header's word.
_LONG = 5
#: The most letters that may follow the beginning of a word for somebody: Teilnehmerin, not Personenzahl.
_LONGEST_ENDING = 5
#: By which Eurostat says how sure a number is, and a word of signs with one behind it, such as ": c".
LETTER_FLAGS = "bcdefnprsuz"
_FLAGGED = re.compile(rf"([:.\-]+) ?[{LETTER_FLAGS}]")
#: How likely a header names the subject: whose id, some id, a word for somebody, the id of something, none.
WHOSE, SOME_ID, SOMEBODY, OF_SOMETHING, NONE = 4, 3, 2, 1, 0


@functools.cache
def read_words(file: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))


def split_words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in text.split())


@functools.cache
def word_list(section: str, key: str) -> tuple[str, ...]:
    return split_words(read_words("words.toml")[section][key])


@functools.cache
def word_set(section: str, *keys: str) -> frozenset[str]:
    return frozenset(word for key in keys for word in word_list(section, key))


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
    """The meanings of which a header has a word, or begins or ends with a long one.

    >>> meanings("hourly wage"), meanings("ln_wage"), meanings("price index"), meanings("tax rate")
    ({'money'}, set(), set(), {'share'})
    """
    words = [re.sub(r"\d+$", "", word) for word in header_words(name)]
    found = {meaning for meaning in read_words("words.toml")["meaning"] if _any_word_means(words, meaning)}
    logs = [
        word[len(log) :] for word in words for log in word_list("header", "logarithm") if word.startswith(log)
    ]
    is_made_of_money = bool(word_set("header", "made_of_money") & {*words}) or _any_word_means(logs, "money")
    return found - {"money"} if "share" in found or is_made_of_money else found


def _any_word_means(words: list[str], meaning: str) -> bool:
    known = word_set("meaning", meaning)
    long = tuple(word for word in known if len(word) >= _LONG)
    return any(word in known or word.startswith(long) or word.endswith(long) for word in words)


def names_a_person(name: str) -> bool:
    """Whether a header says that the column holds names or contacts of people, and nothing about them.

    >>> [names_a_person(name) for name in ("First_Name", "e-mail", "phone no", "phone_service")]
    [True, True, True, False]
    """
    words = header_words(name)
    names = word_set("meaning", "name") - word_set("header", "no_name")
    if names & set(map("".join, pairwise(words))):
        return True
    known = names | word_set("meaning", "contact")
    return bool(known & {*words, "".join(words)}) and known | word_set("header", "beside_contact") >= {*words}


def is_known_in_headers(word: str) -> bool:
    return bool(meanings(word)) or word in word_set("header", "known")


def subject_likeness(name: str) -> int:
    """How likely a header names the subject: one of the five above."""
    words = header_words(name)
    held, whole = set(words), "".join(words)
    ids, alone = word_set("subject", "id"), word_set("subject", "own_id_alone")
    if (
        word_set("subject", "own_id") & {whole, *words}
        or whole in alone
        or (alone & held and _words_say_id(words))
    ):
        return WHOSE
    if any(map(_is_who, words)) and _words_say_id(words):
        return NONE if word_set("subject", "counted") & held else WHOSE
    if whole in ids or (ids & held and held <= word_set("subject", "id", "beside_id")):
        return SOME_ID
    if whole in word_set("subject", "number") or (len(words) == 1 and _is_somebody(whole)):
        return SOMEBODY
    return OF_SOMETHING if word_set("subject", "id", "company") & held else NONE


def names_nobody(name: str) -> bool:
    """Whether a header names a place, a thing or a group, whose ids are no person's."""
    words = [re.sub(r"(id|nr|no|num)?\d*$", "", word) for word in header_words(name)]
    return bool(word_set("subject", "nobody") & {*words, *(word.removesuffix("s") for word in words)})


def names_household(name: str) -> bool:
    return any(word.startswith(word_list("subject", "household")) for word in header_words(name))


def _is_who(word: str) -> bool:
    is_begun = word.startswith(word_list("subject", "who"))
    return is_begun or word in word_set("subject", "who_short") or _joins_who_and_id(word)


def _is_somebody(word: str) -> bool:
    if word in word_set("subject", "many") or word.endswith("s"):
        return False
    return word in word_set("subject", "who_short") or any(
        word.startswith(who) and len(word) - len(who) <= _LONGEST_ENDING
        for who in word_list("subject", "who")
    )


def _words_say_id(words: list[str]) -> bool:
    """Whether a word says id, or some number of whoever stands last: no number of customers' calls."""
    numbers = word_set("subject", "number")
    is_number = words[-1] in numbers or (numbers & {*words} and _is_who(words[-1]))
    return bool(is_number or word_set("subject", "id") & {*words} or any(map(_joins_who_and_id, words)))


def _joins_who_and_id(word: str) -> bool:
    """Whether a word joins both, as German does and as haste does: kundennummer, patnr, householdid."""
    return any(
        word.endswith(end) and _is_who(word.removesuffix(end)) for end in word_list("subject", "id_ending")
    )


def is_missing_word(text: str, *, among_numbers: bool = False, in_records: bool = False) -> bool:
    """Whether a cell says that nothing is known.

    Args:
        in_records: the text may be any word by which somebody's record says so.

    >>> is_missing_word("N/A"), is_missing_word("unknown"), is_missing_word(": c", among_numbers=True)
    (True, False, True)
    """
    word = text.lower()
    if among_numbers and (match := _FLAGGED.fullmatch(word)):
        word = match[1]
    kinds = ("among_numbers", "confidential") if among_numbers else ()
    if in_records:
        kinds = ("among_numbers", "in_records")
    return word in word_set("missing", "anywhere", *kinds)
