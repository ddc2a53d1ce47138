"""What init finds between columns: of all rows but a few, and nothing where a handful decide."""

import numpy as np
import pytest

from tasks.core.recognition.relations import relations_between
from tasks.core.recognition.table import recognise_table

ROWS = 1_000


@pytest.fixture
def drawn():
    return np.random.default_rng(3)


def declared(folder, **columns):
    """All that is found, as a contract says it: properties, and their entries."""
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path = folder / "people.csv"
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")
    table = recognise_table(path)
    found = relations_between(table.cells, table.used(None))
    assert all(bool(relation.column) != relation.words.endswith("; declared") for relation in found)
    return [pair for relation in found for pair in relation.declared]


def test_columns_that_are_empty_in_the_same_rows_are_found(tmp_path, drawn):
    tested = drawn.random(ROWS) < 0.6
    result = np.where(tested, drawn.choice(["high", "low"], ROWS), "")
    day = np.where(tested, "2026-03-0" + drawn.integers(1, 9, ROWS).astype("U1").astype(object), "")
    lonely = np.where(drawn.random(ROWS) < 0.6, drawn.choice(["left", "right"], ROWS), "")
    found = declared(tmp_path, result=result, tested_on=day, side=lonely)
    assert ("emptyTogether", ["result", "tested_on"]) in found


def test_a_word_that_counts_as_missing_is_empty(tmp_path, drawn):
    tested = drawn.random(ROWS) < 0.6
    result = np.where(tested, drawn.choice(["high", "low"], ROWS), "NA")
    score = np.where(tested, drawn.integers(100, 999, ROWS).astype(str), "")
    assert ("emptyTogether", ["result", "score"]) in declared(tmp_path, result=result, score=score)


@pytest.mark.parametrize(("strays", "is_found"), [(0, True), (10, True), (11, False)])
def test_one_row_in_a_hundred_may_differ_and_no_more(tmp_path, drawn, strays, is_found):
    tested = np.arange(ROWS) % 3 > 0
    result = np.where(tested, drawn.choice(["high", "low"], ROWS), "").astype(object)
    lab = np.where(tested, drawn.choice(["north", "south"], ROWS), "").astype(object)
    lab[np.flatnonzero(tested)[:strays]] = ""
    found = declared(tmp_path, result=result, lab=lab)
    assert (("emptyTogether", ["result", "lab"]) in found) is is_found


@pytest.mark.parametrize(("states", "is_found"), [(4, True), (5, False)])
def test_one_of_several_columns_is_found_among_others_where_every_row_has_one(
    tmp_path, drawn, states, is_found
):
    status = drawn.integers(0, states, ROWS)
    one_of = {f"is_{number}": (status == number).astype(int) for number in range(4)}
    has = [drawn.integers(0, 2, ROWS) for _ in range(3)]
    found = declared(tmp_path, has_0=has[0], **one_of, has_1=has[1], has_2=has[2])
    assert (("exactlyOne", {"columns": list(one_of), "value": "1"}) in found) is is_found
    assert [key for key, _ in found].count("exactlyOne") == is_found


def test_what_a_value_implies_is_said_once(tmp_path, drawn):
    smokes = drawn.choice(["yes", "no"], ROWS)
    packs = np.where(smokes == "no", 0, drawn.choice([0, 0, 3, 12, 25], ROWS))
    left = np.where(drawn.random(ROWS) < 0.5, "left", "right")
    assert declared(tmp_path, smokes=smokes, packs=packs, side=left) == [
        ("structuralZeros", {"smokes": ["no"], "packs": {"not": ["0"]}})
    ]


@pytest.mark.parametrize(("rows", "is_found"), [(30, False), (200, True)])
def test_what_few_rows_of_a_common_value_would_show_by_chance_is_no_relation(tmp_path, drawn, rows, is_found):
    is_special = np.arange(ROWS) < rows
    month = np.where(is_special, "may", drawn.choice(["june", "july", "august"], ROWS))
    group = np.where((drawn.random(ROWS) < 0.87) | is_special, "a", "b")
    assert bool(declared(tmp_path, month=month, group=group)) is is_found


def test_a_question_that_some_are_not_asked_is_empty_there(tmp_path, drawn):
    works = drawn.choice(["yes", "no", "retired"], ROWS)
    sector = np.where(works == "yes", drawn.choice(["public", "private"], ROWS), "")
    assert declared(tmp_path, works=works, sector=sector) == [
        ("structuralZeros", {"works": ["no", "retired"], "sector": {"not": []}})
    ]


def test_a_dependency_has_the_values_that_many_rows_hold(tmp_path, drawn):
    town = drawn.choice(["Ely", "Deal", "Rye", "Looe"], ROWS - 5)
    region = {"Ely": "east", "Deal": "south", "Rye": "south", "Looe": "west", "Ayr": "north"}
    town = np.append(town, ["Ayr"] * 5)  # a few rows: their region is written nowhere
    (found,) = declared(tmp_path, town=town, region=[region[each] for each in town])
    del region["Ayr"]
    assert found == ("functionalDependencies", {"from": "town", "to": "region", "values": region})


def test_nothing_is_found_in_a_table_of_few_rows(tmp_path):
    assert declared(tmp_path, a=["x", ""] * 60, b=["y", ""] * 60) == []
