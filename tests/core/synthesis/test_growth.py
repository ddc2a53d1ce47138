from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

from tasks.core.random_kernels import stream
from tasks.core.synthesis.record_kernels import Effort
from tasks.core.synthesis.tree import Cost, GrowingBatch, drafts_of, drawn_of, table_of
from tests.oracles.law import FALSE_ALARM, check_law, distance
from tests.oracles.raw_seeded import Oracle
from tests.oracles.raw_tables import rows_of, schema_of, sets_of, split

COPIES = 300
RESOLUTION = 3

#: All nodes are opened, those of one record too.
OPEN = Cost(finish_a_row=1e9, open_a_row=0, open_a_cell=0, open_a_node=-1, visit_a_node=0)
WAYS = {
    "as it is": ({}, Cost()),
    "by all counts": ({"hits": 0}, Cost()),
    "all counts after one refusal": ({"refusals": 1, "short": 0}, Cost()),
    "bitsets to the end": ({"short": 0, "rows_a_list": 10**9, "rows_a_bit": 10**9, "hits": 10**6}, Cost()),
    "lists early": ({"short": 0, "rows_a_list": 2}, Cost()),
    "lists from the start": ({"short": 0, "rows_a_bit": 1}, Cost()),
    "lists of all lengths": ({"short": 10**9, "rows_a_bit": 2}, Cost()),
    "every node opened": ({}, OPEN),
    "some nodes opened": ({}, Cost(finish_a_row=3, open_a_node=0, visit_a_node=0)),
}


@pytest.fixture(scope="module")
def base():
    """Thirty records that lean on each other; two columns of one value, one of many, one of items."""
    generator = np.random.default_rng(7)
    schema = schema_of(False, False, True, False)
    records = []
    for _ in range(30):
        kind = generator.integers(3)
        first = set() if generator.random() < 0.2 else {"xy"[(kind + generator.integers(2)) % 2]}
        items = {
            item
            for item, chance in zip("xyz0", (0.7, 0.4, 0.3, 0.2), strict=True)
            if generator.random() < chance
        }
        last = {str(kind)} if generator.random() < 0.8 else {str(generator.integers(3, 5))}
        records.append([first, {"same"}, items, last])
    return schema, records


@pytest.fixture(scope="module")
def oracle(base):
    return Oracle(sets_of(rows_of(base, RESOLUTION)), RESOLUTION)


@pytest.fixture(scope="module")
def copies(base):
    """The same table many times over, the resolution as many times higher: the same law."""
    schema, records = base
    return rows_of((schema, records * COPIES), RESOLUTION * COPIES)


def _grown(rows, way, number, available=None, threads=1):
    effort, cost = WAYS[way]
    table = table_of(rows, Effort(rows.resolution, **effort), cost)
    drafts = drafts_of(table.root.cells, number, stream(way, 5)[0], 0)
    growth = GrowingBatch(table, drafts, available)
    # In two batches, so that the second meets nodes that were kept.
    for numbers in np.array_split(np.arange(number, dtype=np.int32), 2):
        growth.run(numbers, threads, lambda share: None)
    return list(map(frozenset, split(drawn_of(drafts))))


@pytest.mark.parametrize("way", WAYS)
def test_a_record_grows_out_of_a_row_by_the_law(base, oracle, copies, way):
    records = _grown(copies, way, copies.number_of_records)
    statistic, freedom = 0.0, 0
    for place, seed in enumerate(oracle.rows):
        chances = oracle.record_distribution(seed)
        expected = {record: float(chance) * COPIES for record, chance in chances.items()}
        further, own = distance(Counter(records[place :: len(oracle.rows)]), expected)
        statistic, freedom = statistic + further, freedom + own
    assert freedom > 40
    assert statistic < chi2.isf(FALSE_ALARM, freedom)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("missing", [(), (0, 2), (1, 3, 5)])
def test_a_record_without_a_seed_grows_out_of_what_is_available_by_the_law(oracle, copies, way, missing):
    available = np.ones(len(copies.attributes), np.int64)
    available[list(missing)] = 0
    found = Counter(_grown(copies, way, 10_000, available))
    chances = oracle.record_distribution(frozenset(np.flatnonzero(available).tolist()))
    assert check_law(found, chances) > 5


@pytest.mark.parametrize("way", ["as it is", "every node opened", "some nodes opened"])
def test_records_do_not_depend_on_the_number_of_threads(copies, way):
    one, two, cores = (_grown(copies, way, copies.number_of_records, threads=n) for n in (1, 2, 0))
    assert one == two == cores
