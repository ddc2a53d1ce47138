"""Evaluation against the raw data, for ``sensitive/`` alone: nothing of it may leave, nor is it charged.

True counts, coded records, reportable aggregates and synthetic records go in; SDS's measures by their
exact definitions come out, with better ones beside them (sds.md 5). `sensitive_files` writes them.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.dense import count_in_memory
from tasks.core.aggregates.rare import RareByLength, RecordAnalysis, analyse_records, rare_by_length
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.evaluation.comparison import Comparison, compare
from tasks.core.evaluation.distance import MarginalDistance, total_variation
from tasks.core.evaluation.leakage import leakage_by_length
from tasks.core.evaluation.preservation import preservation_by_count, preservation_by_length
from tasks.core.evaluation.synthetic import coded_synthetic
from tasks.core.evaluation.utility import errors_by_length, summary
from tasks.core.queries import Resources
from tasks.core.records.coded import CodedRecords, read_coded_records
from tasks.core.synthesis.records import SyntheticRecords

#: Called with the fraction done, 0..1.
Progress = Callable[[float], None]

_STEPS = 5


@dataclass(frozen=True)
class RawInputs:
    """What is evaluated against what.

    Attributes:
        records: folder of the coded records (one partition holds them all).
        sensitive: their marginals, all combinations of each length from 1 on.
        reportable: the released counts.
        synthetic: the released records.
        resolution: the reporting resolution, at least 1.
    """

    records: Path
    sensitive: Marginals
    reportable: Aggregates
    synthetic: SyntheticRecords
    resolution: int


@dataclass(frozen=True)
class RawEvaluation:
    """Everything that was found; sensitive.

    Attributes:
        synthetic: the synthetic records' counts against the true ones.
        reportable: the reported counts against the true ones.
        records: the records that a combination singles out, unprotected.
        rare: rare combinations of the table.
        distances: total variation distance of the synthetic records' marginals of length 1 to 3.
        synthetic_records, synthetic_marginals: the synthetic records, coded and counted.
    """

    synthetic: Comparison
    reportable: Comparison
    records: RecordAnalysis
    rare: list[RareByLength]
    distances: list[MarginalDistance]
    synthetic_records: CodedRecords
    synthetic_marginals: Marginals

    def to_dict(self) -> dict[str, Any]:
        """For JSON: plain numbers, texts, lists and dictionaries."""
        return {
            "resolution": self.synthetic.resolution,
            "synthetic": _measures(self.synthetic),
            "reportable": _measures(self.reportable),
            "total_variation": [asdict(distance) for distance in self.distances],
            "rare_by_length": [{**asdict(row), "proportion": row.proportion} for row in self.rare],
            "records": {**asdict(self.records), "risky": self.records.risky},
        }


def evaluate_raw(
    inputs: RawInputs, folder: Path, resources: Resources = Resources(), progress: Progress | None = None
) -> RawEvaluation:
    """Evaluate synthetic records and reported counts against the raw data.

    Args:
        inputs: what is compared.
        folder: an existing empty folder in the sensitive zone, for the synthetic records' marginals.
        resources: memory (beside the coded records themselves), threads, scratch.
        progress: called with the fraction done.
    """
    report = progress or (lambda fraction: None)
    synthetic = coded_synthetic(inputs.synthetic, inputs.sensitive.facts.schema)
    marginals = count_in_memory(synthetic, folder, max(inputs.sensitive.lengths, default=1))
    report(1 / _STEPS)
    against_synthetic = compare(inputs.sensitive, marginals, inputs.resolution, resources)
    against_reportable = compare(inputs.sensitive, inputs.reportable, inputs.resolution, resources)
    report(2 / _STEPS)
    rare = rare_by_length(inputs.sensitive, inputs.resolution, resources)
    records = read_coded_records(inputs.records)
    analysis = analyse_records(records, inputs.sensitive, inputs.resolution)
    report(4 / _STEPS)
    distances = total_variation(records, synthetic)
    report(1.0)
    return RawEvaluation(
        against_synthetic, against_reportable, analysis, rare, distances, synthetic, marginals
    )


def _measures(comparison: Comparison) -> dict[str, Any]:
    return {
        "summary": summary(comparison),
        "by_length": errors_by_length(comparison),
        "leakage_by_length": leakage_by_length(comparison),
        "preservation_by_length": preservation_by_length(comparison),
        "preservation_by_count": preservation_by_count(comparison),
    }
