"""What a text that is hashed must still tell, and that each scenario has its hashes."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.frozen import frozen
from tests.frozen.plain_text import Plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0.123456789", "0.123456788"),
        ("1234567890123", "1234567890124"),
        ("-1.5", "1.5"),
        ("2025-03-01T10:00:00", "2025-03-01T10:00:01"),
        ('"digest": "' + "a" * 64 + '"', '"digest": "' + "b" * 64 + '"'),
        ("in 3 sets", "in 4 sets"),
        ("a\r\n", "a\n"),
        ("3 CPU seconds", "4 CPU seconds"),
    ],
)
def test_what_a_run_decides_is_kept(one, other, tmp_path):
    plain = Plain(tmp_path, Path("/a/checkout"))
    assert plain.text(one) != plain.text(other)


def test_parquet_is_its_schema_and_rows(tmp_path):
    plain = Plain(tmp_path, Path("/a/checkout"))
    table = pa.table({"town": ["Eel", None], "share": [0.1234567890123, 2.0]})
    path, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table, path)
    assert '{"town": "Eel", "share": 0.123456789}' in plain.file(path)
    pq.write_table(table.cast(pa.schema([("town", pa.large_string()), ("share", pa.float64())])), other)
    assert plain.file(path) != plain.file(other)


def test_every_scenario_has_hashes():
    assert {path.partition("/")[0] for path in frozen.stored()} == frozen.SCENARIOS.keys()
