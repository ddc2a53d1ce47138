"""Declared types as an attack: they must not draw the noise of a table anew (syndiffix.md 2.3)."""

from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest

from tasks.core.syndiffix.reading import ChosenColumn, read_table
from tasks.core.syndiffix.settings import AnonymizationParameters, SingleClustering, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer, tables_per_question

NAMES = ("zip", "age", "rooms", "cars", "rent", "day")
LETTERS = tuple(product("is", repeat=5))
FEW, RARE = 4, 40_404
SALTS = 2


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """People of whom four have a zip of their own, in a file; all that differs is a number."""
    generator = np.random.default_rng(12)
    rows = 160
    zips = generator.choice([40_401, 40_402, 40_406, 40_407], rows)
    zips[:FEW] = RARE
    columns = [zips, *(generator.integers(1, most, rows) for most in (90, 7, 4, 900, 29))]
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pv.write_csv(pa.table(dict(zip(NAMES, columns, strict=True))), path)
    return path


def synthesizer(path, letters, trial):
    read = read_table(path, [ChosenColumn(*each) for each in zip(NAMES, letters, strict=True)])
    parameters = SynDiffixParameters(
        AnonymizationParameters(trial.to_bytes(16, "little")), clustering=SingleClustering()
    )
    return Synthesizer(read.columns, parameters, contents=read.contents)


def shows_the_few(path, letters, trial):
    """Whether their zip comes out of its own table, or of one with another column."""
    made = synthesizer(path, letters, trial)
    tables = tables_per_question(made, [(0,), (0, 1), (0, 4)])
    return any(str(RARE) in table["zip"].cast(pa.string()).to_pylist() for table in tables)


def test_a_suppressed_value_appears_under_none_of_64_combinations_of_types(people):
    found = [
        [shows_the_few(people, (zip_letter, *letters), trial) for letters in LETTERS for zip_letter in "is"]
        for trial in range(SALTS)
    ]
    # Suppressed with a probability of 84 %, where it is under the first types; then under all.
    assert all(len(set(each)) == 1 for each in found)
    assert not all(map(any, found))


COPIES = (None, "i", "r", "s")


def test_rows_are_the_same_whatever_types_are_declared_and_in_a_copy_of_another_format(people, tmp_path):
    table = pv.read_csv(people)
    texts = pa.table([column.cast(pa.string()) for column in table.columns], table.column_names)
    copies = [people, tmp_path / "numbers.parquet", tmp_path / "texts.parquet", tmp_path / "people.tsv"]
    pq.write_table(table, copies[1])
    pq.write_table(texts, copies[2])
    copies[3].write_text(people.read_text().replace(",", "\t"))
    contents = [
        read_table(path, [ChosenColumn("age"), ChosenColumn("rent", letter)]).contents[:, 0]
        for path in copies
        for letter in COPIES
    ]
    assert all((each == contents[0]).all() for each in contents)


def test_names_that_a_configuration_gives_are_not_what_tells_rows_apart(people, tmp_path):
    from tasks.core.tables.header import InputFile

    bare = tmp_path / "bare.csv"
    bare.write_text(people.read_text().partition("\n")[2])
    one, other = (
        read_table(InputFile(bare, "csv", header=tuple(names))) for names in (NAMES, map(str.upper, NAMES))
    )
    assert (one.contents == other.contents).all()
    assert one.columns.column_names != other.columns.column_names
