"""What the privacy statement says of a draw by lengths: a measurement goes in, its law comes out.

The formulas and the meaning of their symbols are in ``sentences/differential_privacy.toml``.
"""

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tasks.core.arrays import Json
from tasks.core.dp.group_privacy import FirstLength
from tasks.core.dp.measurement import Level, Measurement
from tasks.core.errors import InternalError
from tasks.core.sentences import sentences_of
from tasks.core.statement.differential_privacy.constants import Constants, bound, count_charge, of_accountant
from tasks.core.statement.differential_privacy.draw import (
    StatedDraw,
    error_bar_of,
    exactness,
    inputs,
    joining,
    meaning,
    noise_law,
    sample_of,
)

_TEXT = sentences_of("differential_privacy")

#: Numbers that follow from the data, and with the columns chosen those that do not (`draw.inputs`).
_DRAWN = (
    "columns[].noisy_total.survivors",
    "columns[].noisy_total.value",
    "levels[].candidates",
    "levels[].open.survivors",
    "levels[].sensitivity",
    "levels[].survivors",
    "noisy_count.value",
)


@dataclass(frozen=True)
class LengthsDraw(StatedDraw):
    """A draw by lengths: counts of one attribute, of two, and so on."""

    measurement: Measurement

    @cached_property
    def _constants(self) -> Constants:
        return Constants.of(self.measurement)

    def guarantee(self) -> Json:
        """What the claim says of its accountant."""
        measurement, constants = self.measurement, self._constants
        parameters, delta_t = measurement.parameters, measurement.threshold_delta
        is_zcdp = parameters.accountant == "zcdp"
        rest = parameters.delta / 2 if is_zcdp else (parameters.delta - delta_t) / (1 - delta_t)
        sensitivities = [level.sensitivity for level in measurement.levels]
        rule = _TEXT.say("law.exactness_of_lengths")
        return {
            "delta_given": self._delta_given(),
            "delta_applied": constants.delta,
            "delta_threshold_applied": constants.applied.applied_threshold_delta,
            "delta_noise": rest,
            "identity": _TEXT.say(f"claim.delta_identity.{parameters.accountant}"),
            "reporting_length": parameters.reporting_length,
            "accountant": self._accountant() | of_accountant(constants, measurement),
            "sampling_exactness": exactness(parameters.epsilon, sensitivities, rule),
        }

    def parts(self, unit: str) -> Json:
        """The statement's parts on the draw.

        Raises:
            InternalError: the noise does not carry the nominal charge (rule 9).
        """
        self._require_covered()
        measurement = self.measurement
        law, lattice = _TEXT.say("law.lengths"), _TEXT.say("law.lattice_of_lengths")
        noise = noise_law(law, lattice, private=measurement.private)
        limit = measurement.parameters.record_limit
        return {
            "inputs": inputs(_TEXT.say("law.inputs"), _DRAWN, ["levels[].length"]),
            "parameters": self._parameters(),
            "noisy_count": self._noisy_count(),
            "levels": [self._level(length) for length in range(1, len(measurement.levels) + 1)],
            "noise": noise | {"spurious": _TEXT.say("law.spurious_rule")},
            "contribution": {
                "rule": self._bounded(),
                "width": measurement.schema.width,
                "how": joining(unit),
                **meaning(measurement.schema, unit),
            },
            "sampling": sample_of(limit, _TEXT.say("sampling.text_of_lengths")),
        }

    def _require_covered(self) -> None:
        """Refuse noise that is smaller than its charge says, in exact rationals."""
        measurement = self.measurement
        drawn = [(level.sensitivity, level.scale) for level in measurement.levels if level.scale]
        if measurement.parameters.accountant == "gdp":
            drawn.append((1, measurement.count_scale))
        spent = sum((square / Fraction(scale) ** 2 for square, scale in drawn), Fraction(0))
        if spent > Fraction(measurement.mu_squared):
            raise InternalError(
                "The noise of a release must cover its charge: sum of Delta_k / s_k^2 <= mu^2."
            )

    def _delta_given(self) -> Json:
        """How delta was set (rule 16)."""
        parameters = self.measurement.parameters
        if parameters.delta_factor is None:
            return {"rule": _TEXT.say("claim.delta_constant")}
        return {
            "rule": _TEXT.say("claim.delta_of_count"),
            "delta_factor": parameters.delta_factor,
            "delta_max": parameters.delta,
        }

    def _accountant(self) -> Json:
        """The accountant, its theorem and its formulas (privacy.md 1.2 and 2)."""
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
        return {
            "name": "zcdp",
            "theorem": _TEXT.say(f"accountant.zcdp_theorem.{bounded}"),
            "conversion": _TEXT.say("accountant.zcdp_conversion"),
            "rule": _TEXT.say(f"accountant.zcdp_rule.{bounded}"),
            "text": f"{_TEXT.say(f'accountant.zcdp_charge.{bounded}')} {applied}",
        }

    def _parameters(self) -> Json:
        """Every parameter of the draw."""
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
        scale, planned = self.measurement.count_scale, self._constants.nominal
        content: Json = {
            "value": self.measurement.number_of_records,
            "scale": scale,
            "mu_squared": count_charge(planned),
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
            "epsilon": planned.count_epsilon,
        }

    def _bounded(self) -> str:
        """How one subject's contribution is bounded (rules 12 and 13)."""
        parameters = self.measurement.parameters
        if parameters.contribution == "schema":
            return _TEXT.say("contribution.schema")
        percentile = f"{parameters.percentile_percentage}"
        if parameters.contribution == "profile":
            return _TEXT.say("contribution.profile", percentile=percentile)
        return _TEXT.say("contribution.percentile", percentile=percentile)

    def _level(self, length: int) -> Json:
        """One length's noise, threshold and result; what is suppressed only as rule 3 allows."""
        measurement, level = self.measurement, self.measurement.levels[length - 1]
        survivors = int(np.count_nonzero(level.survives))
        suppressed: Json = {"value": None, "why": _TEXT.say("law.suppressed_unknown")}
        if level.candidates is not None and length > 1:
            why = _TEXT.say("law.suppressed_known")
            suppressed = {"value": level.candidates - survivors, "why": why}
        sigma_charged = self._constants.nominal.sigmas[length - 1]
        excluded = {"excluded": _TEXT.say("law.error_bar_excludes")}
        content: Json = {
            "length": length,
            "empty": level.scale == 0 or level.candidates == 0,
            "sigma": level.sigma,
            "sigma_charged": sigma_charged,
            "sensitivity": level.sensitivity,
            "sensitivity_bound": bound(self._constants, measurement, length),
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

    def _threshold_rule(self, length: int) -> str:
        """The threshold's formula at one length (rules 10 and 11, privacy.md 6.6)."""
        if length == 1:
            is_none = self.measurement.levels[0].threshold is None
            return _TEXT.say("threshold.none") if is_none else _TEXT.say("threshold.open")
        thresholds = self.measurement.parameters.thresholds
        return _TEXT.say(f"threshold.longer.{thresholds.kind}", value=f"{thresholds.value(length):g}")

    def _first_length(self, level: Level) -> Json:
        """Length 1 split into declared columns, whose domains are public, and open ones (rules 3 and 11)."""
        measurement, columns = self.measurement, self.measurement.schema.columns
        declared = [index for index, column in enumerate(columns) if not column.is_open]
        held = np.isin(level.combinations, declared)
        cells = sum(len(measurement.values[index]) for index in declared)
        kept = int(np.count_nonzero(held & level.survives))
        return {
            "declared": {
                "columns": len(declared),
                "domain_size": cells,
                "survivors": kept,
                "suppressed": cells - kept,
            },
            "open": {
                "columns": len(columns) - len(declared),
                "items": sum(column.max_items for column in columns if column.is_open),
                "sensitivity": FirstLength.of(measurement).open_sensitivity,
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
