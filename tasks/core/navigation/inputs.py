"""What the page of a release of counts is made of: all that is published, and its layout."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Json
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.navigation.fidelity import Fidelity
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import SyntheticRecords


@dataclass(frozen=True)
class ReportInputs:
    """Everything a page is made of.

    Attributes:
        statement: the content of ``privacy.json``, of either regime.
        schema: the public schema.
        aggregates: the reportable aggregates.
        measurement: what was drawn; None under k-anonymity.
        synthetic: the synthetic records; None where none were made.
        fidelity: synthetic against reportable counts; None where they were not compared.
        title: of the page; empty for the dataset's name.
        visuals: SDS's ``report_visuals``: name to attributes ``header:value``.
        pages: SDS's ``report_pages``: page to the visuals and columns on it, in order.
        contract: the content of ``contract.json``; None where there was no data contract.
        fit: of a fitted release, the part ``fit`` of ``evaluation.json``; None where it was not evaluated.
        published: how many combinations are published, where ``aggregates`` holds only those that were drawn.
    """

    statement: Json
    schema: Schema
    aggregates: Aggregates
    measurement: Measurement | WorkloadMeasurement | None = None
    synthetic: SyntheticRecords | None = None
    fidelity: Fidelity | None = None
    title: str = ""
    visuals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    contract: Json | None = None
    fit: Json | None = None
    published: int | None = None
