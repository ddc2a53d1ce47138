"""Leakage: rare sensitive combinations that also appear on the compared side (sds.md 5).

SDS counts a rare combination only where it is rare on the compared side as well; ``leaked_anywhere``
counts any appearance. Sensitive wherever the comparison's reference is.
"""

from typing import Any

from tasks.core.evaluation.comparison import Comparison, ratio


def leakage_by_length(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a length: combinations on the compared side, and how many of them are leaked.

    Keys: ``length``, ``compared``, ``leaked`` and ``leak_proportion`` (of the compared side's
    combinations: SDS), ``leaked_anywhere`` and ``leaked_anywhere_proportion`` (of the rare ones).
    """
    names = ("compared", "leaked", "leaked_anywhere", "rare")
    columns = [comparison.by_length(name) for name in names]
    return [
        {
            "length": length,
            "compared": int(compared),
            "leaked": int(leaked),
            "leak_proportion": ratio(leaked, compared),
            "leaked_anywhere": int(anywhere),
            "leaked_anywhere_proportion": ratio(anywhere, rare),
        }
        for length, compared, leaked, anywhere, rare in zip(comparison.lengths, *columns, strict=True)
    ]
