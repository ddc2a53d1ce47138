"""What a record is called: said in the file, kept in a release's configuration only where it was said."""

import pytest

from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration
from tasks.core.errors import ParameterError
from tasks.core.records.cell_reading import CellReading
from tasks.core.records.columns import Column, Schema
from tasks.public.page import PageSettings
from tests.oracles.contracts import HEAD

FILE = {"sensitive_microdata_path": "visits.csv", "prefix": "visits"}
ROWS = {"guarantee": {"unit": "row"}, "dataset": "visits", "vintage": "1", "private": False} | {
    "regime": "syndiffix"
}


def test_a_unit_has_its_regular_plural_unless_another_is_given():
    for given, many in ({"unit": "visit"}, "visits"), ({"unit": "stay", "units": "stays over"}, "stays over"):
        unit = PageSettings.of(from_flat(FILE | given)).naming(ROWS, Schema(())).unit_of(ROWS)
        assert (unit.one, unit.many) == (given["unit"], many)


def test_without_one_nothing_that_is_written_names_it():
    plain, named = from_flat(FILE), from_flat(FILE | {"unit": "visit"})
    assert "report" not in plain.model_dump(mode="json")
    assert named.model_dump(mode="json")["report"] == {"unit": "visit"}
    assert RunConfiguration(**named.model_dump(mode="json")) == named
    assert PageSettings.of(plain).naming(ROWS, Schema(())).unit_of(ROWS).many == "rows"


@pytest.mark.parametrize(
    ("given", "said"),
    [({"units": "visits"}, "give unit"), ({"unit": "a\nb"}, "a word or a few"), ({"unit": "x" * 41}, "40")],
)
def test_what_is_no_word_is_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        from_flat(FILE | given)


@pytest.mark.parametrize(
    "word",
    ["person", "People", "Patient", "employees", "child", "Kunde", "Kundinnen", "Schüler:in", "young person"],
)
@pytest.mark.parametrize(
    "protection", [{}, {"dp_aggregates": True, "noise_epsilon": 1}, {"synthesis_mode": "syndiffix"}]
)
def test_rows_are_not_called_people_where_rows_are_protected(word, protection):
    with pytest.raises(
        ParameterError, match="unit must not be a word for people where no subject_id is given"
    ):
        from_flat(FILE | protection | {"unit": word})
    with pytest.raises(ParameterError, match="units must not be a word for people"):
        from_flat(FILE | protection | {"unit": "visit", "units": word})
    called = from_flat(FILE | protection | {"unit": word, "units": word, "subject_id": "id"})
    assert called.report.unit == word


def test_people_are_not_called_rows_where_people_are_protected():
    for word in ("visit", "patient visit"):
        with pytest.raises(ParameterError, match="unit must be a word for people, such as patient"):
            from_flat(FILE | {"unit": word, "subject_id": "person"})
    assert from_flat(FILE | {"unit": "household", "subject_id": "household"}).report.unit == "household"


def test_that_a_table_was_looked_at_is_declared_and_written_only_where_it_was():
    plain, drafted = from_flat(FILE), from_flat(FILE | {"drafted_from_table": True})
    assert "drafted_from_table" not in plain.model_dump(mode="json")["input"]
    assert drafted.input.drafted_from_table
    assert RunConfiguration(**drafted.model_dump(mode="json")) == drafted
    with pytest.raises(ParameterError, match="drafted_from_table must be true or false"):
        from_flat(FILE | {"drafted_from_table": "yes"})


def test_what_the_contract_says_of_columns_and_which_are_ages_is_part_of_the_page(tmp_path):
    path = tmp_path / "contract.yaml"
    path.write_text(HEAD + "      - {name: Fee, description: 'paid\n  a year'}\n      - {name: age}\n")
    settings = PageSettings.of(from_flat(FILE | {"contract": str(path)}))
    born = Column("born", reading=CellReading(cut="age on 2026-01-01"))
    naming = settings.naming(ROWS, Schema((born, Column("joined", reading=CellReading(cut="year")))))
    assert naming.descriptions == {"Fee": "paid a year"}
    assert naming.ages == {"born"}
