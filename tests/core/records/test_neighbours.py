"""From the file to the counts of a fitted draw: one subject more changes no more than Theorem W allows (A1w).

Tables of odd cells, conflicts, caps and constraints; columns of all kinds; the newcomer's rows anywhere.
"""

import csv
import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from tasks.core.contracts.constraints import public_coding
from tasks.core.dp.workload.cells import ColumnCells, domain_of, map_records, sensitivity
from tasks.core.dp.workload.exact import filled
from tasks.core.fitting.noisy_tables import table_counts
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.constraints import Condition, Constraint, Derivation, ImpossibleCombination, Ordering
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.rulebook import Rulebook
from tasks.core.tables.header import InputFile

TEXTS = ("a", "b", "c", "0", "1", "2", "10", "", "x1", "nan", "1e999", " a ", "A", "<18", "18")
EDGES = (0.0, 2.0, 5.0)
DECLARED = ("a", "b", "1", "zz")


def column(name: str, chance: random.Random) -> Column:
    other = chance.choice([None, "zz"])
    kinds = (
        Column(name),
        Column(name, domain=DECLARED, other=other),
        Column(name, delimiter=";", max_items=chance.randint(1, 3)),
        Column(name, domain=DECLARED, delimiter=";", max_items=chance.randint(2, 3), other=other),
        Column(name, domain=bin_labels(EDGES), bins=EDGES),
    )
    return chance.choice(kinds)


def schema_of(chance: random.Random) -> Schema | None:
    """Up to four columns under constraints, and one that another decides; None where nothing is left."""
    columns = [column(f"c{place}", chance) for place in range(chance.randint(2, 4))]
    constraints: list[Constraint] = []
    for _ in range(chance.randint(1, 3)):
        places = sorted(chance.sample(range(len(columns)), 2))
        conditions = [
            Condition(place, tuple(chance.sample(["", "a", "b", "1", "x1"], 2)), chance.random() < 0.3)
            for place in places
        ]
        constraints.append(ImpossibleCombination(tuple(conditions)))
    singles = [place for place, about in enumerate(columns) if not about.is_multi_valued]
    if len(singles) > 1:
        low, high = chance.sample(singles, 2)
        constraints.append(Ordering((low, high), chance.random() < 0.5, "number", max(low, high)))
    if singles:
        constraints.insert(0, Derivation(len(columns), chance.choice(singles), (("a", "x"), ("1", "y"))))
        columns.append(Column("decided", domain=("x", "y")))
    schema = Schema(tuple(columns), "id" if chance.random() < 0.7 else None, tuple(constraints))
    return None if Rulebook(schema, public_coding(schema)).resorts is None else schema


def rows_of(person: str, schema: Schema, chance: random.Random) -> list[list[str]]:
    """Rows of one subject, perhaps in conflict; without ids one row."""

    def cell(about: Column) -> str:
        return ";".join(chance.choice(TEXTS) for _ in range(chance.randint(0, 5) if about.delimiter else 1))

    return [
        [chance.choice([person, f" {person.upper()} "]), *map(cell, schema.columns)]
        for _ in range(chance.randint(1, 3) if schema.subject_id else 1)
    ]


def coded(path: Path, schema: Schema, rows: list[list[str]]) -> CodedRecords:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", *(about.name for about in schema.columns)], *rows])
    resources = QueryResources(scratch=path.parent, threads=1, memory_limit_mb=512)
    options = EncodingOptions(total=True, key=b"k" * 32, tags=True, resources=resources)
    return encode(InputFile(path), schema, options).measured


def cells_of(two: tuple[CodedRecords, CodedRecords], chance: random.Random) -> tuple[ColumnCells, ...]:
    """The cells of each column, whatever was released of open ones."""
    found = []
    for place, about in enumerate(two[0].schema.columns):
        seen = sorted({*two[0].values[place], *two[1].values[place]})
        released = tuple(value for value in seen if chance.random() < 0.6)
        is_filled = about.other is not None and not about.is_multi_valued
        found.append(ColumnCells(about.domain or released, about.is_open, not is_filled, about.max_items))
    return tuple(found)


@pytest.mark.parametrize("seed", range(40))
def test_a1w_one_subject_more_in_the_file_changes_no_more_than_the_theorem_says(seed, tmp_path):
    chance = random.Random(seed)
    schema = schema_of(chance)
    if schema is None:
        return
    few = [row for person in range(chance.randint(0, 6)) for row in rows_of(f"p{person}", schema, chance)]
    more = list(few)
    for row in rows_of("q", schema, chance):
        more.insert(chance.randint(0, len(more)), row)
    two = coded(tmp_path / "few.csv", schema, few), coded(tmp_path / "more.csv", schema, more)
    cells, columns = cells_of(two, chance), range(len(two[0].schema.columns))
    fill = [place for place in columns if not cells[place].has_absent]
    slots = [map_records(filled(records, fill), cells) for records in two]
    sets = [(place,) for place in columns] + two[0].schema.combinations(2)
    for chosen in sets + list(itertools.combinations(columns, 3)):
        before, after = (table_counts(domain_of(cells), chosen, each) for each in slots)
        change = after - before
        change = np.tril(change, -1) if len(set(chosen)) < len(chosen) else change
        assert change.min(initial=0) >= 0 and change.max(initial=0) <= 1, chosen
        assert change.sum() <= sensitivity(cells, chosen), chosen
    for place, about in enumerate(two[0].schema.columns):
        new = {*two[1].values[place]} - {*two[0].values[place]}
        assert not about.is_open or len(new) <= about.max_items
    tags = [sorted(records.tags.tolist()) for records in two if records.tags is not None]
    assert len(tags[1]) == len(tags[0]) + 1 and {*tags[0]} <= {*tags[1]}
