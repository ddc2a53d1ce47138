"""Coded records: order, bins and limits, the same bytes however a table lies, and what it takes."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.errors import InternalError
from tasks.core.queries import QueryResources
from tasks.core.records.cells import bin_codes, code_texts
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.dropped import REASONS
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tests.oracles import loading
from tests.oracles.loading import decode

TOTAL = EncodingOptions(total=True, key=b"secret", tags=True)
ROOT = Path(__file__).resolve().parents[3]
EDGES = (0.0, 10.0, 20.0)


def table(folder, text, columns, subject=None, options=TOTAL, **dialect):
    (folder / "t.csv").write_text(text, encoding="utf-8", newline="")
    return encode(InputFile(folder / "t.csv", **dialect), Schema(tuple(columns), subject), options)


def test_an_id_as_an_attribute_and_a_limit_in_a_total_reading_are_faults_of_our_own(tmp_path):
    with pytest.raises(InternalError, match="never as an attribute"):
        table(tmp_path, "A,Id\n1,x\n", [Column("A"), Column("Id")], subject="ID")
    limited = EncodingOptions(total=True, key=b"k", record_limit=2)
    with pytest.raises(InternalError, match="drawn by tag"):
        table(tmp_path, "A\nx\n", [Column("A")], None, limited)


def test_open_values_are_in_code_point_order(tmp_path):
    records = table(tmp_path, "A\nb\nÉ\na\nZ\n\U0001f600\n\uff5e\n", [Column("A")])
    assert records.values[0] == ("Z", "a", "b", "É", "\uff5e", "\U0001f600")


def test_bins_are_total(tmp_path):
    numbers = np.array([-np.inf, -0.1, 0, 9.9, 10, 20, 20.1, np.inf, np.nan])
    assert bin_codes(numbers, EDGES).tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 0]
    cells = ["-inf", "-1e-9", "0.0", "9.9", "1e1", "+20.", "1e999", "x", "1 0", "NaN", "١"]
    column = Column("A", bins=EDGES, domain=bin_labels(EDGES))
    records = table(tmp_path, "A\n" + "\n".join(cells) + "\n", [column])
    assert records.slots[0].tolist() == [1, 1, 2, 2, 3, 3, 4, 0, 0, 0, 0]


def parquet(folder, columns, schema, options=TOTAL, **writing):
    pq.write_table(pa.table(columns), folder / "t.parquet", **writing)
    return encode(InputFile(folder / "t.parquet"), schema, options)


def mixed_table(rows):
    random = np.random.default_rng(3)
    texts = np.array(["", "a", "b", "c d", "0", "é;x"])
    return {
        "id": pa.array([f"s{i}" for i in random.integers(0, rows * 3 // 4, rows)]),
        "low": pa.array(texts[random.integers(0, 6, rows)]),
        "high": pa.array([f"v{i}" for i in random.integers(0, rows // 3, rows)]),
        "many": pa.array([";".join(f"{i}" for i in random.integers(0, 9, 4)) for _ in range(rows)]),
        "number": pa.array([f"{x:.3f}" for x in random.normal(10, 9, rows)]),
    }


MIXED = Schema(
    (
        Column("low"),
        Column("high"),
        Column("many", delimiter=";", max_items=3),
        Column("number", bins=EDGES, domain=bin_labels(EDGES)),
    ),
    "id",
)


def digest(records, folder):
    folder.mkdir()
    records.write(folder)
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())]


def test_threads_row_groups_and_formats_give_the_same_bytes(tmp_path):
    columns = mixed_table(20_000)
    found, options = [], EncodingOptions(total=True, key=b"s", tags=True)
    for threads, size in ((1, 20_000), (2, 777), (2, 20_000)):
        of_threads = replace(options, resources=QueryResources(threads=threads))
        records = parquet(tmp_path, columns, MIXED, of_threads, row_group_size=size)
        found.append(digest(records, tmp_path / f"{threads}-{size}"))
    plain = parquet(tmp_path, columns, MIXED, options, use_dictionary=False)
    found.append(digest(plain, tmp_path / "plain"))
    lines = ["\t".join(row) for row in zip(*(column.to_pylist() for column in columns.values()), strict=True)]
    text = "\n".join(["\t".join(columns), *lines]) + "\n"
    of_text = table(tmp_path, text, MIXED.columns, "id", options, delimiter="\t")
    found.append(digest(of_text, tmp_path / "csv"))
    assert all(one == found[0] for one in found)


def test_high_cardinality_is_not_quadratic(tmp_path):
    """Three hundred thousand distinct values and ids: seconds, where a look-up by list would take an hour."""
    rows = 300_000
    texts = pa.array([f"value {i}" for i in range(rows)])
    schema = Schema((Column("A"),), "id")
    records = parquet(tmp_path, {"id": texts, "A": texts}, schema, row_group_size=50_000)
    assert records.number_of_records == len(records.values[0]) == rows
    assert records.slots[0].dtype == np.uint32


SHORT_OF_MEMORY = """
import resource, sys
from pathlib import Path
from tasks.core.errors import ResourceLimit
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tests.oracles import loading
from tests.oracles.loading import decode

def run(name):
    encode(InputFile(Path(name)), Schema((Column("A"),), "id"), EncodingOptions(total=True, key=b"s"))

run(sys.argv[1])
pages = int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**25,) * 2)
try:
    run(sys.argv[2])
except ResourceLimit as error:
    print(error, error.__context__)
"""


def test_memory_that_does_not_suffice_is_said(tmp_path):
    paths = [tmp_path / "small.parquet", tmp_path / "large.parquet"]
    for path, rows in zip(paths, (70_000, 1_500_000), strict=True):
        texts = pa.array([f"value {i}" for i in range(rows)])
        pq.write_table(pa.table({"id": texts, "A": texts}), path)
    command = [sys.executable, "-c", SHORT_OF_MEMORY, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert "needs more memory" in done.stdout, done.stderr
    assert done.stdout.strip().endswith("None")


def test_progress_is_told_in_shares_and_nothing_is_left_in_scratch(tmp_path):
    said, scratch = [], tmp_path / "scratch"
    scratch.mkdir()
    options = EncodingOptions(
        total=True,
        key=b"s",
        resources=QueryResources(scratch=scratch),
        progress=lambda what, share: said.append((what, share)),
    )
    table(tmp_path, "A\n" + "x\n" * 1000, [Column("A")], options=options)
    assert said
    assert all(what == "reading" and 0 <= share <= 1 for what, share in said)
    assert not list(scratch.iterdir())


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", ["adult.csv", "national2019.csv", "taxi-1000.csv"])
def test_real_tables_load_as_the_oracle_says(name):
    path = Path(os.environ.get("MARGINALIA_DATA", ROOT.parent / "shared" / "data")) / name
    if not path.is_file():
        pytest.skip(f"{path} is missing")
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    names = header.split(",")
    subject = names.pop(0) if name.startswith("taxi") else None
    schema = Schema(tuple(Column(column, zero_is_value=True) for column in names), subject)
    records = encode(InputFile(path), schema, EncodingOptions(total=True, key=b"s"))
    if subject is None:
        expected = [line.split(",") for line in lines]
        assert [list(map(str, row.values())) for row in decode(records).to_pylist()] == expected
    else:
        rows = [line.split(",") for line in lines]
        expected = loading.load(header.split(","), rows, schema, b"s", total=True)
        found = loading.read_back(records)
        assert (found.records, found.values) == (expected.records, expected.values)


@pytest.mark.parametrize("other", [None, "unclear"])
def test_a_number_beyond_a_declared_limit_is_no_value_or_other(other):
    labels = bin_labels(EDGES, minimum=0.0, maximum=21.0)
    domain = labels if other is None else (*labels, other)
    column = Column("A", domain=domain, bins=EDGES, other=other, minimum=0.0, maximum=21.0)
    texts = ["-0.5", "0.0", "20.0", "20.5", "22.0", "", "-inf"]
    found = code_texts(texts, column)
    outside = 0 if other is None else len(domain)
    assert found.codes.tolist() == [outside, 1, len(labels) - 1, len(labels), outside, 0, outside]
    assert REASONS[found.reasons[0]] == ("outside the domain" if other is None else "")
