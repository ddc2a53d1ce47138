"""Evaluation against the raw data, for ``sensitive/`` alone: nothing of it may leave, nor is it charged.

Coded records, reportable aggregates and synthetic records go in; SDS's measures by their exact definitions
come out, with better ones beside them (sds.md 5). `sensitive_files` writes them.
"""

from dataclasses import asdict, dataclass
from typing import Any

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import CubeTable
from tasks.core.aggregates.linkability import FirstLengths
from tasks.core.aggregates.rare import LISTED, RareByLength, RecordAnalysis, analysis_of
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.arrays import ShareDone
from tasks.core.evaluation.compared_sides import CountedTable, SlotNumbering
from tasks.core.evaluation.comparison import Listener, compare_sides
from tasks.core.evaluation.measures import (
    Comparison,
    errors_by_length,
    leakage,
    leakage_by_length,
    mean_preservation,
    preservation_by_count,
    preservation_by_length,
    summary,
    weighted_mean_preservation,
)
from tasks.core.evaluation.rare_synthetic import SyntheticCombinations, Told
from tasks.core.evaluation.raw_side import RawRecords, analysis_of_partitions, facts_of_raw, raw_side
from tasks.core.evaluation.synthetic import code_synthetic
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords
from tasks.core.records.partitioned import PartitionedRecords
from tasks.core.synthesis.records import AnySynthetic

#: Places of the sides, and which are compared: both others with sensitive, synthetic with reportable.
_SENSITIVE, _REPORTABLE, _SYNTHETIC = range(3)
PAIRS = ((_SENSITIVE, _SYNTHETIC), (_SENSITIVE, _REPORTABLE), (_REPORTABLE, _SYNTHETIC))


@dataclass(frozen=True)
class RawInputs:
    """What is evaluated against what.

    Attributes:
        records: the coded records: the folder that holds them all, or partitions.
        sensitive: their marginals, all combinations of each length from 1 on.
        reportable: the released counts.
        synthetic: the released records.
        resolution: the reporting resolution, at least 1.
    """

    records: RawRecords
    sensitive: Marginals
    reportable: Aggregates
    synthetic: AnySynthetic
    resolution: int


@dataclass(frozen=True)
class RawEvaluation:
    """Everything that was found; sensitive.

    Attributes:
        synthetic: the synthetic records' counts against the true ones.
        reportable: the reported counts against the true ones.
        released: the synthetic records' counts against the reported ones.
        records: the records that a combination singles out, unprotected.
        combinations: those of the synthetic records, of up to `LISTED` attributes.
    """

    synthetic: Comparison
    reportable: Comparison
    released: Comparison
    records: RecordAnalysis
    combinations: SyntheticCombinations

    @property
    def rare(self) -> list[RareByLength]:
        """Rare combinations of the table, by length."""
        rows = leakage_by_length(self.synthetic)
        unique = self.synthetic.by_length("unique")
        return [
            RareByLength(row["length"], row["reference"], row["rare"], int(ones))
            for row, ones in zip(rows, unique, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: plain numbers, texts, lists and dictionaries."""
        return {
            "resolution": self.synthetic.resolution,
            "synthetic": measures(self.synthetic),
            "reportable": measures(self.reportable),
            "synthetic_against_reportable": measures(self.released),
            "total_variation": [asdict(distance) for distance in self.synthetic.distances],
            "rare_by_length": [{**asdict(row), "proportion": row.proportion} for row in self.rare],
            "records": {**asdict(self.records), "risky": self.records.risky},
        }


def evaluate_raw(
    inputs: RawInputs, resources: QueryResources = QueryResources(), progress: ShareDone | None = None
) -> RawEvaluation:
    """Evaluate synthetic records and reported counts against the raw data.

    Args:
        inputs: what is compared.
        resources: number of threads; the coded records are held in memory, one set of columns' counts beside.
            Of records in partitions counts alone: memory of each worker, and scratch for all counts.
        progress: called with the fraction done.
    """
    report = progress or (lambda fraction: None)
    synthetic = code_synthetic(inputs.synthetic, inputs.sensitive.facts.schema)
    others = (inputs.reportable, synthetic)
    longest = max(inputs.sensitive.lengths, default=0)
    with raw_side(inputs.records, others, longest, resources, _stage(report, 0.0, 0.4)) as raw:
        sides, singled_out = (raw, *others), _SingledOut(inputs, raw)
        found = SyntheticCombinations(
            SlotNumbering(sides), synthetic.schema, inputs.resolution, resources.scratch
        )

        def visit(table: CubeTable) -> Told | None:
            singled_out.look_at(table)
            return found.tell(table, _SYNTHETIC, _SENSITIVE) if table.length <= LISTED else None

        listener = Listener(_compared_share(report, raw), visit, found.take)
        compared = compare_sides(sides, PAIRS, inputs.resolution, longest, resources, listener)
    against_synthetic, against_reportable, released = compared
    analysis = singled_out.analysis(longest)
    report(1.0)
    return RawEvaluation(against_synthetic, against_reportable, released, analysis, found)


class _SingledOut:
    """Which records are singled out: seen while they are counted, or, of partitions, on a pass of its own."""

    def __init__(self, inputs: RawInputs, raw: CodedRecords | CountedTable) -> None:
        self._inputs = inputs
        self._lengths: FirstLengths | None = None
        if isinstance(raw, CodedRecords):
            self._lengths = FirstLengths(raw.number_of_records, inputs.resolution)

    def look_at(self, table: CubeTable) -> None:
        """Take in a table whose first side is the raw one."""
        if self._lengths is not None:
            self._lengths.look_at(table)

    def analysis(self, longest: int) -> RecordAnalysis:
        """What was found."""
        if self._lengths is not None:
            return analysis_of(self._lengths.unique, self._lengths.rare, longest)
        assert isinstance(self._inputs.records, PartitionedRecords)
        return analysis_of_partitions(self._inputs.records, self._inputs.sensitive, self._inputs.resolution)


def _stage(report: ShareDone, start: float, end: float) -> ShareDone:
    return lambda fraction: report(start + (end - start) * fraction)


def _compared_share(report: ShareDone, raw: CodedRecords | CountedTable) -> ShareDone:
    """Comparing is all there is to do, but for what workers do before and after it."""
    return report if isinstance(raw, CodedRecords) else _stage(report, 0.4, 0.8)


def list_combinations(
    records: RawRecords,
    synthetic: AnySynthetic,
    longest: int,
    resolution: int,
    resources: QueryResources = QueryResources(),
    progress: ShareDone = lambda fraction: None,
) -> SyntheticCombinations:
    """All combinations of the synthetic records; an evaluation lists the short ones.

    Args:
        records: the coded records: the folder that holds them all, or partitions.
        synthetic: the released records.
        longest: of the combinations.
        resolution: the reporting resolution; what is rarer is listed with its records.
        resources: number of threads; scratch for what is listed, and for all counts of partitions.
        progress: called with the fraction done.
    """
    schema = facts_of_raw(records).schema
    other = code_synthetic(synthetic, schema)
    with raw_side(records, (other,), longest, resources, _stage(progress, 0.0, 0.4)) as raw:
        sides = (raw, other)
        found = SyntheticCombinations(SlotNumbering(sides), schema, resolution, resources.scratch)
        listener = Listener(_compared_share(progress, raw), lambda table: found.tell(table, 1, 0), found.take)
        compare_sides(sides, ((0, 1),), resolution, longest, resources, listener)
    return found


def measures(comparison: Comparison) -> dict[str, Any]:
    """Every measure of one comparison, for JSON."""
    means = {
        "mean_preservation": mean_preservation(comparison),
        "weighted_mean_preservation": weighted_mean_preservation(comparison),
    }
    return {
        "summary": summary(comparison) | means,
        "leakage": leakage(comparison),
        "by_length": errors_by_length(comparison),
        "leakage_by_length": leakage_by_length(comparison),
        "preservation_by_length": preservation_by_length(comparison),
        "preservation_by_count": preservation_by_count(comparison),
    }
