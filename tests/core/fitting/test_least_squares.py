import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain, NoisyTable
from tests.oracles import fitting as oracle


@given(
    sizes=st.lists(st.integers(1, 3), min_size=3, max_size=3).map(tuple),
    chosen=st.lists(st.sampled_from([(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]), max_size=4),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_marginals_are_those_of_least_squares_over_all_cells(sizes, chosen, seed):
    generator = np.random.default_rng(seed)
    tables = []
    for columns in [(), *chosen]:
        counts = np.array(generator.normal(10, 5, [sizes[c] for c in columns]))
        tables.append(NoisyTable(columns, counts, float(generator.uniform(1, 9))))
    residuals, expected = Residuals(Domain(sizes), tables), oracle.least_squares(sizes, tables)
    for columns in [(), (0,), (1, 2), (0, 1, 2)]:
        margin = residuals.marginal(columns)
        for cell in np.ndindex(*margin.shape):
            mean, _ = expected((1, dict(zip(columns, cell, strict=True))))
            assert margin[cell] == pytest.approx(mean, abs=1e-8)


def test_a_table_of_items_says_nothing_of_the_number_of_records_or_of_other_columns():
    domain = Domain((3, 2), caps=(2, 1), absent=(2, None))
    plain = [NoisyTable((), np.array(10.0), 1.0), NoisyTable((1,), np.array([4.0, 6.0]), 1.0)]
    items = NoisyTable((0, 1), np.array([[5.0, 3.0], [4.0, 4.0], [1.0, 0.0]]), 1.0)
    with_items = Residuals(domain, [*plain, items])
    assert with_items.total() == Residuals(domain, plain).total()
    assert with_items.marginal((1,)) == pytest.approx(Residuals(domain, plain).marginal((1,)))
    assert with_items.marginal((0,)) == pytest.approx(np.array([8.0, 8.0, 1.0]))
