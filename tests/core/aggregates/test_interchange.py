"""SDS's files of aggregates: canonical order, quoting, and keys; what they must not tell."""

import csv
import itertools
import json

import numpy as np
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.interchange import (
    write_aggregates_json,
    write_reportable_parquet,
    write_reportable_tsv,
)
from tasks.core.aggregates.protection import protect_counts
from tasks.core.aggregates.selections import selections_of
from tasks.core.aggregates.sensitive_text import write_sensitive_json
from tasks.core.records.columns import Column, Schema
from tasks.core.tables.writing import as_lines
from tests.oracles.aggregate_seeded import aggregates_of
from tests.oracles.marginals import as_aggregates, coded
from tests.oracles.rare import ONE_THREAD, T1_FILE, counted, from_file
from tests.oracles.raw_tables import raw_tables

TEXT = st.text(st.sampled_from("aZ!~é\U0001f600 \t\"\n\r'"), min_size=1, max_size=3)


@st.composite
def _aggregates(draw):
    """Any aggregates over headers and values that may need quotes or begin with one another."""
    headers = draw(st.lists(TEXT, min_size=1, max_size=4, unique=True))
    values = {header: draw(st.lists(TEXT, max_size=4, unique=True)) for header in headers}
    texts = sorted(f"{h}:{v}" for h in headers for v in values[h])
    header = [text.split(":")[0] for text in texts]
    levels = []
    for length in range(1, 4):
        rows = [
            row
            for row in itertools.combinations(range(len(texts)), length)
            if len({header[i] for i in row}) == length and draw(st.booleans())
        ]
        levels.append({row: draw(st.sampled_from([1, 2, 2**53])) for row in rows})
    return aggregates_of(texts, headers, levels, draw(st.integers(-3, 2**53)))


def _expected(aggregates):
    lines = []
    for ids, counts in zip(aggregates.combinations, aggregates.counts, strict=True):
        for row, count in zip(ids.tolist(), counts.tolist(), strict=True):
            lines.append((len(row), -count, ";".join(aggregates.attributes[i].text for i in row)))
    return [[text, str(-count)] for _, count, text in sorted(lines)]


@given(_aggregates())
@settings(max_examples=150, deadline=None)
def test_lines_are_in_canonical_order_and_read_by_csv(tmp_path_factory, aggregates):
    path = tmp_path_factory.mktemp("aggregates") / "aggregates.tsv"
    write_reportable_tsv(aggregates, path)
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter="\t", strict=True))
    assert lines[0] == ["selections", "protected_count"]
    assert lines[1] == ["record_count", str(aggregates.number_of_records)]
    assert lines[2:] == _expected(aggregates)
    write_reportable_parquet(aggregates, path.with_suffix(".parquet"))
    whole = pq.read_table(path.with_suffix(".parquet"))
    assert whole.column_names == ["length", "selections", "protected_count"]
    assert list(whole.to_pylist()[0].values()) == [0, "record_count", aggregates.number_of_records]
    stored = whole.slice(1)
    lengths = [[length] * len(ids) for length, ids in enumerate(aggregates.combinations, start=1)]
    assert stored["length"].to_pylist() == list(itertools.chain.from_iterable(lengths))
    rows = zip(stored["selections"].to_pylist(), map(str, stored["protected_count"].to_pylist()), strict=True)
    assert list(map(list, rows)) == _expected(aggregates)


def test_many_combinations_are_written_in_parts_that_join(tmp_path):
    """More pairs than are turned into text at once."""
    values = 550
    attributes = tuple(Attribute(h, f"v{i:03d}", c) for c, h in enumerate("AB") for i in range(values))
    first, second = np.meshgrid(np.arange(values), np.arange(values), indexing="ij")
    pairs = np.stack([first.ravel(), values + second.ravel()], axis=1).astype(np.int32)
    counts = (np.arange(len(pairs)) * 7919 % 1009 + 1).astype(np.int64)
    singles = np.arange(2 * values, dtype=np.int32)[:, None]
    aggregates = Aggregates(
        ("A", "B"), attributes, 5, (singles, pairs), (np.ones(2 * values, np.int64), counts)
    )
    write_reportable_tsv(aggregates, tmp_path / "aggregates.tsv")
    lines = (tmp_path / "aggregates.tsv").read_text().split("\n")[2:-1]
    assert lines == ["\t".join(line) for line in _expected(aggregates)]


# --- lines of text from ids and counts, at the edges that tables do not reach

ATTRIBUTES = tuple(Attribute("A", value, 0) for value in ("", "é", '"', "\t"))


def test_every_64_bit_count_is_written_as_python_writes_it():
    edges = [0, 9, 10, 99, 100, 10**18 - 1, 10**18, 2**63 - 1]
    counts = np.array([*edges, *(-count for count in edges), -(2**63)], np.int64)
    ids = np.zeros((len(counts), 1), np.int32)
    assert b"".join(selections_of(ATTRIBUTES).lines(ids, counts)).decode() == "".join(
        f"A:\t{c}\n" for c in counts
    )


def test_any_piece_that_needs_it_encloses_the_whole_row():
    ids = np.array([[0, 1], [1, 2], [3, 0]], np.int32)
    selections = selections_of(ATTRIBUTES)
    ((_, texts),) = selections.in_parts(ids)
    lines = as_lines(["<", selections.quoted(texts), "|1>"], delimiter="")
    assert b"".join(lines).decode() == '<A:;A:é|1>\n<"A:é;A:"""|1>\n<"A:\t;A:"|1>\n'


def test_texts_of_every_length_are_copied_whole():
    """Neither the last of a text nor the first of the next is lost."""
    attributes = tuple(Attribute("A", "é" * (size // 2) + "x" * (size % 2), 0) for size in range(70))
    generator = np.random.default_rng(1)
    ids = generator.integers(0, len(attributes), (500, 3)).astype(np.int32)
    counts = generator.integers(0, 10**6, 500)
    selections = selections_of(attributes)
    rows = [";".join(attributes[i].text for i in row) for row in ids.tolist()]
    lines = b"".join(selections.lines(ids, counts)).decode()
    assert lines == "".join(f"{row}\t{count}\n" for row, count in zip(rows, counts, strict=True))
    ((_, texts),) = selections.in_parts(ids)
    assert texts.to_pylist() == rows


# --- the aggregated-data JSON


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
