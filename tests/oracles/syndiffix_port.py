"""What the reference's port publishes, slowly, where it protects less than ours (X2.1 to X2.6, X3.3, X7.1).

Columns are scaled by their raw extremes, rows come out bucket by bucket, and all draws are those of the
public ``Random(0)``.
"""

from itertools import takewhile
from random import Random

from tests.oracles.syndiffix import is_single
from tests.oracles.syndiffix_buckets import Harvester
from tests.oracles.syndiffix_counters import is_low
from tests.oracles.syndiffix_forest import build_forest

CAP = 21  # entities after which the port stops counting


def public_generators():
    """Of the first table: for refinement, and for cells."""
    master = Random(0)
    return Random(master.random()), Random(master.random())


def port_buckets(columns, parameters):
    """[(intervals, count)] of all columns in one cluster; ``columns`` are in tree units."""
    names = [f"c{place}" for place in range(len(columns))]
    forest = build_forest(columns, names, parameters, semantics="port")
    refinement, _ = public_generators()
    return Harvester(lambda total: refinement.randint(0, total - 1)).table(
        forest.trees[tuple(range(len(columns)))]
    )


def port_column(values, parameters, decimals=3):
    """The synthetic column of a single numeric one, in the port's order."""
    least, most = min(values), max(values)
    scale = 0.9999 / (most - least)
    offset = -least * scale
    buckets = port_buckets([[value * scale + offset for value in values]], parameters)
    _, cells = public_generators()
    return [
        round((interval.lower + interval.size * cells.random() - offset) / scale, decimals)
        for (interval,), count in buckets
        for _ in range(count)
    ]


def port_texts(interval, vocabulary, rank):
    """A text cell of an interval of ranks."""
    if is_single(interval):
        return vocabulary[int(interval.lower)]
    first, last = int(interval.lower), min(int(interval.upper), len(vocabulary)) - 1
    characters = zip(vocabulary[first], vocabulary[max(first, last)], strict=False)
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], characters)) + f"*{rank}"


def is_low_in_port(hashes, threshold, parameters):
    """The low-count filter with the port's sets, which take no more than `CAP` entities."""
    kept = {*hashes} - {0}
    return len(kept) < CAP and is_low(kept, threshold, parameters)


def port_id_hash(identifier, hash_of):
    """The port's hash of an id: a falsy one is missing."""
    return hash_of(identifier) if identifier else 0
