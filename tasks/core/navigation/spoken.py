"""The sentences of a page's three answers: a key and figures go in, a sentence as markup comes out."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tasks.core.charts import svg
from tasks.core.figures import whole
from tasks.core.sentences import sentences_in

#: So many columns are named.
_COLUMNS_NAMED = 6
_TEXTS = sentences_in(Path(__file__).with_name("answers.toml")).texts


def say(key: str, **values: Any) -> Markup:
    """A sentence of ``answers.toml``; everything put in is escaped, whole numbers are written with commas.

    >>> say("exact.half", n=2, half="3.5"), say("columns.number", n=1832)
    (Markup('± 3.5 for 2 values'), Markup('1,832 columns'))
    """
    text = _TEXTS.get(key) or _TEXTS[f"{key}.{'one' if values['n'] == 1 else 'other'}"]
    return Markup(text).format(**{name: _written(value) for name, value in values.items()})


def _written(value: Any) -> str:
    if isinstance(value, Markup):
        return value
    return whole(value) if isinstance(value, int) else svg.clean(str(value))


def list_columns(names: Sequence[str], ages: Collection[str] = ()) -> Markup:
    """How many columns there are, and the first of them. Args: ages: those of ages, named after dates.

    >>> print(list_columns(["sex"]), list_columns(["birth_date", "sex"], {"birth_date"}), sep=" / ")
    1 column: sex / 2 columns: age (from birth_date) and sex
    """
    number, rest = say("columns.number", n=len(names)), len(names) - _COLUMNS_NAMED
    if not names:
        return number
    shown = [say("columns.age_from", column=name) if name in ages else name for name in names]
    named = [*shown[:_COLUMNS_NAMED], say("columns.more", n=rest)] if rest > 1 else shown
    return say("columns.named", columns=number, names=join_words(named))


def join_words(parts: Sequence[str]) -> Markup:
    """Parts one after the other, with "and" before the last."""
    texts = [each if isinstance(each, Markup) else Markup.escape(svg.clean(each)) for each in parts]
    last = [Markup(", ").join(texts[:-1])] if texts[:-1] else []
    return Markup(" and ").join([*last, *texts[-1:]])
