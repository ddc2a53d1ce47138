"""What runs are compared by: each figure's key, its words, and which end of it is better."""

from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher", ""]

#: Which counts were held against which: the first part of a figure's key, and its words.
GROUPS = {
    "size": "Size",
    "released": "Synthetic records against the reported counts",
    "raw": "Synthetic records against the raw table",
    "reported": "Reported counts against the raw table",
}


@dataclass(frozen=True)
class Metric:
    """One figure of a run.

    Attributes:
        key: ``group.name``, the group one of `GROUPS`.
        words: what it is.
        better: which end is better; empty where neither is.
        about: its definition in a sentence.
    """

    key: str
    words: str
    better: Better
    about: str = ""

    @property
    def group(self) -> str:
        """The counts that it is of."""
        return GROUPS[self.key.split(".", 1)[0]]


_ERRORS: tuple[tuple[str, str, Better, str], ...] = (
    ("mean_count", "mean count", "", "Mean count of the combinations that are taken as right."),
    (
        "mean_error",
        "mean absolute error, of those kept",
        "lower",
        "Mean difference of the two counts, over combinations that both sides hold. Lost ones do not count.",
    ),
    (
        "mean_error_of_union",
        "mean absolute error, over all",
        "lower",
        "Mean difference of the two counts, over combinations that either side holds. Absent ones are 0.",
    ),
    (
        "mean_proportional_error",
        "mean proportional error, by bins (SDS)",
        "lower",
        "The error divided by the right count, averaged in bins of the judged count, then over the bins.",
    ),
    (
        "mean_proportional_error_unbinned",
        "mean proportional error",
        "lower",
        "The error divided by the right count, averaged over combinations.",
    ),
    (
        "weighted_mean_proportional_error",
        "proportional error, weighted by count",
        "lower",
        "The sum of all errors divided by the sum of the right counts.",
    ),
    (
        "mean_preservation",
        "mean count preservation",
        "higher",
        "Share of a combination's count that is kept, at most 1, averaged over combinations.",
    ),
    (
        "weighted_mean_preservation",
        "count preservation, weighted by count",
        "higher",
        "The same, each combination with the weight of its count.",
    ),
)
_LOST = "Combinations of the raw table that the judged side does not hold, of those of the raw table."
_MADE_UP = "Combinations of the judged side that the raw table does not hold"
_LEAKED = (
    "Rare combinations of the raw table, held by fewer records than the resolution and by at least one, that "
    "appear among the synthetic records"
)


def _errors(group: str) -> list[Metric]:
    return [Metric(f"{group}.{name}", words, better, about) for name, words, better, about in _ERRORS]


def _raw_measure(group: str) -> list[Metric]:
    return [
        Metric(f"{group}.suppressed_pct", "suppressed combinations, %", "lower", _LOST),
        Metric(
            f"{group}.fabricated_pct",
            "fabricated, % of the raw table's (SDS)",
            "lower",
            f"{_MADE_UP}, divided by the number of those that it holds. It may exceed 100.",
        ),
        Metric(
            f"{group}.fabricated_pct_of_compared",
            "fabricated, % of its own",
            "lower",
            f"{_MADE_UP}, of those of the judged side.",
        ),
        *_errors(group),
    ]


METRICS: tuple[Metric, ...] = (
    Metric("size.synthetic_records", "synthetic records", ""),
    Metric("size.reported_combinations", "reported combinations", ""),
    Metric(
        "released.missed_pct",
        "reported combinations that no synthetic record holds, %",
        "lower",
        "Of the reported combinations.",
    ),
    Metric(
        "released.unreported_pct",
        "synthetic combinations that are not reported, % of the reported",
        "lower",
        "Divided by the number of reported combinations. It may exceed 100.",
    ),
    Metric(
        "released.unreported_pct_of_synthetic",
        "synthetic combinations that are not reported, %",
        "lower",
        "Of the synthetic records' combinations.",
    ),
    *_errors("released"),
    Metric(
        "released.record_expansion_pct",
        "more records than reported, %",
        "",
        "Synthetic records in percent of the reported number of records, less 100.",
    ),
    *_raw_measure("raw"),
    Metric(
        "raw.record_expansion_pct",
        "more records than the raw table, %",
        "",
        "Synthetic records in percent of those of the raw table, less 100.",
    ),
    Metric("raw.leaked", "leaked rare combinations (SDS)", "lower", f"{_LEAKED} and are rare there too."),
    Metric(
        "raw.leak_proportion",
        "leaked, share of the synthetic records' combinations (SDS)",
        "lower",
        "The same divided by the number of the synthetic records' combinations.",
    ),
    Metric(
        "raw.leaked_anywhere", "rare combinations that appear at all", "lower", f"{_LEAKED}, however often."
    ),
    Metric(
        "raw.leaked_anywhere_proportion",
        "rare combinations that appear at all, share of the rare ones",
        "lower",
        "The same divided by the number of the raw table's rare combinations.",
    ),
    *(
        Metric(
            f"raw.total_variation_{length}",
            f"total variation of shares of records, length {length}",
            "lower",
            "Half the sum of the differences of shares of records, averaged over sets of columns. "
            "Missing values count: more and shorter records than the table has are far from it.",
        )
        for length in (1, 2, 3)
    ),
    *_raw_measure("reported"),
)
