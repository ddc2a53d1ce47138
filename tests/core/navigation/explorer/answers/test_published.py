"""The numbers of a fitted release's answers are those of its files."""

import dataclasses

import numpy as np
import pytest

from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.dp.workload.parameters import LongerSets
from tasks.core.evaluation.synthetic import code_synthetic
from tasks.core.synthesis.estimates import ranges, scaled_to_records
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
    counted = scaled_to_records(counted, max(0, drawn.number_of_records))
    cells = [(a.column, ("no", "yes").index(a.value) + 1) for a in counted.attributes]
    lengths, stated = [], {}
    for ids, counts, about in zip(counted.combinations, counted.counts, ranges(drawn, counted), strict=True):
        keys = [tuple(sorted(cells[each] for each in row)) for row in ids.tolist()]
        low, high = about.at_least.tolist(), about.at_most.tolist()
        noisy = [max(each, UNMEASURED) for each in about.noisy.tolist()]
        rows = zip(counts.tolist(), low, high, about.measured.tolist(), strict=True)
        stated |= dict(zip(keys, rows, strict=True))
        by_key = [dict(zip(keys, each, strict=True)) for each in (counts.tolist(), noisy, low, high)]
        lengths.append(
            published([("no", "yes")] * 4, by_key[0], noisy=by_key[1], low=by_key[2], high=by_key[3])
        )
    found = fitted_payload(drawn)
    found["counts"], found["meta"]["reporting_length"] = lengths, 3
    found["records"] = found["meta"]["records"] = coded.number_of_records
    for column, codes in zip(found["columns"], coded.slots, strict=True):
        column["codes"] = [np.asarray(codes).tolist()]
    return found, stated


def test_a_measured_count_has_the_published_range_and_where_noise_allows_it_the_published_value(release):
    found, stated = release
    measured = {cell: row for cell, row in stated.items() if row[3]}
    asked = [answer(0, [[place, [code]] for place, code in cell]) for cell in measured]
    quoted = 0
    for each, (count, low, high, _) in zip(ask([found], asked), measured.values(), strict=True):
        assert (each["low"], each["high"]) == (low, high)
        assert each["basis"] == "count" and each["numbers"]["published"] == count
        assert low <= each["value"] <= high
        is_quoted = each["quote"]["key"] == "answer.quote.published"
        assert is_quoted == (low <= count <= high)
        if is_quoted:
            assert each["value"] == count
        quoted += is_quoted
    assert quoted > len(measured) / 2


def test_a_count_that_was_not_drawn_is_that_of_the_records_within_bounds(release):
    found, stated = release
    others = {
        cell: row for cell, row in stated.items() if any(place == 3 for place, _ in cell) and len(cell) > 1
    }
    assert others
    asked = [answer(0, [[place, [code]] for place, code in cell]) for cell in others]
    for each, (count, *_) in zip(ask([found], asked), others.values(), strict=True):
        assert each["basis"] == "records" and each["sd"] is None
        assert each["numbers"]["published"] == count
        assert each["value"] is None or each["low"] <= each["value"] <= each["high"]
        assert abs(each["numbers"]["records"] - count) <= 1


def test_a_margin_of_a_longer_table_is_narrower_than_what_its_parts_leave(release):
    found, stated = release
    margins = {cell: row for cell, row in stated.items() if [place for place, _ in cell] == [0, 2]}
    asked = [answer(0, [[place, [code]] for place, code in cell]) for cell in margins]
    for each, (_, low, high, measured) in zip(ask([found], asked), margins.values(), strict=True):
        assert not measured and each["basis"] == "count"
        assert each["high"] - each["low"] < high - low


def test_a_sum_of_published_counts_is_quoted_as_their_sum(release):
    found, stated = release
    (each,) = ask([found], [answer(0, [[0, [1, 2]], [1, [2]]])])
    total = stated[(0, 1), (1, 2)][0] + stated[(0, 2), (1, 2)][0]
    assert each["basis"] == "sum" and each["parts"] == 2 and each["numbers"]["published"] == total
