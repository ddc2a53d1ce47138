"""Known attacks (syndiffix.md 7.1): each finds its target in the port's construction, and not in ours.

Trials differ by salt, which the attacker doesn't know. Who attacks knows all else: code and parameters.
"""

from collections import Counter
from math import log2

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom, norm

from tasks.core.syndiffix.hashing import hash_entities, hash_int
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    SingleClustering,
    SuppressionParameters,
    SynDiffixParameters,
)
from tasks.core.syndiffix.synthesizer import Synthesizer
from tests.oracles.syndiffix_counters import contributions, distinct_entities, is_low_count, noisy_row_count
from tests.oracles.syndiffix_port import (
    is_low_in_port,
    port_buckets,
    port_column,
    port_id_hash,
    port_texts,
    public_generators,
)

MAXIMUM = 1234.567
EXACT = 511.37
SECRET = "ma7-secret-clinic"
SALTS = 60
FALSE_ALARM = 1e-6  # of a count of salts below the least that is asserted
# With the default threshold, 5 +- 1, four entities fail the filter so probably, and six pass it (2.3).
ONE_SD = float(norm.cdf(1))


def least(chance):
    """Of so many salts, fewer find the target only with the probability of a false alarm."""
    return binom.ppf(FALSE_ALARM, SALTS, chance)


def salted(trial, **options):
    return AnonymizationParameters(trial.to_bytes(16, "little"), **options)


def synthesizer(columns, trial, ids=(), **options):
    parameters = SynDiffixParameters(salted(trial, **options), clustering=SingleClustering())
    return Synthesizer(pa.table(columns), parameters, ids=ids)


def sampled(columns, trial, ids=(), **options):
    return synthesizer(columns, trial, ids, **options).sample().to_pydict()


def bucket_size(column):
    """How long the bucket of the longest stretch of cells is that lie on one line over the public draws."""
    _, cells = public_generators()
    x, u = np.array(column), np.array([cells.random() for _ in column])
    best, size, start = 0, np.nan, 0
    while start + 3 <= len(x):
        (slope, at), end = np.polyfit(u[start : start + 3], x[start : start + 3], 1), start + 3
        if slope <= 0 or np.abs(at + slope * u[start:end] - x[start:end]).max() > 2e-3:
            start += 1
            continue
        while end < len(x) and abs(at + slope * u[end] - x[end]) < 5e-3:
            end += 1
        if end - start > best:
            best = end - start
            size = np.polyfit(u[start:end], x[start:end], 1)[0]
        start = end
    return size


def finds_maximum(column):
    """Whether the sizes of buckets give the maximum, the power of two known, within 0.1; the minimum is 0."""
    size = bucket_size(column)
    if not size > 0:
        return False
    found = size * 0.9999
    return abs(found * 2 ** round(log2(MAXIMUM / found)) - MAXIMUM) < 0.1


def with_maximum():
    generator = np.random.default_rng(1)
    return [0.0, *np.round(generator.uniform(0, 500, 298), 3).tolist(), MAXIMUM]


def test_port_s_grid_gives_one_person_s_maximum_away():
    found = [finds_maximum(port_column(with_maximum(), salted(trial))) for trial in range(30)]
    assert sum(found) >= 27


@pytest.mark.parametrize("trials", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_our_grid_does_not_depend_on_one_person_s_maximum(trials):
    found = [finds_maximum(sampled({"x": with_maximum()}, trial)["x"]) for trial in range(trials)]
    assert sum(found) == 0


def test_edges_of_our_buckets_are_binary_fractions_whatever_the_extremes():
    for trial in range(50):
        values = [*with_maximum()[:-1], MAXIMUM + trial]
        buckets = synthesizer({"x": values}, trial).forest.buckets((0,))
        edges = np.concatenate([buckets.lower, buckets.upper])[:, 0]
        assert (edges * 2**10 == np.rint(edges * 2**10)).all()


def with_rare_value():
    """Two hold the value at the edge, four lie far beyond and are pushed into its cell."""
    generator = np.random.default_rng(2)
    values = [*generator.uniform(0, 505, 150), *generator.uniform(504, 505, 20)]
    return [*np.round(values, 2).tolist(), EXACT, EXACT, 5001.11, 6002.22, 7003.33, 8004.44]


def test_port_publishes_a_rare_value_that_outliers_were_added_to():
    # It is published where the four outliers fail the filter, so that they are pushed into the leaf of the
    # two, and the six of it pass.
    values, published = with_rare_value(), 0
    for trial in range(SALTS):
        buckets = port_buckets([values], salted(trial))
        published += any(interval.lower == interval.upper == EXACT for (interval,), _ in buckets)
    assert published >= least(ONE_SD**2)


@pytest.mark.parametrize("others", [[], ["sex"], ["sex", "dose"]], ids=["alone", "two", "three"])
def test_ours_never_publishes_a_rare_value_that_outliers_were_added_to(others):
    values = with_rare_value()
    known = {"sex": [place % 2 for place in range(len(values))], "dose": [3 * (v // 100) for v in values]}
    table = {"x": values} | {name: known[name] for name in others}
    rare = {*values} - {value for value, count in Counter(values).items() if count >= 3}
    for trial in range(200):
        forest = synthesizer(table, trial).forest
        buckets = forest.buckets(tuple(range(len(table))))
        single = buckets.lower[:, 0] == buckets.upper[:, 0]
        assert not rare & set(buckets.lower[single, 0].tolist())


def with_rare_text():
    """Seven frequent texts, a rare one after them, four outliers at the vocabulary's end."""
    texts = [f"ma{place}-clinic" for place in range(7) for _ in range(40)]
    return [*texts, SECRET, SECRET, "x1", "y2", "z3", "zz4"]


def shown_by_port(columns, vocabulary):
    """In how many outputs the rare text is spelled out; the first column is that of the texts' ranks."""
    shown = 0
    for trial in range(SALTS):
        buckets = port_buckets(columns, salted(trial))
        texts = (intervals[0] for intervals, _ in buckets if intervals[0].lower < len(vocabulary))
        cells = {port_texts(interval, vocabulary, 0) for interval in texts}
        shown += any(cell.startswith(SECRET) for cell in cells)
    return shown


def test_port_publishes_a_rare_text_that_outliers_were_added_to():
    texts = with_rare_text()
    vocabulary = sorted(set(texts))
    ranks = [float(vocabulary.index(text)) for text in texts]
    tail = [float(place >= 280) for place in range(len(texts))]
    # As of a rare value: four outliers, and a leaf of six.
    assert shown_by_port([ranks, tail], vocabulary) >= least(ONE_SD**2)


def with_rare_text_alone():
    """Eight frequent texts, and in the other half of the ranks a rare one with three nulls."""
    return [*(f"ma{place}-clinic" for place in (0, 1, 2, 3, 4, 5, 6, 61) for _ in range(40)), SECRET, SECRET]


def test_port_publishes_a_rare_text_that_is_alone_in_its_range():
    texts = with_rare_text_alone()
    vocabulary = sorted(set(texts))
    ranks = [float(vocabulary.index(text)) for text in texts]
    # Five pass the filter with a probability of a half, and too few hold the text or null to part them.
    assert shown_by_port([[*ranks, *[float("nan")] * 3]], vocabulary) >= least(0.5)


def test_ours_shows_no_more_of_a_rare_text_than_what_it_begins_with_like_others():
    texts, alone = with_rare_text(), [*with_rare_text_alone(), None, None, None]
    tail = [place >= 280 for place in range(len(texts))]
    for trial in range(200):
        for table in ({"t": texts}, {"t": texts, "tail": tail}, {"t": alone}):
            assert not any(cell and cell.startswith(SECRET[:3]) for cell in sampled(table, trial)["t"])


HIGH = SuppressionParameters(low_threshold=50)
FEW = 25


def test_port_publishes_a_value_of_25_entities_where_50_are_required():
    hashes = hash_entities(range(1, FEW + 1)).tolist()
    for trial in range(200):
        parameters = salted(trial, low_count_params=HIGH)
        assert not is_low_in_port(hashes, 50, parameters)
        assert is_low_count(distinct_entities(np.array(hashes, np.uint64)), 50, parameters)


def test_ours_never_publishes_a_value_of_25_entities_where_50_are_required():
    people = [*range(1, 526)] * 2
    texts = ["rare" if person <= FEW else f"common{person % 2}" for person in people]
    table = {"person": people, "t": texts, "h": [person % 3 for person in people]}
    for trial in range(200):
        cells = sampled(table, trial, ids=["person"], low_count_params=HIGH)["t"]
        assert "rare" not in cells and any(cell.startswith("common") for cell in cells)


@pytest.mark.parametrize("identifier", [0, -7])
def test_ours_flattens_a_large_contributor_of_any_id_and_port_none_of_id_0(identifier):
    rows, others = 500, 20
    ids = [*range(1, others + 1), *[identifier] * rows]
    ours = hash_entities(ids)
    for trial in range(200):
        parameters = salted(trial)
        assert noisy_row_count([contributions(ours)], 1, parameters) < 2 * others
        if identifier == 0:
            port = np.array([port_id_hash(one, hash_int) for one in ids], np.uint64)
            assert noisy_row_count([contributions(port)], 1, parameters) > rows
    if identifier < 0:
        with pytest.raises(OverflowError):
            port_id_hash(identifier, hash_int)


@pytest.mark.parametrize("identifier", [0, -7])
def test_our_table_does_not_show_how_many_rows_one_id_has(identifier):
    table = {"id": [*range(1, 21), *[identifier] * 500], "x": [5] * 520}
    for trial in range(200):
        assert len(sampled(table, trial, ids=["id"])["x"]) < 40
