"""Coded records: published examples, rules, determinism, and back to text."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.errors import InternalError
from tasks.core.queries import QueryResources
from tasks.core.records.cells import bin_codes, code_texts
from tasks.core.records.coded import read_coded_records
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.dropped import REASONS
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tests.oracles import loading, marginals
from tests.oracles.loading import decode

TOTAL = EncodingOptions(total=True, key=b"secret", tags=True)
STRICT = EncodingOptions(total=False, key=b"secret")
ROOT = Path(__file__).resolve().parents[3]
EDGES = (0.0, 10.0, 20.0)


def table(folder, text, columns, subject=None, options=TOTAL, **dialect):
    (folder / "t.csv").write_text(text, encoding="utf-8", newline="")
    return encode(InputFile(folder / "t.csv", **dialect), Schema(tuple(columns), subject), options)


def held(records):
    """For each record the values of each column, joined by '+'."""
    return [["+".join(values) for values in record] for record in loading.read_back(records).records]


def columns_of(text, zeros=""):
    return [Column(name, zero_is_value=name in zeros) for name in text.split(",")]


T1 = "A,B,C\na1,b1,c1\na1,b2,c1\na2,,c2\na2,b2,c1\na1,b2,\n"


def test_t1_five_rows_have_seventeen_combinations(tmp_path):
    records = [[{v} if v else set() for v in row] for row in held(table(tmp_path, T1, columns_of("A,B,C")))]
    counts = [marginals.count(records, length) for length in (1, 2, 3)]
    assert [len(level) for level in counts] == [6, 8, 3]
    assert counts[0][frozenset({(0, "a1")})] == 3
    assert [sum(len(v) > 0 for v in record) for record in records] == [3, 3, 2, 3, 2]


def test_t3_lengths_of_records(tmp_path):
    records = table(tmp_path, "A,B,C\na1,b1,c1\na1,b2,c1\na2,,c2\n", columns_of("A,B,C"))
    widths = np.count_nonzero(np.column_stack(records.slots), axis=1)
    assert [width * (width - 1) // 2 for width in widths] == [3, 3, 1]


def test_t4_columns_of_zeros_hold_nothing(tmp_path):
    text = "A,F,G,D\na1,0,0,d1\na2,0, 0,d2\n"
    assert held(table(tmp_path, text, columns_of("A,F,G,D"))) == [["a1", "", "", "d1"], ["a2", "", "", "d2"]]


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


def test_rule_13_choices_differ_between_subjects_and_secrets(tmp_path):
    column = Column("A", delimiter=";", max_items=1)
    text = "id,A\n" + "".join(f"s{i},a;b;c;d\n" for i in range(400))
    records = table(tmp_path, text, [column], "id")
    # 400 fair choices among four; each count is within 60 of 100 but for 1e-10.
    assert all(abs(count - 100) < 60 for count in np.bincount(records.slots[0])[1:])
    other = table(tmp_path, text, [column], "id", EncodingOptions(total=True, key=b"other"))
    assert held(other) != held(records)


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
    found = []
    for threads, size in ((1, 20_000), (2, 777), (2, 20_000)):
        options = EncodingOptions(total=True, key=b"s", tags=True, resources=QueryResources(threads=threads))
        records = parquet(tmp_path, columns, MIXED, options, row_group_size=size)
        found.append(digest(records, tmp_path / f"{threads}-{size}"))
    plain = parquet(
        tmp_path, columns, MIXED, EncodingOptions(total=True, key=b"s", tags=True), use_dictionary=False
    )
    found.append(digest(plain, tmp_path / "plain"))
    lines = ["\t".join(row) for row in zip(*(column.to_pylist() for column in columns.values()), strict=True)]
    text = "\n".join(["\t".join(columns), *lines]) + "\n"
    options = EncodingOptions(total=True, key=b"s", tags=True)
    found.append(
        digest(table(tmp_path, text, MIXED.columns, "id", options, delimiter="\t"), tmp_path / "csv")
    )
    assert all(one == found[0] for one in found)


def test_what_is_written_is_read_back(tmp_path):
    records = parquet(tmp_path, mixed_table(300), MIXED)
    (tmp_path / "coded").mkdir()
    records.write(tmp_path / "coded")
    assert loading.read_back(read_coded_records(tmp_path / "coded")) == loading.read_back(records)


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


def test_progress_is_told_in_shares(tmp_path):
    said = []
    options = EncodingOptions(total=True, key=b"s", progress=lambda what, share: said.append((what, share)))
    table(tmp_path, "A\n" + "x\n" * 1000, [Column("A")], options=options)
    assert said
    assert all(what == "reading" and 0 <= share <= 1 for what, share in said)


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


def test_nothing_is_left_in_scratch(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    options = EncodingOptions(total=True, key=b"s", resources=QueryResources(scratch=scratch))
    table(tmp_path, T1, columns_of("A,B,C"), options=options)
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("other", [None, "unclear"])
def test_a_number_beyond_a_declared_limit_is_no_value_or_other(other):
    labels = bin_labels(EDGES, minimum=EDGES[0], maximum=EDGES[-1] + 1)
    domain = labels if other is None else (*labels, other)
    column = Column("A", domain=domain, bins=EDGES, other=other, minimum=EDGES[0], maximum=EDGES[-1] + 1)
    texts = [
        str(EDGES[0] - 0.5),
        str(EDGES[0]),
        str(EDGES[-1]),
        str(EDGES[-1] + 0.5),
        str(EDGES[-1] + 2),
        "",
        "-inf",
    ]
    found = code_texts(texts, column, duckdb.connect())
    outside = 0 if other is None else len(domain)
    assert found.codes.tolist() == [outside, 1, len(labels) - 1, len(labels), outside, 0, outside]
    assert REASONS[found.reasons[0]] == ("outside the domain" if other is None else "")
