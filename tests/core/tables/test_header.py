"""Headers, dialects and damaged files: what is accepted, what is refused, and what a refusal says."""

import os
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.errors import InputError, ParameterError
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, column_positions, encode
from tasks.core.tables.header import Headers, InputFile
from tests.core.tables.test_source import CANARY, file_of, refusal, rows_of


def test_headers_are_normalised_in_file_order(tmp_path):
    source = file_of(tmp_path, 'Z , B:x;y ,"a ""q"", b"\n1,2,3\n')
    assert source.headers == Headers(("Z", "B:x;y", 'a "q", b'))


def test_parquet_headers_have_types(tmp_path):
    pq.write_table(pa.table({" A": ["x"], "n": [1], "m": [["x"]]}), tmp_path / "t.parquet")
    headers = InputFile(tmp_path / "t.parquet").headers
    assert headers.names == ("A", "n", "m")
    assert headers.types[:2] == ("string", "int64")
    assert "list<" in headers.types[2]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_and_byte_order_mark_are_accepted(tmp_path, ending, mark, last):
    text = mark + ending.join(["a,b", "1,2", "", '"x\r\ny\nz",4']) + (ending if last else "")
    assert rows_of(file_of(tmp_path, text)) == [("1", "2"), ("x\r\ny\nz", "4")]


def test_awkward_cells_are_read_as_they_are(tmp_path):
    row = ["tab\tand", 'quote"s', "new\nline", "a;b:c", "x" * 1_000_000, " spaced ", "#", "NULL", "\\N"]
    cells = ",".join('"' + cell.replace('"', '""') + '"' for cell in row)
    source = file_of(tmp_path, ",".join(f"c{i}" for i in range(len(row))) + "\n" + cells + "\n")
    assert rows_of(source) == [tuple(row)]


def test_a_quote_inside_an_unquoted_cell_is_text(tmp_path):
    assert rows_of(file_of(tmp_path, 'a,b\n5" disk, "x"\n')) == [('5" disk', ' "x"')]


def test_other_dialects(tmp_path):
    source = file_of(tmp_path, "a|b\n'x|\\'y'|z\n", delimiter="|", quote="'", escape="\\")
    assert rows_of(source) == [("x|'y", "z")]


def test_an_operator_is_told_how_many_rows_are_ragged(tmp_path):
    error = refusal(file_of(tmp_path, f"a,b\n1,2\n{CANARY}\n3,4\n5,6,7\n{CANARY}\n"))
    assert error.operator_detail == (
        "row 3, counting the header as row 1; 2 more rows have too few or too many cells"
    )


NAMES = ("a", "b b", "c;d")
HEADLESS = {"delimiter": " ", "header": NAMES}


@pytest.mark.parametrize(
    ("data", "dialect", "row"),
    [
        (f"a,b\n1,2\n{CANARY}\n3,4\n", {}, 3),
        (f"a,b\n1,2\n{CANARY},2,3\n", {}, 3),
        (f"a,b\n1,2\n3,{CANARY}".encode() + b"\xff\n5,6\n", {}, 3),
        (f'a,b\n1,2\n"{CANARY},2\n3,4\n', {}, 3),
        (f'a,b\n1,2\n3,"{CANARY}\n' + "5,6\n" * 100, {}, None),
        (f'a,b\n1,2\n3,"{CANARY}\n5,6', {}, None),
        (f"1 2 3\n4 {CANARY}\n", HEADLESS, 2),
        (f"{CANARY} 2 3 4\n5 6 7\n", HEADLESS, 1),
        (f"1 2 {CANARY} \n", HEADLESS, 1),
        (f'1 2 "{CANARY}\n4 5 6\n', HEADLESS, None),
        (f"1 2 3\n4 {CANARY}".encode() + b"\xff 6\n", HEADLESS, 2),
    ],
)
def test_damaged_rows_are_refused_without_a_cell(tmp_path, data, dialect, row):
    error = refusal(file_of(tmp_path, data, **dialect))
    shape = "sensitive_microdata_header" if dialect else "every quote must be closed"
    assert ("as encoding" if isinstance(data, bytes) else shape) in str(error)
    counted = "" if dialect else ", counting the header as row 1"
    assert error.operator_detail == (f"row {row}{counted}" if row else "")


def test_rule_6_an_open_quote_loses_no_row_in_silence(tmp_path):
    refusal(file_of(tmp_path, "a\n" + "x\n" * 100 + '"y\n' + "z\n" * 200))


def test_a_damaged_file_is_refused_in_every_block(tmp_path):
    """The parser works block by block; this is damage in a later one."""
    good = "a,b\n" + f"{'x' * 1000},y\n" * 18_000
    assert len(rows_of(file_of(tmp_path, good))) == 18_000
    refusal(file_of(tmp_path, good + f"{CANARY}\n"))
    refusal(file_of(tmp_path, good + f'{CANARY},"z\n'))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\na,b\n", "is blank"),
        (b"\xe9t\xe9,b\n1,2\n", "must be text in utf-8, but its header is not"),
        (b'"a,b\n1,2\n', "must be a header in the declared dialect"),
        (b"Ottoline,b, oTTOLINE \n1,2,3\n", "Columns 1 and 3 .* same name"),
    ],
    ids=["empty", "blank", "latin-1", "open quote", "duplicate"],
)
def test_bad_headers_are_refused_by_position(tmp_path, data, said):
    source = file_of(tmp_path, data)
    with pytest.raises(InputError, match=said) as raised:
        _ = source.headers
    assert CANARY.lower() not in str(raised.value).lower()
    assert raised.value.exit_code == 2


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        _ = InputFile(tmp_path / "none.csv").headers
    with pytest.raises(InputError, match="is a folder"):
        _ = InputFile(tmp_path).headers


@pytest.mark.needs_root
def test_a_file_that_may_not_be_read_is_refused():
    if os.geteuid() != 0:
        pytest.skip("needs to be root, to become someone who may not read the file")
    # Not below pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        source = file_of(folder, "a\n1\n")
        source.path.chmod(0)
        os.seteuid(65534)
        try:
            with pytest.raises(InputError, match="Permission denied"):
                _ = source.headers
        finally:
            os.seteuid(0)


@pytest.mark.parametrize("data", [b"PAR1 not really PAR1", b"a,b\n1,2\n"])
def test_what_is_not_parquet_is_refused(tmp_path, data):
    with pytest.raises(InputError, match="must be a Parquet file"):
        _ = file_of(tmp_path, data, "t.parquet").headers


def test_parquet_text_that_is_not_utf_8_is_refused(tmp_path):
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
    )
    pq.write_table(pa.table({"a": bad}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="not UTF-8") as raised:
        encode(
            InputFile(tmp_path / "t.parquet"), Schema((Column("a"),)), EncodingOptions(total=True, key=b"k")
        )
    assert raised.value.__context__ is None


def test_a_wrong_delimiter_is_named(tmp_path):
    source = file_of(tmp_path, "a;b\n1;2\n")
    with pytest.raises(InputError, match=r"single column when split at ','.*sensitive_microdata_delimiter"):
        column_positions(source, Schema((Column("a"), Column("b"))))


def test_a_declared_column_that_is_not_there_is_named_and_no_other(tmp_path):
    source = file_of(tmp_path, f"a,{CANARY}\n1,2\n")
    with pytest.raises(InputError, match="Column 'b' is declared") as raised:
        column_positions(source, Schema((Column("b"), Column("A"))))
    assert CANARY not in str(raised.value)


def test_a_column_without_name_is_refused_only_where_it_is_used(tmp_path):
    source = file_of(tmp_path, ",a,\n1,2,3\n")
    assert column_positions(source, Schema((Column("a"),))) == ([1], None)
    with pytest.raises(InputError, match="Column 1 of the input has no name"):
        column_positions(source, Schema((Column(""), Column("a"))))


@pytest.mark.parametrize(
    "dialect", [{"delimiter": ";;"}, {"delimiter": "é"}, {"delimiter": '"'}, {"quote": "\n"}]
)
def test_a_dialect_is_single_ascii_characters(tmp_path, dialect):
    with pytest.raises(ParameterError):
        InputFile(tmp_path / "t.csv", **dialect)


def test_a_declared_header_makes_the_first_line_a_record(tmp_path):
    source = file_of(tmp_path, "1 2 3\n4 '5' \"6 7\"\n", delimiter=" ", header=NAMES)
    assert source.headers == Headers(("a", "b b", "c;d"))
    assert rows_of(source) == [("1", "2", "3"), ("4", "'5'", "6 7")]


@pytest.mark.parametrize("data", ["1 2\n", "1 2", "\n1 2\n\n", "\ufeff1 2\r\n", '"1" "2"\r'])
def test_a_file_without_header_may_end_and_begin_as_any_other(tmp_path, data):
    assert rows_of(file_of(tmp_path, data, delimiter=" ", header=("a", "b"))) == [("1", "2")]


def test_a_declared_header_equal_to_the_first_line_does_not_hide_it(tmp_path):
    assert rows_of(file_of(tmp_path, "a,b\n1,2\n", header=("a", "b"))) == [("a", "b"), ("1", "2")]


def test_rule_2_a_file_without_header_may_be_empty(tmp_path):
    for data in (b"", b"\n", b"\xef\xbb\xbf"):
        assert rows_of(file_of(tmp_path, data, header=("a", "b"))) == []


def test_a_declared_header_is_judged_as_any_other(tmp_path):
    source = file_of(tmp_path, "1,2\n", header=("a", " A "))
    with pytest.raises(InputError, match="Columns 1 and 2 of the input have the same name"):
        _ = source.headers
    with pytest.raises(ParameterError, match="names its own columns"):
        InputFile(tmp_path / "t.parquet", header=("a",))


def test_a_missing_subject_id_is_found_by_the_row_of_the_file(tmp_path):
    options = EncodingOptions(total=False, key=b"k")
    schema = Schema((Column("b"),), "a")
    pq.write_table(pa.table({"a": ["x", None], "b": ["1", "2"]}), tmp_path / "t.parquet")
    sources = {
        "row 3, counting the header as row 1": file_of(tmp_path, "a,b\nx,1\n,2\n"),
        "row 2": file_of(tmp_path, "x,1\n,2\n", "u.csv", header=("a", "b")),
        "row 2 ": InputFile(tmp_path / "t.parquet"),
    }
    for detail, source in sources.items():
        with pytest.raises(InputError, match="must have a subject id") as raised:
            encode(source, schema, options)
        assert raised.value.operator_detail == detail.strip()
