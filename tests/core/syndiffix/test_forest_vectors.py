"""The slow oracles of the forest, in the port's semantics, against what the port computed."""

import csv
import json
from pathlib import Path
from random import Random

import pytest

from tasks.core.syndiffix.hashing import hash_entities
from tasks.core.syndiffix.settings import BucketizationParameters
from tests.oracles.syndiffix_buckets import Harvester, harvest
from tests.oracles.syndiffix_dependence import dependence, entropy
from tests.oracles.syndiffix_forest import build_forest
from tests.oracles.syndiffix_settings import GAPLESS, NAN, NOISELESS, NOISY

# Each node is [snapped intervals, actual intervals, rows, noisy count, is stub, children by index].
CASES = json.loads((Path(__file__).parent / "trees.json").read_text())
TAXI = ["pickup_longitude", "pickup_latitude", "fare_amount", "rate_code", "passenger_count"]


def forest_of(case, semantics="port"):
    columns = [[NAN if value is None else value for value in column] for column in case["columns"].values()]
    hashes = [hash_entities(case["ids"]).tolist()] if "ids" in case else None
    parameters = NOISELESS if case["noiseless"] else NOISY
    return build_forest(columns, list(case["columns"]), parameters, semantics=semantics, hashes=hashes)


def bounds(intervals):
    return [[interval.lower, interval.upper] for interval in intervals]


def written(node):
    """A node in the form of the vectors; children are there in order of their index."""
    fields = [bounds(node.snapped), bounds(node.actual), len(node.rows), node.noisy_count, node.is_stub]
    children = {str(index): written(child) for index, child in sorted(node.children.items())}
    return [*fields, children] if children else fields


def trees_of(forest):
    return {name_of(columns): written(root) for columns, root in forest.trees.items()}


def name_of(columns):
    return "_".join(map(str, columns))


def generator():
    random = Random(0)
    return lambda total: random.randint(0, total - 1)


def plain(buckets):
    return [[bounds(intervals), count] for intervals, count in buckets]


def scaled(values):
    """The port's unit: 0 to 0.9999."""
    scale = 0.9999 / (max(values) - min(values))
    return [value * scale - min(values) * scale for value in values]


@pytest.mark.parametrize("name", CASES)
def test_trees_are_the_ports(name):
    case = CASES[name]
    forest = forest_of(case)
    assert forest.null_values == case["null_mappings"]
    assert bounds(forest.intervals) == case["root_intervals"]
    assert trees_of(forest) == case["trees"]


def test_only_trees_that_were_divided_by_a_prefix_of_their_rows_differ_in_ours():
    trees = {name: trees_of(forest_of(case, "ours")) for name, case in CASES.items()}
    assert [name for name, case in CASES.items() if trees[name] != case["trees"]] == ["noisy_2d_80"]


@pytest.mark.parametrize("name", CASES)
def test_buckets_are_the_ports(name):
    roots = forest_of(CASES[name]).trees
    buckets = {name_of(columns): plain(harvest(root, generator())) for columns, root in roots.items()}
    assert buckets == CASES[name]["buckets"]


def test_what_was_harvested_before_changes_the_ports_buckets_and_not_ours():
    for semantics in ("port", "ours"):
        trees = forest_of(CASES["noisy_2d_80"], semantics).trees
        harvester = Harvester(generator())
        for column in ((0,), (1,)):
            harvester.table(trees[column])
        changed = harvester.table(trees[(0, 1)]) != harvest(trees[(0, 1)], generator())
        assert changed == (semantics == "port")


def test_dependence_is_the_ports():
    # Four values of x, eight rows each, y alternating: it follows from x. The port found 0.5.
    columns = [[float(row % 4) for row in range(32)], [1.5, 0.5] * 16]
    limits = BucketizationParameters(range_low_threshold=8)
    forest = build_forest(columns, ["x", "y"], GAPLESS, limits, "port")
    assert dependence(forest, 0, 1) == dependence(forest, 1, 0) == 0.5


@pytest.mark.needs_shared
def test_dependences_and_entropies_of_the_taxi_table_are_the_ports(shared_data):
    with (shared_data / "taxi-1000.csv").open() as file:
        records = list(csv.DictReader(file))
    columns = [scaled([float(record[name]) for record in records]) for name in TAXI]
    forest = build_forest(columns, TAXI, NOISELESS, semantics="port", largest=2)
    entropies = [entropy(forest.trees[(column,)]) for column in range(5)]
    assert entropies == pytest.approx([9.214, 9.207, 5.160, 0.118, 1.350], abs=0.0005)
    dependences = [dependence(forest, x, y) for x in range(5) for y in range(x + 1, 5)]
    expected = [0.20, 0.15, 0.02, 0.05, 0.18, 0.02, 0.06, 0.04, 0.07, 0.01]
    assert dependences == pytest.approx(expected, abs=0.00501)
