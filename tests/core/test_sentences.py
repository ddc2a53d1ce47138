import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tasks.core.errors import InternalError
from tasks.core.sentences import SENTENCES_ROOT, Sentences, placeholders, sentences_of

ROOT = Path(__file__).parents[2]
FILES = {path.stem: sentences_of(path.stem) for path in sorted(SENTENCES_ROOT.glob("*.toml"))}
TEXT = Sentences(
    {"a.one": "Of {k} {records}.", "a.two": "Held by {others}.", "b.three": "Plain."},
    {"subject": {"records": "people"}, "row": {"records": "rows"}},
)


@dataclass(frozen=True)
class Said:
    """One call of `say` or `say_each` in the code: where, of which file, which keys, with which values."""

    where: str
    file: str
    keys: frozenset[str]
    values: frozenset[str]
    of_a_unit: bool

    @property
    def named(self) -> frozenset[str]:
        """What the texts leave to the code."""
        texts, units = FILES[self.file].texts, FILES[self.file].units
        words = frozenset(next(iter(units.values()), {})) if self.of_a_unit else frozenset()
        return frozenset(name for key in self.keys for name in placeholders(texts[key])) - words


def pattern(key: ast.expr, *, each: bool) -> str:
    """A regular expression of the keys that an expression may stand for."""
    if isinstance(key, ast.Constant):
        found = re.escape(str(key.value))
    else:
        assert isinstance(key, ast.JoinedStr), f"line {key.lineno}: say a key that can be read"
        parts = (
            re.escape(part.value) if isinstance(part, ast.Constant) else "[a-z_]+" for part in key.values
        )
        found = "".join(map(str, parts))
    return found + (r"\.[a-z_]+" if each else "")


def files_of_constants(source: str) -> dict[str, str]:
    """The file of sentences that each module constant stands for."""
    found = {}
    for line in re.findall(r"^([A-Z_, ]+) = (sentences_of.*)$", source, re.M):
        found |= dict(
            zip(line[0].split(", "), re.findall(r'sentences_of\("([a-z_]+)"\)', line[1]), strict=True)
        )
    return found


def said() -> Iterator[Said]:
    paths = [path for folder in ("flows", "tasks") for path in (ROOT / folder).rglob("*.py")]
    for path in sorted(paths):
        source = path.read_text(encoding="utf-8")
        names = re.findall(r'sentences_of\("([a-z_]+)"\)', source)
        if "from tasks.plan.syndiffix import" in source and "NOTES" in source:
            names.append("syndiffix_notes")
        files = files_of_constants(source)
        for call in ast.walk(ast.parse(source)) if names else ():
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                continue
            if call.func.attr not in ("say", "say_each"):
                continue
            where = f"{path.relative_to(ROOT)}:{call.lineno}"
            wanted = re.compile(pattern(call.args[0], each=call.func.attr == "say_each"))
            receiver = ast.unparse(call.func.value)
            possible = [files[receiver]] if receiver in files else names
            found = [(name, key) for name in possible for key in FILES[name].texts if wanted.fullmatch(key)]
            assert len({name for name, _ in found}) == 1, f"{where}: not in exactly one of {names}"
            assert all(each.arg for each in call.keywords), f"{where}: name the values"
            # Module constants stand for a file; any other name for its sentences of a unit.
            values = frozenset(str(each.arg) for each in call.keywords)
            keys = frozenset(key for _, key in found)
            yield Said(where, found[0][0], keys, values, not receiver.isupper())


@pytest.fixture(scope="module")
def calls():
    return list(said())


def test_every_sentence_is_said_somewhere(calls):
    for name, file in FILES.items():
        used = {key for call in calls if call.file == name for key in call.keys}
        assert set(file.texts) == used, name


def test_every_call_gives_each_value_that_its_sentences_name_and_no_other(calls):
    for call in calls:
        assert call.values == call.named, f"{call.where}: {sorted(call.keys)}"


def test_every_file_has_the_same_words_for_both_units_and_uses_all():
    for name, file in FILES.items():
        words = {unit: set(found) for unit, found in file.units.items()}
        assert not words or words["subject"] == words["row"], name
        used = {each for text in file.texts.values() for each in placeholders(text)}
        assert set().union(*words.values()) <= used, name


def test_no_sentence_is_written_twice_in_a_file():
    for file in FILES.values():
        long = [text for text in file.texts.values() if len(text) > 60]
        assert len(long) == len(set(long))


def test_a_sentence_is_filled_with_its_values_and_the_words_of_its_unit():
    assert TEXT.of("row").say("a.one", k="3") == "Of 3 rows."
    assert TEXT.of("subject").say_each("a", k="3", others="2") == ["Of 3 people.", "Held by 2."]
    assert TEXT.say("a.two", others="{k}") == "Held by {k}."


@pytest.mark.parametrize(
    ("key", "values"),
    [("a.one", {}), ("a.one", {"k": "3", "more": "4"}), ("a.none", {}), ("b.three", {"k": "3"})],
)
def test_a_value_that_is_missing_or_surplus_is_refused(key, values):
    with pytest.raises(InternalError, match=key):
        TEXT.of("row").say(key, **values)


def test_a_unit_must_be_named_where_a_sentence_is_about_one():
    with pytest.raises(InternalError, match="records"):
        TEXT.say("a.one", k="3")
    with pytest.raises(InternalError, match="A section must hold"):
        TEXT.say_each("c")


def test_a_line_of_a_file_ends_anywhere():
    for file in FILES.values():
        for text in file.texts.values():
            assert text == text.strip() and "\n" not in text and "  " not in text
