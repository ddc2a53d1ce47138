"""What arrives before its turn waits, in memory or in a file, and is written in order."""

import numpy as np

from tasks.core.aggregates.grouping import FilledCells
from tasks.core.aggregates.marginals import SpillBuffer


def some(seed: int, rows: int) -> FilledCells:
    generator = np.random.default_rng(seed)
    return FilledCells(
        (generator.integers(1, 9, rows).astype(np.uint8), generator.integers(1, 999, rows).astype(np.uint16)),
        generator.integers(1, 9, rows).astype(np.uint32),
    )


def test_a_spool_gives_back_what_was_put_in_memory_and_in_the_file(tmp_path):
    path = tmp_path / "waiting"
    spool = SpillBuffer(path, 3000)
    kept = [some(seed, rows) for seed, rows in enumerate([100, 200, 300, 0, 50, 400])]
    waiting = [spool.put(cells) for cells in kept]
    assert path.exists()
    for index in (5, 0, 2, 4, 1, 3):
        found = waiting[index]()
        assert (found is kept[index]) == (index not in (2, 5))
        assert all(np.array_equal(a, b) for a, b in zip(found.codes, kept[index].codes, strict=True))
        assert np.array_equal(found.counts, kept[index].counts)
        assert [array.dtype for array in found.codes] == [np.uint8, np.uint16]
    spool.close()
    assert not path.exists()


def test_without_a_file_everything_waits_in_memory():
    spool = SpillBuffer(None, 0)
    cells = some(1, 100)
    assert spool.put(cells)() is cells
    spool.close()
