"""A table of people and a place for what the command ``marginalia syndiffix`` makes of it."""

from pathlib import Path

import pytest

from tests.flows.syndiffix_people import people, write


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """400 people in a CSV file."""
    return write(tmp_path / "people.csv", people())


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Where nothing is yet."""
    return tmp_path / "out.csv"
