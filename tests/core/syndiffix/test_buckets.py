"""What holds of the buckets of every table (syndiffix.md 6.4)."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.syndiffix_compiled import (
    BUCKETIZATION,
    PARAMETERS,
    all_combinations,
    compiled_buckets,
    compiled_forest,
    tables,
)

TABLES = tables(3, 40)


def holders_of(table, column, value):
    """Distinct entities of the rows with a value, in the id column that has fewest."""
    rows = [row for row, cell in enumerate(column) if cell == value]
    return min(len({*table.hashes[rows, ids].tolist()} - {0}) for ids in range(table.hashes.shape[1]))


@settings(max_examples=40, deadline=None)
@given(TABLES, PARAMETERS, BUCKETIZATION)
def test_counts_add_up_to_the_roots_and_places_are_within_it(table, parameters, limits):
    forest = compiled_forest(table, parameters, limits)
    for combination in all_combinations(len(table.columns)):
        buckets, tree = forest.buckets(combination), forest.tree(combination)
        assert (buckets.counts >= 1).all()
        assert buckets.rows == 0 or abs(buckets.rows - tree.noisy[tree.root]) <= 1
        for place, column in enumerate(combination):
            interval = forest.ranked(column).interval
            lower, upper = buckets.lower[:, place], buckets.upper[:, place]
            assert (interval.lower <= lower).all() and (lower <= upper).all()
            assert (upper <= interval.upper).all()


@settings(max_examples=60, deadline=None)
@given(TABLES, PARAMETERS, BUCKETIZATION)
def test_single_values_are_held_by_enough_entities(table, parameters, limits):
    forest = compiled_forest(table, parameters, limits)
    least = parameters.low_count_params.low_threshold
    for combination in all_combinations(len(table.columns)):
        buckets = forest.buckets(combination)
        for place, column in enumerate(combination):
            if column in table.value_safe:
                continue
            null_value = forest.null_values[column]
            cells = [null_value if np.isnan(cell) else cell for cell in table.columns[column]]
            single = buckets.lower[:, place] == buckets.upper[:, place]
            for value in set(buckets.lower[single, place].tolist()):
                assert holders_of(table, cells, value) >= least


@settings(max_examples=30, deadline=None)
@given(TABLES, PARAMETERS, BUCKETIZATION, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(table, parameters, limits, random):
    order = random.sample(range(table.rows), table.rows)
    columns = [[column[row] for row in order] for column in table.columns]
    shuffled = replace(table, columns=columns, hashes=table.hashes[order])
    one, other = compiled_forest(table, parameters, limits), compiled_forest(shuffled, parameters, limits)
    for combination in all_combinations(len(table.columns)):
        assert (one.tree(combination).noisy == other.tree(combination).noisy).all()
        assert compiled_buckets(one.buckets(combination)) == compiled_buckets(other.buckets(combination))


@settings(max_examples=30, deadline=None)
@given(TABLES, PARAMETERS, st.randoms(use_true_random=False))
def test_what_was_grown_before_changes_nothing(table, parameters, random):
    every = all_combinations(len(table.columns))
    forest = compiled_forest(table, parameters)
    for combination in random.sample(every, len(every)):
        alone = compiled_forest(table, parameters).buckets(combination)
        assert compiled_buckets(forest.buckets(combination)) == compiled_buckets(alone)
