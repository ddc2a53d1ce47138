import numpy as np
import pytest

from tasks.core.fitting import fit as fitting
from tasks.core.fitting.fit import fit
from tasks.core.fitting.noisy_tables import Domain, NoisyTable, table_counts

PAIRS = [(0, 1), (0, 2), (1, 2)]


def _tables(domain, records, variance, columns, seed=1):
    generator = np.random.default_rng(seed)
    found = [NoisyTable((), np.array(float(len(records))), variance)]
    for chosen in [*((column,) for column in range(len(domain.sizes))), *columns]:
        exact = table_counts(domain, chosen, records)
        found.append(NoisyTable(chosen, exact + generator.normal(0, variance**0.5, exact.shape), variance))
    return found


def _parities(number):
    generator = np.random.default_rng(4)
    records = generator.integers(0, 2, (number, 3)).astype(np.int32)
    records[:, 2] = records[:, 0] ^ records[:, 1]
    return records


@pytest.mark.parametrize("number", [1000, 10_000, 40_000])
def test_targets_are_scaled_to_the_number_of_records_asked_for(number):
    domain = Domain((3, 4, 2))
    generator = np.random.default_rng(1)
    real = np.stack([generator.integers(0, size, 10_000) for size in domain.sizes], axis=1).astype(np.int32)
    real[:, 1] = np.where(generator.random(10_000) < 0.7, real[:, 0], real[:, 1])
    made, targets = fit(domain, _tables(domain, real, 4.0, PAIRS), number, 3)
    assert len(made) == number
    for target in targets:
        assert target.counts.sum() == pytest.approx(number, rel=0.02)
    for pair in PAIRS:
        shares = [table_counts(domain, pair, records) / len(records) for records in (real, made)]
        assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.01


def test_a_relation_that_no_pair_shows_comes_from_a_longer_table():
    domain, real = Domain((2, 2, 2)), _parities(4000)
    pairs_alone, _ = fit(domain, _tables(domain, real, 25.0, PAIRS), 4000, 3)
    with_triple, _ = fit(domain, _tables(domain, real, 25.0, [*PAIRS, (0, 1, 2)]), 4000, 3)
    broken = [(cells[:, 0] ^ cells[:, 1] != cells[:, 2]).mean() for cells in (pairs_alone, with_triple)]
    assert broken[0] > 0.3
    assert broken[1] < 0.02


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("level", [-50.0, 0.0])
def test_tables_without_a_positive_count_and_hardly_a_record(number, level):
    domain = Domain((1, 4, 3))
    shapes = [(), (0,), (1,), (2,), *PAIRS, (0, 1, 2)]
    tables = [NoisyTable(columns, np.full(domain.shape(columns), level), 9.0) for columns in shapes]
    made, _ = fit(domain, tables, number, 5)
    assert made.shape == (number, 3)
    assert all((made[:, column] < size).all() for column, size in enumerate(domain.sizes))


@pytest.mark.slow
def test_columns_of_a_thousand_values():
    domain = Domain((1000, 1000))
    generator = np.random.default_rng(2)
    one = np.minimum(generator.zipf(1.3, 5000) - 1, 999)
    real = np.stack([one, 999 - one], axis=1).astype(np.int32)
    made, _ = fit(domain, _tables(domain, real, 16.0, [(0, 1)]), 5000, 3)
    top = np.bincount(one).argmax()
    share = ((made[:, 0] == top) & (made[:, 1] == 999 - top)).mean()
    assert share == pytest.approx((one == top).mean(), abs=0.02)


def test_many_columns_of_which_few_pairs_were_measured():
    domain = Domain((3,) * 60)
    real = np.random.default_rng(3).integers(0, 3, (300, 60)).astype(np.int32)
    real[:, 1] = real[:, 0]
    made, _ = fit(domain, _tables(domain, real, 1.0, [(0, 1), (5, 9)]), 300, 3)
    assert (made[:, 0] == made[:, 1]).mean() > 0.9


@pytest.mark.parametrize(("most_work", "passes"), [(0, 5), (10**9, 10)])
def test_where_a_pass_is_long_there_are_few_and_what_no_pair_shows_is_kept(monkeypatch, most_work, passes):
    monkeypatch.setattr(fitting, "_MOST_WORK", most_work)
    domain, told = Domain((2, 2, 2)), []
    tables = _tables(domain, _parities(4000), 25.0, [*PAIRS, (0, 1, 2)])
    made, _ = fitting.fit(domain, tables, 4000, 3, progress=told.append)
    assert len(told) == passes
    assert ((made[:, 0] ^ made[:, 1]) == made[:, 2]).mean() > 0.9
