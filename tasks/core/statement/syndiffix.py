"""The statement of a SynDiffix release: public facts in, ``privacy.json`` and its plain words out.

It says first that this is not differential privacy, then what protects, then what is known not to
(X7.1). Everything in it is configuration or the released table's own shape.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.core.arrays import Json
from tasks.core.figures import format_near, format_whole
from tasks.core.sentences import Sentences, sentences_of
from tasks.core.statement.k_anonymity import ContractMode, contract_effect
from tasks.core.statement.plain_words import STATEMENT_FORMAT, PlainWords, Topic
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json
from tasks.core.syndiffix.clusters import Clustering, way_of
from tasks.core.syndiffix.entities import unit_sentence
from tasks.core.syndiffix.settings import (
    MOST_TOGETHER,
    AnonymizationParameters,
    BucketizationParameters,
    by_name,
    count_sd,
)

_TEXT, _SHARED = sentences_of("syndiffix"), sentences_of("all_protections")
SYNDIFFIX_REGIME = "syndiffix"
#: Said wherever such a release says what it is.
LABEL = _TEXT.say("what.label")


@dataclass(frozen=True)
class SynDiffixFacts:
    """What is publicly known of a SynDiffix release.

    Attributes:
        ids: headers of the columns that say whose row it is; none: each row is taken for a person.
        columns: header and type of each released column.
        anonymization: thresholds and noise; the salt in it is not used.
        value_safe_columns: headers of columns whose values are public.
        tables: how many, of single questions.
        earlier_releases: how many SynDiffix made of the dataset, with other content, in this workspace.
        unused_keys: configuration keys that were accepted and have no effect.
        drafted_from_table: whether what is declared of the table was drafted by looking at it.
    """

    dataset: str
    vintage: str
    ids: tuple[str, ...]
    columns: Mapping[str, str]
    anonymization: AnonymizationParameters
    bucketization: BucketizationParameters
    clustering: Clustering = "default"
    value_safe_columns: tuple[str, ...] = ()
    tables: int = 0
    earlier_releases: int = 0
    measurement_sha256: str = ""
    contract_mode: ContractMode = "none"
    unused_keys: tuple[str, ...] = ()
    drafted_from_table: bool = False

    @property
    def unit(self) -> str:
        return "subject" if self.ids else "row"

    @property
    def text(self) -> Sentences:
        return _TEXT.of(self.unit)


def public_column_sentences(section: str, columns: Sequence[str]) -> list[str]:
    """What it means that columns' values are public: of a section, as each has its own beginning."""
    if not columns:
        return []
    number = "several" if len(columns) > 1 else "one"
    return [_TEXT.say(f"{section}.public.{number}", columns=", ".join(columns))]


def earlier_release_sentences(earlier: int) -> list[str]:
    if earlier > 1:
        return [_TEXT.say("warning.earlier", releases=format_whole(earlier))]
    return [_TEXT.say("warning.earlier_one")] if earlier else []


def protection_sentences(facts: SynDiffixFacts) -> list[str]:
    text, low, excepted = facts.text, facts.anonymization.low_count_params, ""
    if facts.value_safe_columns:
        excepted = f" {_TEXT.say('protects.excepted', columns=', '.join(facts.value_safe_columns))}"
    suppression = text.say(
        "protects.suppression",
        least=format_whole(low.low_threshold),
        usual=format_near(low.mean, 3),
        threshold_sd=format_near(low.layer_sd, 3),
    )
    return [
        text.say("protects.aggregation"),
        f"{suppression}{excepted}",
        *_noise(facts),
        text.say("protects.salt"),
        f"{text.say('protects.outliers')}{excepted}",
        text.say("protects.shuffled"),
    ]


def _noise(facts: SynDiffixFacts) -> list[str]:
    text, anonymization, told = facts.text, facts.anonymization, []
    if noise_sd := count_sd(anonymization.layer_noise_sd):
        noise = text.say("protects.noise", noise_sd=format_near(noise_sd, 3))
        told.append(f"{noise} {text.say('protects.noise_grows')}" if facts.ids else noise)
    else:
        told.append(text.say("protects.no_noise"))
    groups = (anonymization.outlier_count, anonymization.top_count)
    (low, high), (least, most) = ((str(each.lower), str(each.upper)) for each in groups)
    if facts.ids and anonymization.outlier_count.upper:
        told.append(text.say("protects.flattening", low=low, high=high, least=least, most=most))
    return told


def known_attacks(facts: SynDiffixFacts) -> list[str]:
    """What does not protect, and which known attacks apply."""
    text, least = facts.text, format_whole(facts.anonymization.low_count_params.low_threshold)
    return [
        text.say("not_covered.people") if facts.ids else text.say("not_covered.rows", least=least),
        text.say("not_covered.no_bound"),
        *([text.say("not_covered.drafted")] if facts.drafted_from_table else []),
        text.say("not_covered.exploitation"),
        text.say(f"not_covered.same_noise.{facts.unit}"),
        _many_tables(facts),
        *([text.say("not_covered.texts")] if "string" in facts.columns.values() else []),
        text.say("not_covered.shape"),
        text.say("not_covered.declared"),
        *public_column_sentences("not_covered", facts.value_safe_columns),
        text.say("not_covered.suppression_shows"),
        *_clustering(facts),
        *text.say_each("not_covered.last"),
    ]


def _many_tables(facts: SynDiffixFacts) -> str:
    told = [_TEXT.say("not_covered.many_tables")]
    if facts.tables:
        told = [_TEXT.say("not_covered.many_tables_here", tables=format_whole(facts.tables))]
    return " ".join(
        [*told, *earlier_release_sentences(facts.earlier_releases), _TEXT.say("not_covered.not_counted")]
    )


def _clustering(facts: SynDiffixFacts) -> list[str]:
    way = way_of(facts.clustering)
    together = way == "default" and len(facts.columns) <= MOST_TOGETHER
    if together or way not in ("default", "target"):
        return []
    return [_TEXT.say(f"not_covered.clusters.{way}")]


def syndiffix_statement(facts: SynDiffixFacts, code_version: str) -> Json:
    """The content of ``privacy.json``."""
    content: Json = {
        "format": STATEMENT_FORMAT,
        "private": False,
        "regime": SYNDIFFIX_REGIME,
        "label": LABEL,
        "dataset": facts.dataset,
        "vintage": facts.vintage,
        "code_version": code_version,
        "measurement_sha256": facts.measurement_sha256,
        "guarantee": {
            "kind": _TEXT.say("what.kind"),
            "unit": facts.unit,
            "ids": list(facts.ids),
            "holds": protection_sentences(facts),
        },
        "parameters": _parameters(facts),
        "columns": [
            {"name": name, "type": kind, "value_safe": name in facts.value_safe_columns}
            for name, kind in facts.columns.items()
        ],
        "tables": facts.tables,
        "earlier_releases": facts.earlier_releases,
        "contract": contract_effect(facts.contract_mode),
        "unused_keys": [{"key": key, "why": _SHARED.say("unused.why")} for key in facts.unused_keys],
        "public_side_channels": _TEXT.say("conditions.side_channels"),
        "not_covered": known_attacks(facts),
    }
    if facts.drafted_from_table:
        content["drafted_from_table"] = True
    check_released_json(content, RELEASED_KEYS["syndiffix_statement"])
    return content


class SynDiffixWords(PlainWords):
    def topics(self) -> list[Topic]:
        stated, claim = self.statement, self.statement["guarantee"]
        conditions = [stated["contract"]["sentence"], stated["public_side_channels"]]
        return [
            (_TEXT.say("what.heading"), [_TEXT.say("what.not_private"), unit_sentence(claim["ids"])]),
            (_TEXT.say("protects.heading"), claim["holds"]),
            (_TEXT.say("conditions.heading"), conditions),
            *self.unused_settings(),
        ]

    def warnings(self) -> list[str]:
        stated, ids = self.statement, self.statement["guarantee"]["ids"]
        has_noise = stated["parameters"]["layer_noise_sd"]
        public = [column["name"] for column in stated["columns"] if column["value_safe"]]
        return [
            *([] if ids else [unit_sentence(ids)]),
            *([] if has_noise else [_TEXT.say("protects.no_noise")]),
            *public_column_sentences("warning", public),
            *earlier_release_sentences(stated["earlier_releases"]),
        ]


def _parameters(facts: SynDiffixFacts) -> Json:
    anonymization = facts.anonymization
    protection = by_name(anonymization.low_count_params, anonymization, facts.bucketization)
    return {**protection, "clustering": facts.clustering}
