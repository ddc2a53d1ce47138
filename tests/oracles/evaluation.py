"""The measures of evaluation in plain dictionaries, one combination at a time (S5.1)."""

from collections.abc import Mapping

Attributes = frozenset[tuple[int, str]]
Counts = Mapping[Attributes, int]


def bin_bounds(largest: int) -> list[int]:
    bounds = [10]
    while bounds[-1] < largest:
        bounds.append(bounds[-1] * 2)
    return bounds


def measures(s: Counts, y: Counts, resolution: int) -> dict[str, object]:
    """Everything by definition; keys as the functions under test name them."""
    union = set(s) | set(y)
    both = set(s) & set(y)
    population = {t for t in s if s[t] >= resolution} | set(y)
    rare = {t for t in s if s[t] < resolution}

    def proportional(t: Attributes) -> float:
        return abs(y.get(t, 0) - s[t]) / s[t] if t in s else 1.0

    def mean(values: list[float]) -> float:
        return sum(values) / len(values) if values else 0.0

    def preserved(t: Attributes) -> float:
        return min(y.get(t, 0) / s[t], 1) if t in s else 0.0

    def share(part: float, whole: float) -> float:
        return part / whole if whole else 0.0

    bounds = bin_bounds(max(y.values(), default=0))
    binned = {
        bound: [t for t in population if next(b for b in bounds if b >= y.get(t, 0)) == bound]
        for bound in bounds
    }
    leaked = sum(1 for t in rare if 0 < y.get(t, 0) < resolution)
    anywhere = sum(1 for t in rare if t in y)
    suppressed, fabricated = len(set(s) - set(y)), len(set(y) - set(s))
    return {
        "totals": {
            "combinations": len(union),
            "suppressed": suppressed,
            "fabricated": fabricated,
            "rare": len(rare),
            "unique": sum(1 for t in s if s[t] == 1),
            "leaked": leaked,
            "leaked_anywhere": anywhere,
            "population": len(population),
        },
        "summary": {
            "suppressed_pct": 100 * share(suppressed, len(s)),
            "fabricated_pct": 100 * share(fabricated, len(s)),
            "fabricated_pct_of_compared": 100 * share(fabricated, len(y)),
            "mean_count": mean(list(s.values())),
            "mean_error": mean([abs(s[t] - y[t]) for t in both]),
            "mean_error_of_union": mean([abs(s.get(t, 0) - y.get(t, 0)) for t in union]),
            "mean_proportional_error": sum(mean([proportional(t) for t in held]) for held in binned.values())
            / len(bounds),
            "mean_proportional_error_unbinned": mean([proportional(t) for t in population]),
            "weighted_mean_proportional_error": share(
                sum(abs(s[t] - y.get(t, 0)) for t in s), sum(s.values())
            ),
        },
        "mean_preservation": mean([preserved(t) for t in population]),
        "weighted_mean_preservation": share(sum(min(s[t], y.get(t, 0)) for t in s), sum(s.values())),
        "leakage": {
            "reference": len(s),
            "compared": len(y),
            "rare": len(rare),
            "leaked": leaked,
            "leak_proportion": share(leaked, len(y)),
            "leaked_pct_of_reference": 100 * share(leaked, len(s)),
            "leaked_anywhere": anywhere,
            "leaked_anywhere_proportion": share(anywhere, len(rare)),
        },
        "by_count": {
            bound: (
                mean([y.get(t, 0) for t in held]),
                mean([len(t) for t in held]),
                mean([preserved(t) for t in held]),
                mean([proportional(t) for t in held]),
            )
            for bound, held in binned.items()
        },
    }
