"""The privacy statement of a SynDiffix release: public facts in, ``privacy.json`` and its plain words out.

It says first that this is not differential privacy, then what protects, then what is known not to
(syndiffix.md 7.1). Everything in it is configuration or the released table's own shape.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.core.arrays import Json
from tasks.core.statement.k_anonymity.statement import PLAIN_STATEMENT_FORMAT, ContractMode
from tasks.core.statement.released_json import SYNDIFFIX_STATEMENT_KEYS, check_released_json
from tasks.core.statement.syndiffix import claims
from tasks.core.syndiffix.entities import ROWS_AS_PEOPLE, unit_told
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters, by_name, count_sd

SYNDIFFIX_REGIME = "syndiffix"
#: Said wherever such a release says what it is.
LABEL = "SynDiffix, not differentially private"


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
        clustering: the name of the way in which columns were put together.
        target: header of the column that clusters are for, if any.
        value_safe_columns: headers of columns whose values are public.
        tables: how many tables of fewer columns were released beside the one of all.
        earlier_releases: how many releases of the dataset with other content SynDiffix had made in this
            workspace before.
        measurement_sha256: of what was handed over.
        contract_mode: whether there was a data contract that could have stopped the run.
        unused_keys: configuration keys that were accepted and have no effect.
    """

    dataset: str
    vintage: str
    ids: tuple[str, ...]
    columns: Mapping[str, str]
    anonymization: AnonymizationParameters
    bucketization: BucketizationParameters
    clustering: str = "default"
    target: str | None = None
    value_safe_columns: tuple[str, ...] = ()
    tables: int = 0
    earlier_releases: int = 0
    measurement_sha256: str = ""
    contract_mode: ContractMode = "none"
    unused_keys: tuple[str, ...] = ()

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
            clustering=self.clustering,
            columns=len(self.columns),
            value_safe=self.value_safe_columns,
            texts=any(kind == "string" for kind in self.columns.values()),
            tables=self.tables,
            earlier=self.earlier_releases,
        )


def statement(facts: SynDiffixFacts, code_version: str) -> Json:
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
            "kind": f"{LABEL}: there is no formal bound",
            "unit": promise.unit,
            "ids": list(facts.ids),
            "holds": claims.holds(promise),
        },
        "parameters": _parameters(facts),
        "columns": [
            {"name": name, "type": kind, "value_safe": name in facts.value_safe_columns}
            for name, kind in facts.columns.items()
        ],
        "tables": facts.tables,
        "earlier_releases": facts.earlier_releases,
        "contract": {"strict": facts.contract_mode == "strict", "sentence": _contract(facts.contract_mode)},
        "unused_keys": [
            {"key": key, "why": "accepted and unused: it has no effect on this release"}
            for key in facts.unused_keys
        ],
        "public_side_channels": claims.TABLE_SIDE_CHANNELS,
        "not_covered": claims.known_attacks(promise),
    }
    check_released_json(content, SYNDIFFIX_STATEMENT_KEYS)
    return content


def topics(stated: Json) -> list[tuple[str, list[str]]]:
    """The statement in plain words under headings, most important first."""
    unused = [f"Configuration key {entry['key']}: {entry['why']}." for entry in stated["unused_keys"]]
    return [
        ("What this is", [claims.SYNDIFFIX_NOT_DP, unit_told(stated["guarantee"]["ids"])]),
        ("What protects", stated["guarantee"]["holds"]),
        ("Conditions", [stated["contract"]["sentence"], stated["public_side_channels"]]),
        *([("Unused settings", unused)] if unused else []),
    ]


def warnings(stated: Json) -> list[str]:
    """What must be seen before anything else."""
    found = [] if stated["guarantee"]["ids"] else [ROWS_AS_PEOPLE]
    if not stated["parameters"]["layer_noise_sd"]:
        found.append(claims.NO_NOISE)
    safe = [column["name"] for column in stated["columns"] if column["value_safe"]]
    if safe:
        found.append(claims.safe_told(tuple(safe)))
    if stated["earlier_releases"]:
        found.append(claims.earlier_told(stated["earlier_releases"]))
    return found


def _contract(mode: ContractMode) -> str:
    if mode == "strict":
        return "That this release exists shows that the raw table satisfied its data contract."
    return "No data contract was given, so no rule on the table's values was checked."


def _parameters(facts: SynDiffixFacts) -> Json:
    """By the names of the reference's port."""
    anonymization = facts.anonymization
    protection = by_name(anonymization.low_count_params, anonymization, facts.bucketization)
    return {**protection, "clustering": facts.clustering, "target_column": facts.target}
