"""A run under differential privacy, planned: what is drawn, and what must be told of its claim."""

from typing import ClassVar

from tasks.configuration.model import UNDATED, RunConfiguration
from tasks.configuration.parameters import drawn_parameters
from tasks.core.contracts.contract import Contract
from tasks.core.dp.claim_limits import Claim, cautions
from tasks.core.ledger.mechanisms import AnyParameters
from tasks.core.records.columns import Schema
from tasks.plan.protections.plan import ProtectionPlan, counting_notes
from tasks.public.bundles.bundle import unit_of


class DrawingPlan(ProtectionPlan):
    """Differential privacy: noise is drawn, so what one subject adds must be bounded."""

    needs_caps: ClassVar[bool] = True

    def parameters(self, configuration: RunConfiguration, schema: Schema) -> AnyParameters:
        """Of the draw."""
        return drawn_parameters(configuration, schema)

    def notes(
        self, configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
    ) -> list[str]:
        """On the names that the budget hangs on, then on the claim."""
        protection, least = configuration.privacy, contract.min_rows if contract else None
        claim = Claim(protection.epsilon, protection.delta, unit_of(schema), least)
        return [
            *_naming_notes(configuration, vintage),
            *([_SKIPS] if configuration.skips_unchanged else []),
            *counting_notes(configuration, schema),
            *(f"ATTENTION: {said}" for said in cautions(claim)),
        ]


_SKIPS = (
    "ATTENTION: on_unchanged is skip. No release is made of a table that is what it was at the last one, so "
    "the dates of the releases, and a missing vintage, tell whether the table changed. No noise hides "
    "that and no budget covers it; every release states it."
)


def _naming_notes(configuration: RunConfiguration, vintage: str) -> list[str]:
    notes = []
    if not configuration.dataset_is_named:
        notes.append(
            f"No dataset is named: the budget is kept under the prefix, {configuration.dataset!r}. "
            "Tables about the same people must share one dataset name."
        )
    if vintage == UNDATED:
        notes.append(
            f"No vintage is given: this release is labelled {UNDATED!r}, and a later run of that label "
            "returns it whatever the table then holds. Give each new release a vintage of its own."
        )
    return notes
