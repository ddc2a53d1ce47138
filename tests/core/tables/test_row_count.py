"""The rows of a text are guessed within a factor of two, from its lines' lengths alone."""

import gzip
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.tables.batches import holds_no_record, number_of_rows
from tasks.core.tables.header import InputFile
from tests.core.tables.test_source import zstd

SHAPES = {
    "short": lambda number, chance: f"{number},a,1",
    "uneven": lambda number, chance: f"{number},{'x' * int(chance.expovariate(0.01))},1",
    "sorted": lambda number, chance: f"{number},{'x' * (number // 200)},1",
    "lines within quotes": lambda number, chance: f'{number},"a\nb\n\n""c""\n{number}",1',
    "all quoted": lambda number, chance: f'"{number}","a"\n' if number % 2 else f'"{number}","b"',
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
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


def test_without_a_look_at_lines_a_text_has_no_more_rows_than_its_size_allows(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 50)
    assert number_of_rows(InputFile(tmp_path / "t.csv")) == (51, "size")


def test_a_footer_says_how_many_rows_a_parquet_file_has(tmp_path):
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
