"""Which numbers a cell may get and how probably, cell by cell, with fractions (X3.3)."""

from collections import defaultdict
from fractions import Fraction
from math import ceil


def parts_of(lower, upper, marginal, top):
    """The parts of an interval that the marginal's buckets (lower, upper, count) cover, and how probably."""
    if lower == upper:
        return {(lower, upper): Fraction(1)}
    rows = defaultdict(Fraction)
    for low, high, count in marginal:
        if low == high:
            if lower <= low < upper or low == upper == top:
                rows[low, low] += count
        elif max(low, lower) < min(high, upper):
            part = max(low, lower), min(high, upper)
            rows[part] += count * (Fraction(part[1]) - Fraction(part[0])) / (Fraction(high) - Fraction(low))
    total = sum(rows.values())
    return {part: share / total for part, share in rows.items()} if total else {(lower, upper): Fraction(1)}


def law(lower, upper, marginal, top, step=1):
    """The probability of each multiple of a step."""
    result = defaultdict(Fraction)
    for (low, high), share in parts_of(lower, upper, marginal, top).items():
        if low == high:
            result[low] += share
            continue
        first, end = ceil(Fraction(low) / step), ceil(Fraction(high) / step)
        for k in range(first, end):
            result[float(k * step)] += share / (end - first)
    return dict(result)


def prefix_of(texts):
    """What several texts begin with, none of them being it as a whole."""
    if len(texts) < 2:
        return ""
    prefix = ""
    for characters in zip(*texts, strict=False):
        if len(set(characters)) > 1:
            break
        prefix += characters[0]
    return prefix[:-1] if prefix in texts else prefix
