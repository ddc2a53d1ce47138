"""A file without a header: whatever the first person's cells are, they must not become columns' names."""

from pathlib import Path

import pytest

from tasks.core.recognition.dialect import recognise_dialect

ROWS = "".join(
    f"Ann {i},{18 + i % 60},{'fm'[i % 2]},{1000 + i},{['healthy', 'asthma'][i % 2]},Lyon\n"
    for i in range(200)
)


@pytest.mark.parametrize("income", ["1234", "n/a", "", "unknown"])
def test_a_missing_cell_of_the_first_person_makes_no_header(tmp_path: Path, income: str) -> None:
    path = tmp_path / "staff.csv"
    path.write_text(f"Marta K,17,f,{income},HIV positive,Lyon\n{ROWS}", encoding="utf-8")
    assert "HIV positive" not in recognise_dialect(path).source.headers.names
