"""Audit A2 in the obvious way: the law of a percentile, and pairs of neighbours."""

import math
from fractions import Fraction


def score(sizes, v, q):
    return -abs(sum(size <= v for size in sizes) - q * len(sizes))


def exponential_mechanism(scores, epsilon, sensitivity):
    """Probabilities proportional to exp(epsilon u / (2 sensitivity)), as logarithms."""
    return weighed_mechanism(scores, [1] * len(scores), epsilon, sensitivity)


def weighed_mechanism(scores, weights, epsilon, sensitivity):
    """The same times public weights."""
    best = max(scores)
    exponents = [
        epsilon * float(u - best) / (2 * float(sensitivity)) + math.log(weight)
        for u, weight in zip(scores, weights, strict=True)
    ]
    total = math.log(math.fsum(math.exp(e) for e in exponents))
    return [e - total for e in exponents]


def largest_loss(log_before, log_after):
    """(max |ln ratio|, range of ln ratio) of two laws on the same outputs; infinite if one can't occur."""
    ratios = [
        0.0 if a == b else a - b if math.isfinite(a) and math.isfinite(b) else math.inf
        for a, b in zip(log_before, log_after, strict=True)
    ]
    if math.inf in ratios:
        return math.inf, math.inf
    return max(map(abs, ratios)), max(ratios) - min(ratios)


def histogram(sizes):
    counts = [0] * (max(sizes, default=0) + 1)
    for size in sizes:
        counts[size] += 1
    return counts


def random_neighbours(random):
    """A data set of sizes, one size more, a quantile, a range and an epsilon; point masses included."""
    kind = random.randrange(3)
    n = random.choice([0, 1, 2, 5, 20, 100])
    largest = random.randint(1, 12)
    if kind == 0:
        sizes = [random.randint(0, largest + 3)] * n
    elif kind == 1:
        sizes = [random.randint(0, largest + 3) for _ in range(n)]
    else:
        low, high = random.randint(0, largest), random.randint(0, largest + 3)
        sizes = [low] * n + [high] * random.randint(0, 3)
    percentage = random.choice([0, 1, 50, 60, 95, 99, 100])
    added = random.randint(0, largest + 4)
    return sizes, added, Fraction(percentage, 100), largest, random.choice([0.01, 0.5, 2.0, 5.0])
