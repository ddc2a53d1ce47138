"""What rows look like as they leave a file, whatever type their column has."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.tables.batches import read_batches
from tasks.core.tables.header import InputFile

_TWICE = ["e\u0301te\u0301", "\u00e9t\u00e9", "x", None]
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


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view()], ids=str)
def test_so_is_an_item_of_a_list_and_a_cell_beside_others(tmp_path, kind):
    items = pa.array([[word] for word in _TWICE], pa.list_(kind))
    assert _read(tmp_path, items) == [[word] for word in _ONE]
    beside = pa.StructArray.from_arrays(
        [pa.array(_TWICE, kind), pa.array([None, None, None, 1])], ["cells:text", "cells:number"]
    )
    found = _read(tmp_path, beside)
    assert [cell["cells:text"] for cell in found] == _ONE
    assert found[3]["cells:number"] == 1


def _read(folder, cells):
    pq.write_table(pa.table({"a": cells}), folder / "t.parquet")
    return [
        cell
        for batch in read_batches(InputFile(folder / "t.parquet"), [0])
        for cell in batch.column(0).to_pylist()
    ]
