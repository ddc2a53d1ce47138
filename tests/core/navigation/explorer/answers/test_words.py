"""The words of the answers: both languages say the same, and nothing is said that has no words."""

import json
import re

import pytest

from tests.oracles.page_answers import ANSWERS

TEXTS = {
    language: json.loads((ANSWERS / f"messages.{language}.json").read_text(encoding="utf-8"))
    for language in ("en", "de")
}


def gaps(text):
    return set(re.findall(r"\{(\w+)\}", text if isinstance(text, str) else " ".join(text.values())))


def test_both_languages_have_the_same_keys_and_the_same_gaps():
    english, german = TEXTS["en"], TEXTS["de"]
    assert english.keys() == german.keys()
    assert {key: gaps(english[key]) for key in english} == {key: gaps(german[key]) for key in german}


@pytest.mark.parametrize("language", TEXTS)
def test_every_key_of_the_program_has_words(language):
    program = "".join(path.read_text(encoding="utf-8") for path in sorted(ANSWERS.glob("*.js")))
    keys = set(re.findall(r'"((?:answer|question|difference|shares)\.[a-z_.]+)"', program))
    for file in ("difference", "shares"):
        text = (ANSWERS / f"{file}.js").read_text(encoding="utf-8")
        reasons = re.findall(r'reason(?:: | = )(?:[^,\n"]*\? )?"(\w+)"', text)
        keys |= {f"{file}.reason.{reason}" for reason in reasons}
    assert keys - TEXTS[language].keys() == set()
    assert "difference.reason.two_releases" in keys and len(keys) > 40
