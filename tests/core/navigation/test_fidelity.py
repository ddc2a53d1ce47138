"""Synthetic against released counts."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.navigation.fidelity import _row_numbers, comparable_scale, describe_rare_values, fidelity
from tests.oracles.releases import recounted, release

pairs = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(6, 11)), st.integers(1, 10_000), min_size=1, max_size=20
)
ATTRIBUTES = tuple(Attribute("a" if i < 6 else "b", str(i), int(i > 5)) for i in range(12))


def aggregates(counts: dict[tuple[int, int], int], records: int = 100) -> Aggregates:
    rows = sorted(counts)
    ids = (np.zeros((0, 1), np.int32), np.array(rows, np.int32).reshape(-1, 2))
    return Aggregates(
        ("a", "b"),
        ATTRIBUTES,
        records,
        ids,
        (np.zeros(0, np.int64), np.array([counts[r] for r in rows], np.int64)),
    )


@given(pairs, pairs)
def test_figures_equal_those_counted_pair_by_pair(released, drawn):
    [row] = fidelity(aggregates(released), aggregates(drawn)).lengths
    errors = [abs(count - drawn.get(pair, 0)) for pair, count in released.items()]
    both = set(released) | set(drawn)
    whole, other = sum(released.values()), sum(drawn.values())
    variation = sum(abs(released.get(p, 0) / whole - drawn.get(p, 0) / other) for p in both) / 2
    assert row.combinations == len(released)
    assert row.kept == len(set(released) & set(drawn))
    assert row.mean_error == pytest.approx(np.mean(errors))
    assert row.total_variation == pytest.approx(variation, abs=1e-12)


@given(pairs, pairs)
def test_the_bands_hold_every_published_combination_once_and_their_quantiles_ascend(released, drawn):
    found = fidelity(aggregates(released), aggregates(drawn)).bands
    assert sum(band.combinations for band in found) == len(released)
    assert all(list(band.synthetic) == sorted(band.synthetic) for band in found)
    assert [band.released for band in found] == sorted(band.released for band in found)


def test_equal_counts_have_bands_without_width_and_no_error():
    counts = {(0, 6): 10, (1, 7): 1000}
    found = fidelity(aggregates(counts), aggregates(counts))
    assert [(band.released, set(band.synthetic)) for band in found.bands] == [(10, {10.0}), (1000, {1000.0})]
    assert found.lengths[0].total_variation == 0
    assert found.error_by_count == ((2, ((10.0, 0.0), (1000.0, 0.0))),)


def test_half_of_a_band_lies_between_its_inner_quantiles():
    released = {(0, 6 + i): 10 for i in range(4)}
    drawn = {(0, 6 + i): count for i, count in enumerate((1, 8, 9, 40))}
    [band] = fidelity(aggregates(released), aggregates(drawn)).bands
    assert band.synthetic == (1, 1, 8, 9, 40)


@pytest.mark.parametrize(
    ("released", "synthetic", "scale"),
    [(1000, 1000, 1), (1000, 900, 1), (1000, 100, 10), (100, 1000, 0.1), (0, 5, 1), (5, 0, 1), (-3, 5, 1)],
)
def test_counts_are_scaled_only_where_the_sizes_were_made_to_differ(released, synthetic, scale):
    assert comparable_scale(released, synthetic) == pytest.approx(scale)


def with_singles(pairs: Aggregates, count: int) -> Aggregates:
    """The same with both attributes of its pair counted."""
    singles = np.array([[0], [6]], np.int32), np.full(2, count)
    return replace(
        pairs,
        combinations=(singles[0], pairs.combinations[1]),
        counts=(singles[1], pairs.counts[1]),
    )


def test_a_tenth_of_the_records_is_compared_on_the_scale_of_the_release():
    released = with_singles(aggregates({(0, 6): 500}, records=1000), 500)
    found = fidelity(released, with_singles(aggregates({(0, 6): 50}, records=100), 50))
    assert [row.mean_error for row in found.lengths] == [0, 0]
    assert found.scale == 10
    # More but shorter records with the same counts are not scaled.
    assert fidelity(released, with_singles(aggregates({(0, 6): 400}, records=5000), 500)).scale == 1
    nothing = fidelity(aggregates({}), aggregates({}))
    assert (nothing.lengths, nothing.bands, nothing.error_by_count) == ((), (), ())
    assert nothing.rarest_kept is None and describe_rare_values(nothing) == []


@pytest.mark.parametrize(
    ("drawn", "kept"),
    [([5, 9, 40, 80, 500], 0.35), ([15, 25, 30, 80, 500], 1.0), ([10, 30, 30, 80, 500], 1.0)],
)
def test_of_the_rarest_quarter_of_single_values_it_is_told_how_much_is_kept(drawn, kept):
    ids = np.arange(5, dtype=np.int32).reshape(-1, 1)

    def singles(counts: list[int]) -> Aggregates:
        return replace(aggregates({}), combinations=(ids,), counts=(np.array(counts),))

    # Of five values two are a quarter, rounded up.
    found = fidelity(singles([10, 30, 50, 80, 500]), singles(drawn))
    assert found.rarest_kept == pytest.approx(kept)
    assert len(describe_rare_values(found)) == (kept < 0.8)
    assert all("35 %" in sentence for sentence in describe_rare_values(found))


def test_a_whole_release_counts_as_the_records_do():
    _, released, synthetic = release(600)
    found = fidelity(released, recounted(synthetic, 3))
    drawn = Counter(synthetic.attribute_ids.tolist())
    held = [drawn[i] for i in released.combinations[0][:, 0].tolist()]
    assert found.lengths[0].mean_error == pytest.approx(np.abs(released.counts[0] - held).mean())


@given(
    st.integers(1, 6).flatmap(
        lambda width: st.lists(st.tuples(*[st.integers(0, 2**30) | st.integers(0, 2)] * width), min_size=1)
    )
)
def test_rows_are_numbered_in_their_order_however_large_their_ids(rows):
    keys = _row_numbers(np.array(rows, np.int32)).tolist()
    numbered = sorted(zip(rows, keys, strict=True))
    for (row, key), (next_row, next_key) in itertools.pairwise(numbered):
        assert (key == next_key) if row == next_row else (key < next_key)
