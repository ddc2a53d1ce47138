"""The PostgreSQL of the tests starts, makes a database and answers."""

import subprocess

import pytest

from tests.postgresql import PostgreSQL, programs


@pytest.mark.needs_postgresql
def test_a_new_database_answers(postgresql: PostgreSQL) -> None:
    folder = programs()
    assert folder is not None
    url = postgresql.create("answers")
    answer = subprocess.run(
        [folder / "psql", "-Atd", url, "-c", "select 6 * 7"], capture_output=True, check=True
    )
    assert answer.stdout.strip() == b"42"
