"""How long a record of a text file may be: as the privacy statement says it."""

from pathlib import Path

import pytest

from tasks.core.errors import InputError
from tasks.core.statement.differential_privacy.statement import accounted_statement
from tasks.core.tables.batches import read_batches
from tasks.core.tables.header import InputFile
from tests.oracles.releases import ledger_facts, release

MIB = 2**20
HEADER, SHORT = "town,age,job\n", "Aberwick,40,baker\n"


def rows_of(path: Path, before: int, cells: tuple[float, ...]) -> int | None:
    """How many rows are read of a file with so many bytes of short records before a long one; None: refused.

    Args:
        path: where to write it.
        before: bytes, at most.
        cells: MiB of each cell of the long record.
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
        (0, (17, 0, 0), True),
        (0, (31.9, 0, 0), True),
        (0, (32.1, 0, 0), False),
        (15 * MIB, (15.9, 0, 0), True),
        (15 * MIB, (16.5, 0, 0), True),
        (15 * MIB, (17.5, 0, 0), False),
        (8 * MIB, (20, 0, 0), True),
        (8 * MIB, (25, 0, 0), False),
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
