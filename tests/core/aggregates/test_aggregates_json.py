"""SDS's aggregated-data JSON: its keys, what it must not tell, and the way back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.interchange import write_aggregates_json
from tasks.core.aggregates.protection import protect_counts
from tasks.core.aggregates.sensitive_text import write_sensitive_json
from tasks.core.errors import InputError
from tasks.core.records.columns import Column, Schema
from tests.oracles.aggregate_seeded import aggregates_of
from tests.oracles.marginals import as_aggregates, coded
from tests.oracles.rare import ONE_THREAD, T1_FILE, counted, from_file, texts_of
from tests.oracles.raw_tables import raw_tables
from tests.oracles.sds_files import read_aggregates_json

#: As SDS writes T1 protected at resolution 2, row indices and all.
PEERS = {
    "headers": ["A", "M_x", "M_y", "C"],
    "multi_value_column_metadata_map": {
        "M_x": {"src_header_name": "M", "attribute_name": "x", "delimiter": ";"},
        "M_y": {"src_header_name": "M", "attribute_name": "y", "delimiter": ";"},
    },
    "number_of_records": 5,
    "protected_number_of_records": 4,
    "aggregates_count": {
        "3:c;1:1": {"count": 2, "contained_in_records": [0, 3]},
        "0:a": {"count": 4, "contained_in_records": [4, 3, 1, 2]},
        "1:1": {"count": 2, "contained_in_records": [0, 3]},
        "3:c": {"count": 2, "contained_in_records": [3, 0]},
    },
    "records_sensitivity_by_len": [[3, 1, 1, 3, 1], [2, 1, 1, 2, 1], [1, 0, 0, 1, 0]],
    "reporting_length": 2,
}


def body_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_t15_a_protected_file_has_neither_the_true_number_nor_rows_nor_what_few_hold(tmp_path):
    """S10.15 and S10.2, resolution 2."""
    _, marginals = from_file(T1_FILE, tmp_path)
    write_aggregates_json(
        protect_counts(marginals, 2, ONE_THREAD), marginals.facts.schema, tmp_path / "a.json", protected=True
    )
    keys = "0:a1 0:a2 1:b2 2:c1 0:a1;1:b2 0:a1;2:c1 1:b2;2:c1"
    assert body_of(tmp_path / "a.json") == {
        "headers": ["A", "B", "C"],
        "multi_value_column_metadata_map": {},
        "number_of_records": 4,
        "protected_number_of_records": 4,
        "records_sensitivity_by_len": [[], [], [], []],
        "reporting_length": 3,
        "aggregates_count": {key: {"count": 2, "contained_in_records": []} for key in keys.split()},
    }


def test_t15_items_that_are_not_reported_are_in_neither_headers_nor_metadata(tmp_path):
    """S10.15."""
    rows = ["x;y", "x;y", "x;z", "x"]
    _, marginals = from_file("M\n" + "\n".join(rows) + "\n", tmp_path, multi_value_columns={"M": ";"})
    schema = marginals.facts.schema
    write_aggregates_json(
        protect_counts(marginals, 2, ONE_THREAD), schema, tmp_path / "a.json", protected=True
    )
    write_sensitive_json(marginals, tmp_path / "exact.json")
    assert body_of(tmp_path / "a.json")["headers"] == ["M_x", "M_y"]
    assert body_of(tmp_path / "a.json")["multi_value_column_metadata_map"] == {
        item: {"src_header_name": "M", "attribute_name": item[-1], "delimiter": ";"}
        for item in ("M_x", "M_y")
    }
    assert "z" not in (tmp_path / "a.json").read_text()
    assert body_of(tmp_path / "exact.json")["headers"] == ["M_x", "M_y", "M_z"]


def test_a_sensitive_file_has_true_counts_and_the_true_number_and_no_rows(tmp_path):
    """S10.1."""
    _, marginals = from_file(T1_FILE, tmp_path)
    write_sensitive_json(marginals, tmp_path / "exact.json")
    body = body_of(tmp_path / "exact.json")
    assert (body["number_of_records"], body["protected_number_of_records"]) == (5, None)
    assert len(body["aggregates_count"]) == 17
    assert body["aggregates_count"]["0:a1;1:b2"] == {"count": 2, "contained_in_records": []}
    assert body["records_sensitivity_by_len"] == [[], [], [], []]


@given(table=raw_tables(most_rows=20), length=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_what_was_written_is_read_back(tmp_path_factory, table, length):
    folder = tmp_path_factory.mktemp("json")
    schema, rows = table
    marginals = counted(coded(schema, rows), folder, length)
    exact = as_aggregates(marginals)
    write_sensitive_json(marginals, folder / "one.json")
    write_aggregates_json(exact, schema, folder / "other.json", protected=False)
    assert body_of(folder / "one.json") == body_of(folder / "other.json")
    again = read_aggregates_json(folder / "one.json")
    assert texts_of(again) == texts_of(exact)
    assert (again.headers, again.number_of_records) == (exact.headers, len(rows))
    assert [a.item for a in again.attributes] == [a.item for a in exact.attributes]
    assert [c.tolist() for c in again.combinations] == [c.tolist() for c in exact.combinations]


def test_any_text_is_escaped_and_read_back(tmp_path):
    texts = ["A:é\U0001f600", 'A:say "x"', "B:back\\slash", "B:tab\tand\nline"]
    aggregates = aggregates_of(texts, ["B", "A"], [{(i,): i + 1 for i in range(4)}, {(0, 2): 2**60}], 9)
    schema = Schema((Column("B"), Column("A")))
    write_aggregates_json(aggregates, schema, tmp_path / "a.json", protected=True)
    again = read_aggregates_json(tmp_path / "a.json")
    assert texts_of(again) == texts_of(aggregates)
    assert [a.column for a in again.attributes] == [1, 1, 0, 0]


def test_the_peer_s_own_file_is_read_without_its_exact_number(tmp_path):
    (tmp_path / "theirs.json").write_text(json.dumps(PEERS))
    again = read_aggregates_json(tmp_path / "theirs.json")
    assert texts_of(again) == {"A:a": 4, "C:c": 2, "M_x:1": 2, "C:c;M_x:1": 2}
    assert again.number_of_records == 4
    assert [(a.column, a.item) for a in again.attributes] == [(0, None), (2, None), (1, "x")]


@pytest.mark.parametrize(
    "change",
    [
        {"headers": ["A"]},
        {"reporting_length": 1},
        {"aggregates_count": {"secret": {"count": 1, "contained_in_records": []}}},
        {"aggregates_count": {"0:secret": {"count": "many", "contained_in_records": []}}},
        {"aggregates_count": ["secret"]},
        {"multi_value_column_metadata_map": {"A": {}}},
        {"number_of_records": None, "protected_number_of_records": None},
    ],
)
def test_another_format_is_refused_without_a_value(tmp_path, change):
    (tmp_path / "other.json").write_text(json.dumps({**PEERS, **change}))
    with pytest.raises(InputError) as caught:
        read_aggregates_json(tmp_path / "other.json")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '"x"', "\xff"])
def test_what_is_no_such_object_is_refused(tmp_path, text):
    (tmp_path / "other.json").write_text(text, encoding="latin-1")
    with pytest.raises(InputError):
        read_aggregates_json(tmp_path / "other.json")
