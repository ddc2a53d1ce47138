import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.dp.contribution import PercentileLaw, scores, size_candidates
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.errors import InternalError
from tests.oracles.noise_audit import ALPHA, chi_square_p
from tests.oracles.percentile import (
    exponential_mechanism,
    histogram,
    largest_loss,
    random_neighbours,
    score,
    weighed_mechanism,
)
from tests.oracles.privacy_vectors import PERCENTILE
from tests.oracles.words import ListedWords, split


def vector_law(vector):
    counts = dict(map(int, pair.split(":")) for pair in vector.sizes.split())
    sizes = [counts.get(size, 0) for size in range(max(counts, default=0) + 1)]
    return sizes, Fraction(vector.q), float(vector.epsilon), int(vector.largest)


@pytest.mark.parametrize("vector", PERCENTILE)
def test_the_published_percentiles(vector):
    sizes, q, epsilon, largest = vector_law(vector)
    candidates = range(1, largest + 1)
    assert scores(sizes, q, candidates) == [Fraction(u) for u in vector.scores.split()]
    probabilities = PercentileLaw(sizes, q, epsilon, candidates, Fraction(0)).probabilities(160)
    assert [float(p) for p in probabilities] == pytest.approx(
        [float(p) for p in vector.probabilities.split()], rel=1e-15
    )


def ours(sizes, q, epsilon, largest, step=1):
    law = PercentileLaw(histogram(sizes), q, epsilon, range(1, largest + 1, step))
    return [math.log(p) for p in law.probabilities(64)]


def of_distant_candidates(sizes, q, epsilon, largest):
    return ours(sizes, q, epsilon, largest, step=3)


def over_the_datas_range(sizes, q, epsilon, largest):
    """G2: what can be drawn ends at the largest size in the data."""
    end = max(1, min(largest, max(sizes, default=1)))
    law = exponential_mechanism([score(sizes, v, q) for v in range(1, end + 1)], epsilon, max(q, 1 - q))
    return law + [-math.inf] * (largest - end)


def of_half_the_sensitivity(sizes, q, epsilon, largest):
    given = [score(sizes, v, q) for v in range(1, largest + 1)]
    return exponential_mechanism(given, epsilon, max(q, 1 - q) / 2)


def weighed_by_the_table(sizes, q, epsilon, largest):
    """A steepness that follows the largest size is paid for by nobody."""
    steepness = Fraction(max(sizes, default=0), 4)
    law = PercentileLaw(histogram(sizes), q, epsilon, range(1, largest + 1), steepness)
    return [math.log(p) for p in law.probabilities(64)]


def audit_a2(law, pairs, seed=2):
    """The largest loss, and the largest range of losses, as a share of epsilon."""
    source, worst, widest = random.Random(seed), 0.0, 0.0
    for _ in range(pairs):
        sizes, added, q, largest, epsilon = random_neighbours(source)
        before, after = (law(s, q, epsilon, largest) for s in (sizes, [*sizes, added]))
        loss, width = largest_loss(before, after)
        worst, widest = max(worst, loss / epsilon), max(widest, width / epsilon)
    return worst, widest


@pytest.mark.parametrize(("law", "pairs"), [(ours, 3000), (of_distant_candidates, 500)])
def test_a2_no_pair_of_neighbours_loses_more_than_epsilon(law, pairs):
    """The whole law of both neighbours, in closed form; no statistics."""
    worst, widest = audit_a2(law, pairs)
    assert worst <= 1 + 1e-12
    assert 0.99 < widest <= 1 + 1e-12


@pytest.mark.parametrize("wrong", [over_the_datas_range, of_half_the_sensitivity, weighed_by_the_table])
def test_a2_a_wrong_percentile_is_caught(wrong):
    worst, _ = audit_a2(wrong, 300)
    assert worst > 1.2


def test_the_oracle_and_the_law_agree():
    source = random.Random(1)
    for _ in range(100):
        sizes, _, q, largest, epsilon = random_neighbours(source)
        candidates = range(1, largest + 1)
        expected = weighed_mechanism(
            [score(sizes, v, q) for v in candidates], [v**-1.5 for v in candidates], epsilon, max(q, 1 - q)
        )
        assert ours(sizes, q, epsilon, largest) == pytest.approx(expected, abs=1e-10)


def test_where_few_hold_much_the_draw_does_not_end_in_the_void():
    """5,000 people with 40 mostly empty columns: from 1..C(40, 3) half of all draws were above 4,900."""
    sizes = histogram([math.comb(width, 3) for width in [2] * 500 + [4] * 3500 + [7] * 940 + [9] * 60])
    candidates = size_candidates(math.comb(40, 3))
    law = PercentileLaw(sizes, Fraction(99, 100), 0.04, candidates)
    chances = dict(zip(candidates, map(float, law.probabilities(64)), strict=True))
    assert sum(chance for size, chance in chances.items() if 28 <= size <= 430) > 0.9
    assert sum(chance for size, chance in chances.items() if size > 2000) < 0.01


@given(st.integers(1, 10**7))
def test_candidates_reach_every_size_within_two_fifths(most):
    found = size_candidates(most)
    assert found[0] == 1 and found[-1] == most
    assert all(low < high <= 1.4 * low + 1 for low, high in itertools.pairwise(found))


@pytest.mark.parametrize("vector", PERCENTILE[1:3])
def test_choices_follow_the_law(vector):
    """False alarms 1e-4 each."""
    sizes, q, epsilon, largest = vector_law(vector)
    stream, candidates = SeededStream(5), [1, *range(2, largest + 1, 2)]
    draws = [PercentileLaw(sizes, q, epsilon, candidates).draw(stream) for _ in range(800)]
    places = np.array([candidates.index(draw) for draw in draws])
    found = [score([size for size, n in enumerate(sizes) for _ in range(n)], v, q) for v in candidates]
    weights = [v**-1.5 for v in candidates]
    expected = np.exp(weighed_mechanism(found, weights, epsilon, max(q, 1 - q)))
    assert chi_square_p(places, expected.tolist(), 0) > ALPHA


def test_a_choice_at_a_tie_takes_more_bits():
    candidates = [1, 2, 3, 4]
    law = PercentileLaw([0, 0, 1, 1], Fraction(1, 2), 1.0, candidates)
    place = law.floor_cdf(1, 320)
    for step, expected in ((-1, 2), (1, 3)):
        words = ListedWords(split(place + step, 5))
        assert PercentileLaw([0, 0, 1, 1], Fraction(1, 2), 1.0, candidates).draw(words) == expected
        assert words.left == 0


def test_a_choice_takes_one_word():
    words = ListedWords([2**63])
    assert PercentileLaw(np.array([0, 3, 5], np.int64), 0.5, 1.0, [1, 2, 3]).draw(words) in {1, 2, 3}
    assert words.left == 0


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_both_ends_stay_in_the_public_range(word):
    words = ListedWords([word, *[word] * 3, word ^ 1])
    assert PercentileLaw([], 0.99, 0.5, [1, 4, 7]).draw(words) == (7 if word else 1)


@pytest.mark.parametrize(
    ("q", "epsilon", "candidates"),
    [(-0.1, 1, [3]), (1.1, 1, [3]), (0.5, 0, [3]), (0.5, 1, []), (0.5, 1, [0, 1])],
)
def test_a_percentile_that_makes_no_sense_is_refused(q, epsilon, candidates):
    with pytest.raises(InternalError):
        PercentileLaw([1], q, epsilon, candidates).draw(SeededStream(1))
