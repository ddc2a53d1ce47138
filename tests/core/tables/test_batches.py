"""What rows look like as they leave a file, whatever type their column has."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.tables.batches import read_batches
from tasks.core.tables.header import InputFile

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
