"""What a statement says of a draw: a measurement in, parts of ``privacy.json`` out.

A class a kind of draw. Figures of the noise are of its law, never of the data, and rounded towards larger
errors. Nominal constants are those of the claim: what is charged. Applied ones are those of the draw: the
same, or with more noise where delta followed from the noisy count (R16). Whoever adds up the
charges finds that they do not exceed mu^2, which is the whole of the proof that can be checked by numbers.
The formulas and the meaning of their symbols are in ``sentences/differential_privacy.toml``.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tasks.core.arrays import ColumnNumbers, Json
from tasks.core.dp import thresholds
from tasks.core.dp.accounting import Plan, applied_delta, for_noisy_count, plan_release, pure_mu, zcdp_rho
from tasks.core.dp.claim_limits import DISTANCE, MOST_SAMPLING_DELTA, sampling_delta
from tasks.core.dp.contribution import Bounds, profile_edges, size_candidates
from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.thresholds import error_bar
from tasks.core.dp.workload.cells import MeasuredTable, cells_of_all_columns, sensitivity
from tasks.core.dp.workload.measurement import DrawnMeasurement, NoisyScores, WorkloadMeasurement
from tasks.core.errors import InternalError
from tasks.core.records.columns import Schema
from tasks.core.sentences import sentences_of

_TEXT = sentences_of("differential_privacy")

#: Numbers of every statement that are not recomputed from others: chosen, or of the account.
_CHOSEN = (
    "columns[].bins[]",
    "columns[].domain_size",
    "columns[].max_items",
    "contract.least_records",
    "group_privacy[].rows",
    "guarantee.attack.false_alarm",
    "guarantee.sampling_exactness.at_most",
    "guarantee.sampling_exactness.distance",
    "parameters.*",
    "sampling.expected_size",
)
_ACCOUNT = (
    "ledger.charges[].delta_threshold",
    "ledger.charges[].mu_squared",
    "ledger.charges[].releases",
    "ledger.delta_cap",
    "ledger.delta_threshold_cap",
    "ledger.epsilon_cap",
    "ledger.in_force.delta",
    "ledger.in_force.delta_threshold",
    "ledger.in_force.epsilon",
    "ledger.in_force.mu_squared",
)


class DrawDescription(ABC):
    """One draw, as a statement describes it.

    Attributes:
        kind: what its sentences are told apart by: ``lengths`` or ``tables``.
    """

    kind: ClassVar[str]
    measurement: DrawnMeasurement

    @abstractmethod
    def sensitivities(self) -> list[int]:
        """Of all queries whose draws may differ between neighbours (see `sampling_delta`)."""

    @abstractmethod
    def charges(self) -> Iterator[tuple[int, float]]:
        """Square of the L2 sensitivity and noise scale of everything that was drawn with Gaussian noise."""

    def guarantee(self) -> Json:
        """What the claim says of its accountant; R20 says what inexact sampling adds to delta."""
        parameters, delta_t = self.measurement.parameters, self.measurement.threshold_delta
        return {
            "delta_given": {"rule": _TEXT.say("claim.delta_constant")},
            "delta_applied": parameters.delta,
            "delta_threshold_applied": delta_t,
            "delta_noise": (parameters.delta - delta_t) / (1 - delta_t),
            "identity": _TEXT.say("claim.delta_identity.gdp"),
            "sampling_exactness": {
                "delta_sampling": sampling_delta(parameters.epsilon, self.sensitivities()),
                "distance": DISTANCE,
                "at_most": MOST_SAMPLING_DELTA,
                "rule": _TEXT.say(f"law.exactness_of_{self.kind}"),
            },
        }

    def parts(self, unit: str) -> Json:
        """The statement's parts on the draw, for the unit ``subject`` or ``row``.

        They say the law of the noise and where its bits come from (D10), how rows become records, and how a
        sample was taken (R14).

        Raises:
            InternalError: the noise does not carry the nominal charge (R9).
        """
        measurement, limit = self.measurement, self.measurement.parameters.record_limit
        self.realised()
        sampling = None
        if limit is not None:
            text = _TEXT.say(f"sampling.text_of_{self.kind}")
            sampling = {"rule": _TEXT.say("sampling.rule"), "expected_size": limit, "text": text}
        private = measurement.private
        return {
            "noise": {
                "lattice": _TEXT.say(f"law.lattice_of_{self.kind}"),
                "generator": _TEXT.say("law.generator") if private else _TEXT.say("law.generator_of_tests"),
                "error_bar": _TEXT.say("law.error_bar"),
            },
            "contribution": {
                "width": measurement.schema.measured.width,
                "how": joining_sentence(unit),
                **counting_unit_json(measurement.schema, unit),
            },
            "sampling": sampling,
        }

    def realised(self) -> Fraction:
        """What was charged in exact rationals; refused where the noise is smaller than mu^2 says (R9)."""
        spent = sum((square / Fraction(scale) ** 2 for square, scale in self.charges()), Fraction(0))
        if spent > Fraction(self.measurement.mu_squared):
            raise InternalError("The noise of a release must cover its charge: sum of Delta / s^2 <= mu^2.")
        return spent

    def columns(self, stated: Sequence[Json]) -> list[Json]:
        """The columns of the public schema with what this draw has to add to each."""
        return list(stated)


def number_sources(how: str, drawn: Iterable[str], chosen: Iterable[str] = ()) -> Json:
    """Which numbers are not recomputed from others, by where they come from, and how that is said."""
    return {
        "how": how,
        "chosen": sorted((*_CHOSEN, *chosen)),
        "drawn": sorted(drawn),
        "account": list(_ACCOUNT),
    }


def error_bar_of(scale: float) -> Json:
    """Of rounded Gaussian noise: sd at most, and the least h with P(|round(N(0, s^2))| <= h) >= 0.95."""
    return {"sd": math.sqrt(scale * scale + 1 / 12), "half_width_95": error_bar(Fraction(scale), 0.95)}


def joining_sentence(unit: str) -> str:
    """How rows become records, each a function of one subject alone."""
    if unit == "row":
        return _TEXT.say("joining.rows")
    return f"{_TEXT.say('joining.subjects')} {_TEXT.say('joining.whole_rows')}"


def counting_unit_json(schema: Schema, unit: str) -> Json:
    """What a count counts where subjects may have several rows, as ``meaning``; empty of single rows.

    It follows from the schema alone, so it does not tell whether anybody in the table has several.
    """
    has_several = [column.is_multi_valued for column in schema.columns]
    if unit == "row" or all(has_several):
        return {}
    told = _TEXT.say("meaning.whole_rows")
    return {"meaning": f"{told} {_TEXT.say('meaning.several_items')}" if any(has_several) else told}


#: How far constants that are worked out again may lie from those of the draw.
_SAME = 1e-9


#: Numbers that follow from the data, and with the columns chosen those that do not (`number_sources`).
_DRAWN_OF_LENGTHS = (
    "columns[].noisy_total.survivors",
    "columns[].noisy_total.value",
    "levels[].candidates",
    "levels[].open.survivors",
    "levels[].sensitivity",
    "levels[].survivors",
    "noisy_count.value",
)


@dataclass(frozen=True)
class LengthsDraw(DrawDescription):
    """A draw by lengths: counts of one attribute, of two, and so on."""

    measurement: Measurement
    kind = "lengths"

    @cached_property
    def _nominal(self) -> Plan:
        """The plan, worked out again from what was chosen."""
        levels, declared = len(self.measurement.levels), self.measurement.schema.all_declared
        return plan_release(self.measurement.parameters, all_declared=declared, levels=levels)

    @cached_property
    def _applied(self) -> Plan:
        """The plan after the noisy count; the draw must have used the same."""
        measurement, nominal = self.measurement, self._nominal
        applied = for_noisy_count(nominal, measurement.parameters, measurement.number_of_records)
        beside = [
            (nominal.mu_squared, measurement.mu_squared),
            (nominal.threshold_delta, measurement.threshold_delta),
            *zip(applied.sigmas, (level.sigma for level in measurement.levels), strict=True),
        ]
        if not all(math.isclose(*pair, rel_tol=_SAME) for pair in beside):
            raise InternalError("A statement must describe the draw; its constants are not the draw's.")
        return applied

    def sensitivities(self) -> list[int]:
        return [level.sensitivity for level in self.measurement.levels]

    def charges(self) -> Iterator[tuple[int, float]]:
        for level in self.measurement.levels:
            if level.scale:
                yield level.sensitivity, level.scale
        if self.measurement.parameters.accountant == "gdp":
            yield 1, self.measurement.count_scale

    def guarantee(self) -> Json:
        parameters = self.measurement.parameters
        found = super().guarantee() | {
            "delta_given": self._delta_given(),
            "delta_applied": applied_delta(parameters, self.measurement.number_of_records),
            "delta_threshold_applied": self._applied.applied_threshold_delta,
            "identity": _TEXT.say(f"claim.delta_identity.{parameters.accountant}"),
            "reporting_length": parameters.reporting_length,
            "accountant": self._accountant(),
        }
        return found | ({"delta_noise": parameters.delta / 2} if parameters.accountant == "zcdp" else {})

    def parts(self, unit: str) -> Json:
        found = super().parts(unit)
        found["noise"] |= {"law": _TEXT.say("law.lengths"), "spurious": _TEXT.say("law.spurious_rule")}
        found["contribution"] |= {"rule": self._bounded()}
        return found | {
            "inputs": number_sources(_TEXT.say("law.inputs"), _DRAWN_OF_LENGTHS, ["levels[].length"]),
            "parameters": self._parameters(),
            "noisy_count": self._noisy_count(),
            "levels": [self._level(length) for length in range(1, len(self.measurement.levels) + 1)],
        }

    def _delta_given(self) -> Json:
        """How delta was set (R16)."""
        parameters = self.measurement.parameters
        if parameters.delta_factor is None:
            return {"rule": _TEXT.say("claim.delta_constant")}
        return {
            "rule": _TEXT.say("claim.delta_of_count"),
            "delta_factor": parameters.delta_factor,
            "delta_max": parameters.delta,
        }

    def _accountant(self) -> Json:
        """The accountant, its theorem and its formulas (T2, D2)."""
        parameters, applied = self.measurement.parameters, _TEXT.say("accountant.applied")
        bounded = parameters.contribution
        if parameters.accountant == "gdp":
            return {
                "name": "gdp",
                "theorem": _TEXT.say("accountant.gdp_theorem"),
                "conversion": _TEXT.say("accountant.gdp_conversion"),
                "rule": _TEXT.say(f"accountant.gdp_rule.{bounded}"),
                "text": applied,
            }
        count_epsilon = self._nominal.count_epsilon
        assert count_epsilon is not None, "zcdp gives the count an epsilon"
        return {
            "epsilon_count": count_epsilon,
            "rho": zcdp_rho(parameters.epsilon - count_epsilon, parameters.delta),
            "name": "zcdp",
            "theorem": _TEXT.say(f"accountant.zcdp_theorem.{bounded}"),
            "conversion": _TEXT.say("accountant.zcdp_conversion"),
            "rule": _TEXT.say(f"accountant.zcdp_rule.{bounded}"),
            "text": f"{_TEXT.say(f'accountant.zcdp_charge.{bounded}')} {applied}",
        }

    def _parameters(self) -> Json:
        parameters, levels = self.measurement.parameters, len(self.measurement.levels)
        body = asdict(parameters)
        body["sigma_proportions"] = list(body["sigma_proportions"][:levels]) or [1.0] * levels
        of_length = {str(k): parameters.thresholds.value(k) for k in range(2, levels + 1)}
        body["thresholds"] = {"kind": parameters.thresholds.kind, "values": of_length}
        body["expected_size"] = body.pop("record_limit")
        del body["engine"]  # said under noise
        return body

    def _noisy_count(self) -> Json:
        """The number of records as drawn, with its noise, and what it is charged."""
        scale, planned = self.measurement.count_scale, self._nominal
        epsilon, sigma = planned.count_epsilon, planned.count_sigma or 1
        content: Json = {
            "value": self.measurement.number_of_records,
            "scale": scale,
            "mu_squared": pure_mu(epsilon) ** 2 if epsilon else 1 / sigma**2,
        }
        if self.measurement.parameters.accountant == "gdp":
            law = {"law": _TEXT.say("law.gaussian"), "sigma": planned.count_sigma}
            return content | law | error_bar_of(scale)
        # P(|Z| >= j) = e^(-(j - 1/2) / b), so both figures of a rounded Laplace are closed forms.
        ratio = math.exp(-1 / scale)
        variance = math.exp(0.5 / scale) * ratio * (1 + ratio) / (1 - ratio) ** 2
        return content | {
            "law": _TEXT.say("law.laplace"),
            "sd": math.sqrt(variance),
            "half_width_95": max(0, math.ceil(scale * math.log(20) - 0.5)),
            "epsilon": epsilon,
        }

    def _bounded(self) -> str:
        """How one subject's contribution is bounded (R12 and R13)."""
        parameters = self.measurement.parameters
        if parameters.contribution == "schema":
            return _TEXT.say("contribution.schema")
        percentile = f"{parameters.percentile_percentage}"
        if parameters.contribution == "profile":
            return _TEXT.say("contribution.profile", percentile=percentile)
        return _TEXT.say("contribution.percentile", percentile=percentile)

    def _level(self, length: int) -> Json:
        """One length's noise, threshold and result; what is suppressed only as R3 allows."""
        level = self.measurement.levels[length - 1]
        survivors = int(np.count_nonzero(level.survives))
        suppressed: Json = {"value": None, "why": _TEXT.say("law.suppressed_unknown")}
        if level.candidates is not None and length > 1:
            why = _TEXT.say("law.suppressed_known")
            suppressed = {"value": level.candidates - survivors, "why": why}
        sigma_charged = self._nominal.sigmas[length - 1]
        excluded = {"excluded": _TEXT.say("law.error_bar_excludes")}
        content: Json = {
            "length": length,
            "empty": level.scale == 0 or level.candidates == 0,
            "sigma": level.sigma,
            "sigma_charged": sigma_charged,
            "sensitivity": level.sensitivity,
            "sensitivity_bound": self._sensitivity_bound(length),
            "scale": level.scale,
            "mu_squared": 1 / sigma_charged**2,
            "threshold": level.threshold,
            "threshold_rule": self._threshold_rule(length),
            "candidates": level.candidates,
            "survivors": survivors,
            "suppressed": suppressed,
            "spurious": _spurious(level, survivors),
            "error_bar": error_bar_of(level.scale) | excluded if level.scale else None,
        }
        return content | (self._first_length(level) if length == 1 else {})

    def _sensitivity_bound(self, length: int) -> Json:
        """How Delta_k of one length was set, and what that cost."""
        applied, nominal = self._applied, self._nominal
        facts = Bounds(self.measurement.schema.width, length, self.measurement.levels[length - 1].candidates)
        found: Json = {"most": facts.most, "mu_squared": 0.0}  # 0 where the schema gives Delta_k
        if nominal.profile_sigma is not None:
            found["mu_squared"] = 1 / nominal.profile_sigma**2
        if nominal.percentile_epsilon is not None:
            found["mu_squared"] = pure_mu(nominal.percentile_epsilon) ** 2
            found |= {"epsilon": applied.percentile_epsilon, "epsilon_charged": nominal.percentile_epsilon}
            found["choices"] = size_candidates(facts.most)
        if applied.profile_sigma is not None:
            scale = float(thresholds.scale(applied.profile_sigma, 1))
            found |= {"sigma": applied.profile_sigma, "sigma_charged": nominal.profile_sigma, "scale": scale}
            found["edges"] = profile_edges(facts).tolist()
        return found

    def _threshold_rule(self, length: int) -> str:
        """The threshold's formula at one length (R10 and R11, D6)."""
        if length == 1:
            is_none = self.measurement.levels[0].threshold is None
            return _TEXT.say("threshold.none") if is_none else _TEXT.say("threshold.open")
        thresholds = self.measurement.parameters.thresholds
        return _TEXT.say(f"threshold.longer.{thresholds.kind}", value=f"{thresholds.value(length):g}")

    def _first_length(self, level: Level) -> Json:
        """Length 1 split into declared columns, whose domains are public, and open ones (R3 and R11)."""
        measurement, columns = self.measurement, self.measurement.schema.columns
        declared = [index for index, column in enumerate(columns) if not column.is_open]
        held = np.isin(level.combinations, declared)
        cells = sum(len(measurement.values[index]) for index in declared)
        kept, first = int(np.count_nonzero(held & level.survives)), measurement.length_one
        return {
            "declared": {
                "columns": len(declared),
                "domain_size": cells,
                "survivors": kept,
                "suppressed": cells - kept,
            },
            "open": {
                "columns": len(columns) - len(declared),
                "items": measurement.schema.open_items,
                "sensitivity": first.open_sensitivity if first else 0,
                "survivors": int(np.count_nonzero(~held & level.survives)),
                "suppressed": None,
                "why": _TEXT.say("law.suppressed_unknown"),
            },
        }


def _spurious(level: Level, survivors: int) -> Json:
    """Expected combinations that nobody holds, and their share of what is published, at most."""
    expected, share, text = level.expected_spurious, None, _TEXT.say("law.spurious_open")
    if expected is not None:
        text = _TEXT.say("law.spurious")
        share = min(1.0, expected / survivors) if survivors else None
    return {"expected_spurious": expected, "expected_spurious_share": share, "text": text}


#: Numbers that follow from the data (`number_sources`).
_DRAWN_OF_TABLES = (
    "choices[].candidates",
    "choices[].chosen",
    "choices[].sensitivity_squared",
    "columns[].cells",
    "columns[].noisy_total.survivors",
    "columns[].noisy_total.value",
    "noisy_count.value",
    "tables[].cells",
    "tables[].score",
    "tables[].sensitivity",
    "tables[].total",
    "values.counts[][]",
    "values.open.survivors",
)


@dataclass(frozen=True)
class FittedDraw(DrawDescription):
    """A draw of a workload's tables, for records that are fitted to them."""

    measurement: WorkloadMeasurement
    kind = "tables"

    def sensitivities(self) -> list[int]:
        tables = (*self.measurement.values[:1], *self.measurement.tables)
        scores = [len(each.candidates) for _, each in self._choices()]
        return [*(table.sensitivity for table in tables), *scores]

    def guarantee(self) -> Json:
        return super().guarantee() | {
            "accountant": {
                "name": "gdp",
                "theorem": _TEXT.say("fitted.theorem"),
                "conversion": _TEXT.say("accountant.gdp_conversion"),
                "rule": _TEXT.say("fitted.rule"),
                "text": _TEXT.say("fitted.shares"),
            }
        }

    def parts(self, unit: str) -> Json:
        found = super().parts(unit)
        found["noise"] |= {"law": _TEXT.say("law.tables")}
        found["contribution"] |= {"rule": _TEXT.say("fitted.cells")}
        return found | {
            "inputs": number_sources(_TEXT.say("fitted.inputs"), _DRAWN_OF_TABLES),
            "parameters": self._parameters(),
            "noisy_count": self._count(),
            "values": self._values(),
            "tables": self._tables(),
            "choices": [self._choice(*each) for each in self._choices()],
            "mu_squared_realised": float(self.realised()),
            "cells": _TEXT.say("fitted.cells"),
            "shares": _TEXT.say("fitted.shares"),
        }

    def columns(self, stated: Sequence[Json]) -> list[Json]:
        every = cells_of_all_columns(self.measurement.schema, self.measurement.cells)
        return [column | {"cells": cells.size} for column, cells in zip(stated, every, strict=True)]

    def charges(self) -> Iterator[tuple[int, float]]:
        measurement = self.measurement
        yield 1, measurement.count_scale
        if measurement.values:
            yield measurement.values[0].sensitivity, measurement.values[0].scale
        for table in measurement.tables:
            yield table.sensitivity, table.scale
        for _, scores in self._choices():
            yield self._squares(scores), scores.scale

    def _choices(self) -> list[tuple[str, NoisyScores]]:
        """The private choices that were made, by what was chosen: ``pairs`` or ``longer``."""
        both = (("pairs", self.measurement.pair_scores), ("longer", self.measurement.scores))
        return [(what, scores) for what, scores in both if scores is not None]

    def _squares(self, scores: NoisyScores) -> int:
        return sum(sensitivity(self.measurement.cells, columns) ** 2 for columns in scores.candidates)

    def _parameters(self) -> Json:
        parameters = self.measurement.parameters
        body: dict[str, Any] = parameters.as_settings()
        names = [column.name for column in self.measurement.schema.columns]
        target, tables = parameters.target, parameters.tables
        for longer in (body["longer"], *(step["longer"] for step in body["steps"])):
            longer["holding"] = None if longer["holding"] is None else names[longer["holding"]]
        return body | {
            "expected_size": body.pop("record_limit"),
            "target": None if target is None else names[target],
            "tables": None if tables is None else [[names[column] for column in each] for each in tables],
            "filled": [names[column] for column in parameters.filled],
        }

    def _count(self) -> Json:
        scale = self.measurement.count_scale
        return {
            "value": self.measurement.number_of_records,
            "scale": scale,
            "mu_squared": 1 / scale**2,
            "law": _TEXT.say("law.gaussian"),
            **error_bar_of(scale),
            "signal": self.measurement.signal,
            "signal_rule": _TEXT.say("fitted.signal"),
        }

    def _values(self) -> Json | None:
        measurement, first = self.measurement, self.measurement.length_one
        if first is None:
            return None
        columns = measurement.schema.measured.columns
        opened = [place for place, column in enumerate(columns) if column.is_open]
        return {
            "scale": first.scale,
            "sensitivity": first.sensitivity,
            "mu_squared": first.sensitivity / first.scale**2,
            "error_bar": error_bar_of(first.scale),
            "threshold": first.threshold if opened else None,
            "threshold_rule": _TEXT.say("fitted.threshold") if opened else _TEXT.say("threshold.none"),
            "counts": [table.counts.tolist() for table in measurement.values],
            "counts_rule": _TEXT.say("fitted.counts"),
            "open": {
                "columns": len(opened),
                "items": measurement.schema.measured.open_items,
                "sensitivity": first.open_sensitivity,
                "survivors": sum(len(measurement.cells[place].values) for place in opened),
                "suppressed": None,
                "why": _TEXT.say("fitted.other"),
            },
        }

    def _stages(self) -> Iterator[str]:
        """In which stage each table was measured: ``workload``, ``chosen`` (for its score) or ``second``."""
        scored = set(self.measurement.scores.candidates if self.measurement.scores else ())
        before: set[ColumnNumbers] = set()
        for columns in (table.columns for table in self.measurement.tables):
            # A single column is a table only where there was no other to measure again.
            again = columns in before or len(columns) == 1
            yield "second" if again else "chosen" if columns in scored else "workload"
            before.add(columns)

    def _tables(self) -> list[Json]:
        scores = {
            columns: score
            for _, each in self._choices()
            for columns, score in zip(each.candidates, each.scores, strict=True)
        }
        return [
            {"stage": stage, "score": scores.get(table.columns)} | self._table(table)
            for table, stage in zip(self.measurement.tables, self._stages(), strict=True)
        ]

    def _table(self, table: MeasuredTable) -> Json:
        counts_once = all(self.measurement.cells[column].cap == 1 for column in table.columns)
        return {
            "columns": [self.measurement.schema.columns[column].name for column in table.columns],
            "total": int(table.counts.sum()) if counts_once else None,
            "cells": int(table.counts.size),
            "sensitivity": table.sensitivity,
            "scale": table.scale,
            "mu_squared": table.sensitivity / table.scale**2,
            "error_bar": error_bar_of(table.scale),
        }

    def _choice(self, what: str, scores: NoisyScores) -> Json:
        drawn = {table.columns for table in self.measurement.tables}
        square, against = self._squares(scores), _TEXT.say(f"fitted.against.{what}")
        return {
            "what": _TEXT.say(f"published.chosen_from.{what}"),
            "candidates": len(scores.candidates),
            "chosen": sum(columns in drawn for columns in scores.candidates),
            "sensitivity_squared": square,
            "scale": scores.scale,
            "mu_squared": square / scores.scale**2,
            "against": against,
            "rule": _TEXT.say("fitted.score", against=against),
        }
