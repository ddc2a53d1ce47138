"""The privacy statement under k-anonymity: public facts and reported counts in, ``privacy.json`` out.

It is for whoever signs the release: what holds, to which length, and what does not protect. Everything in
it is a function of the reported counts and public configuration, so it may be published as it stands.
`claims` chooses its sentences, `words` puts them under headings.
"""

from dataclasses import dataclass
from typing import Literal

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Json
from tasks.core.errors import InternalError
from tasks.core.records.columns import Schema
from tasks.core.records.constraint_words import constraints_json
from tasks.core.sentences import sentences_of
from tasks.core.statement.k_anonymity import claims
from tasks.core.statement.preparation import column_json, prepared
from tasks.core.statement.released_json import ANONYMITY_STATEMENT_KEYS, check_released_json

_TEXT, _SHARED = sentences_of("k_anonymity"), sentences_of("all_protections")

PLAIN_STATEMENT_FORMAT = "marginalia-privacy-statement/1"
K_ANONYMITY_REGIME = "k_anonymity"
#: What a data contract did: there was none, it stopped what broke it, or cells that broke it were repaired.
ContractMode = Literal["none", "strict", "repair"]


@dataclass(frozen=True)
class AnonymityFacts:
    """What is publicly known of a k-anonymous release beside its counts.

    Attributes:
        dataset: the logical name of the table.
        vintage: the label of this release.
        unit: ``subject``, or ``row`` where no subject id is configured.
        schema: the public schema.
        resolution: k, at least 1.
        reporting_length: R, the longest combination that is counted.
        synthesis_mode: ``row_seeded``, ``unseeded``, ``value_seeded``, ``aggregate_seeded`` or ``fitted``.
        hold_resolution: whether aggregate_seeded also held the resolution beyond the reporting length.
        oversampling: ratio and tries of value_seeded; None: not limited.
        measurement_sha256: of what was handed over; empty where it is not known.
        contract_mode: whether there was a data contract, and whether a table that broke it would have
            stopped the run.
        unused_keys: configuration keys that were accepted and have no effect.
        record_limit: only the first so many rows were read; None: all.
        held: the schema with the constraints that fitted records hold; None: there are none.
        contract_sha256: of the contract that declares them.
        drafted_from_table: whether what is declared of the table was drafted by looking at it.
    """

    dataset: str
    vintage: str
    unit: str
    schema: Schema
    resolution: int
    reporting_length: int
    synthesis_mode: str
    hold_resolution: bool = False
    oversampling: tuple[float, int] | None = None
    measurement_sha256: str = ""
    contract_mode: ContractMode = "none"
    unused_keys: tuple[str, ...] = ()
    record_limit: int | None = None
    held: Schema | None = None
    contract_sha256: str = ""
    drafted_from_table: bool = False


def anonymity_statement(facts: AnonymityFacts, aggregates: Aggregates, code_version: str) -> Json:
    """The content of ``privacy.json``.

    Raises:
        InternalError: a count is not a positive multiple of the resolution, the mode is not known, or a key
            of the statement is not one that a release may hold.
    """
    _check_counts(facts, aggregates)
    promise = claims.Promise(
        resolution=facts.resolution,
        length=facts.reporting_length,
        unit=facts.unit,
        synthesis=claims.synthesis_of(facts.synthesis_mode, facts.hold_resolution, facts.oversampling),
        record_limit=facts.record_limit,
        is_constrained=facts.held is not None,
        is_drafted=facts.drafted_from_table,
    )
    content: Json = {
        "format": PLAIN_STATEMENT_FORMAT,
        "private": False,
        "regime": K_ANONYMITY_REGIME,
        "dataset": facts.dataset,
        "vintage": facts.vintage,
        "code_version": code_version,
        "measurement_sha256": facts.measurement_sha256,
        "guarantee": _guarantee(facts, promise),
        "count": _interval(aggregates.number_of_records, facts.resolution),
        "levels": [
            {"length": length, "combinations": len(counts)}
            for length, counts in enumerate(aggregates.counts, start=1)
        ],
        "columns": [column_json(column) for column in facts.schema.columns],
        "synthesis": _synthesis(facts, promise),
        "contract": contract_effect(facts.contract_mode),
        "unused_keys": [{"key": key, "why": _SHARED.say("unused.why")} for key in facts.unused_keys],
        "public_side_channels": _TEXT.say(f"conditions.side_channels.{facts.unit}"),
        "not_covered": claims.not_hidden_by_rounding(promise),
    }
    if facts.drafted_from_table:
        content["drafted_from_table"] = True
    if facts.held is not None:
        content["constraints"] = constraints_json(facts.held, facts.contract_sha256, is_counted=True)
    check_released_json(content, ANONYMITY_STATEMENT_KEYS)
    return content


def contract_effect(mode: ContractMode) -> Json:
    """What a data contract did, where nothing was drawn."""
    return {"strict": mode == "strict", "sentence": _SHARED.say(f"contract.{mode}")}


def _check_counts(facts: AnonymityFacts, aggregates: Aggregates) -> None:
    """Refuse counts that the statement's first sentence would not be true of."""
    k = facts.resolution
    rounded = all(((counts >= k) & (counts % k == 0)).all() for counts in aggregates.counts)
    if not rounded or aggregates.number_of_records % k:
        raise InternalError(
            "Every count that is reported under k-anonymity must be a multiple of the resolution, and that "
            "of a combination not 0."
        )


def _guarantee(facts: AnonymityFacts, promise: claims.Promise) -> Json:
    return {
        "kind": _TEXT.say("promise.kind"),
        "unit": facts.unit,
        "subject_id": facts.schema.subject_id,
        "resolution": facts.resolution,
        "reporting_length": facts.reporting_length,
        "record_limit": facts.record_limit,
        "holds": [prepared(facts.schema, facts.contract_mode), *claims.counts_hold(promise)],
    }


def _interval(count: int, resolution: int) -> Json:
    """A rounded count, and where the count that was rounded may lie."""
    return {"value": count, "least": count, "most": count + resolution - 1}


def _synthesis(facts: AnonymityFacts, promise: claims.Promise) -> Json:
    synthesis, limit = promise.synthesis, facts.oversampling
    singles = "equal" if synthesis.equal_singles else "not_promised"
    return {
        "mode": facts.synthesis_mode,
        "reads_records": synthesis.reads_records,
        "every_length": synthesis.every_length,
        "held_length": promise.held_length,
        "single_counts": _TEXT.say(f"synthetic.single_counts.{singles}"),
        "oversampling": None if limit is None else {"ratio": limit[0], "tries": limit[1]},
        "holds": claims.records_hold(promise),
    }
