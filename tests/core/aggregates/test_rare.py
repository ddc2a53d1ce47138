"""Rare and unique combinations and the records they single out."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.linkability import rare_by_length
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.protection import round_down
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tests.oracles.marginals import T1, coded, count
from tests.oracles.rare import analyse_records

ABC = Schema(tuple(Column(name) for name in "ABC"))
ONE_THREAD = QueryResources(threads=1)


def counted(records: CodedRecords, folder: Path, length: int = 3) -> tuple[CodedRecords, Marginals]:
    (folder / "records").mkdir(parents=True)
    (folder / "marginals").mkdir()
    records.write(folder / "records")
    return records, count_marginals(folder / "records", folder / "marginals", length, ONE_THREAD)


@pytest.mark.parametrize(
    ("resolution", "expected"),
    [
        (2, [(1, 6, 2, 0.3333), (2, 8, 5, 0.625), (3, 3, 3, 1.0)]),
        (3, [(1, 6, 3, 0.5), (2, 8, 8, 1), (3, 3, 3, 1)]),
    ],
)
def test_t2_rare_combinations_by_length(tmp_path: Path, resolution: int, expected) -> None:
    _, marginals = counted(coded(ABC, T1), tmp_path)
    rows = rare_by_length(marginals, resolution)
    assert [(r.length, r.combinations, r.rare, round(r.proportion, 4)) for r in rows] == expected


@pytest.mark.parametrize(
    ("resolution", "rare", "unique", "risky"),
    [(3, (0, 1, 0), (2, 1, 1), (2, 2, 1)), (2, (0, 0, 0), (2, 1, 1), (2, 1, 1))],
)
def test_t2_records_by_their_shortest_length(tmp_path: Path, resolution: int, rare, unique, risky) -> None:
    records, marginals = counted(coded(ABC, T1), tmp_path)
    found = analyse_records(records, marginals, resolution)
    assert (found.rare, found.unique, found.risky) == (rare, unique, risky)


def test_t2_protected_record_analysis(tmp_path: Path) -> None:
    found = analyse_records(*counted(coded(ABC, T1), tmp_path), 2).protected(2)
    assert (found.number_of_records, found.unique, found.rare, found.risky) == (
        4,
        (2, 0, 0),
        (0, 0, 0),
        (2, 0, 0),
    )


@given(
    table=st.lists(
        st.tuples(
            st.sets(st.sampled_from("xyz"), max_size=1),
            st.sets(st.sampled_from("pqrs"), max_size=3),
            st.sets(st.sampled_from("vw"), max_size=1),
        ).map(list),
        max_size=30,
    ),
    resolution=st.integers(1, 5),
)
@settings(max_examples=12, deadline=None)
def test_record_analysis_is_that_of_the_oracle(tmp_path_factory, table, resolution) -> None:
    schema = Schema((Column("A"), Column("M", delimiter=";", max_items=3), Column("B")))
    records, marginals = counted(coded(schema, table), tmp_path_factory.mktemp("oracle"))
    found = analyse_records(records, marginals, resolution)
    unique, rare = [0, 0, 0], [0, 0, 0]
    counts = {length: count(table, length) for length in (1, 2, 3)}
    for record in table:
        attributes = [(column, value) for column, values in enumerate(record) for value in values]
        own = {k: [counts[k][frozenset(c)] for c in itertools.combinations(attributes, k)] for k in (1, 2, 3)}
        first_unique = next((k for k in own if 1 in own[k]), None)
        first_rare = next((k for k in own if min(own[k], default=resolution) < resolution), None)
        if first_unique:
            unique[first_unique - 1] += 1
        elif first_rare:
            rare[first_rare - 1] += 1
    assert (found.unique, found.rare) == (tuple(unique), tuple(rare))
    assert found.number_of_records == len(table)


def test_codes_too_many_for_one_integer_are_looked_up_too(tmp_path: Path) -> None:
    sizes = [70_000] * 4
    generator = np.random.default_rng(5)
    slots = tuple(generator.choice([1, 2, 70_000], 50).astype(np.uint32) for _ in sizes)
    values = tuple(tuple(str(i).zfill(5) for i in range(size)) for size in sizes)
    table = [[{str(int(codes[row]))} for codes in slots] for row in range(50)]
    small = coded(Schema(tuple(Column(str(i)) for i in range(4))), table)
    wide = CodedRecords(small.schema, slots, small.slot_columns, values, 50)
    found = [
        analyse_records(*counted(records, tmp_path / str(i), 4), 3) for i, records in enumerate((small, wide))
    ]
    assert found[0] == found[1]
    assert sum(found[0].risky) > 0


def test_rounding_down() -> None:
    assert [round_down(n, 10) for n in (0, 9, 10, 19, -1)] == [0, 0, 10, 10, -10]
