"""The draft of a table under differential privacy hardly depends on any single row.

A table of a few hundred rows, and the same with a row more, less or changed, whatever that row holds, give
the same configuration and the same contract. Exceptions, which docs/init.md states: what a file needs to be
read at all (its encoding, its delimiter), and a count that lies at a margin already.
"""

import random
import tempfile
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.core.contracts.draft import Answers, draft_configuration, draft_contract
from tasks.core.recognition.table import recognise_table

HEADER = ["person", "sex", "age", "income", "town", "region", "visited", "smoker", "answers", "price", "note"]
TOWNS = {"Lyon": "A", "Nice": "P", "Lille": "H", "Paris": "I"}
TODAY = date(2026, 11, 25)


def people(rows: int, seed: int) -> list[list[str]]:
    """Rows of a table with a column of each kind."""
    drawn = random.Random(seed)
    found = []
    for place in range(rows):
        town = drawn.choice(list(TOWNS))
        day = date(2024, 1, 1) + timedelta(days=drawn.randrange(900))
        found.append(
            [
                *(f"p{place:05d}", drawn.choice("fm"), str(drawn.randint(18, 90))),
                *(str(drawn.randint(100, 900) * 10), town, TOWNS[town], day.isoformat()),
                *(drawn.choice(["yes", "no"]), str(drawn.randint(1, 5))),
                *(f"{drawn.lognormvariate(3, 1):.2f}".replace(".", ","), drawn.choice(["", "x"])),
            ]
        )
    return found


#: What a single person's cell may hold, by column.
ODD = {
    "sex": ["x", "diverse", "", "n/a", "F", "tell-nobody"],
    "age": ["126", "-3", "", "unk", "999", "17", "34.5", "007", "old"],
    "income": ["9500000", "-50", "0", "keine angabe", "rich", "€5000", "1.000,50", "(120.00)", "12345.678"],
    "town": ["Ely", "", "n/a"],
    "region": ["H", "Q", ""],
    "visited": ["1990-03-01", "03/04/2025", "2026-01-01 10:00", "never", "", "2199-01-01"],
    "smoker": ["maybe", "", "2"],
    "answers": ["9", "-9", "6", "5.5", "", "a"],
    "price": ["3.50", "12.000,00", "1e9", "€ 3,20", "-7,10", "free"],
    "note": ["y", "see below, call", "X"],
}
ROW = st.fixed_dictionaries({}, optional={name: st.sampled_from(cells) for name, cells in ODD.items()})


def drafted(rows: list[list[str]]) -> tuple[object, str]:
    """The draft of a table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "people.csv")
        path.write_text("\n".join(";".join(row) for row in [HEADER, *rows]) + "\n", encoding="utf-8")
        table = recognise_table(path, today=TODAY)
    likely = next((each.name for each in table.candidates if each.is_proposed), None)
    answers = Answers(subject=likely, protection="dp", dataset="people", vintage="v")
    configuration = draft_configuration(
        table, answers, input_path="people.csv", contract_path="c.yaml", output_dir="out"
    )
    return configuration, draft_contract(table, answers)


BASES = {seed: people(300, seed) for seed in range(3)}
DRAFTS = {seed: drafted(rows) for seed, rows in BASES.items()}


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.sampled_from(list(BASES)), odd=ROW, is_new=st.booleans())
@example(seed=0, odd={"income": "9500000"}, is_new=True)
@example(seed=1, odd={"sex": "diverse", "region": "H", "age": "126"}, is_new=True)
@example(seed=2, odd={"visited": "1990-03-01", "income": "€5000"}, is_new=False)
def test_whatever_one_person_holds_the_draft_is_the_same(seed, odd, is_new):
    rows = [list(row) for row in BASES[seed]]
    usual = people(301, seed + 100)[300]
    row = [odd.get(name, cell) for name, cell in zip(HEADER, usual, strict=True)]
    rows = [*rows, row] if is_new else [row, *rows[1:]]
    assert drafted(rows) == DRAFTS[seed]


@pytest.mark.parametrize("seed", BASES)
def test_a_person_who_leaves_changes_nothing(seed):
    for place in (0, 150, 299):
        assert drafted(BASES[seed][:place] + BASES[seed][place + 1 :]) == DRAFTS[seed]


def test_a_draft_says_that_it_is_one_and_closes_no_list_that_only_the_table_knows():
    configuration, contract = DRAFTS[0]
    assert isinstance(configuration, dict) and configuration["drafted_from_table"] is True
    assert "Lyon" not in contract and "in this file" not in contract


def test_a_draft_promises_what_hardly_a_cell_breaks_and_nothing_else():
    rows = [list(row) for row in BASES[0]]
    for row in rows[:40]:
        row[HEADER.index("town")], row[HEADER.index("income")] = "", "-50"
    (_, promised), (_, kept) = DRAFTS[0], drafted(rows)
    described = {name: _described(promised, name) for name in HEADER[1:]}
    assert all("required: true" in described[name] for name in ("sex", "age", "income", "town", "smoker"))
    assert "required" not in described["note"], "half of its cells are empty"
    assert all("minimum: 0" in described[name] for name in ("age", "income", "price"))
    assert "required" not in _described(kept, "town") and "minimum" not in _described(kept, "income")
    assert "never empty" not in promised and "A column is required where hardly a cell" in promised


def _described(contract: str, name: str) -> str:
    """What a contract says of one column."""
    return contract.partition(f"- name: {name}\n")[2].partition("  - name: ")[0]
