"""What the page has under differential privacy: the statement goes in, budget and thresholds come out."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from tasks.core.arrays import Json
from tasks.core.charts import theme
from tasks.core.charts.bars import ErrorBar
from tasks.core.charts.shares import NOT_KNOWN, Whole, budget_gauge, shares
from tasks.core.charts.svg import Chart, LegendEntry
from tasks.core.dp.budget import Spent
from tasks.core.dp.measurement import Measurement
from tasks.core.figures import up, whole
from tasks.core.navigation.associations import PairCounts
from tasks.core.navigation.regimes.regime import Regime
from tasks.core.navigation.released_associations import MeasuredPairs
from tasks.core.navigation.survival import SurvivalLevel, survival_chart, survival_rows
from tasks.core.statement.differential_privacy.questions import SOURCE, conditions_of
from tasks.core.statement.differential_privacy.statement import SKIP
from tasks.core.statement.differential_privacy.words import LengthsWords, NoisyWords, factor


class PrivateCounts(Regime):
    """What both kinds of differentially private release have."""

    words: ClassVar[type[NoisyWords]]
    count: ClassVar[str] = "noisy count"

    @property
    def _is_private(self) -> bool:
        """Whether it is a release, and not drawn by the seeded test engine."""
        return bool(self.statement["private"])

    def sections(self) -> Json:
        """The claim and the budget."""
        is_private = self._is_private
        return {
            "private": is_private,
            "factor": factor(self.statement["guarantee"]["epsilon"]) if is_private else "",
            "topics": self.words(self.statement).topics(),
            "conditions": self._conditions(),
            "one_row_stands": "meaning" in self.statement["contribution"],
            "has_items": any(column.is_multi_valued for column in self.inputs.schema.columns),
            "condition_sentences": conditions_of(self.statement) if is_private else [],
            "questions_source": SOURCE if is_private else "",
            "gauge": gauge_of(self.statement["ledger"]) if is_private else None,
        }

    def _conditions(self) -> list[str]:
        """Why the promise does not hold whatever somebody knows: keys of the answers' sentences."""
        stated = self.statement
        skips = stated.get("on_unchanged", {}).get("policy") == SKIP
        has_stopped = "stopped_by_contract" in stated or "stopped_unread" in stated
        told = {"strict": stated["contract"]["strict"], "skipped": skips, "stopped": has_stopped}
        return [f"neighbour.{name}" for name, is_told in told.items() if is_told]


def gauge_of(ledger: Json) -> Chart:
    """What of a dataset's cap in force is spent. Args: ledger: the account, as a statement has it."""
    cap = ledger["in_force"]
    used = ledger["mu_squared_spent"] / cap["mu_squared"]
    return budget_gauge(used, epsilon_spent(ledger), cap["epsilon"])


def epsilon_spent(ledger: Json) -> float:
    """The epsilon of all that is spent at the delta of the cap in force, which may have been lowered."""
    delta = ledger["in_force"]["delta"]
    if delta == ledger["delta_cap"]:
        return float(ledger["epsilon_spent"])
    spent = Spent(Decimal(ledger["mu_squared_spent"]), 1 - Decimal(ledger["delta_threshold_spent"]))
    return spent.epsilon(Decimal(delta))


@dataclass(frozen=True)
class NoisyCounts(PrivateCounts):
    """Counts of combinations, drawn length by length."""

    measurement: Measurement
    words: ClassVar[type[NoisyWords]] = LengthsWords
    template: ClassVar[str] = "noise.html.j2"

    @property
    def _measured(self) -> list[Json]:
        """The lengths at which anything was measured."""
        return [level for level in self.statement["levels"] if not level["empty"] and level["error_bar"]]

    @property
    def error_bar(self) -> ErrorBar | None:
        """Of length 1."""
        bar = self._measured[0]["error_bar"]["half_width_95"] if self._measured else None
        return ErrorBar(bar, bar) if bar else None

    @property
    def spread(self) -> Mapping[int, float]:
        """Of each length."""
        return {level["length"]: level["error_bar"]["sd"] for level in self._measured}

    def pair_counts(self) -> PairCounts:
        """Those of length 2."""
        return MeasuredPairs(self.measurement)

    def sections(self) -> Json:
        """What was published, and the chance of it."""
        levels = [
            SurvivalLevel(_length_name(level), level["scale"], level["threshold"])
            for level in self._measured
            if level["threshold"] is not None
        ]
        return super().sections() | {
            "longest": len(self.statement["levels"]),
            "half_widths": [
                (level["length"], level["error_bar"]["half_width_95"]) for level in self._measured
            ],
            "thresholds": [
                (level["length"], level["threshold"]) for level in self._measured if level["threshold"]
            ],
            "shares": _shares(self._measured),
            "survival": survival_chart(levels),
            "survival_rows": survival_rows(levels),
        }


_FATES = (
    LegendEntry("published", theme.RELEASED),
    LegendEntry("held by nobody (at most)", theme.SYNTHETIC),
    LegendEntry("not published", theme.FAINT),
    LegendEntry("not known", NOT_KNOWN),
)


def _shares(measured: list[Json]) -> Chart | None:
    """What became of the candidates of each length; None where nothing was measured."""
    if not measured:
        return None
    described = "Published and unpublished candidates by length."
    return shares([_fates(level) for level in measured], _FATES, "What was published, by length", described)


def _fates(level: Json) -> Whole:
    """Candidates of a length that were published, held by nobody among them, and not published."""
    label, published, suppressed = f"length {level['length']}", level["survivors"], _not_published(level)
    expected = level["spurious"]["expected_spurious"] if level["length"] > 1 else None
    told = f"{whole(published)} published"
    spurious = min(expected or 0.0, float(published))
    if expected is not None and published:
        told += f" (at most {up(spurious, 2)} held by nobody)"
    if suppressed is None:
        # The true share can't be drawn, so the known part gets half and the rest is marked as not known.
        told += "; the number not published is not known (not to scale)"
        return Whole(label, ((1.0 if published else 0.0, theme.RELEASED), (1.0, NOT_KNOWN)), told)
    colours = (theme.RELEASED, theme.SYNTHETIC, theme.FAINT)
    sizes = (published - spurious, spurious, float(suppressed))
    told += f"; {whole(suppressed)} not published"
    return Whole(label, tuple(zip(sizes, colours, strict=True)), told)


def _not_published(level: Json) -> int | None:
    """Candidates that were not published, where a release may know it (R3)."""
    if level["length"] > 1:
        return level["suppressed"]["value"]  # type: ignore[no-any-return]
    return None if level["open"]["columns"] else level["declared"]["suppressed"]


def _length_name(level: Json) -> str:
    """A length in words; at length 1 only open columns have a threshold."""
    return f"length {level['length']}" + (", open" if level["length"] == 1 else "")
