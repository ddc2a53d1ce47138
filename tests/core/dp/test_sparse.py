"""R15: the sparse measurement has the law of the dense one.

Each test draws both ways with fixed seeds; each chi-square has a false-alarm rate of 1e-4.
"""

import functools

import numpy as np
import pytest
from scipy import stats

from tasks.core.dp.candidates import SizeRule
from tasks.core.dp.sampling.noise import RoundedGaussian
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.tallies import SurvivingCodes, TupleCounts
from tasks.core.records.columns import Column, Schema
from tests.oracles import measuring
from tests.oracles.mechanism import add, lattice_of

ALPHA = 1e-4
DRAWS = 1500
CASES = [(2, 1), (3, 3)]


def case(length):
    """A table with a multi-valued column and, for triples, a lattice with holes."""
    schema = Schema((Column("a"), Column("b"), Column("m", delimiter=";", max_items=2)))
    sizes, rng = [3, 4, 3], np.random.default_rng(2)
    rows = [
        (frozenset({int(rng.integers(1, 3))}), frozenset({int(rng.integers(1, 4))}), frozenset({1, 2}))
        for _ in range(6)
    ]
    records = measuring.coded(schema, rows, measuring.all_values(sizes))
    lattice, survivors = lattice_of(schema, sizes)
    if length == 3:
        pairs = sorted(measuring.candidates(schema, sizes, survivors, 2))
        add(lattice, schema, 2, {pair for place, pair in enumerate(pairs) if place % 5})
    return records, lattice


@functools.cache
def draws(length, rule, threshold, seed):
    """Of each draw the survivors and their noisy counts."""
    records, lattice = case(length)
    codes = np.array(records.slots, np.uint8)
    combinations = records.schema.combinations(length)
    counts = TupleCounts.blank(records.schema, combinations, lattice, rule)
    counts.count(SurvivingCodes(codes), False, lambda share: None)
    law, stream, drawn = RoundedGaussian(1.5), SeededStream(seed), []
    for _ in range(DRAWS):
        kept = counts.release(law, threshold, stream)
        columns = [each[kept.survives].tolist() for each in (kept.combinations, kept.codes, kept.counts)]
        rows = zip(*columns, strict=True)
        drawn.append({(combinations[place], tuple(row)): count for place, row, count in rows})
    return drawn


def homogeneous(one, other):
    """p of the hypothesis that two samples of integers have one law; rare values pooled."""
    values, of = np.unique(np.concatenate([one, other]), return_inverse=True)
    table = np.array([np.bincount(part, minlength=len(values)) for part in (of[: len(one)], of[len(one) :])])
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


@pytest.mark.parametrize(("length", "threshold"), CASES)
def test_rule_15_dense_and_sparse_draws_have_one_law(length, threshold):
    """Number of survivors, which survive, and the counts of held and of empty cells."""
    records, _ = case(length)
    dense = draws(length, SizeRule(), threshold, 1)
    sparse = draws(length, SizeRule(0, 0, 0), threshold, 2)
    assert homogeneous([len(d) for d in dense], [len(d) for d in sparse]) > ALPHA

    cells = sorted({cell for each in dense + sparse for cell in each})
    table = np.array([[sum(cell in each for each in way) for cell in cells] for way in (dense, sparse)])
    assert stats.chi2_contingency(np.stack([table[0], table[1]])).pvalue > ALPHA
    pooled = table.sum(axis=0) / (2 * DRAWS)
    z = (table[0] - table[1]) / np.sqrt(2 * DRAWS * np.maximum(pooled * (1 - pooled), 1e-9))
    assert np.abs(z).max() < stats.norm.isf(ALPHA / (2 * len(cells)))

    held, ways = measuring.counts_of(records, length, set(cells)), (dense, sparse)
    for wanted in (True, False):
        counts = [[n for one in way for cell, n in one.items() if (cell in held) is wanted] for way in ways]
        assert homogeneous(*counts) > ALPHA


@pytest.mark.parametrize(("length", "threshold"), CASES)
def test_rule_15_the_law_of_the_survivors_nobody_holds(length, threshold):
    """Their number is binomial, and every empty candidate is as likely to be one."""
    records, lattice = case(length)
    wanted = measuring.candidates(records.schema, [3, 4, 3], set(survivors(lattice, length - 1)), length)
    empty = wanted - set(measuring.counts_of(records, length, wanted))
    drawn = draws(length, SizeRule(0, 0, 0), threshold, 2)
    chance = float(RoundedGaussian(1.5).upper_tail(threshold))
    expected = stats.binom.pmf(np.arange(len(empty) + 1), len(empty), chance) * DRAWS
    seen = np.bincount([len(empty & set(each)) for each in drawn], minlength=len(empty) + 1)
    common = expected >= 5
    observed = np.append(seen[common], seen[~common].sum())
    assert stats.chisquare(observed, np.append(expected[common], expected[~common].sum())).pvalue > ALPHA
    each = np.array([sum(cell in one for one in drawn) for cell in sorted(empty)])
    z = (each - DRAWS * chance) / np.sqrt(DRAWS * chance * (1 - chance))
    assert stats.chi2.sf((z**2).sum(), len(empty)) > ALPHA


def survivors(lattice, length):
    level = lattice.levels[length - 1]
    for combination in level.combinations:
        for codes in level.of(combination).tolist():
            yield combination, tuple(codes)
