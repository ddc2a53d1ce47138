"""What changed over time: marks are rare where nothing did, certain where rounding leaves no doubt."""

import itertools
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.evaluation.over_time import (
    FALSE_ALARM,
    NUMBER_OF_RECORDS,
    ReleasedCounts,
    compare_over_time,
    holm,
)
from tasks.core.normal import each_above


def noisy(truth: dict[str, int], scale: float, draw: np.random.Generator, **more: Any) -> ReleasedCounts:
    names = [NUMBER_OF_RECORDS, *(((name, ""),) for name in truth)]
    values = np.array([sum(truth.values()), *truth.values()], float)
    counts = np.round(values + np.round(draw.normal(0, scale, len(values))))
    floor = more.pop("floor", -(2**62))
    kept = [place for place, count in enumerate(counts) if place == 0 or count >= floor]
    body: dict[str, Any] = {
        "kind": "noisy",
        "combinations": tuple(names[place] for place in kept),
        "counts": counts[kept],
        "scales": np.full((len(kept), 1), scale),
        "weights": np.ones((len(kept), 1)),
        "least": np.full(len(kept), floor, np.int64),
    }
    return ReleasedCounts(**(body | more))


def rounded(counts: dict[str, int], k: int, length: int = 1) -> ReleasedCounts:
    held = {name: count // k * k for name, count in counts.items() if count >= k}
    empty = np.zeros((len(held), 0))
    return ReleasedCounts(
        kind="rounded",
        combinations=tuple(((name, ""),) for name in held),
        counts=np.array(list(held.values()), float),
        scales=empty,
        weights=empty,
        least=np.zeros(len(held), np.int64),
        resolution=k,
        length=length,
    )


def slow_marks(releases: Sequence[ReleasedCounts], rate: float) -> set[tuple[int, int, Any]]:
    """The same by the textbook: every difference, its p-value, Holm's steps one by one."""
    pairs = [*itertools.pairwise(range(len(releases)))]
    pairs += [(0, len(releases) - 1)] if len(releases) > 2 else []
    tests = []
    for before, after in pairs:
        one, other = releases[before], releases[after]
        was = dict(zip(one.combinations, one.counts, strict=True))
        for place, name in enumerate(other.combinations):
            if name in was:
                sd = math.hypot(one.scales[0, 0], other.scales[place, 0])
                gap = max(abs(other.counts[place] - was[name]) - 1, 0)
                tests.append((min(1.0, 2 * NormalDist().cdf(-gap / sd)), (before, after, name)))
    tests.sort(key=lambda test: test[0])
    marked = set()
    for step, (p_value, test) in enumerate(tests):
        if p_value * (len(tests) - step) >= rate:
            break
        marked.add(test)
    return marked


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 400), min_size=4, max_size=4), min_size=2, max_size=5),
    st.integers(0, 99),
)
def test_it_marks_what_the_textbook_marks(tables, seed):
    draw = np.random.default_rng(seed)
    releases = [noisy(dict(zip("abcd", table, strict=True)), 7.5, draw) for table in tables]
    found = compare_over_time(releases)
    marks = {(each.before, each.after, each.combination) for each in found.changes}
    assert marks == slow_marks(releases, FALSE_ALARM)


def test_equal_data_behind_thresholds_is_hardly_ever_marked():
    """Counts near two different thresholds: who passes is chance, and that must not look like a change."""
    draw, truth = np.random.default_rng(8), {f"c{place}": 30 + place // 4 for place in range(60)}
    marked = 0
    for _ in range(400):
        months = [
            noisy(truth, scale, draw, floor=floor) for scale, floor in ((9.0, 24), (12.0, 55), (9.0, 24))
        ]
        marked += bool(compare_over_time(months).changes)
    assert marked <= 33  # 400 pages at 5 %: a chance below 0.2 %


def test_counts_that_were_made_to_agree_are_hardly_ever_marked():
    """The least of a count and of its two parts, each with noise: no longer Gaussian, and the bound holds."""
    draw, marked = np.random.default_rng(9), 0
    names = tuple(((f"c{place}", ""),) for place in range(40))
    for _ in range(400):
        months = []
        for _ in range(4):
            parts = 100 + np.round(draw.normal(0, 8.0, (40, 2)))
            whole = 97 + np.round(draw.normal(0, 12.0, 40))
            counts = np.minimum(whole, parts.min(axis=1))
            scales, weights = np.tile([9.0, 8.0, 12.0], (40, 1)), np.tile([0.0, 2.0, 1.0], (40, 1))
            least = np.full(40, 60, np.int64)
            months.append(ReleasedCounts("noisy", names, counts, scales, weights, least))
        marked += bool(compare_over_time(months).changes)
    assert marked <= 33


def test_a_change_well_above_the_noise_is_found_and_its_direction_told():
    draw = np.random.default_rng(1)
    truth = {"a": 1000, "b": 50}
    releases = [
        noisy(truth, 6.0, draw),
        noisy(truth | {"a": 1100}, 6.0, draw),
        noisy(truth | {"a": 1100}, 6.0, draw),
    ]
    found = compare_over_time(releases)
    marks = {(each.combination, each.before, each.after) for each in found.changes}
    assert {((("a", ""),), 0, 1), ((("a", ""),), 0, 2)} <= marks
    assert not any(each.combination == (("b", ""),) for each in found.changes)
    first = next(each for each in found.changes if each.combination == (("a", ""),))
    assert first.at_least > 0 and first.at_least < 100 < first.at_most


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 12), st.integers(1, 12))
def test_under_k_anonymity_a_mark_is_certain_and_nothing_certain_is_missed(before, after, k, other):
    one, two = rounded({"a": before, "z": 99}, k), rounded({"a": after, "z": 99}, other)
    found = [each for each in compare_over_time([one, two]).changes if each.combination == (("a", ""),)]
    was = range(before // k * k, before // k * k + k) if before >= k else range(k)
    now = range(after // other * other, after // other * other + other) if after >= other else range(other)
    # Every two true counts that look like this: all differ, or nothing is certain.
    is_certain = not set(was) & set(now)
    if before < k and after < other:
        assert not found  # published in neither
    else:
        assert bool(found) == is_certain
    for each in found:
        assert before != after and each.p_value == 0
        assert each.at_least == now[0] - was[-1] and each.at_most == now[-1] - was[0]
        assert each.at_least <= after - before <= each.at_most


def test_under_k_anonymity_nothing_is_concluded_from_what_another_release_does_not_count():
    one, two = rounded({"a": 50, "b": 50}, 10, length=2), rounded({"b": 50}, 10, length=1)
    assert compare_over_time([one, two]).changes == ()


def test_releases_of_different_kinds_and_samples_are_not_compared():
    draw = np.random.default_rng(3)
    months = [
        noisy({"a": 5}, 3.0, draw),
        rounded({"a": 900}, 5),
        noisy({"a": 900}, 3.0, draw, kind="sampled"),
    ]
    assert compare_over_time(months).pairs == ()


def test_a_laplace_count_is_judged_by_its_own_law():
    draw = np.random.default_rng(4)
    alike = {"kind": "noisy", "laplace": 20.0}
    one = noisy({"a": 0}, 1.0, draw, **alike)
    for gap, p_value in ((1, 1.0), (101, math.exp(-5) * 3.5)):
        counts = one.counts.copy()
        counts[0] += gap
        two = ReleasedCounts(**{**vars(one), "counts": counts})
        marks = [each for each in compare_over_time([one, two], 2.0).changes if each.combination == ()]
        assert marks[0].p_value == pytest.approx(min(1.0, 2 * p_value))


def test_holm_and_the_tail():
    assert holm(np.array([0.01, 0.04, 0.03])).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert each_above(np.array([0.0, 1.959964])).tolist() == pytest.approx([0.5, 0.025], abs=1e-6)
