"""W22 where counts were rounded: fitted records hold a contract's constraints, and no count knows of it."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.aggregates.wide_form import wide_headers
from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import FunctionalDependency, StructuralZero
from tasks.core.errors import ParameterError
from tasks.core.evaluation.comparison import code_synthetic
from tasks.core.evaluation.release import count_synthetic
from tasks.core.synthesis.fitted_to_counts import HeldConstraints, draw_fitted_to_counts
from tests.core.synthesis.test_constraints import raw_records, written
from tests.oracles import constraints as oracle


def rounded(records, resolution, length=3):
    """Counts rounded down, over the attributes that are left."""
    exact = count_in_memory(records, length)
    kept = [counts // resolution > 0 for counts in exact.counts]
    used = np.unique(exact.combinations[0][kept[0]])
    number = np.zeros(len(exact.attributes), np.int32)
    number[used] = np.arange(len(used))
    attributes = tuple(exact.attributes[place] for place in used)
    return Aggregates(
        wide_headers(records.schema, attributes),
        attributes,
        exact.number_of_records // resolution * resolution,
        tuple(number[ids[rows]] for ids, rows in zip(exact.combinations, kept, strict=True)),
        tuple(
            counts[rows] // resolution * resolution for counts, rows in zip(exact.counts, kept, strict=True)
        ),
    )


def fitted(contract, resolution, seed, number=80):
    """Records made of rounded counts of a table that breaks everything; their schema, and the counts."""
    try:
        held = HeldConstraints.of(with_constraints(oracle.SCHEMA, contract), oracle.SCHEMA)
        counts = rounded(raw_records(oracle.SCHEMA, number, seed), resolution)
        return draw_fitted_to_counts(counts, resolution, seed, held=held, threads=1), counts
    except ParameterError:
        assume(False)


@given(contract=oracle.contracts(), seed=st.integers(0, 1000), resolution=st.sampled_from([1, 8, 25, 40]))
@settings(max_examples=40, deadline=None)
def test_w22_every_record_fitted_to_rounded_counts_holds_all_constraints(contract, seed, resolution):
    made, counts = fitted(contract, resolution, seed)
    assert made.number_of_records == counts.number_of_records
    named = {text for follows in contract.functional_dependencies for text in _follow(follows)}
    repairs = {text for column in oracle.COLUMNS for text in column.domain or ()}
    for attribute in made.attributes[len(counts.attributes) :]:
        assert attribute.value in named | repairs, "what no count reports is declared"
    for record in written(made, oracle.SCHEMA):
        assert oracle.broken(contract, record) == []


def _follow(dependency):
    return {*dependency.values.values(), dependency.otherwise}


@given(contract=oracle.contracts(), seed=st.integers(0, 1000), resolution=st.sampled_from([1, 8, 25]))
@settings(max_examples=20, deadline=None)
def test_what_the_records_hold_is_counted_whether_it_is_reported_or_not(contract, seed, resolution):
    made, counts = fitted(contract, resolution, seed)
    again = count_synthetic(made.parts(), counts, oracle.SCHEMA)
    assert again.attributes[: len(counts.attributes)] == counts.attributes
    exact = count_in_memory(code_synthetic(made, oracle.SCHEMA), 3)
    for length in range(3):
        known, found = (
            {
                frozenset(side.attributes[place].text for place in row): count
                for row, count in zip(side.combinations[length].tolist(), side.counts[length], strict=True)
            }
            for side in (exact, again)
        )
        assert known == found
        rows = again.combinations[length].tolist()
        assert rows == sorted(rows) and all(row == sorted(set(row)) for row in rows)


def test_the_search_keeps_out_of_impossible_cells_what_the_counts_allow():
    """Repair alone would empty cells: what is reported of each column is kept where it can be."""
    contract = oracle.plain_contract(
        structural_zeros=(StructuralZero(values={"work": ("retired",), "home": ("flat",)}),),
        functional_dependencies=(
            FunctionalDependency(
                determinants=("town",), dependent="area", values={"Rye": "south"}, otherwise="north"
            ),
        ),
    )
    made, counts = fitted(contract, 10, 3, number=3000)
    again = count_synthetic(made.parts(), counts, oracle.SCHEMA)
    reported = {
        counts.attributes[row[0]].text: count
        for row, count in zip(counts.combinations[0].tolist(), counts.counts[0], strict=True)
    }
    held = {
        again.attributes[row[0]].text: count
        for row, count in zip(again.combinations[0].tolist(), again.counts[0], strict=True)
    }
    for text in reported:
        if text.startswith(("work", "home", "started", "tongue")):
            assert abs(held[text] - reported[text]) <= 30, text
    towns = sum(count for text, count in held.items() if text.startswith("town"))
    assert held["area:south"] == held["town:Rye"] and towns > 0


def test_no_constraint_and_no_contract_give_the_same_records():
    counts = rounded(raw_records(oracle.SCHEMA, 300, 1), 10)
    plain, empty = (
        draw_fitted_to_counts(counts, 10, 5, held=held, threads=1)
        for held in (None, HeldConstraints.of(oracle.SCHEMA, oracle.SCHEMA))
    )
    assert plain.attribute_ids.tolist() == empty.attribute_ids.tolist()
    assert plain.attributes == empty.attributes
