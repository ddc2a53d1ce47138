"""The counting queries in a database: what DuckDB is sent, PostgreSQL answers with the same counts.

Nothing of the product sends a count to a warehouse. These tests hold the queries to SQL that one understands.
"""

from collections import Counter

import numpy as np
import psycopg
import pyarrow.parquet as pq
import pytest

from tasks.core.aggregates.grouping import cells_query
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.stored_marginals import code_names
from tasks.core.queries import QueryResources, filled_query, identifiers
from tasks.core.records.coded import CodedRecords
from tests.core.dp.test_release import survey

pytestmark = pytest.mark.needs_postgresql
LENGTH = 3
#: Four columns of one value and one of up to three; a tenth of the cells is empty.
RECORDS = survey(rows=2_000, columns=4, values=6, multi=3, seed=8)


@pytest.fixture
def connection(postgresql, tmp_path):
    with psycopg.connect(postgresql.of_test(tmp_path, "warehouse")) as connection:
        load(RECORDS, connection)
        yield connection


def load(records: CodedRecords, connection: psycopg.Connection) -> None:
    """A table ``records`` with a column a slot, as DuckDB has it."""
    names = [f"slot_{slot}" for slot in range(len(records.slots))]
    connection.execute(f"create table records ({', '.join(f'{name} integer' for name in names)})")
    with connection.cursor().copy(f"copy records ({identifiers(names)}) from stdin") as copy:
        for row in np.column_stack(records.slots).tolist():
            copy.write_row(row)


def test_postgresql_counts_what_duckdb_counts(connection, tmp_path):
    """Every set of columns up to length 3, the items of one column among them: row for row, in order."""
    for name in ("coded", "marginals"):
        (tmp_path / name).mkdir()
    RECORDS.write(tmp_path / "coded")
    marginals = count_marginals(tmp_path / "coded", tmp_path / "marginals", LENGTH, QueryResources(tmp_path))
    for length in range(1, LENGTH + 1):
        table, found = pq.read_table(marginals.path(length)), []
        names = ["combination_id", *code_names(length), "count"]
        expected = list(zip(*(table[name].to_pylist() for name in names), strict=True))
        for place, combination in enumerate(RECORDS.schema.combinations(length)):
            found += connection.execute(cells_query(place, combination, RECORDS.slot_columns)).fetchall()
        assert len(expected) > 20
        assert found == expected


def test_postgresql_groups_records_as_duckdb_does(connection):
    """The cube that shorter sets are added up from; absent values stay."""
    slots = (1, 3, 4)
    text = filled_query("aggregates/count_cube", slots=identifiers([f"slot_{slot}" for slot in slots]))
    rows = zip(*(RECORDS.slots[slot].tolist() for slot in slots), strict=True)
    found = connection.execute(text).fetchall()
    assert {tuple(codes): count for *codes, count in found} == Counter(rows)
    assert any(0 in row for row in found)
