"""One budget, one column that tells its subjects apart."""

from dataclasses import replace
from pathlib import Path

import pytest

from tasks.core.errors import ParameterError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.ledger import open_ledger
from tasks.core.ledger.tables import PublicTable

TABLE = PublicTable(Path("a.csv"), ("person", "visit", "town"), ("town",))
BY_PERSON = Registration("e", 1.0, 1e-6, 1e-7, subject_id="person")
BY_VISIT = replace(BY_PERSON, subject_id="visit")


@pytest.fixture
def ledger(place):
    """One whose dataset "e" was drawn from."""
    ledger = open_ledger(place)
    assert ledger.enter(BY_PERSON, TABLE)
    return ledger


def test_another_subject_column_is_refused_before_anything_is_read_and_when_it_is_drawn(
    ledger,
):
    head = ledger.head()
    for refused in (
        lambda: ledger.require_one_budget((BY_VISIT, TABLE)),
        lambda: ledger.enter(BY_VISIT, TABLE),
    ):
        with pytest.raises(ParameterError, match="did by another one than 'visit'") as caught:
            refused()
        assert "marginalia ledger 'e' --subject-id 'visit' --reason" in str(caught.value)
    assert ledger.head() == head
    # Two spellings of one name are one column.
    ledger.enter(replace(BY_PERSON, subject_id=" PERSON"), TABLE)
    assert ledger.head() == head
    assert all("person" not in str(entry.body) for entry in ledger.entries())


def test_a_renamed_column_needs_a_reason_that_the_ledger_keeps(ledger):
    with pytest.raises(ParameterError, match="needs a reason"):
        ledger.rename_subject("e", "patient", " ")
    with pytest.raises(ParameterError, match="a dataset that is registered"):
        ledger.rename_subject("other", "patient", "renamed")
    ledger.rename_subject("e", "patient", "renamed in the register")
    ledger.require_one_budget((replace(BY_PERSON, subject_id="patient"), TABLE))
    with pytest.raises(ParameterError, match="another one than 'person'"):
        ledger.require_one_budget((BY_PERSON, TABLE))
    assert ledger.reasons("e") == ("renamed in the register",)


def test_a_dataset_of_an_earlier_version_is_noted_by_its_next_draw(place):
    ledger = open_ledger(place)
    ledger.enter(replace(BY_PERSON, subject_id=""), TABLE)  # as it was noted then
    ledger.enter(BY_VISIT, TABLE)
    with pytest.raises(ParameterError, match="another one than 'person'"):
        ledger.enter(BY_PERSON, TABLE)


def test_a_budget_of_rows_has_no_such_column(place):
    ledger, rows = open_ledger(place), Registration("e", 1.0, 1e-6, 1e-7, unit="row")
    ledger.enter(rows, TABLE)
    assert all(entry.phase != "subject" for entry in ledger.entries())
    with pytest.raises(ParameterError, match="registered with the unit subject"):
        ledger.rename_subject("e", "person", "renamed")
