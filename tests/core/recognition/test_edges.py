"""Edges of bins are round numbers, cover what most cells hold, and no bin holds nearly everything."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.recognition.edges import choose_edges, fullest_share, growing_edges, linear_edges
from tasks.core.records.columns import bin_problems


def chosen(numbers: np.ndarray) -> tuple[tuple[float, ...], float]:
    values, held = np.unique(numbers, return_counts=True)
    whole = bool((values == np.floor(values)).all())
    edges = choose_edges(values, held, whole=whole)
    return edges, fullest_share(edges, values, held)


def is_round(edge: float) -> bool:
    """Whether a number has at most two digits that aren't 0, or is a multiple of a round step."""
    if edge == 0:
        return True
    digits = f"{abs(edge):.10e}".split("e")[0].replace(".", "").rstrip("0")
    return len(digits) <= 4


@given(st.floats(-1e200, 1e200), st.floats(0, 1e200))
def test_even_edges_cover_the_range_and_can_be_bins(low, span):
    edges = linear_edges(low, low + span)
    assert bin_problems(tuple(map(float, edges))) == []
    assert len(edges) <= 13


@given(st.floats(0, 1e9), st.floats(1e-6, 1e9))
def test_growing_edges_reach_the_end_and_can_be_bins(low, span):
    edges = growing_edges(low, low + span)
    assert bin_problems(tuple(map(float, edges))) == []
    assert edges[0] == 0 and edges[-1] >= (low + span) * (1 - 1e-9) and len(edges) <= 13
    for edge in edges[1:]:
        leading = edge / 10 ** math.floor(math.log10(edge))
        assert leading == pytest.approx(round(leading))


@pytest.mark.parametrize(
    "numbers",
    [
        np.random.default_rng(1).lognormal(7, 1.5, 5000).round(2),
        np.random.default_rng(2).lognormal(2, 2, 5000).round(),
        np.random.default_rng(3).pareto(1.2, 5000).round(3),
        np.random.default_rng(4).normal(50, 10, 5000).round(),
        np.random.default_rng(5).exponential(20, 5000).round(1),
        np.append(np.random.default_rng(6).normal(-74, 0.02, 5000).round(5), np.zeros(60)),
        np.random.default_rng(7).lognormal(8, 1, 5000).round() * (np.arange(5000) % 10 == 0),
        np.random.default_rng(9).normal(0, 1, 5000).round(3) ** 3,
    ],
    ids=["money", "counts", "pareto", "normal", "waits", "longitudes", "mostly zero", "both signs"],
)
def test_no_bin_holds_nearly_everything_and_every_edge_is_round(numbers):
    edges, share = chosen(numbers)
    assert share < 0.6
    assert all(map(is_round, edges)) and 3 <= len(edges) <= 13


def test_many_zeros_have_a_bin_of_their_own():
    numbers = np.where(np.arange(1000) % 2, 0, np.arange(1000) * 10)
    edges, _ = chosen(numbers)
    assert edges[:2] == (0, 1)


def test_a_single_stray_number_moves_no_edge():
    numbers = np.random.default_rng(1).normal(50, 10, 5000).round()
    assert chosen(np.append(numbers, 1e6))[0] == chosen(numbers)[0]
