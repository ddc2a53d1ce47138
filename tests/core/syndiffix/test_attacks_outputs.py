"""Attacks on one or several outputs of ours (syndiffix.md 7.1): predicted, averaged, or put together.

Trials differ by salt, which the attacker doesn't know, or by table.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm

from tasks.core.syndiffix.settings import AnonymizationParameters, SingleClustering, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer, tables_per_question
from tests.oracles.syndiffix_port import port_column

FALSE_ALARM = 1e-6
THRESHOLD = 3


def synthesizer(table, trial, ids=(), **options):
    salted = AnonymizationParameters(trial.to_bytes(16, "little"), **options)
    return Synthesizer(table, SynDiffixParameters(salted, clustering=SingleClustering()), ids=ids)


def numbers():
    return np.round(np.random.default_rng(3).uniform(0, 500, 400), 3).tolist()


def port_output(trial):
    return port_column(numbers(), AnonymizationParameters(trial.to_bytes(16, "little")))


def our_output(trial):
    return synthesizer(pa.table({"x": numbers()}), trial).sample()["x"].to_pylist()


def agreement(first, second):
    """The rank correlation of two columns, row by row."""
    return np.corrcoef(*(np.argsort(np.argsort(column)) for column in (first, second)))[0, 1]


def predictions(output, guess):
    """How well a guess, made with a salt of one's own, tells a row's value, and which of two is greater."""
    size = min(len(output), len(guess)) // 2 * 2
    one, other = (np.array(column[:size]) for column in (output, guess))
    return abs(agreement(one, other)), abs(agreement(one[1::2] - one[::2], other[1::2] - other[::2]))


def chance_agreement(independent, tests):
    """What the correlation of so many independent pairs exceeds in one of the tests with FALSE_ALARM."""
    return norm.isf(FALSE_ALARM / (2 * tests)) / np.sqrt(independent - 1)


def test_port_s_rows_are_predicted_by_its_public_generator():
    found = [predictions(port_output(0), port_output(trial)) for trial in range(1, 6)]
    # What is beyond chance in all of a hundred tables would be told from a single one.
    assert min(each[0] for each in found) > chance_agreement(380, 200)
    assert min(each[1] for each in found) > chance_agreement(190, 200)


def test_our_rows_are_not_predicted_without_the_salt():
    found = [predictions(our_output(0), our_output(trial)) for trial in range(1, 101)]
    assert max(each[0] for each in found) < chance_agreement(380, 200)
    assert max(each[1] for each in found) < chance_agreement(190, 200)


def test_our_rows_are_in_no_order():
    found = [abs(agreement(output, range(len(output)))) for output in map(our_output, range(100))]
    assert max(found) < chance_agreement(380, 100)
    column = port_output(0)
    assert agreement(column, range(len(column))) > chance_agreement(380, 100)


def mixed(generator, rows=60):
    """Reals of many decimals, large integers and texts, all but a few of them held by several rows."""
    pools = [
        np.round(generator.uniform(0, 100, 12), 9).tolist(),
        generator.integers(0, 10**12, 12).tolist(),
        ["", "a", "ab", "abc", "abcd", "b", "e\u0301", "\u00e9", "\u00e9x", "zz", "z" * 300, "\U0001f600"],
    ]
    weights = np.array([12, 9, 7, 5, 4, 3, 2, 2, 1, 1, 1, 1.0])
    columns = {}
    for place, pool in enumerate(pools):
        chances = generator.permutation(weights) / weights.sum()
        picked = [pool[i] for i in generator.choice(len(pool), rows, p=chances)]
        is_null = generator.random(rows) < 0.1
        columns[f"c{place}"] = [None if null else v for v, null in zip(picked, is_null, strict=True)]
    return pa.table(columns | {"id": generator.integers(-10, rows // 2, rows).tolist()})


def holders(table, name, ids):
    """How many entities hold each value of a column."""
    who = table["id"].to_pylist() if ids else range(table.num_rows)
    return Counter(value for value, _ in set(zip(table[name].to_pylist(), who, strict=True)))


@pytest.mark.slow
def test_no_value_of_too_few_entities_is_in_any_output_of_random_tables():
    generator = np.random.default_rng(5)
    outputs = 0
    for trial in range(300):
        table, ids = mixed(generator), ["id"] if trial % 2 else []
        kept = table if ids else table.drop(["id"])
        made = synthesizer(kept, trial, ids)
        sets = [*((c,) for c in range(3)), *combinations(range(3), 2), (0, 1, 2)]
        counts = {name: holders(table, name, ids) for name in ("c0", "c1", "c2")}
        for output in tables_per_question(made, sets):
            outputs += 1
            for name in output.column_names:
                shown = set(output[name].to_pylist()) & set(counts[name])
                assert all(counts[name][value] >= THRESHOLD for value in shown)
    assert outputs == 2100


def test_no_text_begins_with_what_too_few_entities_share():
    generator = np.random.default_rng(6)
    for trial in range(100):
        table = mixed(generator)
        known = [text for text in table["c2"].to_pylist() if text is not None]
        for cell in synthesizer(table.drop(["id"]), trial).sample()["c2"].to_pylist():
            if cell is not None:
                assert sum(text.startswith(cell.split("*")[0]) for text in known) >= THRESHOLD


def counts_of_nodes(made, combination):
    """Noisy count by a node's depth and bounds, of several columns sorted by header."""
    tree = made.forest.tree(combination)
    order = np.argsort([made.columns[column].name for column in combination])
    keys = zip(tree.nodes.depth.tolist(), map(tuple, tree.nodes.lower[:, order].tolist()), strict=True)
    return dict(zip(keys, tree.noisy.tolist(), strict=True))


def plain(generator, rows=300):
    columns = {"x": np.round(generator.uniform(0, 100, rows), 2), "y": generator.integers(0, 40, rows)}
    return pa.table(columns | {"z": [f"t{i % 7}" for i in range(rows)]})


def test_counts_are_the_same_in_any_order_of_rows_and_columns_and_in_each_run():
    generator = np.random.default_rng(7)
    for trial in range(50):
        table = plain(generator)
        first = synthesizer(table, trial)
        shuffled = synthesizer(table.take(generator.permutation(300)), trial)
        permuted = synthesizer(table.select(["z", "y", "x"]), trial)
        assert first.sample().equals(shuffled.sample()) and first.sample().equals(first.sample())
        for combination in ((0,), (1,), (2,), (0, 1), (0, 1, 2)):
            mirrored = tuple(sorted(2 - column for column in combination))
            assert counts_of_nodes(first, combination) == counts_of_nodes(permuted, mirrored)


def holds_row(made, combination, key, row):
    """Whether a node, as a key of `counts_of_nodes`, holds a row of values by header."""
    depth, lower = key
    sizes = made.forest.tree(combination).grid.size / 2**depth
    size_of = {made.columns[column].name: size for column, size in zip(combination, sizes, strict=True)}
    pairs = zip(sorted(size_of), lower, strict=True)
    return all(0 <= row[name] - low < size_of[name] for name, low in pairs)


def test_a_row_that_is_added_changes_only_the_counts_of_nodes_that_hold_it():
    generator = np.random.default_rng(8)
    for trial in range(100):
        table = plain(generator)
        added = pa.table({"x": [37.77], "y": [11], "z": ["t3"]}, table.schema)
        before, after = (synthesizer(each, trial) for each in (table, pa.concat_tables([table, added])))
        for combination in ((0,), (0, 1)):
            first, second = (counts_of_nodes(made, combination) for made in (before, after))
            others = [
                key
                for key in first.keys() & second.keys()
                if not holds_row(before, combination, key, {"x": 37.77, "y": 11})
            ]
            assert len(others) > 20 and all(first[key] == second[key] for key in others)
