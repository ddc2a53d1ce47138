"""NIST's k-marginal score: 1000 where all marginals agree, 0 where none shares anything.

As NIST's SDNist 2.5 has it: (2 - mean L1 distance) x 500 over every pair of features, together with a feature
that groups the records (of its own tables, the region PUMA); without a group over the pairs alone.
"""

from tasks.core.evaluation.utility.marginal_distances import Distances, FeatureSet, feature_sets


def k_marginal_sets(features: int, group: int | None) -> list[FeatureSet]:
    """The sets that the score is over: the group and every pair of the others, or every pair.

    Where there are very many, `feature_sets` draws some of the pairs.
    """
    if group is None:
        return feature_sets(features, 2)
    others = [place for place in range(features) if place != group]
    pairs = feature_sets(len(others), 2)
    return [(group, others[one], others[other]) for one, other in pairs]


def k_marginal_score(distances: Distances) -> float | None:
    """The score of the sets' total variations; None where there is no set."""
    return 1000.0 * (1.0 - float(distances.mean())) if len(distances) else None
