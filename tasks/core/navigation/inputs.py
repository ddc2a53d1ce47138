"""What the page of a release of counts is made of: all that is published, and what it is called."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tasks.core.aggregates.aggregates import Aggregates, Ranges, as_drawn
from tasks.core.arrays import Json
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.navigation.fidelity import Fidelity
from tasks.core.navigation.naming import Naming
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import AnySynthetic


@dataclass(frozen=True)
class ReportInputs:
    """Everything a page is made of.

    Attributes:
        statement: the content of ``privacy.json``, of either regime.
        schema: the public schema.
        aggregates: every reportable combination.
        measurement: what was drawn; None under k-anonymity.
        synthetic: the synthetic records; None where none were made.
        fidelity: synthetic against reportable counts; None where they were not compared.
        naming: titles, words and layout.
        contract: the content of ``contract.json``; None where there was no data contract.
        fit: of a fitted release, the part ``fit`` of ``evaluation.json``; None where it was not evaluated.
        ranges: of a fitted release, of each length the ranges of its counts; empty otherwise.
    """

    statement: Json
    schema: Schema
    aggregates: Aggregates
    measurement: Measurement | WorkloadMeasurement | None = None
    synthetic: AnySynthetic | None = None
    fidelity: Fidelity | None = None
    naming: Naming = field(default_factory=Naming)
    contract: Json | None = None
    fit: Json | None = None
    ranges: Sequence[Ranges] = ()

    @cached_property
    def drawn(self) -> Aggregates:
        """The counts as they were drawn or rounded, without those that were only estimated."""
        return as_drawn(self.aggregates, self.ranges) if self.ranges else self.aggregates

    @property
    def title(self) -> str:
        """Of the page."""
        return self.naming.title or f"{self.statement['dataset']}, {self.statement['vintage']}"

    @property
    def published(self) -> int:
        """How many combinations are published; of a fitted release those that were estimated, too."""
        return sum(len(found) for found in self.aggregates.counts)
