"""Runs that their table stopped: each is an entry, whatever the dataset was called."""

from pathlib import Path

import pytest

from tasks.core.errors import LedgerError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.audit import audit_entries, export_at, read_export, write_export
from tasks.core.ledger.dataset_notes import BROKEN
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import Ledger, open_ledger
from tasks.core.ledger.tables import PublicTable
from tests.oracles.drawing import write_measurement
from tests.oracles.ledger_runs import DATASET, charged, edit, gdp_charge, release

TABLE = PublicTable(Path("a.csv"), ("person", "town"), ("town",))
OTHER = PublicTable(Path("b.csv"), ("x", "y"), ("y",))


@pytest.fixture
def ledger(place):
    return open_ledger(place)


def enter(ledger: Ledger, dataset: str, table: PublicTable, reason: str = "") -> None:
    registration = Registration(dataset, 1.0, 1e-6, 1e-7, reason=reason)
    if reason:
        ledger.register(registration)
    ledger.enter(registration, table)


def test_stops_are_counted_before_and_after_the_dataset_is_registered_and_cost_nothing(ledger, tmp_path):
    ledger.note_stop(DATASET, "1", BROKEN, "a" * 64, TABLE)
    assert [each.asked for each in ledger.stops(DATASET)] == ["a" * 64]
    assert not ledger.is_registered(DATASET)
    enter(ledger, DATASET, TABLE)
    ledger.note_stop(DATASET, "1", BROKEN, "b" * 64, TABLE)
    drawn = draw_once(ledger, release("1"), gdp_charge(), write_measurement)
    ledger.note_stop(DATASET, "2", BROKEN, "a" * 64, TABLE)
    assert len(drawn.account.stops) == 2, "those before the release"
    assert len(ledger.account(DATASET).stops) == 3
    assert round(charged(ledger)) == 1
    write_export(ledger.entries(), tmp_path / "export")
    (account,) = audit_entries(read_export(tmp_path / "export"), export_at(tmp_path / "export")).accounts
    assert account.stops == ledger.stops(DATASET)


def test_stops_of_the_same_table_under_another_name_are_counted_unless_its_people_are_others(ledger):
    ledger.note_stop("probe", "1", BROKEN, "a" * 64, TABLE)
    ledger.note_stop("elsewhere", "1", BROKEN, "a" * 64, OTHER)
    enter(ledger, DATASET, TABLE)
    assert len(ledger.stops(DATASET)) == 1
    enter(ledger, "others", TABLE, reason="other people")
    ledger.note_stop("others", "1", BROKEN, "a" * 64, TABLE)
    assert len(ledger.stops(DATASET)) == 1
    assert len(ledger.stops("others")) == 2, "of the name that nobody told apart, too"


def test_a_stop_that_is_taken_out_breaks_the_chain(tmp_path):
    ledger = open_ledger(tmp_path / "ledger")
    ledger.note_stop(DATASET, "1", BROKEN, "a" * 64, TABLE)
    edit(tmp_path / "ledger", "delete from entries where seq = 2")
    with pytest.raises(LedgerError, match="cut short"):
        open_ledger(tmp_path / "ledger").stops(DATASET)
