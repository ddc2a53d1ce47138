"""The slow oracle of the forest, in the port's semantics, against what the port computed."""

import json
from pathlib import Path

import pytest

from tasks.core.syndiffix.hashing import hash_entities
from tasks.core.syndiffix.parameters import (
    AnonymizationParameters,
    BucketizationParameters,
    FlatteningInterval,
    SuppressionParameters,
)
from tests.oracles.syndiffix import SALT
from tests.oracles.syndiffix_forest import build_forest

NAN = float("nan")
TWO = FlatteningInterval(2, 2)
NOISELESS = AnonymizationParameters(SALT, SuppressionParameters(3, 0.0, 2.0), TWO, TWO, 0.0)
NOISY = AnonymizationParameters(SALT)
# Each node is [snapped intervals, actual intervals, rows, noisy count, is stub, children by index].
CASES = json.loads((Path(__file__).parent / "trees.json").read_text())


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
    return {"_".join(map(str, columns)): written(root) for columns, root in forest.trees.items()}


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
