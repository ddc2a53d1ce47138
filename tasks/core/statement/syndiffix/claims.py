"""What protects in a SynDiffix release and what is known not to, in sentences (syndiffix.md 7.1).

Public facts go in, sentences come out; those of what does not protect begin with a few words and a colon.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.figures import near, whole
from tasks.core.sentences import Sentences, sentences_of
from tasks.core.syndiffix.clustering import Way
from tasks.core.syndiffix.settings import MOST_TOGETHER

_TEXT = sentences_of("syndiffix")


@dataclass(frozen=True)
class SynDiffixPromise:
    """What the sentences are about.

    Attributes:
        ids: headers of the id columns.
        least: entities below which a group is never shown.
        usual: the mean threshold.
        threshold_sd: of the noise on every threshold.
        noise_sd: of the noise on a count of entities with one row each.
        flattened: how many largest contributors are flattened, from and to.
        top: how many after them give the level they are flattened to.
        clustering: the name of the way in which columns were put together.
        columns: how many there are to be put together.
        value_safe: headers of columns whose values are public.
        texts: whether there is a column of texts.
        tables: how many tables of fewer columns were released beside the one of all.
        earlier: how many releases with other content were found in the workspace.
        is_drafted: whether what is declared of the table was drafted by looking at it.
    """

    ids: tuple[str, ...]
    least: int
    usual: float
    threshold_sd: float
    noise_sd: float
    flattened: tuple[int, int]
    top: tuple[int, int]
    clustering: Way
    columns: int
    value_safe: tuple[str, ...]
    texts: bool
    tables: int
    earlier: int
    is_drafted: bool = False

    @property
    def unit(self) -> str:
        """What is protected: a ``subject`` or a ``row``."""
        return "subject" if self.ids else "row"

    @property
    def text(self) -> Sentences:
        """The sentences about this unit."""
        return _TEXT.of(self.unit)


def public_columns_told(section: str, columns: Sequence[str]) -> list[str]:
    """What it means that columns' values are public: of a section, as each has its own beginning."""
    if not columns:
        return []
    number = "several" if len(columns) > 1 else "one"
    return [_TEXT.say(f"{section}.public.{number}", columns=", ".join(columns))]


def earlier_told(earlier: int) -> list[str]:
    """What other releases there are."""
    if earlier > 1:
        return [_TEXT.say("warning.earlier", releases=whole(earlier))]
    return [_TEXT.say("warning.earlier_one")] if earlier else []


def protects(promise: SynDiffixPromise) -> list[str]:
    """What protects."""
    text, excepted = promise.text, ""
    if promise.value_safe:
        excepted = f" {_TEXT.say('protects.excepted', columns=', '.join(promise.value_safe))}"
    suppression = text.say(
        "protects.suppression",
        least=whole(promise.least),
        usual=near(promise.usual, 3),
        threshold_sd=near(promise.threshold_sd, 3),
    )
    return [
        text.say("protects.aggregation"),
        f"{suppression}{excepted}",
        *_noise(promise),
        text.say("protects.salt"),
        f"{text.say('protects.outliers')}{excepted}",
        text.say("protects.shuffled"),
    ]


def _noise(promise: SynDiffixPromise) -> list[str]:
    """The noise, and how the largest contributors are flattened."""
    text, told = promise.text, []
    if promise.noise_sd:
        noise = text.say("protects.noise", noise_sd=near(promise.noise_sd, 3))
        told.append(f"{noise} {text.say('protects.noise_grows')}" if promise.ids else noise)
    else:
        told.append(text.say("protects.no_noise"))
    (low, high), (least, most) = (map(str, ends) for ends in (promise.flattened, promise.top))
    if promise.ids and promise.flattened[1]:
        told.append(text.say("protects.flattening", low=low, high=high, least=least, most=most))
    return told


def known_attacks(promise: SynDiffixPromise) -> list[str]:
    """What does not protect, and which known attacks apply."""
    text, least = promise.text, whole(promise.least)
    return [
        text.say("not_covered.people") if promise.ids else text.say("not_covered.rows", least=least),
        text.say("not_covered.no_bound"),
        *([text.say("not_covered.drafted")] if promise.is_drafted else []),
        text.say("not_covered.exploitation"),
        text.say(f"not_covered.same_noise.{promise.unit}"),
        _many_tables(promise),
        *([text.say("not_covered.texts")] if promise.texts else []),
        text.say("not_covered.shape"),
        text.say("not_covered.declared"),
        *public_columns_told("not_covered", promise.value_safe),
        text.say("not_covered.suppression_shows"),
        *_clustering(promise),
        *text.say_each("not_covered.last"),
    ]


def _many_tables(promise: SynDiffixPromise) -> str:
    told = [_TEXT.say("not_covered.many_tables")]
    if promise.tables:
        told = [_TEXT.say("not_covered.many_tables_here", tables=whole(promise.tables))]
    return " ".join([*told, *earlier_told(promise.earlier), _TEXT.say("not_covered.not_counted")])


def _clustering(promise: SynDiffixPromise) -> list[str]:
    together = promise.clustering == "default" and promise.columns <= MOST_TOGETHER
    if together or promise.clustering not in ("default", "target"):
        return []
    return [_TEXT.say(f"not_covered.clusters.{promise.clustering}")]
