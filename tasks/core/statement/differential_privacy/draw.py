"""What a statement says of a draw, whatever was drawn: a measurement in, parts of ``privacy.json`` out.

There is a class a kind of draw: `tasks.core.statement.differential_privacy.lengths` and ``fitted``. What they
share is here. Figures of the noise are of its law, never of the data, and rounded towards larger errors.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction

from tasks.core.arrays import Json
from tasks.core.dp.claim_limits import DISTANCE, MOST_SAMPLING_DELTA, sampling_delta
from tasks.core.dp.thresholds import error_bar
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


class StatedDraw(ABC):
    """One draw, as a statement describes it."""

    @abstractmethod
    def guarantee(self) -> Json:
        """What the claim says of its accountant."""

    @abstractmethod
    def parts(self, unit: str) -> Json:
        """The statement's parts on the draw, for the unit ``subject`` or ``row``.

        Raises:
            InternalError: the noise does not carry the nominal charge (rule 9).
        """

    def columns(self, stated: Sequence[Json]) -> list[Json]:
        """The columns of the public schema with what this draw has to add to each."""
        return list(stated)


def inputs(how: str, drawn: Iterable[str], chosen: Iterable[str] = ()) -> Json:
    """Which numbers are not recomputed from others, by where they come from, and how that is said."""
    return {
        "how": how,
        "chosen": sorted((*_CHOSEN, *chosen)),
        "drawn": sorted(drawn),
        "account": list(_ACCOUNT),
    }


def noise_law(law: str, lattice: str, *, private: bool) -> Json:
    """The law of the noise, and where its bits come from (privacy.md 3)."""
    return {
        "law": law,
        "lattice": lattice,
        "generator": _TEXT.say("law.generator") if private else _TEXT.say("law.generator_of_tests"),
        "error_bar": _TEXT.say("law.error_bar"),
    }


def error_bar_of(scale: float) -> Json:
    """Of rounded Gaussian noise: sd at most, and the least h with P(|round(N(0, s^2))| <= h) >= 0.95."""
    return {"sd": math.sqrt(scale * scale + 1 / 12), "half_width_95": error_bar(Fraction(scale), 0.95)}


def exactness(epsilon: float, sensitivities: Sequence[int], rule: str) -> Json:
    """What inexact sampling adds to delta (rule 20)."""
    return {
        "delta_sampling": sampling_delta(epsilon, sensitivities),
        "distance": DISTANCE,
        "at_most": MOST_SAMPLING_DELTA,
        "rule": rule,
    }


def joining(unit: str) -> str:
    """How rows become records, each a function of one subject alone."""
    if unit == "row":
        return _TEXT.say("joining.rows")
    return f"{_TEXT.say('joining.subjects')} {_TEXT.say('joining.whole_rows')}"


def meaning(schema: Schema, unit: str) -> Json:
    """What a count counts where subjects may have several rows, as ``meaning``; empty of single rows.

    It follows from the schema alone, so it does not tell whether anybody in the table has several.
    """
    has_several = [column.is_multi_valued for column in schema.columns]
    if unit == "row" or all(has_several):
        return {}
    told = _TEXT.say("meaning.whole_rows")
    return {"meaning": f"{told} {_TEXT.say('meaning.several_items')}" if any(has_several) else told}


def sample_of(expected_size: int | None, text: str) -> Json | None:
    """How a sample of so many subjects was taken (rule 14); None where all are counted."""
    if expected_size is None:
        return None
    return {"rule": _TEXT.say("sampling.rule"), "expected_size": expected_size, "text": text}
