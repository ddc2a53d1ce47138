"""How much columns tell, and how much of each other, from SynDiffix's trees, slowly (X3.4)."""

from math import log2

from tests.oracles.syndiffix import holds, middle


def leaves(node):
    return [leaf for child in node.children.values() for leaf in leaves(child)] or [node]


def entropy(root):
    """The entropy of a column in bits, from the noisy counts of its tree."""
    shares = [leaf.noisy_count / root.noisy_count for leaf in leaves(root)]
    return -sum(share * log2(share) for share in shares)


def dependence(forest, x, y, few=0.0):
    """From 0 to 1: by how much the counts of pairs differ from those of independent columns.

    Pairs of which fewer are expected are left out, and what is below them: none in the reference.
    """
    x, y = sorted((x, y))
    found = []
    root = forest.trees[(x, y)]
    walk((forest.trees[(x,)], forest.trees[(y,)], root), (root.noisy_count, few), found)
    weight = sum(expected for expected, _ in found[1:])
    return sum(expected * score for expected, score in found[1:]) / weight if weight else 0.0


def walk(nodes, limits, found):
    """Append (expected count, score) of a pair of nodes, and both, and of what is below; both may be None."""
    (x, y, both), (rows, few) = nodes, limits
    forest = x.forest
    least = forest.rules.bucketization.range_low_threshold
    if min(x.noisy_count, y.noisy_count) < least:
        return
    expected = x.noisy_count * y.noisy_count / rows
    if expected < few:
        return
    actual = 0 if both is None else both.noisy_count
    found.append((expected, abs(expected - actual) / max(expected, actual)))
    if x.is_singularity and y.is_singularity:
        return
    # A node that is a single value goes down on the side of its value.
    for x_side, x_child in sides(x, both, 0):
        for y_side, y_child in sides(y, both, 1):
            child = (
                None if both is None or None in (x_side, y_side) else both.children.get(2 * x_side + y_side)
            )
            walk((x_child, y_child, child), limits, found)


def sides(node, both, d):
    """[(half, node)] to go on with: its children or, of a single value, itself in the half of its value.

    In the port the half is None where the value is no part of it: the upper bound of the whole interval.
    """
    if not node.is_singularity:
        return list(node.children.items())
    if both is None:
        return [(None, node)]
    value, interval = node.actual[0].lower, both.snapped[d]
    if node.forest.rules.semantics == "port" and not holds(interval, value):
        return [(None, node)]
    return [(int(value >= middle(interval)), node)]
