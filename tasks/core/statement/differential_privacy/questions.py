"""The questions of NIST SP 800-226 and their answers: ``privacy.json`` goes in, a part of it comes out.

Every figure is one of the statement's own, rounded so that nothing is claimed beyond it.
"""

from collections.abc import Iterator

from tasks.core.arrays import Json
from tasks.core.figures import format_whole, plain_up
from tasks.core.sentences import sentences_of
from tasks.core.statement.differential_privacy.words import format_risk_factor

_TEXT = sentences_of("questions")

#: The guidelines that ask.
SOURCE = _TEXT.say("source.name")
#: In the order of the guidelines' sections: 2.2 to 2.6, 3.1 to 3.3, 3.6, 4.1 to 4.5.
TOPICS = tuple(key.partition(".")[2] for key in _TEXT.texts if key.startswith("question."))


def answer_questionnaire(stated: Json) -> list[Json]:
    """What an evaluator asks, in the order of the guidelines: topic, question and answer of each.

    Args:
        stated: the content of a private release's ``privacy.json``.
    """
    answers = _Answers(stated)
    return [
        {
            "topic": topic,
            "question": _TEXT.say(f"question.{topic}"),
            "answer": " ".join(getattr(answers, topic)()),
        }
        for topic in TOPICS
    ]


def conditions_of(stated: Json) -> list[str]:
    """Which tables the guarantee compares, where that the release exists follows from the table."""
    found = [stated["contract"]["sentence"]] if stated["contract"]["strict"] else []
    skipped = stated.get("on_unchanged")
    return found + ([skipped["sentence"]] if skipped and skipped["policy"] == "skip" else [])


class _Answers:
    def __init__(self, stated: Json) -> None:
        self._stated, self._claim, self._ledger = stated, stated["guarantee"], stated["ledger"]
        self._accountant: str = self._claim["accountant"]["name"]
        self._parameters = stated["parameters"]
        self._unit: str = self._claim["unit"]
        self._text = _TEXT.of(self._unit)
        self._is_fitted = "tables" in stated

    def parameters(self) -> Iterator[str]:
        epsilon, delta = self._claim["epsilon"], plain_up(self._claim["delta"])
        yield self._text.say(
            "answer.parameters.claim",
            epsilon=plain_up(epsilon),
            delta=delta,
            factor=format_risk_factor(epsilon),
        )
        for sentence in conditions_of(self._stated):
            yield _TEXT.say("answer.parameters.condition", sentence=sentence)
        if threshold := self._claim["delta_threshold"]:
            yield _TEXT.say("answer.parameters.threshold", delta_threshold=plain_up(threshold))
        yield _TEXT.say(
            "answer.parameters.cap",
            epsilon_cap=plain_up(self._ledger["epsilon_cap"]),
            delta_cap=plain_up(self._ledger["delta_cap"]),
        )

    def variant(self) -> Iterator[str]:
        if self._accountant == "gdp":
            yield _TEXT.say("answer.variant.gdp", mu=plain_up(self._claim["mu"]))
            return
        accountant = self._claim["accountant"]
        rho, count = plain_up(accountant["rho"]), plain_up(accountant["epsilon_count"])
        yield _TEXT.say("answer.variant.zcdp", rho=rho, epsilon_count=count)

    def unit(self) -> Iterator[str]:
        yield self._text.say("answer.unit.neighbours", neighbours=self._claim["neighbours"])
        if self._unit == "subject":
            yield _TEXT.say("answer.unit.people", subject_id=repr(self._claim["subject_id"]))
        else:
            yield _TEXT.say("answer.unit.rows")
        if self._stated["population"]:
            yield _TEXT.say("answer.unit.population", population=self._stated["population"])

    def other_releases(self) -> Iterator[str]:
        yield _TEXT.say("answer.other_releases.added", releases=format_whole(self._ledger["releases"]))
        yield _TEXT.say("answer.other_releases.not_added")

    def contributions(self) -> Iterator[str]:
        width = format_whole(self._stated["contribution"]["width"])
        yield self._text.say("answer.contributions.record", width=width)
        yield _TEXT.say("answer.contributions.sensitivity")
        yield _TEXT.say("answer.contributions.dropped")

    def mechanism(self) -> Iterator[str]:
        yield _TEXT.say("answer.mechanism.gaussian")
        if self._accountant == "zcdp":
            yield _TEXT.say("answer.mechanism.laplace")
        if self._parameters.get("contribution") == "percentile":
            yield _TEXT.say("answer.mechanism.percentile")
        if self._parameters.get("contribution") == "profile":
            yield _TEXT.say("answer.mechanism.profile")
        if self._stated.get("choices"):
            yield _TEXT.say("answer.mechanism.choices")
        if self._claim["delta_threshold"]:
            yield self._text.say("answer.mechanism.threshold")
        yield _TEXT.say("answer.mechanism.code", code_version=self._stated["code_version"])

    def composition(self) -> Iterator[str]:
        yield _TEXT.say("answer.composition.within", mu_squared=plain_up(self._claim["mu_squared"]))
        spent, delta = plain_up(self._ledger["epsilon_spent"]), plain_up(self._ledger["delta_cap"])
        yield _TEXT.say("answer.composition.over_time", epsilon_spent=spent, delta_cap=delta)
        yield _TEXT.say("answer.composition.raised")

    def post_processing(self) -> Iterator[str]:
        yield _TEXT.say(f"answer.post_processing.{'fitted' if self._is_fitted else 'lengths'}")
        yield _TEXT.say("answer.post_processing.costs_nothing")

    def utility(self) -> Iterator[str]:
        half_width = plain_up(self._stated["noisy_count"]["half_width_95"])
        yield self._text.say("answer.utility.noise", half_width=half_width)
        if sampling := self._stated["sampling"]:
            yield _TEXT.say("answer.utility.sample", sampling=sampling["text"])
        yield _TEXT.say(f"answer.utility.records.{'fitted' if self._is_fitted else 'lengths'}")

    def bias(self) -> Iterator[str]:
        yield _TEXT.say("answer.bias.noise")
        if self._claim["delta_threshold"]:
            yield _TEXT.say("answer.bias.thresholds")
        yield _TEXT.say("answer.bias.dropped")
        if "meaning" in self._stated["contribution"]:
            yield str(self._stated["contribution"]["meaning"])
        yield _TEXT.say(f"answer.bias.{'fitted' if self._is_fitted else 'lengths'}")
        yield _TEXT.say("answer.bias.table")

    def synthetic_data(self) -> Iterator[str]:
        yield _TEXT.say("answer.synthetic_data.drawn")

    def query_model(self) -> Iterator[str]:
        yield _TEXT.say("answer.query_model.none")

    def trust_model(self) -> Iterator[str]:
        yield _TEXT.say("answer.trust_model.central")
        yield _TEXT.say("answer.trust_model.server")

    def randomness(self) -> Iterator[str]:
        yield _TEXT.say("answer.randomness.generator", computational=self._claim["computational"])
        at_most = plain_up(self._claim["sampling_exactness"]["at_most"])
        yield _TEXT.say("answer.randomness.exact", delta=at_most)

    def side_channels(self) -> Iterator[str]:
        said = self._stated["public_side_channels"]
        yield _TEXT.say("answer.side_channels.times", public_side_channels=said)
        yield _TEXT.say("answer.side_channels.resources")

    def security(self) -> Iterator[str]:
        yield _TEXT.say("answer.security.closed")
        yield _TEXT.say("answer.security.assumed")

    def collection(self) -> Iterator[str]:
        yield _TEXT.say("answer.collection.nothing")

    def not_protected(self) -> Iterator[str]:
        yield _TEXT.say("answer.not_protected.listed")
        if self._stated["contract"]["strict"]:
            said = self._stated["contract"]["sentence"]
            yield _TEXT.say("answer.not_protected.strict", contract=said)
        if "on_unchanged" in self._stated:
            said = self._stated["on_unchanged"]["sentence"]
            yield _TEXT.say("answer.not_protected.skipped", on_unchanged=said)
        if self._stated.get("drafted_from_table"):
            yield _TEXT.say("answer.not_protected.drafted")
