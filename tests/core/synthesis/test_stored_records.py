import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis import records as module
from tasks.core.synthesis.assembly import write_condensed_tsv, write_long_tsv, write_wide_tsv
from tasks.core.synthesis.records import SyntheticRecords, open_synthetic_records
from tests.oracles.synthetic import synthetic

ATTRIBUTES = tuple(Attribute("town", f"v{place}", 0, "é" if place else None) for place in range(5))
LISTS = st.lists(st.lists(st.sampled_from(range(5)), max_size=4, unique=True).map(sorted), max_size=12)


def of_lists(lists: list[list[int]]) -> SyntheticRecords:
    """Records with these attributes; a header may hold several here, which nothing looks at."""
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    ids = np.array([each for one in lists for each in one], np.int32)
    return SyntheticRecords(("town",), ATTRIBUTES, offsets, ids)


def as_lists(records: SyntheticRecords) -> list[list[int]]:
    return [each.tolist() for each in np.split(records.attribute_ids, records.offsets[1:-1])][
        : records.number_of_records
    ]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lists=LISTS, most=st.integers(1, 5), data=st.data())
def test_parts_hold_the_records_in_their_order(lists, most, data, tmp_path_factory, monkeypatch):
    folder, again = (tmp_path_factory.mktemp("records") for _ in range(2))
    of_lists(lists).write(folder)
    of_lists(lists).write(again)
    for path in folder.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes()
    monkeypatch.setattr(module, "_MOST_AT_ONCE", most)
    stored = open_synthetic_records(folder)
    assert (stored.headers, stored.attributes) == (("town",), ATTRIBUTES)
    assert stored.number_of_records == len(lists)
    parts = list(stored.parts())
    assert parts, "of no record there is an empty part"
    assert max(part.number_of_records for part in parts) <= most
    assert [each for part in parts for each in as_lists(part)] == lists
    whole = stored.whole()
    assert as_lists(whole) == lists
    assert (whole.offsets.dtype, whole.attribute_ids.dtype) == (np.int64, np.int32)
    chosen = sorted(data.draw(st.sets(st.sampled_from(range(len(lists)))))) if lists else []
    places = np.array(chosen, np.int64)
    expected = [lists[place] for place in chosen]
    assert as_lists(stored.at(places)) == expected == as_lists(of_lists(lists).at(places))


def test_files_are_the_same_written_from_a_folder(tmp_path, monkeypatch):
    schema = Schema((Column("A", delimiter=";", max_items=0), Column("B")))
    items = [{"a"}, {"b", "a"}, set(), {"c"}]
    records = synthetic(schema, [[items[place % 4], {"x"} if place % 3 else set()] for place in range(20)])
    records.write(tmp_path)
    monkeypatch.setattr(module, "_MOST_AT_ONCE", 3)
    stored = open_synthetic_records(tmp_path)
    write_condensed_tsv(records, schema, tmp_path / "one.condensed")
    write_condensed_tsv(stored, schema, tmp_path / "other.condensed")
    for write in (write_wide_tsv, write_long_tsv):
        write(records, tmp_path / f"one.{write.__name__}")
        write(stored, tmp_path / f"other.{write.__name__}")
    for one in tmp_path.glob("one.*"):
        other = one.with_name(one.name.replace("one", "other"))
        assert one.read_bytes() == other.read_bytes(), one.suffix
        assert len(one.read_text().splitlines()) > 20
