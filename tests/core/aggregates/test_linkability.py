"""Who is singled out and through what: published vectors, and every record and attribute by an oracle."""

import functools
import itertools
import operator
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import cubes
from tasks.core.aggregates.cubes import tabulator
from tasks.core.aggregates.linkability import (
    FirstLengths,
    linkability_of,
    rare_by_length,
    single_out,
    single_out_of_whole,
)
from tasks.core.aggregates.marginals import each_beside
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tests.oracles.marginals import coded
from tests.oracles.partitions import FarAway, in_partitions
from tests.oracles.rare import T1_FILE, T4_FILE, analyse_records, analysed, counted, from_file
from tests.oracles.raw_tables import raw_tables, single_valued


def test_t4_rare_combinations_and_the_records_they_single_out(tmp_path):
    """S10.4, resolution 2."""
    records, marginals = from_file(T4_FILE, tmp_path)
    rows = rare_by_length(marginals, 2)
    found = [(row.length, row.combinations, row.rare, round(row.proportion, 4)) for row in rows]
    assert found == [(1, 12, 4, 0.3333), (2, 34, 22, 0.6471), (3, 30, 22, 0.7333)]
    assert [row.unique for row in rows] == [4, 22, 22]
    analysis = analyse_records(records, marginals, 2)
    assert (analysis.unique, analysis.rare) == ((4, 3, 0), (0, 0, 0))


@pytest.mark.parametrize(
    ("resolution", "rare_by_length_", "rare", "unique"),
    [
        (2, [(1, 6, 2, 0.3333), (2, 8, 5, 0.625), (3, 3, 3, 1.0)], (0, 0, 0), (2, 1, 1)),
        (3, [(1, 6, 3, 0.5), (2, 8, 8, 1), (3, 3, 3, 1)], (0, 1, 0), (2, 1, 1)),
    ],
)
def test_t2_rare_combinations_and_records_by_their_shortest_length(
    tmp_path, resolution, rare_by_length_, rare, unique
):
    records, marginals = from_file(T1_FILE, tmp_path)
    rows = rare_by_length(marginals, resolution)
    found = [(row.length, row.combinations, row.rare, round(row.proportion, 4)) for row in rows]
    assert found == rare_by_length_
    analysis = analyse_records(records, marginals, resolution)
    assert (analysis.rare, analysis.unique) == (rare, unique)
    assert analysis.risky == tuple(map(sum, zip(rare, unique, strict=True)))


def test_t2_protected_record_analysis(tmp_path):
    found = analyse_records(*from_file(T1_FILE, tmp_path), 2).protected(2)
    assert (found.number_of_records, found.unique, found.rare) == (4, (2, 0, 0), (0, 0, 0))


def test_codes_too_many_for_one_integer_are_looked_up_too(tmp_path):
    sizes = [70_000] * 4
    generator = np.random.default_rng(5)
    slots = tuple(generator.choice([1, 2, 70_000], 50).astype(np.uint32) for _ in sizes)
    values = tuple(tuple(str(i).zfill(5) for i in range(size)) for size in sizes)
    table = [[{str(int(codes[row]))} for codes in slots] for row in range(50)]
    small = coded(Schema(tuple(Column(str(i)) for i in range(4))), table)
    wide = CodedRecords(small.schema, slots, small.slot_columns, values, 50)
    found = [
        analyse_records(records, counted(records, tmp_path / str(i), 4), 3)
        for i, records in enumerate((small, wide))
    ]
    assert found[0] == found[1]
    assert sum(found[0].risky) > 0


@given(table=raw_tables(most_rows=25), resolution=st.integers(1, 5), length=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("most_cells", [1 << 24, 1])
def test_records_and_attributes_are_those_of_the_oracle(
    tmp_path_factory, monkeypatch_module, most_cells, table, resolution, length
):
    """Looked up in a table, and searched for where a table would be too large."""
    monkeypatch_module.setattr(cubes, "_MOST_CELLS", most_cells)
    schema, rows = table
    records = coded(schema, rows)
    marginals = counted(records, tmp_path_factory.mktemp("linked"), length)
    found = single_out(records, marginals, resolution)
    expected = analysed(rows, found.lengths, resolution)
    assert found.unique_length.tolist() == expected.unique_length
    assert found.rare_length.tolist() == expected.rare_length
    for ours, theirs in ((found.linked.held, expected.held), (found.linked.rare, expected.rare)):
        assert _by_attribute(records, ours) == theirs
    assert _by_attribute(records, found.linked.unique) == expected.unique


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def _by_attribute(records, counts):
    return {
        (column, records.values[column][code - 1]): number
        for column, own in enumerate(counts)
        for code, number in enumerate(own.tolist())
        if number
    }


@given(table=raw_tables(most_rows=20), resolution=st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_shares_and_rankings_are_those_of_the_oracle(tmp_path_factory, table, resolution):
    schema, rows = table
    records = coded(schema, rows)
    marginals = counted(records, tmp_path_factory.mktemp("linked"), 2)
    found = linkability_of(single_out(records, marginals, resolution).linked, records.facts)
    expected = analysed(rows, len(marginals.lengths), resolution)
    shares = {
        (a.attribute.column, a.attribute.value if a.attribute.item is None else a.attribute.item): a.rare_pct
        for a in found.attributes
    }
    assert shares == {a: 100 * expected.rare[a] / held for a, held in expected.held.items()}
    for column in found.columns:
        index = [c.name for c in schema.columns].index(column.name)
        own = [share for (of, _), share in shares.items() if of == index]
        assert column.rare_pct == pytest.approx(sum(own) / len(own) if own else 0)
        assert column.attributes == len(own)
    for ranking in (found.attributes, found.columns):
        keys = [(-each.rare_pct, -each.unique_pct) for each in ranking]
        assert keys == sorted(keys)
    assert len(found.columns) == len(schema.columns)


def test_the_most_linkable_of_the_five_records(tmp_path):
    """S10.1 at resolution 2 and length 3: only the record of a1 and b2 alone has no rare combination."""
    records, marginals = from_file(T1_FILE, tmp_path)
    singled_out = single_out(records, marginals, 2)
    assert np.count_nonzero(singled_out.rare_length) == np.count_nonzero(singled_out.unique_length) == 4
    found = linkability_of(singled_out.linked, records.facts)
    assert {a.attribute.text: (a.records, a.rare) for a in found.attributes} == {
        "A:a2": (2, 2), "B:b1": (1, 1), "C:c1": (3, 3), "C:c2": (1, 1), "A:a1": (3, 2), "B:b2": (3, 2),
    }  # fmt: skip
    assert [a.attribute.text for a in found.attributes][-2:] == ["A:a1", "B:b2"]
    assert [(c.name, round(c.rare_pct, 4)) for c in found.columns] == [
        ("C", 100.0), ("A", 83.3333), ("B", 83.3333),
    ]  # fmt: skip


@pytest.mark.parametrize("lengths", [(1, 2), (2, 1)])
def test_first_lengths_are_the_same_in_whatever_order_threads_tell(lengths):
    records = coded(*single_valued("x,y x,x z,x"))
    found = FirstLengths(3, 2)
    for length in lengths:
        for table in tabulator(records).tables(list(itertools.combinations(range(2), length))):
            found.look_at(table)
    assert found.unique.tolist() == found.rare.tolist() == [1, 2, 1]


@given(
    table=raw_tables(most_rows=25),
    resolution=st.integers(1, 5),
    length=st.integers(1, 4),
    number=st.sampled_from([1, 2, 5]),
    at_once=st.sampled_from([1, 20, 1 << 20]),
)
@settings(max_examples=30, deadline=None)
@pytest.mark.parametrize("most_cells", [1 << 24, 1])
def test_partitions_single_out_what_the_whole_table_does(
    tmp_path_factory, monkeypatch_module, most_cells, table, resolution, length, number, at_once
):
    monkeypatch_module.setattr(cubes, "_MOST_CELLS", most_cells)
    monkeypatch_module.setattr(cubes, "_STORED_CELLS_AT_ONCE", at_once)
    folder = tmp_path_factory.mktemp("linked")
    records = coded(*table)
    marginals = counted(records, folder, length)
    whole = single_out(records, marginals, resolution)
    look = partial(single_out_of_whole, resolution=resolution)
    parts = list(each_beside(in_partitions(records, folder, number, FarAway()), marginals, "look", look))
    for own in ("unique_length", "rare_length"):
        found = np.concatenate([getattr(part, own) for part in parts])
        assert found.tolist() == getattr(whole, own).tolist()
    linked = functools.reduce(operator.add, [part.linked for part in parts])
    assert linkability_of(linked, records.facts) == linkability_of(whole.linked, records.facts)
