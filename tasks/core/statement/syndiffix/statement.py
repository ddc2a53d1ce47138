"""The privacy statement of a SynDiffix release: public facts in, ``privacy.json`` and its plain words out.

It says first that this is not differential privacy, then what protects, then what is known not to
(syndiffix.md 7.1). Everything in it is configuration or the released table's own shape.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.core.arrays import Json
from tasks.core.sentences import sentences_of
from tasks.core.statement.k_anonymity.statement import PLAIN_STATEMENT_FORMAT, ContractMode, contract_effect
from tasks.core.statement.plain_words import PlainWords, Topic
from tasks.core.statement.released_json import SYNDIFFIX_STATEMENT_KEYS, check_released_json
from tasks.core.statement.syndiffix import claims
from tasks.core.syndiffix.clustering import Clustering, way_of
from tasks.core.syndiffix.entities import unit_told
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters, by_name, count_sd

_TEXT, _SHARED = sentences_of("syndiffix"), sentences_of("all_protections")

SYNDIFFIX_REGIME = "syndiffix"
#: Said wherever such a release says what it is.
LABEL = _TEXT.say("what.label")


@dataclass(frozen=True)
class SynDiffixFacts:
    """What is publicly known of a SynDiffix release.

    Attributes:
        dataset: the logical name of the table.
        vintage: the label of this release.
        ids: headers of the columns that say whose row it is; none: each row is taken for a person.
        columns: header and type of each released column.
        anonymization: thresholds and noise; the salt in it is not used.
        bucketization: how finely trees divide.
        clustering: which columns were put together, in the configuration's words.
        value_safe_columns: headers of columns whose values are public.
        tables: how many tables of fewer columns were released beside the one of all.
        earlier_releases: how many releases of the dataset with other content SynDiffix had made in this
            workspace before.
        measurement_sha256: of what was handed over.
        contract_mode: whether there was a data contract that could have stopped the run.
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
    def promise(self) -> claims.SynDiffixPromise:
        """What the sentences are about."""
        low = self.anonymization.low_count_params
        return claims.SynDiffixPromise(
            ids=self.ids,
            least=low.low_threshold,
            usual=low.mean,
            threshold_sd=low.layer_sd,
            noise_sd=count_sd(self.anonymization.layer_noise_sd),
            flattened=(self.anonymization.outlier_count.lower, self.anonymization.outlier_count.upper),
            top=(self.anonymization.top_count.lower, self.anonymization.top_count.upper),
            clustering=way_of(self.clustering),
            columns=len(self.columns),
            value_safe=self.value_safe_columns,
            texts=any(kind == "string" for kind in self.columns.values()),
            tables=self.tables,
            earlier=self.earlier_releases,
            is_drafted=self.drafted_from_table,
        )


def syndiffix_statement(facts: SynDiffixFacts, code_version: str) -> Json:
    """The content of ``privacy.json``.

    Raises:
        InternalError: a key of the statement is not one that a release may hold.
    """
    promise = facts.promise
    content: Json = {
        "format": PLAIN_STATEMENT_FORMAT,
        "private": False,
        "regime": SYNDIFFIX_REGIME,
        "label": LABEL,
        "dataset": facts.dataset,
        "vintage": facts.vintage,
        "code_version": code_version,
        "measurement_sha256": facts.measurement_sha256,
        "guarantee": {
            "kind": _TEXT.say("what.kind"),
            "unit": promise.unit,
            "ids": list(facts.ids),
            "holds": claims.protects(promise),
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
        "not_covered": claims.known_attacks(promise),
    }
    if facts.drafted_from_table:
        content["drafted_from_table"] = True
    check_released_json(content, SYNDIFFIX_STATEMENT_KEYS)
    return content


class SynDiffixWords(PlainWords):
    """The words of a SynDiffix release."""

    def topics(self) -> list[Topic]:
        """What is said, under headings, most important first."""
        stated, claim = self.statement, self.statement["guarantee"]
        conditions = [stated["contract"]["sentence"], stated["public_side_channels"]]
        return [
            (_TEXT.say("what.heading"), [_TEXT.say("what.not_private"), unit_told(claim["ids"])]),
            (_TEXT.say("protects.heading"), claim["holds"]),
            (_TEXT.say("conditions.heading"), conditions),
            *self.unused_settings(),
        ]

    def warnings(self) -> list[str]:
        """What must be seen before anything else."""
        stated, ids = self.statement, self.statement["guarantee"]["ids"]
        has_noise = stated["parameters"]["layer_noise_sd"]
        public = [column["name"] for column in stated["columns"] if column["value_safe"]]
        return [
            *([] if ids else [unit_told(ids)]),
            *([] if has_noise else [_TEXT.say("protects.no_noise")]),
            *claims.public_columns_told("warning", public),
            *claims.earlier_told(stated["earlier_releases"]),
        ]


def _parameters(facts: SynDiffixFacts) -> Json:
    """By the names of the reference's port."""
    anonymization = facts.anonymization
    protection = by_name(anonymization.low_count_params, anonymization, facts.bucketization)
    return {**protection, "clustering": facts.clustering}
