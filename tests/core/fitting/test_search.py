import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.fitting.kernels import LANES, _sum_runs, visit_records
from tasks.core.fitting.noisy_tables import Domain, table_counts
from tasks.core.fitting.search import (
    LONG_ANNEALING,
    coprime,
    fill,
    independent_records,
    lay_out,
    move_records,
)
from tasks.core.fitting.targets import Target
from tests.oracles import fitting as oracle

PEOPLE = Domain((3, 4, 2))
#: Two ordinary columns, one of up to three items with an absent cell, one of up to two items without.
ITEMS = Domain((3, 5, 4, 2), caps=(1, 3, 2, 1), absent=(None, 4, None, None))
TABLES = [(0,), (1,), (2,), (3,), (0, 1), (1, 1), (1, 2), (0, 1, 3), (0, 1, 2, 3)]


def _records(domain, number, seed):
    generator = np.random.default_rng(seed)
    columns = []
    for column, size in enumerate(domain.sizes):
        slots, empty = domain.slots_of(column), domain.empty(column)
        values = [cell for cell in range(size) if slots == 1 or cell != empty]
        rows = [
            generator.permutation(values + [empty] * (slots if slots > 1 else 0))[:slots]
            for _ in range(number)
        ]
        cells = np.array(rows, np.int32).reshape(number, slots)
        if slots > 1:
            for row in cells:
                kept = sorted({cell for cell in row.tolist() if cell != empty})
                row[:] = (kept + [empty] * slots)[:slots]
        columns.append(cells)
    return np.ascontiguousarray(np.concatenate(columns, axis=1))


def _targets(domain, tables, seed):
    generator = np.random.default_rng(seed)
    targets = []
    for columns in tables:
        counts = generator.normal(5, 4, domain.shape(columns))
        counts = counts + counts.T if len(set(columns)) < len(columns) else counts
        targets.append(Target(columns, counts, float(generator.uniform(0.5, 2))))
    return targets


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_counts_are_those_of_the_oracle(seed):
    records = _records(ITEMS, 12, seed)
    for columns in TABLES:
        assert (
            table_counts(ITEMS, columns, records).tolist() == oracle.count(records, ITEMS, columns).tolist()
        )


@given(st.lists(st.integers(1, 6), max_size=4), st.sampled_from([0, 1, 4095, 4096, 9000]), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_counts_of_ordinary_columns_are_those_of_numpy(sizes, number, seed):
    domain, generator = Domain((3, *sizes)), np.random.default_rng(seed)
    records = np.stack([generator.integers(0, size, number) for size in domain.sizes], axis=1).astype(
        np.int32
    )
    columns = tuple(range(1, len(domain.sizes)))
    slow = np.histogramdd(records[:, 1:], [np.arange(size + 1) for size in sizes])[0] if sizes else number
    assert np.array_equal(table_counts(domain, columns, records), slow)


def test_a_record_in_no_cell_is_an_error():
    for cell in (-1, 4):
        with pytest.raises(IndexError):
            table_counts(PEOPLE, (1,), np.array([[0, cell, 0]], np.int32))


@given(st.integers(0, 10_000), st.sampled_from([0.05, 1.0, float("inf")]))
@settings(max_examples=40, deadline=None)
def test_the_gradient_follows_the_records(seed, inverse):
    targets = _targets(ITEMS, TABLES, seed)
    records = _records(ITEMS, 30, seed)
    tables = lay_out(ITEMS, targets)
    fill(tables, ITEMS, targets, records)
    visit_records(tables, records, np.arange(30), np.float32(inverse), np.uint64(seed))
    followed = tables.gradient.copy()
    fill(tables, ITEMS, targets, records)
    inside = ~_diagonal(tables, targets)
    assert followed[inside] == pytest.approx(tables.gradient[inside], abs=1e-3)


def _diagonal(tables, targets):
    """Cells (u, u) of a table of a column with itself: no record is in them."""
    marked, start = np.zeros(len(tables.gradient), bool), 0
    for target in targets:
        if target.columns == (1, 1):
            marked[start : start + target.counts.size] = np.eye(len(target.counts), dtype=bool).ravel()
        start += target.counts.size * len(set(target.columns))
    return marked


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_records_stay_possible(seed):
    records = _records(ITEMS, 40, seed)
    move_records(ITEMS, _targets(ITEMS, TABLES, seed), records, 1.0, (100.0, 1.0, 0.0), seed)
    for record in records.tolist():
        for column, size in enumerate(ITEMS.sizes):
            first, empty = ITEMS.first_slot(column), ITEMS.empty(column)
            held = [cell for cell in record[first : first + ITEMS.slots_of(column)] if cell != empty]
            assert len(set(held)) == len(held)
            assert all(0 <= cell < size for cell in held)


def _energy(domain, targets, records):
    """A pair of items of one column lies in two cells of its table, and counts once."""
    return sum(
        (0.25 if len(set(target.columns)) < len(target.columns) else 0.5)
        * target.weight
        * ((table_counts(domain, target.columns, records) - target.counts) ** 2).sum()
        for target in targets
    )


@pytest.mark.parametrize(
    ("domain", "tables"), [(PEOPLE, [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]), (ITEMS, TABLES)]
)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_a_cold_pass_never_raises_the_energy(domain, tables, seed):
    targets = _targets(domain, tables, seed)
    for target in targets:
        if target.columns == (1, 1):
            np.fill_diagonal(target.counts, 0.0)  # no record is there, whatever the search does
    records = _records(domain, 50, seed)
    before = _energy(domain, targets, records)
    move_records(domain, targets, records, 1.0, (0.0,), seed)
    assert _energy(domain, targets, records) <= before + 1e-3


@given(st.integers(0, 10_000), st.integers(0, 40), st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_runs_are_added_in_their_order(seed, number, size):
    generator = np.random.default_rng(seed)
    gradient = generator.normal(0, 100, 500 + LANES).astype(np.float32)
    runs = generator.integers(0, 500 - size, 40)
    sums, slow = np.zeros(size + LANES, np.float32), np.zeros(size, np.float32)
    _sum_runs(runs, 0, number, size, gradient, sums)
    for run in runs[:number]:
        slow += gradient[run : run + size]
    assert sums[:size].tolist() == slow.tolist()


def _visited(domain, targets, record, seed=1, temperature=0.0):
    """One record after a pass that visits it."""
    records, tables = np.array([record], np.int32), lay_out(domain, targets)
    fill(tables, domain, targets, records)
    inverse = np.float32(1 / temperature if temperature else np.inf)
    visit_records(tables, records, np.zeros(1, np.int64), inverse, np.uint64(seed))
    return records[0].tolist()


def test_the_law_of_a_warm_pass_is_that_of_gibbs_sampling():
    """One record, one column of 3 values: chi-square over 30,000 draws; false alarm 1e-4, at 18.4."""
    domain, temperature = Domain((3,)), 2.0
    target = Target((0,), np.array([0.2, 0.9, 0.4]), 1.0)
    energies = [0.5 * ((np.eye(3)[value] - target.counts) ** 2).sum() for value in range(3)]
    law = np.exp(-np.array(energies) / temperature)
    law /= law.sum()
    found = np.zeros(3)
    for seed in range(30_000):
        found[_visited(domain, [target], [0], seed, temperature)] += 1
    expected = law * found.sum()
    assert ((found - expected) ** 2 / expected).sum() < 18.4


def test_threads_do_not_change_the_records():
    targets = _targets(PEOPLE, [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)], 3)
    made = []
    for threads in (1, 2, 5):
        records = _records(PEOPLE, 400, 3)
        records = np.ascontiguousarray(np.tile(records, (60, 1)))
        move_records(PEOPLE, targets, records, 1.0, (100.0, 5.0, 0.0), 11, threads=threads)
        made.append(records.tobytes())
    assert len(set(made)) == 1


def test_the_search_comes_within_three_records_of_a_tables_own_counts():
    generator = np.random.default_rng(5)
    domain = Domain((4, 5, 3))
    real = np.stack(
        [generator.choice(size, 40_000, p=generator.dirichlet(np.ones(size))) for size in (4, 5, 3)]
    )
    real[1] = np.where(generator.random(40_000) < 0.5, real[0], real[1])
    real = np.ascontiguousarray(real.T.astype(np.int32))
    tables = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    targets = [Target(c, table_counts(domain, c, real).astype(float), 0.01) for c in tables]
    records = independent_records(domain, [target.counts for target in targets[:3]], 40_000, 1)
    move_records(domain, targets, records, 100.0, LONG_ANNEALING, 1)
    for target in targets:
        assert np.abs(table_counts(domain, target.columns, records) - target.counts).max() <= 3


def test_no_record_is_in_a_forbidden_cell():
    targets = _targets(PEOPLE, [(0,), (1,), (2,), (0, 1)], 9)
    forbidden = np.zeros((3, 4), bool)
    forbidden[0, :3] = forbidden[2, 1] = True
    targets[-1] = Target((0, 1), targets[-1].counts, targets[-1].weight, forbidden)
    records = _records(PEOPLE, 500, 2)
    move_records(PEOPLE, targets, records, 1.0, (50.0, 5.0, 0.0), 4)
    assert not table_counts(PEOPLE, (0, 1), records)[forbidden].any()


@given(st.integers(1, 5000))
def test_a_stride_visits_every_record_once(number):
    assert len(set((np.arange(number) * coprime(number)) % number)) == number


def test_independent_records_hold_the_estimated_counts():
    margins = [np.array([1.4, 2.6, 6.0]), np.array([5.0, 5.0])]
    records = independent_records(Domain((3, 2)), margins, 10, 3)
    assert np.bincount(records[:, 0]).tolist() == [1, 3, 6]
    assert np.bincount(records[:, 1]).tolist() == [5, 5]


def test_columns_of_independent_records_say_nothing_of_each_other():
    """Each is shuffled by itself: of 2,000, 4.5 standard errors alarm falsely once in 1e5."""
    margins = [np.array([1.0, 1.0]), np.array([1.0, 1.0])]
    records = independent_records(Domain((2, 2)), margins, 2_000, 3)
    assert abs(np.corrcoef(records.T)[0, 1]) < 4.5 / 2_000**0.5


def test_the_gradient_is_what_one_more_record_would_add():
    """Half the weighted square, one more minus none: w (count - target + 1/2), from the energy itself."""
    target = Target((0, 1), np.random.default_rng(2).normal(5, 4, (3, 4)), 0.7)
    records = _records(PEOPLE, 50, 1)
    tables = lay_out(PEOPLE, [target])
    fill(tables, PEOPLE, [target], records)
    counts = table_counts(PEOPLE, (0, 1), records)

    def energy(table):
        return 0.5 * target.weight * ((table - target.counts) ** 2).sum()

    for cell in np.ndindex(3, 4):
        more = counts.copy()
        more[cell] += 1
        place = tables.gradient[: counts.size].reshape(4, 3)[cell[1], cell[0]]
        other = tables.gradient[counts.size : 2 * counts.size].reshape(3, 4)[cell]
        assert place == other == pytest.approx(energy(more) - energy(counts), rel=1e-5, abs=1e-5)


def _passes(temperatures, variance=1.0):
    """400 records of two values, all of them wanted in the first: the values after each pass."""
    domain, wanted = Domain((2,)), Target((0,), np.array([400.0, 0.0]), 1.0 / variance)
    records, after = np.ones((400, 1), np.int32), []
    move_records(
        domain,
        [wanted],
        records,
        variance,
        temperatures,
        5,
        progress=lambda share: after.append(records[:, 0].copy()),
    )
    return after


@pytest.mark.parametrize("variance", [1.0, 100.0])
def test_temperatures_are_in_squared_records_whatever_the_weights(variance):
    """At a million squared records all is chance, at a thousandth the target decides."""
    (hot,) = _passes((1e6,), variance)
    (cool,) = _passes((1e-3,), variance)
    assert 0.35 < hot.mean() < 0.65 and cool.mean() == 0


def test_each_pass_has_random_numbers_of_its_own():
    """With the same ones a record would stay where it is; by chance half do (5 standard errors)."""
    first, second = _passes((1e9, 1e9))
    assert abs((first == second).mean() - 0.5) < 5 * 0.5 / 400**0.5


def test_each_record_has_random_numbers_of_its_own():
    """With the same ones all would go to one value."""
    (found,) = _passes((1e9,))
    assert abs(found.mean() - 0.5) < 5 * 0.5 / 400**0.5


@pytest.mark.parametrize("value", [0, 1, 2])
def test_in_a_cold_pass_a_tie_moves_nobody(value):
    """One record that is wanted everywhere alike."""
    assert _visited(Domain((3,)), [Target((0,), np.full(3, 0.25), 1.0)], [value]) == [value]


def test_each_column_of_a_record_has_random_numbers_of_its_own():
    """All is chance: two columns agree in half of the records (5 standard errors)."""
    targets = [Target((column,), np.array([200.0, 200.0]), 1.0) for column in (0, 1)]
    records = np.zeros((400, 2), np.int32)
    move_records(Domain((2, 2)), targets, records, 1.0, (1e9,), 3)
    assert abs((records[:, 0] == records[:, 1]).mean() - 0.5) < 5 * 0.5 / 400**0.5


def test_an_empty_slot_beside_an_item_is_in_no_cell():
    """It costs nothing, however few records should hold nothing: the other item stays out."""
    target = Target((0,), np.array([50.0, -5.0, -90.0]), 1.0)
    assert sorted(_visited(Domain((3,), caps=(2,), absent=(2,)), [target], [0, 2])) == [0, 2]


def test_columns_are_visited_in_an_order_of_each_pass():
    """The column that comes first moves, then the other stays: both happen in 40 passes of one record."""
    target = Target((0, 1), np.array([[0.0, 5.0], [5.0, 0.0]]), 1.0)
    assert {tuple(_visited(Domain((2, 2)), [target], [0, 0], seed)) for seed in range(40)} == {(0, 1), (1, 0)}


@pytest.mark.parametrize("weights", [(1.0, 3.0), (3.0, 1.0)])
def test_a_record_is_taken_out_of_every_table_before_it_is_put_back(weights):
    """It is where both tables want it by a little; left in one of them, it would be driven out."""
    targets = [Target((0,), np.array([0.6, 0.4]), weight) for weight in weights]
    assert _visited(Domain((2,)), targets, [0]) == [0]
