"""Released records read back are those that were written, whatever is in their cells."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.core.errors import StoredTableMismatch
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.assembly import read_released_records, write_wide_tsv
from tasks.core.synthesis.records import SyntheticRecords
from tests.oracles.synthetic import synthetic

SCHEMA = Schema((Column("A", delimiter="|", max_items=0), Column("B", zero_is_value=True), Column("A_C")))
WORDS = ["a", "b c", "0", 'q"uote', "tab\there", "line\nfeed", "é", "NA", "null"]


def held(records: SyntheticRecords) -> list[set[tuple[int, str | None, str]]]:
    """What each record holds: column, item, value."""
    bounds = zip(records.offsets, records.offsets[1:], strict=False)
    rows = [[records.attributes[place] for place in records.attribute_ids[low:high]] for low, high in bounds]
    return [{(each.column, each.item, each.value) for each in row} for row in rows]


_cells = st.sets(st.sampled_from(WORDS), max_size=3)
_one = st.sets(st.sampled_from(WORDS), max_size=1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.lists(st.tuples(_cells, _one, _one), min_size=1, max_size=8))
def test_what_was_written_is_read(tmp_path, table):
    records = synthetic(SCHEMA, [list(record) for record in table])
    if not records.headers:  # of records without any value, no header is written
        return
    write_wide_tsv(records, tmp_path / "records.tsv")
    found = read_released_records(tmp_path / "records.tsv", SCHEMA)
    assert found.headers == records.headers and held(found) == held(records)


def test_a_table_with_a_header_alone_has_no_records(tmp_path):
    (tmp_path / "records.tsv").write_text("B\tA_C\n")
    assert read_released_records(tmp_path / "records.tsv", SCHEMA).number_of_records == 0


@pytest.mark.parametrize("text", ["B\tD\n1\t2\n", "B\tA_C\n1\n", ""])
def test_another_table_is_refused(tmp_path, text):
    (tmp_path / "records.tsv").write_text(text)
    with pytest.raises(StoredTableMismatch):
        read_released_records(tmp_path / "records.tsv", SCHEMA)
