"""``marginalia init``: twelve messy tables, each of which runs as drafted, and so does next month's."""

import json
from pathlib import Path

import numpy as np
import pytest

from flows.command import main as command
from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration
from tasks.core.records.coded import CodedRecords
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.syndiffix.reading import read_table
from tasks.plan.describe import describe
from tests.flows import pipeline
from tests.flows.messy_tables import NEW, ROWS, TABLES

MONTHS = (0, 1)
PROTECTIONS = ("dp", "k_anonymity", "syndiffix")


def drafted(folder: Path, name: str, protection: str = "dp", *options: str) -> Path:
    """Draft from the first month's table, accepting everything; return the configuration's path."""
    for month in MONTHS:
        TABLES[name].write(folder, name, month)
    table = folder / f"{name}-2026-01.csv"
    if protection == "k_anonymity" and name == "visits":  # rows of a person differ there
        options = (*options, "--one-row-each")
    arguments = ["--output", str(folder), "--yes", "--protection", protection, *options]
    assert command.main(["init", str(table), *arguments]) == 0
    return folder / f"{name}.json"


def of_month(path: Path, month: int) -> RunConfiguration:
    """The draft as it stands, but for the vintage."""
    return from_flat(json.loads(path.read_text()) | {"vintage": f"2026-{month + 1:02}"})


def records(configuration: RunConfiguration) -> CodedRecords:
    """What is counted of a table."""
    described = describe(configuration)
    total = configuration.is_private
    return encode(described.source, described.schema, EncodingOptions(total=total, key=b"k"))


@pytest.mark.parametrize("protection", ["dp", "k_anonymity"])
@pytest.mark.parametrize("name", TABLES)
def test_a_draft_reads_this_month_s_table_and_next_month_s(
    name: str, protection: str, tmp_path: Path
) -> None:
    path = drafted(tmp_path, name, protection)
    configuration = of_month(path, 0)
    subject = None if protection == "k_anonymity" and name == "visits" else TABLES[name].subject
    assert configuration.input.subject_id == subject
    for month in MONTHS:
        found = records(of_month(path, month))
        people = ROWS // 2 if name == "visits" and subject else ROWS
        assert found.number_of_records == people
        for place, column in enumerate(found.schema.columns):
            held = np.zeros(people, np.bool_)
            for slot, of_column in zip(found.slots, found.slot_columns, strict=True):
                held |= (of_column == place) & (slot > 0)
            assert held.mean() > 0.4, f"most of {column.name!r} is counted"
            if column.is_open:
                assert len(found.values[place]) <= 101, f"{column.name!r} has few values"
        named = {value for values in found.values for value in values}
        for new in NEW.values():
            drawn = TABLES[name].write(tmp_path, name, month).read_text(TABLES[name].encoding)
            assert (new in named) == (new in drawn)


@pytest.mark.parametrize("name", TABLES)
def test_syndiffix_reads_both_months_tables_as_they_are_drafted(name: str, tmp_path: Path) -> None:
    path = drafted(tmp_path, name, "syndiffix")
    for month in MONTHS:
        configuration = of_month(path, month)
        described = describe(configuration)
        selection = described.synthesized
        table = read_table(described.source, selection.table, selection.ids).columns.select(selection.columns)
        assert table.num_rows == ROWS
        for column in table.column_names:
            assert table.column(column).null_count < 0.6 * ROWS


@pytest.mark.server
@pytest.mark.parametrize("protection", PROTECTIONS)
@pytest.mark.parametrize("name", TABLES)
def test_a_draft_is_released_unchanged_and_so_is_next_month_s_table(
    name: str, protection: str, tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    path = drafted(tmp_path, name, protection)
    for month in MONTHS:
        release = pipeline.run(of_month(path, month))
        [synthetic] = release.glob("*_synthetic_microdata.*")
        rows = len(synthetic.read_text(encoding="utf-8").splitlines()) - 1
        assert rows > 0.2 * ROWS
