"""SDS's aggregates file: canonical order and quoting."""

import csv
import itertools

import numpy as np
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.interchange import write_reportable_parquet, write_reportable_tsv
from tests.oracles.aggregate_seeded import aggregates_of

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
