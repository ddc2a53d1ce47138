"""The numbers of a fitted release's answers are those of its files."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.dp.workload.parameters import LongerSets
from tasks.core.evaluation.comparison import code_synthetic
from tasks.core.synthesis.estimates import ranges, scale_to_records
from tasks.core.synthesis.fitted import draw_fitted
from tests.oracles.page_answers import UNMEASURED, answer, ask, fitted_payload, published
from tests.oracles.workloads import bits, draw, parameters

pytestmark = pytest.mark.needs_node

TABLES = ((0, 1), (1, 2), (0, 1, 2))


@pytest.fixture(scope="module")
def release():
    """Four columns of no and yes, all combinations of up to three published, with the records."""
    asked = parameters(1.0, tables=TABLES, longer=LongerSets())  # no more tables than these
    drawn = draw(bits(900, 4), asked, 3)
    made = draw_fitted(drawn, 7).records
    coded = code_synthetic(made, drawn.schema)
    counted = dataclasses.replace(count_in_memory(coded, 3), headers=made.headers)
    counted = scale_to_records(counted, max(0, drawn.number_of_records))
    cells = [(a.column, ("no", "yes").index(a.value) + 1) for a in counted.attributes]
    lengths, stated = [], {}
    for ids, counts, about in zip(counted.combinations, counted.counts, ranges(drawn, counted), strict=True):
        keys = [tuple(sorted(cells[each] for each in row)) for row in ids.tolist()]
        low, high = about.at_least.tolist(), about.at_most.tolist()
        estimate = [max(each, UNMEASURED) for each in about.least_squares.tolist()]
        stated |= dict(zip(keys, zip(counts.tolist(), estimate, low, high, strict=True), strict=True))
        by_key = [dict(zip(keys, each, strict=True)) for each in (counts.tolist(), estimate, low, high)]
        lengths.append(
            published([("no", "yes")] * 4, by_key[0], estimate=by_key[1], low=by_key[2], high=by_key[3])
        )
    found = fitted_payload(drawn)
    found["counts"], found["meta"]["reporting_length"] = lengths, 3
    found["records"] = found["meta"]["records"] = coded.number_of_records
    for column, codes in zip(found["columns"], coded.slots, strict=True):
        column["codes"] = [np.asarray(codes).tolist()]
    return found, stated


def about(stated, *, is_measured):
    return {cell: row for cell, row in stated.items() if (row[1] != UNMEASURED) == is_measured}


def test_what_tables_tell_has_the_estimate_and_the_range_of_the_file(release):
    found, stated = release
    measured = about(stated, is_measured=True)
    asked = [answer(0, [[place, [code]] for place, code in cell]) for cell in measured]
    for each, (count, estimate, low, high) in zip(ask([found], asked), measured.values(), strict=True):
        assert (each["value"], each["low"], each["high"]) == (estimate, low, high)
        assert each["basis"] == "count" and each["numbers"]["published"] == count
        assert low <= each["value"] <= high
    # Also of a margin of a longer table, for which alone no noise was drawn.
    assert any([place for place, _ in cell] == [0, 2] for cell in measured)


def test_what_no_table_tells_is_bounded_as_in_the_file_and_its_number_is_that_of_the_records(release):
    found, stated = release
    others = about(stated, is_measured=False)
    assert {len(cell) for cell in others} == {2, 3}
    asked = [answer(0, [[place, [code]] for place, code in cell]) for cell in others]
    for each, (count, _, low, high) in zip(ask([found], asked), others.values(), strict=True):
        assert (each["low"], each["high"]) == (low, high)
        assert each["basis"] == "records" and each["sd"] is None
        assert each["quote"]["key"].startswith("answer.quote.range")
        assert each["numbers"]["published"] == count
        assert each["value"] is None or low <= each["value"] <= high
        assert abs(each["numbers"]["records"] - count) <= 1


def test_the_bar_called_actual_is_the_files_estimate_and_not_the_count_of_the_records(release):
    found, stated = release
    asked = [
        {
            "what": "actual",
            "release": 0,
            "selection": [[place, [code]] for place, code in chosen],
            "column": column,
            "code": code,
        }
        for *chosen, (column, code) in stated
    ]
    shown = ask([found], asked)
    for each, (_, estimate, low, high) in zip(shown, stated.values(), strict=True):
        value = None if estimate == UNMEASURED else estimate
        assert each == {"value": value, "low": low, "high": high}
    assert sum(row[0] != row[1] for row in stated.values()) > len(stated) / 4


def test_estimates_of_parts_add_up_to_that_of_the_whole(release):
    """Least squares of single values are those of all values, less rounding."""
    found, stated = release
    whole, *parts = ask(
        [found], [answer(0, [[1, [2]]]), *(answer(0, [[0, [c]], [1, [2]]]) for c in (1, 2, 0))]
    )
    assert abs(sum(each["value"] for each in parts) - whole["value"]) <= 2
    (each,) = ask([found], [answer(0, [[0, [1, 2]], [1, [2]]])])
    total = stated[(0, 1), (1, 2)][0] + stated[(0, 2), (1, 2)][0]
    assert each["basis"] == "table" and each["numbers"]["published"] == total
    assert abs(each["value"] - parts[0]["value"] - parts[1]["value"]) <= 1


def test_why_the_parts_of_a_column_add_up_to_another_number_is_said(release):
    found, _ = release
    (everybody,) = ask([found], [answer(0, [])])
    sums = [
        (sum(each["cells"]), len(each["cells"]) * (each["scale"] ** 2 + 1 / 12)) for each in found["tables"]
    ]
    number = found["meta"]["number"]
    sums.append((number["value"], number["sd"] ** 2 + 1 / 12))
    precision = sum(1 / variance for _, variance in sums)
    estimate = sum(value / variance for value, variance in sums) / precision
    more = everybody["more"]
    assert everybody["value"] == number["value"] != round(estimate)
    assert more["key"] == "answer.more.parts" and more["given"]["estimate"] == round(estimate)
    half = 1.959964 / precision**0.5
    assert more["given"]["low"] == math.floor(estimate - half)
    assert more["given"]["high"] == math.ceil(estimate + half)


def test_what_would_narrow_a_range_is_said_where_nothing_was_measured_alone(release):
    found, stated = release
    keys = [next(iter(about(stated, is_measured=each))) for each in (True, False)]
    measured, bounded = ask([found], [answer(0, [[place, [code]] for place, code in key]) for key in keys])
    assert "more" not in measured and bounded["more"]["key"] == "answer.more.measure"
    columns = [{**found["columns"][0], "name": f"c{place}"} for place in range(5)]
    many = {**found, "columns": columns, "tables": [{**found["tables"][0], "columns": [0]}], "counts": []}
    (wide,) = ask([many], [answer(0, [[place, [1]] for place in range(5)])])
    assert (wide["more"]["key"], wide["more"]["given"]) == ("answer.more.fewer", {"most": 4})


def sampled(found, every):
    """The same release on a page that holds every so many-th record."""
    columns = [column | {"codes": [column["codes"][0][::every]]} for column in found["columns"]]
    return found | {"columns": columns, "records": len(columns[0]["codes"][0])}


def test_a_sample_of_the_records_changes_no_range_and_no_published_count(release):
    found, stated = release
    asked = [answer(0, [[place, [code]] for place, code in cell]) for cell in stated]
    whole, part = ask([found], asked), ask([sampled(found, 4)], asked)
    for one, other, (count, *_) in zip(whole, part, stated.values(), strict=True):
        assert (one["low"], one["high"]) == (other["low"], other["high"])
        # The published counts are those of all records.
        assert other["numbers"]["records"] == other["numbers"]["published"] == count
        assert "sampled" not in other


def test_longer_than_counts_are_published_a_sample_stands_for_all_records(release):
    found, _ = release
    part = sampled(found, 4)
    for codes in itertools.product((1, 2), repeat=4):
        asked = [answer(0, [[place, [code]] for place, code in enumerate(codes)])]
        [one], [other] = ask([found], asked), ask([part], asked)
        held = [tuple(record) for record in zip(*(each["codes"][0] for each in part["columns"]), strict=True)]
        number = part["meta"]["number"]["value"]
        assert other["numbers"]["records"] == math.floor(held.count(codes) * (number / len(held)) + 0.5)
        assert (one["low"], one["high"]) == (other["low"], other["high"])
        assert other["sampled"] and "sampled" not in one
        assert other["quote"]["key"] == "answer.quote.range"
