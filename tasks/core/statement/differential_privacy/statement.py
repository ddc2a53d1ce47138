"""The privacy statement: a measurement and what the ledger says of it go in, ``privacy.json`` comes out.

It is written to be checked line by line: every constant of the mechanism, every level's noise, threshold
and error bar, the formulas that join them, the whole account of the dataset, and what is *not* covered.
`words` says the same in plain words.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import NormalDist

from tasks.core.arrays import Json
from tasks.core.dp.claim_limits import cap_cautions, cautions
from tasks.core.dp.group_privacy import group_guarantees
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.figures import format_whole
from tasks.core.records.constraint_words import constraints_json
from tasks.core.sentences import sentences_of
from tasks.core.statement.column_totals import attention_sentences, column_totals
from tasks.core.statement.differential_privacy.draws import DrawDescription, FittedDraw, LengthsDraw
from tasks.core.statement.differential_privacy.questions import answer_questionnaire
from tasks.core.statement.plain_words import STATEMENT_FORMAT
from tasks.core.statement.preparation import column_json, preparation_paragraph
from tasks.core.statement.released_json import check_released_json

_TEXT, _SHARED = sentences_of("differential_privacy"), sentences_of("all_protections")

#: What is done with a table that is what it was when the last release was drawn.
DRAW, SKIP = "draw", "skip"
AnyMeasurement = Measurement | WorkloadMeasurement


@dataclass(frozen=True)
class LedgerFacts:
    """What the ledger knows of a dataset just after one release was committed; all of it public.

    Attributes:
        scope: where this ledger counts, as a noun phrase such as "one ledger per user of one machine".
        cap: what all releases together may cost, by the widest caps that were ever in force: ``epsilon``,
            ``delta``, ``threshold_delta`` (the part D of delta for thresholds) and ``mu_squared`` (B^2).
        cap_in_force: the same of the cap now.
        charges: ``releases`` says how many were charged alike, ``mu_squared`` and ``threshold_delta`` what
            each of them was charged; ``this_release`` is one of these.
        threshold_delta_spent: 1 - prod(1 - delta_t) over them.
        policy: on unchanged tables when this release was drawn: ``draw`` or ``skip``.
        policies: which policy held from which vintage on, of these settings and of all others of the
            dataset; none where it was always ``draw``.
        stopped_runs: of the dataset, or of its tables under another name, by a strict contract, until then.
        unread_runs: until then whose table could not be read as declared.
    """

    dataset: str
    unit: str
    population: str
    vintage: str
    scope: str
    cap: Mapping[str, float]
    cap_in_force: Mapping[str, float]
    charges: Sequence[Mapping[str, float]]
    mu_squared_spent: float
    threshold_delta_spent: float
    epsilon_spent: float
    this_release: Mapping[str, float]
    remaining_releases: int
    head: str
    policy: str = DRAW
    policies: Sequence[tuple[str, str]] = ()
    stopped_runs: int = 0
    stopping_contracts: int = 0
    unread_runs: int = 0

    def to_json(self) -> Json:
        """What the constructor takes; a field that is its default is not written."""
        defaults = {each.name: each.default for each in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != defaults[name]}

    @property
    def releases(self) -> int:
        """How many releases were charged, this one and lost ones included."""
        return sum(int(charge["releases"]) for charge in self.charges)


@dataclass(frozen=True)
class RunChoices:
    """Public choices of the run that a measurement does not carry.

    Attributes:
        strict_contract: SHA-256 of the contract that a table had to keep, or the run was stopped (R2);
            None where no contract could stop it.
        measurement_sha256: what the ledger's commit records; empty where it is not known.
        contract_sha256: of the data contract's file, whatever its mode; empty where there is none.
        drafted_from_table: whether what is declared of the table was drafted by looking at it.
        least_records: how many records the data contract promises; None: nobody promised any.
    """

    strict_contract: str | None = None
    unused_keys: tuple[str, ...] = ()
    measurement_sha256: str = ""
    least_records: int | None = None
    contract_sha256: str = ""
    skips_unchanged: bool = False
    drafted_from_table: bool = False


def accounted_statement(
    measurement: AnyMeasurement, ledger: LedgerFacts, code_version: str, choices: RunChoices | None = None
) -> Json:
    """The content of ``privacy.json``; refused where the noise does not carry the nominal charge (R9)."""
    choices = choices or RunChoices()
    draw: DrawDescription
    if isinstance(measurement, WorkloadMeasurement):
        draw = FittedDraw(measurement)
    else:
        draw = LengthsDraw(measurement)
    parts, parameters = draw.parts(ledger.unit), measurement.parameters
    unchanged = _on_unchanged(ledger, choices)
    groups = None
    if ledger.unit == "row":
        groups = group_guarantees(measurement.mu_squared, parameters.delta, measurement.length_one)
    attention = cautions(parameters.epsilon, parameters.delta, ledger.unit, choices.least_records)
    content: Json = {
        "format": STATEMENT_FORMAT,
        "private": measurement.private,
        "regime": "differential_privacy",
        "dataset": ledger.dataset,
        "vintage": ledger.vintage,
        "population": ledger.population,
        "code_version": code_version,
        "measurement_sha256": choices.measurement_sha256,
        # What a reader must know before anything else.
        "attention": attention + cap_cautions(ledger.cap["epsilon"], ledger.cap["delta"]),
        "guarantee": _guarantee(measurement, draw, ledger.unit) if measurement.private else None,
        "columns": draw.columns(_columns(measurement)),
        "prepared": preparation_paragraph(measurement.schema, filled=measurement.never_empty),
        "columns_to_look_at": attention_sentences(measurement),
        "group_privacy": groups,
        "group_privacy_rule": _TEXT.say("claim.several_rows") if ledger.unit == "row" else None,
        "disclosed_uniques": _disclosed_uniques(measurement, parts["noisy_count"], ledger),
        "ledger": _ledger(ledger),
        "contract": _contract(choices) | {"least_records": choices.least_records},
        "unused_keys": [
            {
                "key": key,
                "why": _TEXT.say("conditions.unused_percentile")
                if key.startswith("percentile")
                else _SHARED.say("unused.why"),
            }
            for key in choices.unused_keys
        ],
        "public_side_channels": (
            _TEXT.say("conditions.side_channels_skipped")
            if unchanged
            else _TEXT.say("conditions.side_channels")
        ),
        "not_covered": _not_covered(ledger, choices),
        **parts,
        **({"drafted_from_table": True} if choices.drafted_from_table else {}),
        **unchanged,
        **_stopped_runs(ledger),
    }
    if choices.contract_sha256 and (held := constraints_json(measurement.schema, choices.contract_sha256)):
        content["constraints"] = held
    if measurement.private:
        content["questions"] = answer_questionnaire(content)
    check_released_json(content)
    return content


def _guarantee(measurement: AnyMeasurement, draw: DrawDescription, unit: str) -> Json:
    """The claim and the theorem behind it (T2)."""
    parameters = measurement.parameters
    return {
        "kind": _TEXT.say("claim.kind"),
        "neighbours": _TEXT.say(f"claim.neighbours.{unit}"),
        "unit": unit,
        "subject_id": measurement.schema.subject_id,
        "epsilon": parameters.epsilon,
        "delta": parameters.delta,
        "delta_threshold": measurement.threshold_delta,
        "mu_squared": measurement.mu_squared,
        "mu": math.nextafter(math.sqrt(measurement.mu_squared), math.inf),
        "attack": _attack(measurement),
        "computational": _TEXT.say("conditions.computational"),
        **draw.guarantee(),
    }


def _contract(choices: RunChoices) -> Json:
    """Whether a data contract could have stopped the release (R2), and by its SHA-256 which."""
    if choices.strict_contract is None:
        return {"strict": False, "sentence": _TEXT.say("conditions.contract_repaired")}
    return {
        "strict": True,
        "sha256": choices.strict_contract,
        "sentence": _TEXT.say("conditions.contract_strict"),
        "text": _TEXT.say("conditions.contract_strict_verdicts"),
    }


def _on_unchanged(ledger: LedgerFacts, choices: RunChoices) -> Json:
    """That dates tell whether the table changed, where releases of the dataset are, or were, skipped.

    A release whose existence follows from the table is an exact fact of it (R1).
    """
    skips = choices.skips_unchanged or ledger.policy == SKIP
    if not skips and not ledger.policies:
        return {}
    changes = [{"policy": policy, "vintage": vintage} for policy, vintage in ledger.policies]
    unchanged, others = _TEXT.say("conditions.unchanged_skipped"), _TEXT.say("conditions.others_skipped")
    sentence = unchanged if skips else others
    return {"on_unchanged": {"policy": SKIP if skips else DRAW, "changes": changes, "sentence": sentence}}


def _stopped_runs(ledger: LedgerFacts) -> Json:
    """How many runs a strict contract stopped before, or could not read the table: exact answers (R2)."""
    stopped: Json = {}
    if runs := ledger.stopped_runs:
        contracts = ledger.stopping_contracts
        counted = _TEXT.say("conditions.stopped_run")
        if runs > 1:
            numbers = format_whole(runs), format_whole(contracts)
            counted = _TEXT.say("conditions.stopped_runs", runs=numbers[0], contracts=numbers[1])
        sentence = f"{counted} {_TEXT.say('conditions.stopped')}"
        stopped["stopped_by_contract"] = {"runs": runs, "contracts": contracts, "sentence": sentence}
    if runs := ledger.unread_runs:
        counted = _TEXT.say("conditions.unread_run")
        if runs > 1:
            counted = _TEXT.say("conditions.unread_runs", runs=format_whole(runs))
        sentence = f"{counted} {_TEXT.say('conditions.unread')}"
        stopped["stopped_unread"] = {"runs": runs, "sentence": sentence}
    return stopped


def _not_covered(ledger: LedgerFacts, choices: RunChoices) -> list[str]:
    """What the guarantee does not cover (R22, T7)."""
    return [
        *([_TEXT.say("not_covered.drafted")] if choices.drafted_from_table else []),
        *([_TEXT.say("not_covered.several_rows")] if ledger.unit == "row" else []),
        _TEXT.say("not_covered.other_ledgers", scope=ledger.scope),
        *_TEXT.say_each("not_covered.of_all"),
    ]


def _attack(measurement: AnyMeasurement, false_alarm: float = 0.05) -> Json:
    """Power of the best test of whether one unit is in the table, at most, by the trade-off function.

    delta_t + Phi(Phi^-1(alpha / (1 - delta_t)) + mu): the Gaussian trade-off, with the threshold's mass
    moved in both directions of the neighbouring relation (T3, steps iii and iv).
    """
    normal, delta_t = NormalDist(), measurement.threshold_delta
    shifted = normal.inv_cdf(false_alarm / (1 - delta_t)) + math.sqrt(measurement.mu_squared)
    power = min(1.0, (delta_t + normal.cdf(shifted)) * (1 + 1e-9))
    return {"false_alarm": false_alarm, "power": power, "rule": _TEXT.say("claim.attack")}


def _columns(measurement: AnyMeasurement) -> list[Json]:
    """Each with the counts of its values added up, with the error bar of their noise."""
    totals = {
        total.name: {"value": total.total, "survivors": total.values, "half_width_95": total.half_width}
        for total in column_totals(measurement)
    }
    return [
        column_json(column) | {"noisy_total": totals.get(column.name)}
        for column in measurement.schema.columns
    ]


def _disclosed_uniques(measurement: AnyMeasurement, count: Json, ledger: LedgerFacts) -> Json:
    """Expected number of subjects of whom a value that nobody else holds is published (R22).

    The number of subjects is the noisy count with its error bar on top, so it errs upward.
    """
    subjects = max(0, measurement.number_of_records) + count["half_width_95"]
    return {
        "assumed_subjects": subjects,
        "how": _TEXT.say("claim.disclosed_uniques"),
        "per_release": subjects * measurement.threshold_delta,
        "all_releases": subjects * ledger.threshold_delta_spent,
        "at_cap": subjects * ledger.cap["threshold_delta"],
        "releases": ledger.releases,
    }


def _ledger(ledger: LedgerFacts) -> Json:
    return {
        "scope": ledger.scope,
        **{f"{name}_cap": value for name, value in _stated(ledger.cap).items()},
        "in_force": _stated(ledger.cap_in_force),
        "charges": [_stated(charge) for charge in ledger.charges],
        "this_release": _stated(ledger.this_release),
        "mu_squared_spent": ledger.mu_squared_spent,
        "delta_threshold_spent": ledger.threshold_delta_spent,
        "epsilon_spent": ledger.epsilon_spent,
        "releases": ledger.releases,
        "remaining_releases": ledger.remaining_releases,
        "rule": _TEXT.say("ledger.rule"),
        "head": ledger.head,
    }


def _stated(figures: Mapping[str, float]) -> Json:
    """A cap or a charge under the statement's names."""
    return {"delta_threshold" if name == "threshold_delta" else name: figures[name] for name in figures}
