"""Leakage: rare sensitive combinations that also appear on the compared side (sds.md 5).

SDS counts a rare combination only where it is rare on the compared side as well; ``leaked_anywhere``
counts any appearance. Sensitive wherever the comparison's reference is.
"""

from typing import Any

from tasks.core.evaluation.sums import Comparison, ratio


def leakage_by_length(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a length: combinations on both sides, rare ones, and how many of them are leaked.

    Keys: ``length``, ``reference``, ``compared``, ``rare``, ``leaked`` and ``leak_proportion`` (of the
    compared side's combinations: SDS's pipeline), ``leaked_pct_of_reference`` (of the reference side's:
    SDS's web page), ``leaked_anywhere`` and ``leaked_anywhere_proportion`` (of the rare ones).
    """
    names = ("reference", "compared", "rare", "leaked", "leaked_anywhere")
    columns = zip(*(comparison.by_length(name) for name in names), strict=True)
    return [
        {"length": length, **_leakage(*values)}
        for length, values in zip(comparison.lengths, columns, strict=True)
    ]


def leakage(comparison: Comparison) -> dict[str, Any]:
    """The same over all lengths."""
    names = ("reference", "compared", "rare", "leaked", "leaked_anywhere")
    return _leakage(*(comparison.total(name) for name in names))


def _leakage(
    reference: float, compared: float, rare: float, leaked: float, anywhere: float
) -> dict[str, Any]:
    return {
        "reference": int(reference),
        "compared": int(compared),
        "rare": int(rare),
        "leaked": int(leaked),
        "leak_proportion": ratio(leaked, compared),
        "leaked_pct_of_reference": 100 * ratio(leaked, reference),
        "leaked_anywhere": int(anywhere),
        "leaked_anywhere_proportion": ratio(anywhere, rare),
    }
