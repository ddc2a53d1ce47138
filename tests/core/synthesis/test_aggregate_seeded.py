import hashlib
import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.errors import ParameterError
from tasks.core.synthesis.aggregate_seeded import (
    AggregateSeededParameters,
    Shard,
    draw_aggregate_seeded,
    number_of_shards,
)
from tasks.core.synthesis.index import build_index, scale_up
from tasks.core.synthesis.tree import join_drawn
from tests.oracles.aggregate_seeded import aggregates_of, closed, counted, dictionary, oracle_of
from tests.oracles.law import check_law
from tests.oracles.random_tables import exact_aggregates, noisy_aggregates
from tests.oracles.raw_tables import records_of, split

HEADERS = ["A", "B", "C"]
T1 = [("a1", "b1", "c1"), ("a1", "b2", "c1"), ("a2", "", "c2"), ("a2", "b2", "c1"), ("a1", "b2", "")]


def _rows(synthetic):
    rows = []
    for record in records_of(synthetic):
        cells = {synthetic.attributes[i].header: synthetic.attributes[i].value for i in record}
        rows.append(tuple(cells.get(header, "") for header in synthetic.headers))
    return rows


@pytest.mark.parametrize("seed", range(10))
def test_t13_noise_free_aggregates_with_synthetic_counts_give_the_rows_back(seed):
    synthetic = draw_aggregate_seeded(
        counted(T1 * 100, HEADERS, 3), AggregateSeededParameters(use_synthetic_counts=True), seed
    )
    assert Counter(_rows(synthetic)) == dict.fromkeys(T1, 100)


def _skewed(reporting_length):
    """A handful of attributes with counts that no table has, closed, in three columns."""
    texts = ["A:1", "A:2", "B:1", "C:1"]
    levels = [
        {(0,): 2, (1,): 1, (2,): 2, (3,): 1},
        {(0, 2): 3, (0, 3): 1, (1, 2): 1, (2, 3): 2},
        {(0, 2, 3): 2},
        {},
    ]
    return aggregates_of(texts, HEADERS, levels[:reporting_length], 3)


def _far_beyond(reporting_length):
    """Four columns of one value: records beyond R, so that percentiles decide."""
    texts = ["A:1", "B:1", "C:1", "D:1", "D:2"]
    levels = [{(0,): 1, (1,): 2, (2,): 1, (3,): 1, (4,): 1}]
    for length in range(2, reporting_length + 1):
        rows = [row for row in itertools.combinations(range(5), length) if not {3, 4} <= set(row)]
        levels.append({row: 1 + (sum(row) * 7 + length) % 5 for row in rows})
    return aggregates_of(texts, ["A", "B", "C", "D"], levels, 3)


def _observed(aggregates, parameters, seeds):
    index = build_index(aggregates, parameters.aggregate_counts_scale_factor)
    seen = Counter()
    for seed in range(seeds):
        shard = Shard(
            index,
            parameters.weight_selection_percentile,
            parameters.use_synthetic_counts,
            index.counts[: len(index.header_of)],
            seed,
            0,
            parameters.target_number_of_records,
        )
        while shard.advance():
            pass
        seen[tuple(sorted(split(join_drawn(shard.slices))))] += 1
    return seen


def _scaled(aggregates, factor):
    levels = [
        dict(zip(map(tuple, ids.tolist()), scale_up(counts, factor).tolist(), strict=True))
        for ids, counts in zip(aggregates.combinations, aggregates.counts, strict=True)
    ]
    texts = [attribute.text for attribute in aggregates.attributes]
    return aggregates_of(texts, aggregates.headers, levels, aggregates.number_of_records)


@pytest.mark.parametrize(
    "parameters",
    [
        AggregateSeededParameters(),
        AggregateSeededParameters(weight_selection_percentile=40),
        AggregateSeededParameters(use_synthetic_counts=True),
        AggregateSeededParameters(target_number_of_records=3),
        AggregateSeededParameters(use_synthetic_counts=True, target_number_of_records=4),
        AggregateSeededParameters(aggregate_counts_scale_factor=0.5),
        AggregateSeededParameters(aggregate_counts_scale_factor=1.5, use_synthetic_counts=True),
    ],
    ids=["plain", "p40", "synthetic", "target", "synthetic target", "half", "one and a half"],
)
@pytest.mark.parametrize("reporting_length", [1, 2, 3, 4])
@pytest.mark.parametrize("table", [_skewed, _far_beyond])
def test_lists_of_records_follow_the_exact_law(table, reporting_length, parameters):
    aggregates, seeds = table(reporting_length), 1000
    seen = _observed(aggregates, parameters, seeds)
    whole = _scaled(aggregates, parameters.aggregate_counts_scale_factor)
    oracle = oracle_of(whole, parameters.weight_selection_percentile, parameters.use_synthetic_counts)
    law = oracle.distribution(parameters.target_number_of_records)
    assert sum(law.values()) == 1
    check_law(seen, law)


@st.composite
def _parameters(draw):
    return AggregateSeededParameters(
        weight_selection_percentile=draw(st.integers(0, 100)),
        use_synthetic_counts=draw(st.booleans()),
        aggregate_counts_scale_factor=draw(st.sampled_from([None, 0.3, 1.0, 2.5])),
        target_number_of_records=draw(st.sampled_from([None, 0, 1, 7, 40])),
    )


@given(
    aggregates=st.one_of(exact_aggregates(), noisy_aggregates()),
    parameters=_parameters(),
    seed=st.integers(),
    threads=st.sampled_from([0, 1, 2, 3]),
)
@settings(max_examples=150, deadline=None)
def test_no_record_holds_a_combination_that_the_aggregates_lack(aggregates, parameters, seed, threads):
    """And every attribute is used exactly as often as it is available, or the target is met exactly."""
    synthetic = draw_aggregate_seeded(aggregates, parameters, seed, threads=threads)
    assert synthetic.headers == aggregates.headers
    whole = _scaled(aggregates, parameters.aggregate_counts_scale_factor)
    allowed = closed(dictionary(whole))
    records = records_of(synthetic)
    for record in set(records):
        for length in range(1, aggregates.reporting_length + 1):
            for combination in itertools.combinations(record, length):
                assert frozenset(combination) in allowed
        held = [aggregates.attributes[i].header for i in record]
        assert len(set(held)) == len(held)
        assert list(record) == sorted(record)
    if parameters.target_number_of_records is None:
        singles = {next(iter(c)): n for c, n in allowed.items() if len(c) == 1}
        assert Counter(itertools.chain.from_iterable(records)) == singles
        assert () not in records
    else:
        assert len(records) == parameters.target_number_of_records
        assert () not in records or not allowed


def test_the_records_of_a_seed_never_change():
    """Everything that depends on the seed alone; a new hash here is a change of output to announce."""
    aggregates = counted(T1 * 20, HEADERS, 2)
    digests = []
    for parameters, threads in [
        (AggregateSeededParameters(), 1),
        (AggregateSeededParameters(use_synthetic_counts=True), 0),
    ]:
        synthetic = draw_aggregate_seeded(aggregates, parameters, 2024, threads=threads)
        digests.append(hashlib.sha256(synthetic.attribute_ids.astype("<i4").tobytes()).hexdigest()[:16])
    assert digests == ["aed4d92bf74176b4", "313e603348c95274"]


def test_seeds_and_numbers_of_shards_have_a_say_in_the_records_and_the_machine_has_none():
    """0 is eight shards on all cores: the same as eight shards on eight threads."""
    aggregates = counted(T1 * 300, HEADERS, 2)

    def drawn(seed, threads):
        made = draw_aggregate_seeded(aggregates, AggregateSeededParameters(), seed, threads=threads)
        return made.attribute_ids.tobytes() + made.offsets.tobytes()

    assert len({drawn(seed, threads) for seed in (1, 2) for threads in (1, 2)}) == 4
    assert drawn(1, 8) == drawn(1, 0)


def test_synthetic_counts_are_one_shard():
    assert number_of_shards(AggregateSeededParameters(use_synthetic_counts=True), 0) == 1
    assert [number_of_shards(AggregateSeededParameters(), threads) for threads in (0, 1, 5)] == [8, 1, 5]


def test_records_longer_than_the_first_room_are_drawn_by_the_same_law():
    """Forty columns that always go together: every record must hold all of them."""
    headers = [f"h{i:02d}" for i in range(40)]
    aggregates = counted([["v"] * 40] * 3, headers, 2)
    for use_synthetic_counts in (False, True):
        parameters = AggregateSeededParameters(use_synthetic_counts=use_synthetic_counts)
        synthetic = draw_aggregate_seeded(aggregates, parameters, 4)
        assert records_of(synthetic) == [tuple(range(40))] * 3


def test_many_attributes_in_few_rows():
    """A column of 3000 values, each going with one of another: no record mixes them."""
    rows = [(f"v{i:04d}", f"w{i:04d}") for i in range(3000)]
    synthetic = draw_aggregate_seeded(counted(rows, ["A", "B"], 2), AggregateSeededParameters(), 4)
    assert sorted(_rows(synthetic)) == rows


def test_nothing_to_draw_from_gives_no_records_or_empty_ones():
    nothing = counted([], HEADERS, 3)
    assert draw_aggregate_seeded(nothing, AggregateSeededParameters(), 1).number_of_records == 0
    synthetic = draw_aggregate_seeded(
        nothing, AggregateSeededParameters(target_number_of_records=3), 1, threads=0
    )
    assert records_of(synthetic) == [(), (), ()]
    assert draw_aggregate_seeded(counted([], [], 0), AggregateSeededParameters(), 1).number_of_records == 0


def test_a_target_beyond_what_few_attributes_give_leaves_no_shard_without_any():
    synthetic = draw_aggregate_seeded(
        counted([("x",)], ["A"], 1), AggregateSeededParameters(target_number_of_records=20), 1, threads=8
    )
    assert records_of(synthetic) == [(0,)] * 20


@pytest.mark.parametrize("threads", [1, 0])
def test_progress_ends_at_one_and_never_falls(threads):
    shares = []
    aggregates = counted(T1 * 2000, HEADERS, 2)
    draw_aggregate_seeded(aggregates, AggregateSeededParameters(), 1, threads=threads, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert min(shares) >= 0.0


def test_weights_that_could_overflow_are_refused():
    texts = [f"A:{i:04d}" for i in range(1025)]
    aggregates = aggregates_of(texts, ["A"], [{(i,): 2**53 for i in range(1025)}], 1)
    with pytest.raises(ParameterError, match="2\\^63"):
        draw_aggregate_seeded(aggregates, AggregateSeededParameters(), 1)


def test_t13_a_target_of_three_times_the_records_gives_each_three_times():
    parameters = AggregateSeededParameters(use_synthetic_counts=True, target_number_of_records=1500)
    synthetic = draw_aggregate_seeded(counted(T1 * 100, HEADERS, 3), parameters, 5)
    assert Counter(_rows(synthetic)) == dict.fromkeys(T1, 300)


def test_t13_a_target_of_zero_gives_no_record():
    synthetic = draw_aggregate_seeded(
        counted(T1, HEADERS, 3), AggregateSeededParameters(target_number_of_records=0), 5
    )
    assert synthetic.number_of_records == 0
    assert synthetic.headers == ("A", "B", "C")


@pytest.mark.parametrize("use_synthetic_counts", [False, True])
def test_t13_a_scale_factor_of_a_half_gives_about_half_the_records(use_synthetic_counts):
    parameters = AggregateSeededParameters(
        use_synthetic_counts=use_synthetic_counts, aggregate_counts_scale_factor=0.5
    )
    synthetic = draw_aggregate_seeded(counted(T1 * 100, HEADERS, 3), parameters, 5)
    assert 250 <= synthetic.number_of_records <= 275
