"""What init finds between columns: of all rows but a few, and nothing where a handful decide."""

import numpy as np
import pytest

from tasks.core.recognition.relations import Implication, ObservedDependency, OneOfSeveral, relations_of
from tasks.core.recognition.table import recognise_table

ROWS = 1_000


def relations(folder, **columns):
    names = list(columns)
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path = folder / "people.csv"
    path.write_text("\n".join([",".join(names), *lines]) + "\n")
    return relations_of(recognise_table(path), None)


@pytest.fixture
def drawn():
    return np.random.default_rng(3)


def test_columns_that_are_empty_in_the_same_rows_are_found(tmp_path, drawn):
    tested = drawn.random(ROWS) < 0.6
    result = np.where(tested, drawn.choice(["high", "low"], ROWS), "")
    day = np.where(tested, "2026-03-0" + drawn.integers(1, 9, ROWS).astype("U1").astype(object), "")
    lonely = np.where(drawn.random(ROWS) < 0.6, drawn.choice(["left", "right"], ROWS), "")
    found = relations(tmp_path, result=result, tested_on=day, side=lonely)
    assert found.empty_together == (("result", "tested_on"),)


def test_a_word_that_counts_as_missing_is_empty(tmp_path, drawn):
    tested = drawn.random(ROWS) < 0.6
    result = np.where(tested, drawn.choice(["high", "low"], ROWS), "NA")
    score = np.where(tested, drawn.integers(100, 999, ROWS).astype(str), "")
    assert relations(tmp_path, result=result, score=score).empty_together == (("result", "score"),)


@pytest.mark.parametrize(("strays", "is_found"), [(0, True), (10, True), (11, False)])
def test_one_row_in_a_hundred_may_differ_and_no_more(tmp_path, drawn, strays, is_found):
    tested = np.arange(ROWS) % 3 > 0
    result = np.where(tested, drawn.choice(["high", "low"], ROWS), "").astype(object)
    lab = np.where(tested, drawn.choice(["north", "south"], ROWS), "").astype(object)
    lab[np.flatnonzero(tested)[:strays]] = ""
    assert bool(relations(tmp_path, result=result, lab=lab).empty_together) is is_found


def test_one_of_several_columns_is_found_among_others(tmp_path, drawn):
    status = drawn.integers(0, 4, ROWS)
    one_of = {f"is_{number}": (status == number).astype(int) for number in range(4)}
    noise = {f"has_{number}": drawn.integers(0, 2, ROWS) for number in range(3)}
    mixed = {"has_0": noise["has_0"], **one_of, **noise}
    assert relations(tmp_path, **mixed).choices == (OneOfSeveral(tuple(one_of), "1"),)


def test_a_choice_that_some_rows_do_not_make_is_none(tmp_path, drawn):
    status = drawn.integers(0, 5, ROWS)  # the fifth is in no column
    assert relations(tmp_path, **{f"is_{n}": (status == n).astype(int) for n in range(4)}).choices == ()


def test_what_a_value_implies_is_said_once(tmp_path, drawn):
    smokes = drawn.choice(["yes", "no"], ROWS)
    packs = np.where(smokes == "no", 0, drawn.choice([0, 0, 3, 12, 25], ROWS))
    left = np.where(drawn.random(ROWS) < 0.5, "left", "right")
    (found,) = relations(tmp_path, smokes=smokes, packs=packs, side=left).stated
    assert isinstance(found, Implication)
    assert (found.column, found.source, found.values) == ("packs", "smokes", ("no",))


@pytest.mark.parametrize(("rows", "is_found"), [(30, False), (200, True)])
def test_what_few_rows_of_a_common_value_would_show_by_chance_is_no_relation(tmp_path, drawn, rows, is_found):
    is_special = np.arange(ROWS) < rows
    month = np.where(is_special, "may", drawn.choice(["june", "july", "august"], ROWS))
    group = np.where((drawn.random(ROWS) < 0.87) | is_special, "a", "b")
    assert bool(relations(tmp_path, month=month, group=group).stated) is is_found


def test_a_question_that_some_are_not_asked_is_empty_there(tmp_path, drawn):
    works = drawn.choice(["yes", "no", "retired"], ROWS)
    sector = np.where(works == "yes", drawn.choice(["public", "private"], ROWS), "")
    (found,) = relations(tmp_path, works=works, sector=sector).stated
    assert (found.column, found.values, found.text) == ("sector", ("no", "retired"), "")
    assert list(found.declared()) == [
        ("structuralZeros", {"works": ["no", "retired"], "sector": {"not": []}})
    ]


def test_a_dependency_has_the_values_that_many_rows_hold(tmp_path, drawn):
    town = drawn.choice(["Ely", "Deal", "Rye", "Looe"], ROWS - 5)
    region = {"Ely": "east", "Deal": "south", "Rye": "south", "Looe": "west", "Ayr": "north"}
    town = np.append(town, ["Ayr"] * 5)  # a few rows: their region is written nowhere
    (found,) = relations(tmp_path, town=town, region=[region[each] for each in town]).stated
    assert isinstance(found, ObservedDependency)
    assert (found.column, found.source) == ("region", "town")
    assert dict(found.values) == {town: region for town, region in region.items() if town != "Ayr"}


def test_nothing_is_found_in_a_table_of_few_rows(tmp_path):
    found = relations(tmp_path, a=["x", ""] * 60, b=["y", ""] * 60)
    assert found.empty_together == found.stated == ()
