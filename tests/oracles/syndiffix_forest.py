"""SynDiffix's trees, grown row by row as the specification says it, slowly (X2.5, X2.6).

`build_forest` has two semantics. "port" is the reference's port: rows are inserted one by one and a leaf is
divided as soon as the rows so far allow it; children are in order of arrival; a row that was pushed down is
a row of its leaf like others. "ours" does not depend on the order of rows: a node is divided if all its rows
allow it; children are in order of their index; a row that was pushed out of the root interval of any of a
tree's columns is a passenger, which is counted in noisy counts and looked at by nothing else.
"""

from itertools import combinations

import numpy as np

from tasks.core.syndiffix.hashing import hash_int
from tasks.core.syndiffix.intervals import map_nulls
from tasks.core.syndiffix.settings import BucketizationParameters
from tests.oracles.syndiffix_nodes import Forest, Node, Rules


def build_forest(
    columns,
    names,
    anonymization,
    bucketization=BucketizationParameters(),
    semantics="ours",
    *,
    hashes=None,
    one_row_each=None,
    value_safe=(),
    largest=None,
):
    """All trees of up to ``largest`` columns (None: of all); ``columns`` are lists of floats, NaN for null.

    ``hashes``: for each id column a hash for each row, 0 for a missing id; None: rows are entities by their
    position from 1. ``one_row_each`` is by default whether hashes are None. ``value_safe``: column numbers.
    """
    if one_row_each is None:
        one_row_each = hashes is None
    if hashes is None:
        hashes = [[hash_int(i + 1) for i in range(len(columns[0]))]]
    rules = Rules(anonymization, bucketization, semantics, hashes, one_row_each, frozenset(value_safe))
    mapped = [map_nulls(np.array(column, float)) for column in columns]
    forest = Forest(
        list(names),
        [values.tolist() for values, _, _ in mapped],
        [null_value for _, null_value, _ in mapped],
        [interval for _, _, interval in mapped],
        rules,
    )
    for column in range(len(columns)):
        root = grow_tree(forest, (column,), frozenset())
        root, outside = push_down(root)
        forest.trees[(column,)] = root
        forest.intervals[column] = root.snapped[0]
        forest.outside.append(outside)
    for k in range(2, (largest or len(columns)) + 1):
        for combination in combinations(range(len(columns)), k):
            passengers = frozenset().union(*(forest.outside[column] for column in combination))
            forest.trees[combination] = grow_tree(forest, combination, passengers)
    return forest


def grow_tree(forest, columns, outside):
    k = len(columns)
    subnodes = []
    if k > 1:
        subnodes = [forest.trees[columns[: k - 1 - i] + columns[k - i :]] for i in range(k)]
    root = Node(forest, columns, [forest.intervals[column] for column in columns], 0, subnodes)
    if forest.rules.semantics == "port":
        for row in forest.rows:
            insert(root, row)
    else:
        for row in forest.rows:
            root.receive(row, row not in outside)
        divide(root)
    return root


def insert(node, row):
    """The port: a row goes down to its leaf, which is divided if its rows so far allow it."""
    is_new = not node.rows
    node.receive(row, True)
    if node.children:
        insert_into_child(node, row)
    elif not is_new and node.may_be_divided:
        for earlier in node.rows:
            insert_into_child(node, earlier)


def insert_into_child(node, row):
    index = node.child_index(row)
    if index not in node.children:
        node.children[index] = node.new_child(index)
    insert(node.children[index], row)


def divide(node):
    """Ours: a node with all its rows is divided, or is not."""
    if not node.may_be_divided:
        return
    holders = set(node.holders)
    for row in node.rows:
        index = node.child_index(row)
        if index not in node.children:
            node.children[index] = node.new_child(index)
        node.children[index].receive(row, row in holders)
    node.children = dict(sorted(node.children.items()))
    for child in node.children.values():
        divide(child)


def push_down(root):
    """The root of a one-column tree without halves that too few are in, and the rows of these halves."""
    dropped = []
    while root.children:
        low = [
            index not in root.children or (root.children[index].is_leaf and root.children[index].is_low_count)
            for index in (0, 1)
        ]
        if low[0] == low[1]:
            break
        kept = low.index(False)
        dropped.append(root.children[1 - kept].rows if 1 - kept in root.children else [])
        root = root.children[kept]
    outside = [row for rows in reversed(dropped) for row in rows]
    for row in outside:
        push_into(root, row)
    return root, set(outside)


def push_into(node, row):
    node.rows.append(row)
    if node.forest.rules.semantics == "port":
        node.holders.append(row)
    if node.children:
        only = next(iter(node.children.values())) if len(node.children) == 1 else None
        push_into(only or node.children[node.child_index(row)], row)
