"""One budget for one table: names are compared, and so is what is public of their tables."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.core.errors import ParameterError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.ledger import open_ledger
from tasks.core.ledger.salts import salt_of
from tasks.core.ledger.tables import PublicTable

HEADER = ("person", "town", "age")
CANARY = "income of mr smith"


def entered(dataset: str, reason: str = "", unit: str = "subject") -> Registration:
    return Registration(dataset, 1.0, 1e-6, 1e-7, unit=unit, reason=reason)


def table(
    path: str = "a.csv", header: tuple[str, ...] = HEADER, columns: tuple[str, ...] = ()
) -> PublicTable:
    return PublicTable(Path(path), header, columns or header[1:])


@pytest.fixture
def ledger(place):
    """One whose dataset "e" was drawn from a table."""
    ledger = open_ledger(place)
    assert ledger.enter(entered("e"), table())
    return ledger


@pytest.mark.parametrize("name", ["E", "\uff45", "\u200be"])
def test_a_name_that_differs_in_case_blanks_and_invisible_characters_alone_is_refused(place, ledger, name):
    """What is invisible is tested in `test_names`."""
    other = table("b.csv", ("x", "y"))
    for refused in (
        lambda: ledger.enter(entered(name), other),
        lambda: ledger.require_one_budget((entered(name), other)),
        lambda: ledger.register(entered(name, "other people")),
        lambda: salt_of(place, name),
    ):
        with pytest.raises(ParameterError, match="keep its name to the letter"):
            refused()
    assert ledger.datasets() == ("e",)


def test_a_name_that_differs_from_a_salted_one_in_case_alone_gets_no_budget(place, ledger):
    salt_of(place, "People")
    assert len(salt_of(place, "e")) == 32
    with pytest.raises(ParameterError, match="the ledger knows 'People'"):
        ledger.register(entered("people"))
    ledger.register(entered("People"))


#: Tables that "e" had by what is public of them, and what is told of each.
SAME = [
    (table(), "same path and columns as a table of dataset 'e'"),
    (table(header=("x", "y")), "same path as a table of dataset 'e'"),
    (table("../w/../" + str(Path.cwd().name) + "/a.csv", ("x", "y")), "same path"),
    (table(f"/{Path.cwd()}/a.csv", ("x", "y")), "same path"),
    (table("b.csv"), "same columns as a table of dataset 'e'"),
    (table("b.csv", ("AGE ", "Person", "t own")), "same columns"),
    (table("b.csv", ("\ufeffperson", "to\u00adwn", "a\u00a0ge\u200b")), "same columns"),
    (table("b.csv", (*HEADER, "exported"), HEADER[1:]), "same columns"),
    (table("b.csv", HEADER, ("age",)), "same columns"),
]


def test_a_second_name_for_a_table_is_refused_until_a_person_writes_down_why(ledger):
    head, advice = ledger.head(), "marginalia ledger 'e2' --cap EPSILON DELTA --reason 'other people'"
    for second, words in SAME:
        for refuse in (lambda *run: ledger.require_one_budget(run), ledger.enter):
            with pytest.raises(ParameterError, match=words) as caught:
                refuse(entered("e2"), second)
            assert advice in str(caught.value)
    assert ledger.head() == head, "a refused run registers nothing"
    ledger.register(entered("e2", "other people"))
    for second, _ in SAME:
        assert not ledger.enter(entered("e2"), second)
    assert ledger.account("e2").reasons == ("other people",)


@pytest.mark.parametrize(
    "spelling", ["s3a://b/k.csv", "s3n://b/k.csv", "s3://b//k.csv", "s3:/b/k.csv", "s3:///b/k.csv"]
)
def test_another_spelling_of_a_url_opens_no_second_budget(place, spelling):
    ledger = open_ledger(place)
    ledger.enter(entered("e"), table("s3://b/k.csv"))
    with pytest.raises(ParameterError, match="same path as a table of dataset 'e'"):
        ledger.require_one_budget((entered("e2"), table(spelling, ("x", "y"))))
    ledger.require_one_budget((entered("e2"), table("s3://b/other.csv", ("x", "y"))))


def test_a_link_to_a_table_opens_no_second_budget(place, tmp_path):
    ledger, real = open_ledger(place), tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    ledger.enter(entered("e"), table(str(real / "k.csv")))
    with pytest.raises(ParameterError, match="same path as a table of dataset 'e'"):
        ledger.require_one_budget((entered("e2"), table(str(tmp_path / "link" / "k.csv"), ("x", "y"))))


def test_a_name_that_was_registered_without_a_reason_is_no_way_round(ledger):
    ledger.register(entered("e2"))
    ledger.raise_caps("e2", 2.0, 2e-6, reason="a second year")
    with pytest.raises(ParameterError, match="same path and columns"):
        ledger.enter(entered("e2"), table())
    with pytest.raises(ParameterError, match="needs a reason"):
        ledger.set_apart("e2", "  ")
    with pytest.raises(ParameterError, match="keep its name to the letter"):
        ledger.set_apart("E2", "other people")
    ledger.set_apart("e2", "other people")
    assert not ledger.enter(entered("e2"), table())
    assert ledger.account("e2").reasons == ("a second year", "other people")


def test_a_written_reason_is_about_the_datasets_that_were_there(ledger):
    ledger.register(entered("others", "other people"))
    ledger.enter(entered("others"), table())
    visits = table("visits.csv", ("person", "visit"))
    ledger.enter(entered("visits"), visits)
    with pytest.raises(ParameterError, match="of dataset 'visits'") as caught:
        ledger.enter(entered("others"), visits)
    assert "If they are other people, give a written reason: marginalia ledger 'others' --reason" in str(
        caught.value
    )
    ledger.set_apart("others", "other people than those who visit")
    ledger.enter(entered("others"), visits)


def test_people_who_are_others_are_so_both_ways(ledger):
    ledger.register(entered("others", "other people"))
    later = table("others.csv", (*HEADER, "added later"))
    ledger.enter(entered("others"), later)
    ledger.enter(entered("e"), table("e.csv", (*HEADER, "added later")))


def test_a_reason_may_be_written_before_a_dataset_has_a_budget(ledger):
    ledger.set_apart("e2", "other people")
    assert ledger.enter(entered("e2"), table())
    assert ledger.datasets() == ("e", "e2")


def test_every_table_that_a_dataset_had_is_known_not_the_first_alone(ledger):
    ledger.enter(entered("e"), table("next month.csv", (*HEADER, "work")))
    for second in (table("next month.csv", ("x",)), table("c.csv", (*HEADER, "work")), table("c.csv")):
        with pytest.raises(ParameterError, match="of dataset 'e'"):
            ledger.enter(entered("e2"), second)


def test_the_same_dataset_may_have_any_table_and_notes_each_once(ledger):
    for _ in range(2):
        assert not ledger.enter(entered("e"), table())
        assert not ledger.enter(entered("e"), table("b.csv", ("other", "columns")))
    assert [entry.phase for entry in ledger.store.entries()] == ["open", "register", "table", "table"]


def test_other_tables_open_budgets_of_their_own(ledger):
    assert ledger.enter(entered("others"), table("b.csv", (*HEADER, "work")))
    assert ledger.datasets() == ("e", "others")


def test_what_is_noted_holds_no_path_and_no_header(places, tmp_path):
    ledgers = [open_ledger(places(name)) for name in ("one", "two")]
    for ledger in ledgers:
        ledger.enter(entered("e"), table(str(tmp_path / "secret.csv"), (CANARY, "town")))
    marks = [json.dumps(ledger.store.entries()[-1].body["columns"]) for ledger in ledgers]
    chains = [json.dumps([dict(entry.body) for entry in ledger.store.entries()]) for ledger in ledgers]
    for chain in chains:
        assert CANARY not in chain and "secret" not in chain and "smith" not in chain
    assert marks[0] != marks[1], "hashes are keyed: two ledgers can't be compared"


def test_of_two_first_runs_at_once_under_two_names_one_is_refused(place):
    open_ledger(place)
    refused: list[str] = []

    def begin(name: str) -> None:
        try:
            open_ledger(place).enter(entered(name), table())
        except ParameterError:
            refused.append(name)

    threads = [threading.Thread(target=begin, args=(f"name {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(refused) == 3
    assert len(open_ledger(place).datasets()) == 1


def test_a_rehearsed_batch_finds_what_its_own_runs_would_open(ledger):
    head = ledger.head()
    runs = [(entered("p1"), table("b.csv", ("x",))), (entered("p2"), table("b.csv", ("x",)))]
    with pytest.raises(
        ParameterError, match=r"dataset 'p2' has the same path and columns as a table of dataset 'p1'"
    ):
        ledger.require_one_budget(*runs)
    ledger.require_one_budget(runs[0], runs[0])
    assert ledger.head() == head


def test_the_advice_names_the_unit(ledger):
    with pytest.raises(ParameterError, match="--unit row --reason"):
        ledger.enter(entered("e2", unit="row"), table())


def test_files_of_all_vintages_are_one_table(tmp_path):
    def of(vintage: str, *header: str) -> PublicTable:
        path = Path(f"/data/a-{vintage}.csv")
        return PublicTable(path, header, header, Path("/data/a-{vintage}.csv"))

    ledger = open_ledger(tmp_path / "ledger")
    assert ledger.enter(entered("e"), of("2026-11", "age"))
    assert not ledger.enter(entered("e"), of("2026-12", "age"))
    for other in (of("2027-01", "town"), PublicTable(Path("/data/a-2026-11.csv"), ("town",), ("town",))):
        with pytest.raises(ParameterError, match="the same path as a table of dataset 'e'"):
            ledger.enter(entered("f"), other)
    unread = PublicTable(Path("/data/a-2027-01.csv"), ("town",), ("town",))
    assert ledger.enter(entered("f"), unread)


def test_tables_in_memory_have_one_place_and_a_second_name_needs_a_reason(place):
    """A notebook that renames a column and the dataset has the same people."""
    ledger = open_ledger(place)
    ledger.enter(entered("first"), table("memory://first.parquet"))
    renamed = table("memory://second.parquet", ("person", "city", "age"))
    with pytest.raises(
        ParameterError, match=r"the same place \(a notebook's memory\) as a table of dataset 'first'"
    ):
        ledger.require_one_budget((entered("second"), renamed))
    ledger.register(entered("second", reason="other people"))
    ledger.require_one_budget((entered("second"), renamed))
    # The same people, so said, go on as they were.
    ledger.require_one_budget((entered("first"), table("memory://first.parquet", ("person", "city"))))


# --- one budget, one column that tells its subjects apart

VISITS = PublicTable(Path("a.csv"), ("person", "visit", "town"), ("town",))
BY_PERSON = Registration("e", 1.0, 1e-6, 1e-7, subject_id="person")
BY_VISIT = replace(BY_PERSON, subject_id="visit")


@pytest.fixture
def by_person(place):
    """A ledger whose dataset "e" was drawn from, by person."""
    ledger = open_ledger(place)
    assert ledger.enter(BY_PERSON, VISITS)
    return ledger


def test_another_subject_column_is_refused_before_anything_is_read_and_when_it_is_drawn(by_person):
    head = by_person.head()
    for refused in (
        lambda: by_person.require_one_budget((BY_VISIT, VISITS)),
        lambda: by_person.enter(BY_VISIT, VISITS),
    ):
        with pytest.raises(ParameterError, match="did by another one than 'visit'") as caught:
            refused()
        assert "marginalia ledger 'e' --subject-id 'visit' --reason" in str(caught.value)
    assert by_person.head() == head
    # Two spellings of one name are one column.
    by_person.enter(replace(BY_PERSON, subject_id=" PERSON"), VISITS)
    assert by_person.head() == head
    assert all("person" not in str(entry.body) for entry in by_person.entries())


def test_a_renamed_column_needs_a_reason_that_the_ledger_keeps(by_person):
    with pytest.raises(ParameterError, match="needs a reason"):
        by_person.rename_subject("e", "patient", " ")
    with pytest.raises(ParameterError, match="a dataset that is registered"):
        by_person.rename_subject("other", "patient", "renamed")
    by_person.rename_subject("e", "patient", "renamed in the register")
    by_person.require_one_budget((replace(BY_PERSON, subject_id="patient"), VISITS))
    with pytest.raises(ParameterError, match="another one than 'person'"):
        by_person.require_one_budget((BY_PERSON, VISITS))
    assert by_person.reasons("e") == ("renamed in the register",)


def test_a_dataset_of_an_earlier_version_is_noted_by_its_next_draw(place):
    ledger = open_ledger(place)
    ledger.enter(replace(BY_PERSON, subject_id=""), VISITS)  # as it was noted then
    ledger.enter(BY_VISIT, VISITS)
    with pytest.raises(ParameterError, match="another one than 'person'"):
        ledger.enter(BY_PERSON, VISITS)


def test_a_budget_of_rows_has_no_such_column(place):
    ledger, rows = open_ledger(place), Registration("e", 1.0, 1e-6, 1e-7, unit="row")
    ledger.enter(rows, VISITS)
    assert all(entry.phase != "subject" for entry in ledger.entries())
    with pytest.raises(ParameterError, match="registered with the unit subject"):
        ledger.rename_subject("e", "person", "renamed")
