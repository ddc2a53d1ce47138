"""SDS's aggregates file: its own example, canonical order, quoting, and the way back."""

import csv
import itertools

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.interchange import write_reportable_parquet, write_reportable_tsv
from tasks.core.errors import InputError
from tests.oracles.aggregate_seeded import aggregates_of
from tests.oracles.sds_files import read_reportable_tsv

T2 = aggregates_of(
    ["A:a1", "A:a2", "B:b2", "C:c1"],
    ["A", "B", "C"],
    [{(i,): 2 for i in range(4)}, {(0, 2): 2, (0, 3): 2, (2, 3): 2}],
    4,
)


def test_t2_the_file_of_the_first_example(tmp_path):
    """S10.2, resolution 2."""
    write_reportable_tsv(T2, tmp_path / "aggregates.tsv")
    assert (tmp_path / "aggregates.tsv").read_bytes() == (
        b"selections\tprotected_count\nrecord_count\t4\n"
        b"A:a1\t2\nA:a2\t2\nB:b2\t2\nC:c1\t2\nA:a1;B:b2\t2\nA:a1;C:c1\t2\nB:b2;C:c1\t2\n"
    )


def test_parquet_holds_the_same_lines(tmp_path):
    write_reportable_parquet(T2, tmp_path / "aggregates.parquet")
    table = pq.read_table(tmp_path / "aggregates.parquet")
    assert table.column_names == ["length", "selections", "protected_count"]
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows[:2] == [(0, "record_count", 4), (1, "A:a1", 2)]
    assert rows[-1] == (2, "B:b2;C:c1", 2)
    assert len(rows) == 8


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
    """The lines by an obvious sort."""
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
    stored = pq.read_table(path.with_suffix(".parquet")).slice(1)
    rows = zip(stored["selections"].to_pylist(), map(str, stored["protected_count"].to_pylist()), strict=True)
    assert list(map(list, rows)) == _expected(aggregates)


@given(_aggregates())
@settings(max_examples=60, deadline=None)
def test_what_was_written_is_read_back(tmp_path_factory, aggregates):
    path = tmp_path_factory.mktemp("aggregates") / "aggregates.tsv"
    write_reportable_tsv(aggregates, path)
    again = read_reportable_tsv(path, aggregates.headers)
    assert again.headers == aggregates.headers
    assert again.number_of_records == aggregates.number_of_records
    assert _expected(again) == _expected(aggregates)
    write_reportable_tsv(again, path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == path.read_bytes()


def test_a_file_that_holds_every_attribute_gives_equal_aggregates(tmp_path):
    write_reportable_tsv(T2, tmp_path / "aggregates.tsv")
    again = read_reportable_tsv(tmp_path / "aggregates.tsv")
    assert (again.headers, again.attributes) == (T2.headers, T2.attributes)
    for ours, theirs in zip(again.combinations + again.counts, T2.combinations + T2.counts, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()


def test_sds_own_files_are_read_in_any_order(tmp_path):
    (tmp_path / "theirs.tsv").write_text("selections\tcount\nrecord_count\t9\nB:x;A:y\t3\nA:y\t5\nB:x\t4\n")
    again = read_reportable_tsv(tmp_path / "theirs.tsv", ["B", "A"])
    assert [a.text for a in again.attributes] == ["A:y", "B:x"]
    assert [a.column for a in again.attributes] == [1, 0]
    assert again.counts[1].tolist() == [3]
    assert again.combinations[1].tolist() == [[0, 1]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "selections\tcount\n",
        "A\tB\nrecord_count\t1\n",
        "selections\tcount\nA:x\t1\n",
        "selections\tcount\nrecord_count\t1\nA:x\n",
        "selections\tcount\nrecord_count\t1\nA:x\tmany\n",
        "selections\tcount\nrecord_count\t1\nAx\t1\n",
        'selections\tcount\nrecord_count\t1\n"A:x\t1\n',
    ],
)
def test_another_format_is_refused_without_a_value(tmp_path, text):
    (tmp_path / "other.tsv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_reportable_tsv(tmp_path / "other.tsv")
    assert "many" not in str(caught.value)


def test_a_header_that_was_not_given_is_refused(tmp_path):
    write_reportable_tsv(T2, tmp_path / "aggregates.tsv")
    with pytest.raises(InputError):
        read_reportable_tsv(tmp_path / "aggregates.tsv", ["A", "B"])


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
