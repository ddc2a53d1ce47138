"""SDS's aggregated-data JSON: its keys, and what it must not tell."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.interchange import write_aggregates_json
from tasks.core.aggregates.protection import protect_counts
from tasks.core.aggregates.sensitive_text import write_sensitive_json
from tasks.core.records.columns import Column, Schema
from tests.oracles.aggregate_seeded import aggregates_of
from tests.oracles.marginals import as_aggregates, coded
from tests.oracles.rare import ONE_THREAD, T1_FILE, counted, from_file
from tests.oracles.raw_tables import raw_tables


def counts_by_key(aggregates):
    """The counts as the file has them, each attribute as ``<place of its header>:<value>``."""
    places = {header: place for place, header in enumerate(aggregates.headers)}
    keys = [f"{places[attribute.header]}:{attribute.value}" for attribute in aggregates.attributes]
    return {
        ";".join(keys[i] for i in row): {"count": count, "contained_in_records": []}
        for ids, counts in zip(aggregates.combinations, aggregates.counts, strict=True)
        for row, count in zip(ids.tolist(), counts.tolist(), strict=True)
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
def test_true_counts_are_written_as_reported_ones_are(tmp_path_factory, table, length):
    folder = tmp_path_factory.mktemp("json")
    schema, rows = table
    marginals = counted(coded(schema, rows), folder, length)
    exact = as_aggregates(marginals)
    write_sensitive_json(marginals, folder / "one.json")
    write_aggregates_json(exact, schema, folder / "other.json", protected=False)
    body = body_of(folder / "one.json")
    assert body == body_of(folder / "other.json")
    assert body["aggregates_count"] == counts_by_key(exact)
    assert (body["headers"], body["number_of_records"]) == (list(exact.headers), len(rows))
    items = body["multi_value_column_metadata_map"]
    assert {name: item["attribute_name"] for name, item in items.items()} == {
        attribute.header: attribute.item for attribute in exact.attributes if attribute.item is not None
    }


def test_any_text_is_escaped(tmp_path):
    texts = ["A:é\U0001f600", 'A:say "x"', "B:back\\slash", "B:tab\tand\nline"]
    aggregates = aggregates_of(texts, ["B", "A"], [{(i,): i + 1 for i in range(4)}, {(0, 2): 2**60}], 9)
    schema = Schema((Column("B"), Column("A")))
    write_aggregates_json(aggregates, schema, tmp_path / "a.json", protected=True)
    assert body_of(tmp_path / "a.json")["aggregates_count"] == counts_by_key(aggregates)
