"""The measurement as a whole: each rule of docs/design that lives in the measuring step."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp import accounting
from tasks.core.dp.candidates import SizeRule
from tasks.core.dp.contribution import Bounds, from_profile, profile_edges
from tasks.core.dp.exact import LengthCounts
from tasks.core.dp.lengths import MOST_SPURIOUS, Draw, spurious_bounded
from tasks.core.dp.measurement import read_measurement
from tasks.core.dp.normalization import normalised_counts
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.dp.release import draw, draw_lengths
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.tags import records_below, tag_bound
from tasks.core.dp.thresholds import expected_spurious
from tasks.core.errors import InternalError, ParameterError
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tests.oracles import measuring
from tests.oracles.partitions import as_table

MODES = [("gdp", "schema"), ("gdp", "profile"), ("zcdp", "schema"), ("zcdp", "percentile")]


def parameters(accountant="gdp", contribution="schema", length=3, **more):
    plain = {"epsilon": 4.0, "delta": 1e-5, "reporting_length": length}
    return DpParameters(**plain | more, accountant=accountant, contribution=contribution)


def release(records, asked, seed=1, before=lambda: None, rule=None):
    stream = SeededStream(seed)
    if rule is None:
        return draw_lengths(as_table(records), asked, stream, before_first_word=before)
    return draw(Draw(LengthCounts(as_table(records)), asked, stream, before, lambda step, share: None, rule))


def survey(rows=3000, columns=5, values=4, declared=(), seed=0, multi=0):
    """Dependent columns with some cells absent; the last may be a multi-valued one."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, values, rows)
    cells = [
        (base + (rng.random(rows) < 0.3) * rng.integers(0, values, rows)) % values + 1 for _ in range(columns)
    ]
    about, slots = [], []
    texts = tuple(f"v{code}" for code in range(1, values + 1))
    for index, codes in enumerate(cells):
        about.append(Column(f"c{index}", domain=texts if index in declared else None))
        slots.append(np.where(rng.random(rows) < 0.1, 0, codes).astype(np.uint8))
    if multi:
        items = np.sort(np.argsort(rng.random((rows, values)), axis=1)[:, :multi] + 1, axis=1)
        kept = rng.integers(0, multi + 1, rows)
        for place in range(multi):
            slots.append(np.where(place < kept, items[:, place], 0).astype(np.uint8))
        about.append(Column("m", delimiter=";", max_items=multi))
    schema = Schema(tuple(about))
    tags = rng.integers(0, 2**64, rows, dtype=np.uint64)
    return CodedRecords(schema, tuple(slots), schema.slot_columns, (texts,) * len(about), rows, tags)


def rows_of_level(measurement, level):
    return [
        (measurement.schema.combinations(level.codes.shape[1])[combination], tuple(codes))
        for combination, codes in zip(level.combinations.tolist(), level.codes.tolist(), strict=True)
    ]


@settings(max_examples=60, deadline=None)
@given(measuring.tables(), st.sampled_from(MODES), st.integers(1, 6), st.booleans(), st.integers(0, 99))
def test_rule_2_every_table_of_the_schema_gives_a_measurement(records, mode, length, limited, seed):
    """Empty, all missing, one column, no value at all, lengths beyond the width: nothing stops it."""
    asked = parameters(*mode, length=length, record_limit=3 if limited else None)
    found = release(records, asked, seed)
    width = records.schema.width
    assert len(found.levels) == max(1, min(length, width))
    for number, level in enumerate(found.levels, start=1):
        assert level.codes.shape == (len(level.counts), number)
        rows = rows_of_level(found, level)
        assert rows == sorted(set(rows))
        assert level.sensitivity <= math.comb(width, number)
    normalised_counts(found)


@pytest.mark.parametrize("schema", [Schema(()), Schema((Column("a", domain=()), Column("b", domain=())))])
def test_rule_2_a_schema_without_a_column_or_a_value_gives_the_noisy_count_alone(schema):
    slots = tuple(np.zeros(5, np.uint8) for _ in schema.columns)
    records = CodedRecords(schema, slots, schema.slot_columns, ((),) * len(slots), 5)
    found = release(records, parameters())
    assert all(len(level.counts) == 0 and level.candidates == 0 for level in found.levels)
    assert normalised_counts(found).number_of_records == max(0, found.number_of_records)


@pytest.mark.parametrize("mode", MODES)
def test_rule_4_the_ledger_is_told_once_before_the_first_word_and_can_stop_it(mode):
    class Watched(SeededStream):
        taken = 0

        def words(self, count):
            self.taken += count
            return super().words(count)

    stream, told = Watched(3), []
    draw_lengths(
        as_table(survey()), parameters(*mode), stream, before_first_word=lambda: told.append(stream.taken)
    )
    assert told == [0]
    assert stream.taken > 0

    def refuse():
        raise InternalError("no")

    stream = Watched(3)
    with pytest.raises(InternalError):
        draw_lengths(as_table(survey()), parameters(), stream, before_first_word=refuse)
    assert stream.taken == 0


def test_rule_9_what_is_charged_does_not_depend_on_the_data():
    tables = [survey(0), survey(3000), survey(50, values=1)]
    for mode in MODES:
        found = [release(records, parameters(*mode), seed) for seed, records in enumerate(tables)]
        assert len({(each.mu_squared, each.threshold_delta, each.count_scale) for each in found}) == 1
        assert len({tuple(level.sigma for level in each.levels) for each in found}) == 1


@pytest.mark.parametrize(("opened", "threshold"), [(10, 133), (3, 128), (1, 124)])
def test_rule_11_the_threshold_counts_open_columns_and_the_scale_all(opened, threshold):
    records = survey(columns=10, declared=range(10 - opened))
    level = release(records, parameters(epsilon=1.0, delta=1e-6)).levels[0]
    assert (level.sensitivity, level.scale, level.threshold) == (10, 23.375, threshold)


def test_rule_11_declared_values_are_all_kept_whatever_was_drawn():
    """Zero and negative counts included, and they are candidates of length 2."""
    records = survey(rows=0, columns=3, declared=(0, 1, 2))
    found = release(records, parameters(length=2, threshold_delta_share=0.0))
    first, second = found.levels
    assert first.threshold is None
    assert first.survives.all() and len(first.counts) == 12 and (first.counts < 0).any()
    assert found.values == records.values
    assert second.candidates == 3 * 16


def test_rule_11_open_values_below_the_threshold_leave_no_trace():
    records = survey(rows=2000, columns=2, declared=(0,))
    texts = (*records.values[1], "held by one")
    codes = records.slots[1].copy()
    codes[0] = len(texts)
    records = dataclasses.replace(records, slots=(records.slots[0], codes), values=(records.values[0], texts))
    found = release(records, parameters())
    assert found.values == (records.values[0], texts[:-1])
    assert found.levels[0].candidates is None
    opened = found.levels[0].combinations == 1
    assert (found.levels[0].counts[opened] >= found.levels[0].threshold).all()


def test_rule_11_an_open_value_is_released_from_the_threshold_on_and_not_below():
    """Of 600 values of up to 59 records, some have the least noisy count that is released."""
    codes = np.repeat(np.arange(1, 601, dtype=np.uint16), np.arange(600) % 60)
    texts = tuple(f"v{place:03}" for place in range(600))
    town = CodedRecords(Schema((Column("town"),)), (codes,), (0,), (texts,), len(codes))
    level = release(town, parameters(length=1)).levels[0]
    assert level.counts.min() == level.threshold < 59


def test_rule_12_the_schema_alone_gives_the_sensitivity():
    """Delta_k = min(C(W, k), |V_k|), W = single columns + caps; lengths beyond W are not measured."""
    records = survey(columns=3, multi=2)
    found = release(records, parameters(length=9))
    assert len(found.levels) == 5
    for length, level in enumerate(found.levels, start=1):
        most = math.comb(5, length)
        assert level.sensitivity == (most if level.candidates is None else min(most, level.candidates))
    plan = accounting.plan_release(parameters(length=9), all_declared=False, levels=5)
    assert tuple(level.sigma for level in found.levels) == plan.sigmas


@given(st.integers(1, 60), st.integers(1, 8))
def test_rule_12_profile_bins_are_few_public_and_cover_everything(width, length):
    bounds = Bounds(width, min(length, width), None)
    edges = profile_edges(bounds)
    assert len(edges) <= 32
    assert (np.diff(edges) > 0).all()
    assert edges[0] >= 0 and edges[-1] == bounds.most


def test_a_profile_of_mostly_empty_columns_rarely_jumps_far_above_all_records():
    """40 columns of which nobody holds more than 9. False alarm below 1e-4: at most 3 % of 300 draws jump."""
    sizes = np.zeros(85, np.int64)
    sizes[[0, 4, 35, 84]] = 500, 3500, 940, 60
    law, stream = noise.RoundedGaussian(Fraction(17)), SeededStream(4)
    drawn = [from_profile(sizes, Bounds(40, 3, None), 99, law, stream) for _ in range(300)]
    assert sum(bound > 455 for bound in drawn) <= 21
    assert min(drawn) >= 20


@pytest.mark.parametrize("mode", [("gdp", "profile"), ("zcdp", "percentile")])
def test_rule_12_a_chosen_sensitivity_follows_the_records(mode):
    """9 of 10 records hold 2 values of 20 columns, the rest 20: the 80th percentile is near 2."""
    rng = np.random.default_rng(5)
    filled = rng.random((20, 20000)) < 0.1
    slots = tuple(np.where(filled[i] & (np.arange(20000) > 1000), 1, 0).astype(np.uint8) for i in range(20))
    schema = Schema(tuple(Column(f"c{i}") for i in range(20)))
    tags = rng.integers(0, 2**64, 20000, dtype=np.uint64)
    records = CodedRecords(schema, slots, schema.slot_columns, (("x",),) * 20, 20000, tags)
    held = np.sort(sum((slot > 0).astype(int) for slot in slots))
    for seed in range(5):
        found = release(records, parameters(*mode, percentile_percentage=80), seed)
        assert found.levels[0].sensitivity == held[16000]


def test_rule_13_dropping_or_sampling_needs_tags():
    records = dataclasses.replace(survey(), tags=None)
    release(records, parameters())
    for asked in (parameters("gdp", "profile"), parameters(record_limit=10)):
        with pytest.raises(InternalError):
            release(records, asked)


def test_rule_14_a_record_is_sampled_by_its_own_tag():
    records = survey(rows=5000)
    found = records_below(records, tag_bound(1000, 4000))
    kept = [tag < 2**62 for tag in records.tags.tolist()]
    assert found.number_of_records == sum(kept) == len(found.tags)
    for codes, whole in zip(found.slots, records.slots, strict=True):
        assert codes.tolist() == whole[kept].tolist()


@pytest.mark.parametrize("noisy_count", [-7, 0, 1, 1000])
def test_rule_14_all_records_are_kept_where_the_limit_reaches_them(noisy_count):
    records = survey(rows=50)
    assert records_below(records, tag_bound(1000, noisy_count)) is records


def test_rule_14_the_noisy_count_is_of_all_records():
    found = release(survey(rows=5000), parameters(record_limit=500))
    assert abs(found.number_of_records - 5000) < 200
    held = found.levels[0].counts[found.levels[0].combinations == 0].sum()
    assert 300 < held < 700


def test_rule_15_nothing_is_kept_of_what_does_not_survive_where_cells_are_not_visited():
    records = survey(columns=3, declared=(0, 1, 2))
    asked = parameters(threshold_delta_share=0.0)
    dense, sparse = release(records, asked), release(records, asked, rule=SizeRule(0, 0, 0))
    for visited, not_visited in zip(dense.levels[1:], sparse.levels[1:], strict=True):
        assert len(visited.counts) == visited.candidates
        assert (visited.survives == (visited.counts >= visited.threshold)).all()
        assert not_visited.survives.all()
        assert (not_visited.counts >= not_visited.threshold).all()


def test_rule_16_a_delta_from_the_noisy_count_changes_what_is_drawn_but_not_what_is_charged():
    records = survey(rows=20000)
    constant, smaller = release(records, parameters()), release(records, parameters(delta_factor=100.0))
    assert (smaller.mu_squared, smaller.threshold_delta) == (constant.mu_squared, constant.threshold_delta)
    assert smaller.levels[0].threshold > constant.levels[0].threshold
    empty = release(survey(rows=0), parameters(delta_factor=100.0, epsilon=100.0))
    assert empty.levels[0].threshold == release(survey(rows=0), parameters(epsilon=100.0)).levels[0].threshold


@pytest.mark.parametrize(("candidates", "scale"), [(4 * 10**8, 1.5), (10**10, 40.0), (10**12, 0.5)])
def test_thresholds_are_raised_where_noise_alone_would_fill_the_memory(candidates, scale):
    """A fixed threshold of 0 over 10^10 candidates would publish half of them."""
    law, bounds = Fraction(scale), Bounds(2, 2, candidates)
    least = spurious_bounded(ReleaseThresholds("fixed"), bounds, law, 100)
    assert expected_spurious(law, least, candidates) <= MOST_SPURIOUS
    assert expected_spurious(law, least - 1, candidates) > MOST_SPURIOUS
    high = ReleaseThresholds("fixed", {}, 1000.0)
    assert spurious_bounded(high, bounds, law, 100) == 1001
    assert spurious_bounded(ReleaseThresholds("fixed"), Bounds(2, 2, 100), law, 100) == 1


def test_rule_15_four_hundred_million_candidates_are_not_visited():
    texts = tuple(map(str, range(20000)))
    schema = Schema((Column("a", domain=texts), Column("b", domain=texts)))
    slots = (np.ones(100, np.uint16), np.full(100, 7, np.uint16))
    records = CodedRecords(schema, slots, (0, 1), (texts, texts), 100)
    level = release(records, parameters(length=2, thresholds=ReleaseThresholds("fixed", {}, 8.0))).levels[1]
    assert level.candidates == 4 * 10**8
    assert abs(len(level.counts) - 1 - level.expected_spurious) < 6 * math.sqrt(level.expected_spurious)
    assert [1, 7] in level.codes.tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 1e-6},
        {"thresholds": ReleaseThresholds("fixed", {3: -1.0})},
        {"thresholds": ReleaseThresholds("adaptive", {2: float("nan")})},
        {"percentile_percentage": 101},
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is(wrong):
    told = []
    with pytest.raises(ParameterError):
        release(survey(), parameters(**wrong), before=lambda: told.append(1))
    assert told == []


def test_no_length_follows_one_without_candidates():
    """C9."""
    found = release(survey(rows=3), parameters(length=4))
    assert [level.sensitivity for level in found.levels] == [5, 0, 0, 0]
    assert [level.candidates for level in found.levels] == [None, 0, 0, 0]


@pytest.mark.parametrize("mode", MODES)
def test_a_measurement_is_a_function_of_records_parameters_and_noise(mode, tmp_path):
    records = survey(multi=2, declared=(1,))
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
        release(records, parameters(*mode), 9).write(folder)
    for path in folders[0].iterdir():
        assert path.read_bytes() == (folders[1] / path.name).read_bytes()
    again, made = read_measurement(folders[0]), release(records, parameters(*mode), 9)
    assert normalised_counts(again).headers == normalised_counts(made).headers
    assert not again.private


def test_counts_are_near_the_truth():
    """Every released count is within 7 standard deviations (false alarm below 1e-8) of the exact one."""
    records = survey(rows=4000, columns=4, multi=2)
    found = release(records, parameters(epsilon=10.0))
    for length, level in enumerate(found.levels, start=1):
        wanted = set(rows_of_level(found, level))
        exact = measuring.counts_of(records, length, wanted)
        noise = [
            int(n) - exact.get(cell, 0)
            for cell, n in zip(rows_of_level(found, level), level.counts, strict=True)
        ]
        assert len(noise) > 10
        assert max(map(abs, noise)) <= 7 * level.scale + 1
