"""What rows look like as they leave a file, how many there are, and how long one may be."""

import gzip
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.errors import InputError
from tasks.core.statement.differential_privacy.statement import accounted_statement
from tasks.core.tables.batches import holds_no_record, number_of_rows, read_batches
from tasks.core.tables.header import InputFile
from tests.core.tables.test_source import zstd
from tests.oracles.releases import ledger_facts, release

_TWICE = ["e\u0301te\u0301", "\u00e9t\u00e9", "x", None]
_KINDS = ["cells:text", "cells:number"]
_ONE = ["\u00e9t\u00e9", "\u00e9t\u00e9", "x", None]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(_TWICE),
        pa.array(_TWICE, pa.large_string()),
        pa.array(_TWICE, pa.string_view()),
        pa.array(_TWICE).dictionary_encode(),
    ],
    ids=lambda cells: str(cells.type),
)
def test_a_word_is_one_value_however_its_marks_are_stored(tmp_path, cells):
    assert _read(tmp_path, cells) == _ONE


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.list_(pa.string_view()),
        pa.large_list(pa.string()),
        pa.list_(pa.string(), 2),
        pa.list_view(pa.string()),
        pa.large_list_view(pa.large_string()),
    ],
    ids=str,
)
def test_so_is_an_item_of_a_list(tmp_path, kind):
    lists = [None, ["y", "e\u0301"], ["\u00e9", None], None]
    if not pa.types.is_fixed_size_list(kind):
        lists += [[], ["z"]]
    of_one = [items and ["\u00e9" if item == "e\u0301" else item for item in items] for items in lists]
    assert _read(tmp_path, pa.array(lists, kind)) == of_one
    assert _read(tmp_path, pa.array([*lists, None], kind).slice(1)) == [*of_one[1:], None]


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view()], ids=str)
def test_so_is_a_cell_beside_others(tmp_path, kind):
    beside = pa.StructArray.from_arrays([pa.array(_TWICE, kind), pa.array([None, None, None, 1])], _KINDS)
    found = _read(tmp_path, beside)
    assert [cell["cells:text"] for cell in found] == _ONE
    assert found[3]["cells:number"] == 1


def test_so_is_one_in_a_list(tmp_path):
    beside = pa.StructArray.from_arrays([pa.array(_TWICE), pa.array([None, None, None, 1])], _KINDS)
    lists = pa.LargeListArray.from_arrays(pa.array([0, 1, 4, 4]), beside)
    of_one = [[cell and cell["cells:text"] for cell in items] for items in _read(tmp_path, lists)]
    assert of_one == [_ONE[:1], _ONE[1:], []]


def _read(folder, cells):
    pq.write_table(pa.table({"a": cells}), folder / "t.parquet")
    return [
        cell
        for batch in read_batches(InputFile(folder / "t.parquet"), [0])
        for cell in batch.column(0).to_pylist()
    ]


# --- how many rows a file has


SHAPES = {
    "short": lambda number, chance: f"{number},a,1",
    "uneven": lambda number, chance: f"{number},{'x' * int(chance.expovariate(0.01))},1",
    "sorted": lambda number, chance: f"{number},{'x' * (number // 200)},1",
    "lines within quotes": lambda number, chance: f'{number},"a\nb\n\n""c""\n{number}",1',
    "all quoted": lambda number, chance: f'"{number}","a"\n' if number % 2 else f'"{number}","b"',
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("end", "encoding", "ending"), [("\n", "utf-8", ""), ("\r\n", "utf-16", ".gz"), ("\r\n", "utf-8", ".zst")]
)
def test_rows_are_guessed_within_a_factor_of_two(tmp_path, shape, end, encoding, ending):
    chance = random.Random(5)
    rows = 40_000
    text = end.join(["a,b,c", *(SHAPES[shape](number, chance) for number in range(rows))]) + end
    data = text.encode(encoding)
    if ending == ".gz":
        data = gzip.compress(data, 1)
    if ending == ".zst":
        data = zstd(data)
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(data)
    assert rows / 2 <= number_of_rows(InputFile(path, encoding=encoding), look=True)[0] <= rows * 2


@pytest.mark.parametrize(
    ("text", "rows"), [("a,b\n", 0), ("a,b\n1,2", 1), ("a,b\n\n1,2\n\n\n3,4\n", 2), ('a\n"x\ny"\n', 1)]
)
def test_a_small_file_is_counted(tmp_path, text, rows):
    (tmp_path / "t.csv").write_text(text)
    assert number_of_rows(InputFile(tmp_path / "t.csv"), look=True)[0] == rows


def test_without_a_look_the_size_bounds_the_rows_of_a_text_and_a_footer_says_those_of_parquet(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 50)
    assert number_of_rows(InputFile(tmp_path / "t.csv")) == (51, "size")
    pq.write_table(pa.table({"a": range(50)}), tmp_path / "t.parquet")
    assert number_of_rows(InputFile(tmp_path / "t.parquet"), look=True) == (50, "footer")


@pytest.mark.parametrize(
    ("text", "header", "is_empty"),
    [
        ("a,b\n", (), True),
        ("a,b", (), True),
        ("a,b\n\n\n", (), True),
        ("a,b\n1,2", (), False),
        ("1,2\n", ("a", "b"), False),
        ("", ("a", "b"), True),
        ("a,b\n" + "1,2\n" * 500_000, (), False),
    ],
)
def test_a_table_without_a_record_is_known(tmp_path, text, header, is_empty):
    (tmp_path / "t.csv").write_text(text)
    assert holds_no_record(InputFile(tmp_path / "t.csv", header=header)) is is_empty


# --- how long a record of a text file may be: as the privacy statement says it


MIB = 2**20
HEADER, SHORT = "town,age,job\n", "Aberwick,40,baker\n"


def rows_of(path: Path, before: int, cells: tuple[float, ...]) -> int | None:
    """How many rows are read of a file with so many bytes of short records before one of so many MiB a cell.

    None: it is refused.
    """
    short = SHORT * ((before - len(HEADER)) // len(SHORT))
    long = ",".join("x" * int(size * MIB) for size in cells)
    path.write_text(f"{HEADER}{short}{long}\n{SHORT}", encoding="utf-8")
    source = InputFile(path)
    try:
        return sum(batch.num_rows for batch in read_batches(source, [0, 1, 2]))
    except InputError:
        return None
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("before", "cells", "is_read"),
    [
        (0, (15, 15, 15), False),
        (0, (31.9, 0, 0), True),
        (0, (32.1, 0, 0), False),
        (15 * MIB, (16.5, 0, 0), True),
        (15 * MIB, (17.5, 0, 0), False),
    ],
)
def test_a_record_is_read_unless_it_fills_a_whole_block_of_the_file(before, cells, is_read, tmp_path):
    begins = len(HEADER) + (before - len(HEADER)) // len(SHORT) * len(SHORT) if before else len(HEADER)
    ends = begins + sum(int(size * MIB) for size in cells) + 3
    fills_one = any(begins <= block and block + 16 * MIB <= ends for block in range(0, ends, 16 * MIB))
    assert fills_one is not is_read
    assert (rows_of(tmp_path / "long.csv", before, cells) is not None) is is_read


def test_the_statement_says_so():
    said = " ".join(accounted_statement(release(600)[0], ledger_facts(), "abc")["not_covered"])
    assert "no record of a text file fills a whole block of 16 MiB of it" in said
    assert "one of 32 MiB or more never does" in said
    assert "16 megabytes" not in said
