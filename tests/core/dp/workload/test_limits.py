"""What a draw can come to at worst, by sums over columns, against the sets of columns one by one."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp.workload.expected import set_errors
from tasks.core.dp.workload.limits import (
    check_draw,
    chooses_pairs,
    each_named,
    number_of_named,
    worst_case_bytes,
    worst_case_cells,
    worst_scales,
)
from tasks.core.dp.workload.parameters import LongerSets, budget_of, grid_scale
from tasks.core.records import columns as columns_of_tables
from tasks.core.records.columns import Column, Schema
from tests.oracles.workloads import parameters

CAPS = st.lists(st.integers(1, 5), min_size=0, max_size=7)


def schema_of(caps):
    """Columns of two declared values, some with several items."""
    return Schema(
        tuple(
            Column(f"c{place}", domain=("no", "yes"), delimiter=";" if cap > 1 else None, max_items=cap)
            for place, cap in enumerate(caps)
        )
    )


@given(caps=CAPS)
def test_pairs_are_counted_and_taken_one_by_one_as_they_are_listed(caps):
    schema = schema_of(caps)
    assert schema.number_of_pairs == number_of_named(parameters(tables=None), schema)
    assert list(each_named(parameters(tables=None), schema)) == schema.combinations(2)
    assert schema.number_of_pairs == len(schema.combinations(2))


@given(caps=CAPS.filter(lambda caps: len(caps) > 1), most_pairs=st.integers(1, 30))
@settings(deadline=None)
def test_all_pairs_are_judged_like_a_list_of_them(caps, most_pairs):
    """Scales and cells; a choice of pairs has a scale for its scores, worked out set by set here."""
    schema = schema_of(caps)
    asked = parameters(tables=None, longer=LongerSets(), most_pairs=most_pairs)
    listed = parameters(tables=tuple(schema.combinations(2)), longer=LongerSets())
    assert worst_case_cells(asked, schema) == worst_case_cells(listed, schema)
    found = worst_scales(asked, schema)
    if len(schema.combinations(2)) <= most_pairs:
        assert found == worst_scales(listed, schema)
        return
    onces = [
        math.prod(math.comb(caps[column], pair.count(column)) for column in set(pair))
        for pair in schema.combinations(2)
    ]
    charge = asked.shares.tables * budget_of(asked, all_declared=True)[0]
    assert found[2] == grid_scale(sum(once**2 for once in onces), asked.pair_scores * charge)
    assert found[3] == grid_scale(max(onces), (1 - asked.pair_scores) * charge / most_pairs)


def test_check_never_lists_the_half_a_million_pairs_of_a_thousand_columns(monkeypatch):
    """It made the list, and judged each pair, for every epsilon that it compares: half a minute."""

    def listed(slot_columns, length):
        raise AssertionError("The pairs must be counted, not listed.")

    monkeypatch.setattr(columns_of_tables, "_kept_combinations", listed)
    schema, asked = schema_of([1] * 1_000), parameters(tables=None)
    check_draw(asked, schema)
    assert chooses_pairs(asked, schema) and worst_case_bytes(asked, schema) > 0
    assert len(set_errors(asked, schema, [3] * 1_000, 10_000)) == 2_000
