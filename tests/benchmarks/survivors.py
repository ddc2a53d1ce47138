"""Whether two sides that draw noise kept equally many combinations, judged by how much that number varies."""

import math
import statistics
from collections.abc import Sequence

from scipy.stats import t

#: Chance that one length is called different although both sides draw from the same distribution.
FALSE_ALARM = 1e-4

#: Survivors by length, of one fit.
Fit = Sequence[int]


def disagreements(mine: Sequence[Fit], theirs: Sequence[Fit]) -> list[str]:
    """The lengths at which the two sides' means differ by more than chance, in words.

    Survivors of a length hang on those of the length before, so their variance is not that of independent
    combinations: it is taken from our own fits, of which there are many, and holds for the peer's, which are
    the same mechanism.

    Args:
        mine: fits of ours, at least two.
        theirs: fits of the peer, at least one.
    """
    found = []
    for length, (ours, peers) in enumerate(
        zip(zip(*mine, strict=True), zip(*theirs, strict=True), strict=True)
    ):
        us, them = statistics.mean(ours), statistics.mean(peers)
        error = statistics.stdev(ours) * math.sqrt(1 / len(ours) + 1 / len(peers))
        tolerance = float(t.isf(FALSE_ALARM / 2, len(ours) - 1)) * error
        if abs(us - them) > tolerance:
            means = f"{us:.1f} and {them:.1f} differ by more than {tolerance:.1f}"
            found.append(f"survivors of length {length + 1}: {means}")
    return found
