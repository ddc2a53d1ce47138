"""An entry for the public registry of DP deployments: ``registry.yaml``, of the fullest (third) tier.

https://registry.opendp.org (opendp/deployments-registry-data). What the operator did not say is empty, as in
the registry's own template, and named in the entry's notes. Only a differentially private release has one.
"""

import math

import yaml

from tasks.core.arrays import Json
from tasks.core.figures import as_markdown, format_whole, plain_down
from tasks.core.metadata.release_facts import DescribedRelease
from tasks.core.sentences import sentences_of
from tasks.core.statement.differential_privacy.questions import conditions_of
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json

_TEXT = sentences_of("registry")

#: The template's own day for one that is not known.
_NO_DATE = "1900-01-01"
#: Field of the registry -> field of `Publication` that only the operator can fill.
_SAID = {
    "data_curators": "publisher",
    "intended_use": "purpose",
    "data_product_region": "region",
    "publication_date": "first_published",
    "data_product_sector": "sector",
    "data_source_type": "data_source",
    "justification": "rationale",
}


def registry_yaml(release: DescribedRelease) -> str:
    """The text of ``registry.yaml``, of a differentially private release."""
    entry = _Entry(release).whole()
    check_released_json(entry, RELEASED_KEYS["registry"])
    # Unfolded: where a line breaks would depend on the length of the code version in it.
    return yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=math.inf)


class _Entry:
    def __init__(self, release: DescribedRelease) -> None:
        self._release, self._stated, self._said = release, release.statement, release.said
        self._claim, self._ledger = self._stated["guarantee"], self._stated["ledger"]
        self._text = _TEXT.of(self._claim["unit"])
        self._answers = {each["topic"]: as_markdown(each["answer"]) for each in self._stated["questions"]}

    def whole(self) -> Json:
        return {
            "url_slug": self._release.slug,
            "status": "Draft",
            "tier": 3,
            "deployment": {
                "basic": self._basic(),
                "dp_variant": self._variant(),
                "privacy_loss": self._loss(),
                "deployment_model": self._model(),
                "accounting": {
                    "post_processing": self._answers["post_processing"],
                    "composition": self._answers["composition"],
                },
                "implementation": self._implementation(),
                "administrative": self._administrative(),
            },
        }

    def _basic(self) -> Json:
        kind = "synthetic" if self._release.has_records else "counts"
        dataset, vintage = (as_markdown(str(self._stated["dataset"])), as_markdown(self._release.vintage))
        held = _TEXT.say(f"basic.{kind}", dataset=dataset, vintage=vintage)
        found: Json = {
            "name": as_markdown(self._release.name),
            "data_curators": [self._said.publisher],
            "intended_use": self._said.purpose,
            "data_product_type": "Synthetic data" if self._release.has_records else "Summary statistics",
            "data_product_region": self._said.region,
            "description": " ".join(filter(None, (self._said.description, held))),
            "publication_date": self._said.first_published or _NO_DATE,
        }
        return found | ({"data_product_sector": self._said.sector} if self._said.sector else {})

    def _variant(self) -> Json:
        columns = ", ".join(as_markdown(column["name"]) for column in self._stated["columns"])
        unprotected = [_TEXT.say("variant.unprotected"), *map(as_markdown, self._stated["not_covered"])]
        unprotected += map(as_markdown, conditions_of(self._stated))
        return {
            "variant_name": "Approximate DP",
            "data_domain": self._text.say("variant.domain", columns=columns),
            "unprotected_quantities": " ".join(unprotected),
        }

    def _loss(self) -> Json:
        details = (_TEXT.say("loss.parameters"), self._answers["parameters"], self._answers["variant"])
        return {
            "privacy_unit": self._text.say("loss.unit"),
            "privacy_unit_details": f"{self._answers['unit']} {self._answers['contributions']}",
            "privacy_parameters": {"epsilon": self._claim["epsilon"], "delta": self._claim["delta"]},
            "privacy_parameters_details": " ".join(details),
        }

    def _model(self) -> Json:
        releases, remaining = self._ledger["releases"], self._ledger["remaining_releases"]
        told = _TEXT.say("model.releases.one")
        if is_many := releases > 1 or remaining > 0:
            left = plain_down(remaining)
            told = _TEXT.say("model.releases.many", releases=format_whole(releases), remaining=left)
        found: Json = {
            "model_name": "Central",
            "model_name_details": _TEXT.say("model.central"),
            "actors": f"{_TEXT.say('model.actors')} {self._answers['trust_model']}",
            "release_type": "Many releases" if is_many else "One release",
            "release_type_details": told,
        }
        if self._said.data_source:
            found["data_source_type"] = self._said.data_source.capitalize()
        return found | {
            "data_source_type_details": _TEXT.say("model.source"),
            "access_type": "Non-interactive",
            "access_type_details": self._answers["query_model"],
        }

    def _implementation(self) -> Json:
        topics = ("mechanism", "randomness", "side_channels", "security")
        looked = "drafted" if self._stated.get("drafted_from_table") else "unknown"
        told = _TEXT.say(f"implementation.preparation.{looked}")
        prepared = f"{as_markdown(self._stated['prepared'])} {told}"
        return {
            "preprocessing_and_hyperparameter_tuning": prepared,
            "mechanisms": " ".join(self._answers[topic] for topic in topics),
            "justification": self._said.rationale or _TEXT.say("implementation.not_said"),
        }

    def _administrative(self) -> Json:
        sources = [text for text in (self._said.url, _TEXT.say("administrative.statement")) if text]
        missing = [field for field, said in _SAID.items() if not getattr(self._said, said)]
        notes = (
            [_TEXT.say("administrative.contact", contact=self._said.contact)] if self._said.contact else []
        )
        if missing:
            fields = as_markdown(", ".join(missing))
            notes.append(_TEXT.say("administrative.missing", fields=fields, no_date=_NO_DATE))
        return {
            "sources": " ".join(sources),
            "notes": " ".join(notes),
            "registry_authors": [_TEXT.say("administrative.author")],
        }
