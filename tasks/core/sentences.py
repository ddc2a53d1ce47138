"""Sentences as text in files: a sentence's key and its figures go in, the sentence comes out.

A lawyer reads ``tasks/core/statement/sentences/*.toml`` from top to bottom; code only says which sentence
stands where. Text may break anywhere: a line's end is a space. ``{name}`` stands for what the code gives, and
every name must be given and used. A sentence about a unit takes its words from ``[words.subject]`` or
``[words.row]`` of its file. A translation would be another folder of files with the same keys and names.
"""

import functools
import re
import string
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tasks.core.errors import InternalError

SENTENCES_ROOT = Path(__file__).resolve().parent / "statement" / "sentences"


@dataclass(frozen=True)
class Sentences:
    """The sentences of one file.

    Attributes:
        texts: by key, sections and key joined by dots, in the order of the file.
        units: the words of each unit, by the name that stands for them.
        words: those of the unit that is meant; none until `of` was asked.
    """

    texts: Mapping[str, str]
    units: Mapping[str, Mapping[str, str]]
    words: Mapping[str, str] = field(default_factory=dict)

    def of(self, unit: str) -> "Sentences":
        """The same sentences about a ``subject`` or a ``row``."""
        return replace(self, words=self.units[unit])

    def say(self, key: str, /, **values: str) -> str:
        """One sentence, or a few that belong together, with exactly the values that it names."""
        if key not in self.texts:
            raise InternalError(f"A sentence must be in its file; {key} is not.")
        self._require({key: self.texts[key]}, values)
        return self.texts[key].format(**self.words, **values)

    def say_each(self, section: str, /, **values: str) -> list[str]:
        """All sentences of a section, in the order of the file; each value must be named in one of them."""
        texts = {key: text for key, text in self.texts.items() if key.rpartition(".")[0] == section}
        if not texts:
            raise InternalError(f"A section must hold sentences; {section} does not.")
        self._require(texts, values)
        return [text.format(**self.words, **values) for text in texts.values()]

    def _require(self, texts: Mapping[str, str], values: Mapping[str, str]) -> None:
        named = {name for text in texts.values() for name in placeholders(text)} - set(self.words)
        if named != set(values):
            raise InternalError(
                f"The values of {', '.join(texts)} must be {sorted(named)}; given are {sorted(values)}."
            )


def sentences_of(name: str) -> Sentences:
    """The file ``<name>.toml`` of the statement."""
    return sentences_in(SENTENCES_ROOT / f"{name}.toml")


@functools.cache
def sentences_in(path: Path) -> Sentences:
    """One file."""
    body = tomllib.loads(path.read_text(encoding="utf-8"))
    units = {unit: dict(_flat(words)) for unit, words in body.pop("words", {}).items()}
    return Sentences(dict(_flat(body)), units)


@functools.cache
def placeholders(text: str) -> frozenset[str]:
    """The names in braces."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def _flat(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in body.items():
        if isinstance(value, str):
            # Other white space stays: some of it does not break.
            yield key, re.sub(r"[ \n]+", " ", value).strip(" ")
        else:
            for inner, text in _flat(value):
                yield f"{key}.{inner}", text
