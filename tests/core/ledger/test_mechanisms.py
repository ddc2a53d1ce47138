"""What the ledger draws: one way in for both draws, for a table that is whole and for one in partitions."""

import tempfile
from pathlib import Path

import pytest

from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.ledger.mechanisms import draw_measurement
from tests.oracles.partitions import as_table, parted
from tests.oracles.workloads import parameters, people


def files(records, asked):
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw_measurement(as_table(records), asked, SeededStream(3), before_first_word=lambda: None)
        drawn.write(Path(folder))
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@pytest.mark.parametrize(
    "asked",
    [
        DpParameters(8.0, 1e-6, 3, contribution="profile", record_limit=300),
        parameters(8.0, record_limit=300),
    ],
)
def test_either_draw_takes_a_table_whole_or_in_partitions(asked, tmp_path):
    records = people(600, 4, tags=True)
    assert files(parted(records, tmp_path, 4), asked) == files(records, asked)
