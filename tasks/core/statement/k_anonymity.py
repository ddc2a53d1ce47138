"""The statement of a release under k-anonymity: public facts and reported counts in, JSON and sentences out.

Each sentence is a consequence of how counts are rounded (S2.2), of the mode's invariants (S4.1 to S4.4), or
of what a data contract did to the table. *Record* is what one unit contributes: all rows of a subject, or one
row.
"""

from dataclasses import dataclass
from typing import Literal

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Json
from tasks.core.errors import InternalError
from tasks.core.figures import format_whole
from tasks.core.records.columns import Schema
from tasks.core.records.constraint_words import constraints_json
from tasks.core.sentences import Sentences, sentences_of
from tasks.core.statement.plain_words import STATEMENT_FORMAT, PlainWords, Topic
from tasks.core.statement.preparation import column_json, preparation_paragraph
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json

_TEXT, _SHARED = sentences_of("k_anonymity"), sentences_of("all_protections")
K_ANONYMITY_REGIME = "k_anonymity"
#: What a data contract did: there was none, it stopped what broke it, or cells that broke it were repaired.
ContractMode = Literal["none", "strict", "repair"]


@dataclass(frozen=True)
class SynthesisFacts:
    """What the records of one mode are made from and keep.

    Attributes:
        reads_records: whether the mode reads the raw records.
        from_counts: whether records are put together from the reported counts.
        every_length: whether every combination of any length is held by k records; otherwise only those up
            to the reporting length.
        equal_singles: whether each attribute is held by exactly as many synthetic records as reported.
        ratio: how far a synthetic count may exceed the reported one; None: not limited.
        only_reported: whether all combinations up to the reporting length in a record are reported ones;
            otherwise that holds of single values.
    """

    reads_records: bool
    from_counts: bool
    every_length: bool
    equal_singles: bool
    ratio: float | None = None
    only_reported: bool = True


@dataclass(frozen=True)
class AnonymityFacts:
    """What is publicly known of a k-anonymous release beside its counts.

    Attributes:
        unit: ``subject``, or ``row`` where no subject id is configured.
        resolution: k, at least 1.
        hold_resolution: whether aggregate_seeded also held the resolution beyond the reporting length.
        oversampling: ratio and tries of value_seeded; None: not limited.
        measurement_sha256: of what was handed over; empty where it is not known.
        unused_keys: configuration keys that were accepted and have no effect.
        record_limit: only the first so many rows were read; None: all.
        held: the schema with the constraints that fitted records hold; None: there are none.
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

    @property
    def synthesis(self) -> SynthesisFacts:
        """What the mode's records are made from and keep (S4.1 to S4.4)."""
        held, ratio = self.hold_resolution, self.oversampling[0] if self.oversampling else None
        modes = {
            "row_seeded": SynthesisFacts(True, False, True, True),
            "unseeded": SynthesisFacts(True, False, True, False),
            "value_seeded": SynthesisFacts(True, False, True, True, ratio),
            "aggregate_seeded": SynthesisFacts(held, True, held, False),
            "fitted": SynthesisFacts(False, True, False, False, only_reported=False),
        }
        return modes[self.synthesis_mode]

    @property
    def held_length(self) -> int | None:
        """Up to which length every combination in a record is held by k records; None: of any length."""
        if self.synthesis.every_length:
            return None
        return self.reporting_length if self.synthesis.only_reported else 1

    @property
    def text(self) -> Sentences:
        return _TEXT.of(self.unit)

    @property
    def k(self) -> str:
        return format_whole(self.resolution)

    @property
    def others(self) -> str:
        return format_whole(self.resolution - 1)

    @property
    def up_to(self) -> str:
        return _up_to(self.reporting_length)


def _up_to(length: int) -> str:
    if length == 1:
        return _TEXT.say("lengths.one")
    return _TEXT.say("lengths.several", length=str(length))


def count_promises(facts: AnonymityFacts) -> list[str]:
    """What is true of the reported counts (S2.2)."""
    text, up_to, k, others = facts.text, facts.up_to, facts.k, facts.others
    if facts.resolution == 1:
        return [text.say("promise.exact", up_to=up_to)]
    by = "by_one" if facts.resolution == 2 else "by_several"
    return [
        text.say("promise.least", up_to=up_to, k=k),
        text.say("promise.rounded", k=k, others=others),
        text.say(f"promise.unreported.{by}", up_to=up_to, others=others),
        text.say("promise.values", k=k),
    ]


def record_promises(facts: AnonymityFacts) -> list[str]:
    """What is true of the synthetic records of this mode (S4.1 to S4.4)."""
    text, synthesis = facts.text, facts.synthesis
    told = _combination_promises(facts)
    if synthesis.equal_singles:
        told.append(text.say("synthetic.equal_singles"))
    if synthesis.ratio is not None:
        told.append(text.say("synthetic.ratio", ratio=repr(synthesis.ratio)))
    if not synthesis.reads_records:
        told.append(text.say("synthetic.counts_alone"))
    return told


def _combination_promises(facts: AnonymityFacts) -> list[str]:
    text, k = facts.text, facts.k
    if facts.synthesis.every_length:
        return [text.say("synthetic.every_length", k=k)]
    if facts.synthesis.only_reported:
        more_than = _TEXT.say("lengths.more_than_one")
        if facts.reporting_length > 1:
            more_than = _TEXT.say("lengths.more_than_several", length=str(facts.reporting_length))
        return [
            text.say("synthetic.reported_length", up_to=facts.up_to, k=k),
            text.say("synthetic.longer", more_than=more_than, k=k),
        ]
    values = "reported_or_declared" if facts.held is not None else "reported"
    return [text.say(f"synthetic.values.{values}", k=k), text.say("synthetic.fitted", k=k)]


def not_hidden_by_rounding(facts: AnonymityFacts) -> list[str]:
    """What does not protect, each under a few words of its own and a colon."""
    text, k, others, told = facts.text, facts.k, facts.others, []
    if facts.unit == "row":
        told.append(text.say("not_covered.rows", k=k))
    if facts.resolution == 1:
        told.append(text.say("not_covered.resolution_of_one"))
    if facts.drafted_from_table:
        told.append(text.say("not_covered.drafted"))
    told += text.say_each("not_covered.attacks", k=k, others=others)
    if not facts.synthesis.reads_records:
        held = _up_to(facts.held_length or facts.reporting_length)
        told.append(text.say("not_covered.synthetic.beyond", up_to=held, k=k))
        told.append(text.say("not_covered.synthetic.public_seed"))
    else:
        source = "of_counts" if facts.synthesis.from_counts else "of_records"
        told.append(text.say(f"not_covered.synthetic.second_release.{source}", k=k))
        told.append(text.say("not_covered.synthetic.kept_seed"))
    if facts.record_limit is not None:
        told.append(text.say("not_covered.assumed.first_rows", limit=format_whole(facts.record_limit)))
    if facts.unit == "subject":
        told.append(text.say("not_covered.assumed.one_id"))
        told.append(text.say("not_covered.assumed.one_row"))
    return [*told, text.say("not_covered.assumed.public"), text.say("not_covered.assumed.outside")]


def anonymity_statement(facts: AnonymityFacts, aggregates: Aggregates, code_version: str) -> Json:
    """The content of ``privacy.json``.

    Raises:
        InternalError: a count is not a positive multiple of the resolution, or a key of the statement is not
            one that a release may hold.
    """
    _check_counts(facts, aggregates)
    count = aggregates.number_of_records
    content: Json = {
        "format": STATEMENT_FORMAT,
        "private": False,
        "regime": K_ANONYMITY_REGIME,
        "dataset": facts.dataset,
        "vintage": facts.vintage,
        "code_version": code_version,
        "measurement_sha256": facts.measurement_sha256,
        "guarantee": _guarantee(facts),
        "count": {"value": count, "least": count, "most": count + facts.resolution - 1},
        "levels": [
            {"length": length, "combinations": len(counts)}
            for length, counts in enumerate(aggregates.counts, start=1)
        ],
        "columns": [column_json(column) for column in facts.schema.columns],
        "synthesis": _synthesis(facts),
        "contract": contract_effect(facts.contract_mode),
        "unused_keys": [{"key": key, "why": _SHARED.say("unused.why")} for key in facts.unused_keys],
        "public_side_channels": _TEXT.say(f"conditions.side_channels.{facts.unit}"),
        "not_covered": not_hidden_by_rounding(facts),
    }
    if facts.drafted_from_table:
        content["drafted_from_table"] = True
    if facts.held is not None:
        content["constraints"] = constraints_json(facts.held, facts.contract_sha256, is_counted=True)
    check_released_json(content, RELEASED_KEYS["anonymity_statement"])
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


def _guarantee(facts: AnonymityFacts) -> Json:
    return {
        "kind": _TEXT.say("promise.kind"),
        "unit": facts.unit,
        "subject_id": facts.schema.subject_id,
        "resolution": facts.resolution,
        "reporting_length": facts.reporting_length,
        "record_limit": facts.record_limit,
        "holds": [preparation_paragraph(facts.schema, facts.contract_mode), *count_promises(facts)],
    }


def _synthesis(facts: AnonymityFacts) -> Json:
    synthesis, limit = facts.synthesis, facts.oversampling
    singles = "equal" if synthesis.equal_singles else "not_promised"
    return {
        "mode": facts.synthesis_mode,
        "reads_records": synthesis.reads_records,
        "every_length": synthesis.every_length,
        "held_length": facts.held_length,
        "single_counts": _TEXT.say(f"synthetic.single_counts.{singles}"),
        "oversampling": None if limit is None else {"ratio": limit[0], "tries": limit[1]},
        "holds": record_promises(facts),
    }


class RoundedWords(PlainWords):
    def topics(self) -> list[Topic]:
        stated = self.statement
        conditions = [stated["contract"]["sentence"], stated["public_side_channels"]]
        return [
            (_TEXT.say("promise.heading"), self._promise()),
            (_TEXT.say("reported.heading"), self._reported()),
            (_TEXT.say("synthetic.heading"), [*stated["synthesis"]["holds"], *self.constraints()]),
            (_TEXT.say("conditions.heading"), conditions),
            *self.unused_settings(),
        ]

    def warnings(self) -> list[str]:
        claim = self.statement["guarantee"]
        return [*(claim["holds"][1:] if claim["resolution"] == 1 else []), *self._rows_counted()]

    @property
    def _text(self) -> Sentences:
        return _TEXT.of(self.statement["guarantee"]["unit"])

    def _rows_counted(self) -> list[str]:
        claim = self.statement["guarantee"]
        if claim["unit"] != "row":
            return []
        return [_TEXT.say("promise.rows_counted", k=format_whole(claim["resolution"]))]

    def _promise(self) -> list[str]:
        holds: list[str] = self.statement["guarantee"]["holds"]
        return [_TEXT.say("promise.not_private"), *self._rows_counted(), *holds]

    def _reported(self) -> list[str]:
        count = self.statement["count"]
        value, least, most = (format_whole(count[key]) for key in ("value", "least", "most"))
        if least == most:
            told = [self._text.say("reported.count_exact", count=value)]
        else:
            told = [self._text.say("reported.count", count=value, least=least, most=most)]
        each = [
            _TEXT.say(
                "reported.of_length",
                combinations=format_whole(level["combinations"]),
                length=str(level["length"]),
            )
            for level in self.statement["levels"]
            if level["combinations"]
        ]
        if not each:
            return [*told, _TEXT.say("reported.nothing")]
        return [*told, _TEXT.say("reported.combinations", each=", ".join(each))]
