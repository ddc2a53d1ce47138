"""One opening of the operator's file: encodings, compression, names, and what is said of a fault."""

import gzip
import os
import pickle
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.errors import InputError, ParameterError
from tasks.core.recognition.dialect import find_dialect
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.syndiffix.reading import read_table
from tasks.core.tables.batches import read_batches
from tasks.core.tables.column_names import bare_name, matching_name
from tasks.core.tables.header import ENCODINGS, InputFile
from tasks.core.tables.source import OpenedFile

CANARY = "Ottoline"
TEXT = "Straße,âge\r\nMünster,31\r\nCafé,32\r\n"
OPENED: list[str] = []
sys.addaudithook(lambda event, arguments: OPENED.append(str(arguments[0])) if event == "open" else None)


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def file_of(folder: Path, data: bytes | str, name: str = "t.csv", **dialect) -> InputFile:
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return InputFile(folder / name, **dialect)


def rows_of(source: InputFile) -> list[tuple[str, ...]]:
    batches = read_batches(source, list(range(len(source.headers.names))))
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def table_of(source: InputFile) -> list[tuple[str, ...]]:
    return [source.headers.texts, *rows_of(source)]


def refusal(source: InputFile, words: str = "") -> InputError:
    """The error of reading a file whole; fails where its text or its context could hold a cell."""
    with pytest.raises(InputError, match=words) as raised:
        rows_of(source)
    error = raised.value
    assert CANARY not in f"{error} {error.operator_detail} {error.args}"
    assert error.__cause__ is None
    assert error.__context__ is None
    return error


CHARACTERS = st.characters(codec="cp1252", exclude_characters='\r\n",\0')
READ = [("Straße", "âge"), ("Münster", "31"), ("Café", "32")]


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("utf-8", TEXT.encode()),
        ("utf-8", TEXT.encode("utf-8-sig")),
        ("utf-16", TEXT.encode("utf-16")),
        ("utf-16", b"\xfe\xff" + TEXT.encode("utf-16-be")),
        ("utf-16", TEXT.encode("utf-16-le")),
        ("utf-16", TEXT.encode("utf-16-be")),
        ("latin-1", TEXT.encode("latin-1")),
        ("cp1252", TEXT.encode("cp1252")),
    ],
)
@pytest.mark.parametrize(("ending", "compress"), [("", bytes), (".gz", gzip.compress), (".zst", zstd)])
def test_every_encoding_and_compression_reads_the_same_table(tmp_path, encoding, data, ending, compress):
    assert table_of(file_of(tmp_path, compress(data), "t.csv" + ending, encoding=encoding)) == READ


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("title", ["Ämter\r\n", 'one "\n\n', "x" * 70_000 + "\n,,\n\n"])
def test_lines_above_the_header_are_not_read_and_a_file_must_have_as_many(tmp_path, encoding, title):
    named = encoding.removesuffix("-sig")
    data = (title + TEXT).encode(encoding)
    source = file_of(tmp_path, data, encoding=named, skip_lines=title.count("\n"))
    assert table_of(source) == READ
    with pytest.raises(InputError, match="must be its header, but is blank"):
        table_of(file_of(tmp_path, TEXT.encode(), skip_lines=9))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.text(CHARACTERS, min_size=1), min_size=1))
def test_cells_come_out_as_they_were_encoded(tmp_path_factory, cells):
    folder = tmp_path_factory.mktemp("encoded")
    text = "\n".join(["name", *(f'"{cell}"' for cell in cells)]) + "\n"
    for encoding in ("utf-8", "utf-16", "cp1252"):
        found = table_of(file_of(folder, text.encode(encoding), encoding=encoding))
        assert [cell for (cell,) in found[1:]] == cells


def test_blocks_break_no_character(tmp_path):
    rows = [(f"ä{number}€", "𝄞" * (number % 7)) for number in range(400_000)]
    text = "a,b\n" + "".join(f"{one},{two}\n" for one, two in rows)
    source = file_of(tmp_path, zstd(text.encode("utf-16")), "t.csv.zst", encoding="utf-16")
    assert table_of(source)[1:] == rows


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (f"a,b\n1,{CANARY}".encode() + b"\xe9\n", "utf-8"),
        (f"a,b\n1,{CANARY}".encode() + b"\x81\n", "cp1252"),
        (f"a,b\n1,{CANARY}\n".encode("utf-16") + b"\n", "utf-16"),
        (f"a,b\n1,{CANARY}\n".encode("utf-16") + b"\x00\xdc\x41\x00", "utf-16"),
        (f"{CANARY},\xe9\n1,2\n".encode("latin-1"), "utf-8"),
        (f"a,{CANARY}\n1,2\n".encode("utf-8-sig"), "latin-1"),
        (f"a,{CANARY}\n1,2\n".encode("utf-16"), "utf-8"),
    ],
)
def test_bytes_that_are_no_text_name_the_key_and_are_not_shown(tmp_path, data, encoding):
    error = refusal(file_of(tmp_path, data, encoding=encoding), "as encoding")
    assert encoding in str(error)
    assert "\\x" not in str(error)
    is_marked = data.startswith("".encode("utf-16"))
    assert ("The file begins with the mark of utf-16" in str(error)) == is_marked


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".zst", zstd)])
@pytest.mark.parametrize("cut", [1, 9, 0.5, 0.99])
def test_a_truncated_archive_is_said_to_be_one(tmp_path, ending, compress, cut):
    whole = compress(os.urandom(200_000).hex().encode().join([b"a\n", b"\n"]))
    kept = whole[:-cut] if isinstance(cut, int) else whole[: int(len(whole) * cut)]
    refusal(file_of(tmp_path, kept, "t.csv" + ending), "must be a whole file compressed by")


def test_a_truncated_archive_of_many_blocks_is_refused_though_its_rows_are_whole(tmp_path):
    """The rows that came before the damage are never taken for the table."""
    rows = b"a,b\n" + (b"x" * 96 + b",y\n") * 300_000
    for ending, compress in ((".gz", gzip.compress), (".zst", zstd)):
        whole = compress(rows)
        with pytest.raises(InputError, match="whole file"):
            table_of(file_of(tmp_path, whole[:-9], "t.csv" + ending))


def test_what_is_not_compressed_as_its_name_says_is_refused(tmp_path):
    for ending in (".gz", ".zst"):
        with pytest.raises(InputError, match="must be a whole file"):
            table_of(file_of(tmp_path, b"a,b\n1,2\n", "t.csv" + ending))
    with pytest.raises(InputError, match="the mark of gzip, whose files must end in"):
        table_of(file_of(tmp_path, gzip.compress(b"a,b\n1,2\n")))
    with pytest.raises(InputError, match="compresses its own columns"):
        table_of(file_of(tmp_path, gzip.compress(b"PAR1"), "t.parquet.gz"))
    with pytest.raises(InputError, match=r"must be CSV, TSV .* or Parquet"):
        table_of(file_of(tmp_path, b"PK\x03\x04", "t.csv.zip"))


def test_the_ending_says_the_delimiter_below_that_of_compression(tmp_path):
    data = zstd(b"a\tb\n1\t2\n")
    assert table_of(file_of(tmp_path, data, "t.tsv.zst")) == [("a", "b"), ("1", "2")]
    file_of(tmp_path, gzip.compress("a;b\n1;2\n".encode("utf-16")), "t.csv.gz")
    assert find_dialect(tmp_path / "t.csv.gz", "utf-16").delimiter == ";"


def test_encoding_is_of_text_and_one_of_four(tmp_path):
    with pytest.raises(ParameterError, match="encoding is for a text file"):
        InputFile(tmp_path / "t.parquet", encoding="latin-1")
    with pytest.raises(ParameterError, match="must be one of utf-8, utf-16, latin-1, cp1252"):
        InputFile(tmp_path / "t.csv", encoding="ebcdic")
    assert ENCODINGS == ("utf-8", "utf-16", "latin-1", "cp1252")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_the_file_is_opened_once_for_header_hash_and_rows(tmp_path, name):
    path = tmp_path / name
    if name == "t.parquet":
        pq.write_table(pa.table({"a": ["x", "y"], "b": ["1", "2"]}), path)
    else:
        data = b"a,b\nx,1\ny,2\n"
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    OPENED.clear()
    source = find_dialect(path)
    source.opened.sha256()
    encode(source, Schema((Column("a"), Column("b"))), EncodingOptions(total=True, key=b"k"))
    read_table(source)
    assert OPENED.count(str(path)) == 1


def test_header_and_rows_are_of_one_file_whatever_is_moved_over_it(tmp_path):
    source = file_of(tmp_path, b"a,b\n1,2\n")
    assert source.headers.names == ("a", "b")
    (tmp_path / "new").write_bytes(b"b,a\n3,4\n")
    (tmp_path / "new").replace(source.path)
    assert table_of(source)[1:] == [("1", "2")]


def test_an_open_file_is_closed_with_its_last_user_and_never_sent_to_another_process(tmp_path):
    source = file_of(tmp_path, b"a,b\n1,2\n")
    assert source.headers.names == ("a", "b")
    assert pickle.loads(pickle.dumps(source)).__dict__.keys().isdisjoint({"opened", "headers"})
    descriptor = source.opened._descriptor
    del source
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_a_pipe_and_a_device_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", Path("/dev/null")):
        with pytest.raises(InputError, match="must be a file on disk"):
            OpenedFile(path)
    with pytest.raises(InputError, match="can't be read"):
        OpenedFile(Path("a\0b"))


def test_names_are_compared_without_quotes_and_blanks_around_them():
    bare = {" 'age' ": "age", "\"'a'\"": "a", "O'Brien's": "O'Brien's", "'": "'", "''": "", "'tis": "'tis"}
    assert {text: bare_name(text) for text in bare} == bare
    assert len({matching_name(text) for text in ("id", "'id'", " ID ", '"Id"')}) == 1
