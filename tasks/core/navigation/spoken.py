"""What the page says in several languages: a key and figures go in, a sentence as markup comes out.

The sentences are in ``messages/``, a file a language; another language is another file and its name here. A
sentence has ``{name}`` where a figure or a text goes, and one form for one and one for several where their
number ``n`` decides. Everything put in is escaped; `Figure` is written as the language writes numbers.
"""

import json
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tasks.core.charts import svg
from tasks.core.figures import whole

LANGUAGES = ("en", "de")
#: So many columns are named.
_COLUMNS_NAMED = 6
#: What becomes of the commas and points of an English number.
_MARKS = {"en": str.maketrans({}), "de": str.maketrans(",.", ".,")}

_Text = str | dict[str, str]


class Figure(str):
    """A number as text, in English."""

    __slots__ = ()


@cache
def _texts(language: str) -> dict[str, _Text]:
    path = Path(__file__).with_name("messages") / f"{language}.json"
    texts: dict[str, _Text] = json.loads(path.read_text(encoding="utf-8"))
    return texts


class Speaker:
    """Says things in one language.

    >>> Speaker("de")("exact.half", n=2, half=Figure("3.5"))
    Markup('± 3,5 für 2 Werte')
    >>> Speaker("de")("columns", n=1832), Speaker("en")("columns", n=1832)
    (Markup('1.832 Spalten'), Markup('1,832 columns'))
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._texts = _texts(language)

    def __call__(self, key: str, **given: Any) -> Markup:
        """A sentence. Args: given: by the names in it; ``n`` a whole number, `one` and `many` units."""
        text = self._texts[key]
        if not isinstance(text, str):
            text = text["one" if given["n"] == 1 else "other"]
        return Markup(text).format(**{name: self._written(name, value) for name, value in given.items()})

    def _written(self, name: str, value: Any) -> str:
        if isinstance(value, Markup):
            return value
        if isinstance(value, int):
            value = Figure(whole(value))
        if isinstance(value, Figure):
            return value.translate(_MARKS[self.language])
        known = self._texts.get(f"unit.{value}") if name in ("one", "many") else None
        return str(known or svg.clean(value))

    def columns(self, names: Sequence[str], ages: Collection[str] = ()) -> Markup:
        """How many columns there are, and the first of them. Args: ages: those of ages, named after dates.

        >>> print(Speaker("en").columns(["sex"]), Speaker("de").columns(["sex", "age"]), sep=" / ")
        1 column: sex / 2 Spalten: sex und age
        >>> print(Speaker("en").columns(["birth_date"], {"birth_date"}))
        1 column: age (from birth_date)
        """
        number, rest = self("columns", n=len(names)), len(names) - _COLUMNS_NAMED
        if not names:
            return number
        shown = [self("age_from", column=name) if name in ages else name for name in names]
        named = [*shown[:_COLUMNS_NAMED], self("columns_more", n=rest)] if rest > 1 else shown
        return self("columns_named", columns=number, names=self.listed(named))

    def listed(self, parts: Sequence[str]) -> Markup:
        """Parts one after the other, with a word before the last."""
        texts = [each if isinstance(each, Markup) else Markup.escape(svg.clean(each)) for each in parts]
        last = [Markup(", ").join(texts[:-1])] if texts[:-1] else []
        return self("and").join([*last, *texts[-1:]])
