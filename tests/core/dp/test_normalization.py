import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.normalization import normalised_counts
from tasks.core.dp.parameters import DpParameters
from tasks.core.records.columns import Column, Schema


def level(schema, length, counts):
    """A level of {((column, ...), (code, ...)): count}, all surviving."""
    place = {combination: index for index, combination in enumerate(schema.combinations(length))}
    rows = sorted((place[columns], codes, count) for (columns, codes), count in counts.items())
    return Level(
        sigma=1.0,
        sensitivity=1,
        scale=1.0,
        threshold=1,
        candidates=len(rows),
        expected_spurious=0.0,
        combinations=np.array([row[0] for row in rows], np.uint32),
        codes=np.array([row[1] for row in rows], np.uint32).reshape(-1, length),
        counts=np.array([row[2] for row in rows], np.int64),
        survives=np.ones(len(rows), bool),
    )


def measurement(schema, values, *counts, number_of_records=100):
    return Measurement(
        schema=schema,
        parameters=DpParameters(epsilon=1.0, delta=1e-6, reporting_length=len(counts)),
        private=False,
        mu_squared=1.0,
        threshold_delta=0.0,
        number_of_records=number_of_records,
        count_scale=1.0,
        values=values,
        levels=tuple(level(schema, length, each) for length, each in enumerate(counts, start=1)),
    )


def by_text(aggregates):
    return {
        ";".join(aggregates.attributes[i].text for i in row): int(count)
        for rows, counts in zip(aggregates.combinations, aggregates.counts, strict=True)
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True)
    }


ABC = Schema((Column("a"), Column("b"), Column("c")))
SINGLES = {((0,), (1,)): 40, ((1,), (1,)): 50, ((2,), (1,)): 60, ((2,), (2,)): 70}


def test_t8_counts_are_capped_by_their_parts():
    """S10.8: ab 25, abc1 30, abc2 40 become 25, 25, 25."""
    pairs = {((0, 1), (1, 1)): 25}
    pairs |= {(columns, (1, code)): 99 for columns in [(0, 2), (1, 2)] for code in (1, 2)}
    triples = {((0, 1, 2), (1, 1, 1)): 30, ((0, 1, 2), (1, 1, 2)): 40}
    found = by_text(
        normalised_counts(measurement(ABC, (("x",), ("x",), ("1", "2")), SINGLES, pairs, triples))
    )
    assert (found["a:x;b:x"], found["a:x;b:x;c:1"], found["a:x;b:x;c:2"]) == (25, 25, 25)


def test_t8_a_missing_part_returns_with_the_largest_count_that_contains_it():
    """S10.8: abc 7, ab 9, ac 9 survive and bc does not: it comes back as 7."""
    pairs = {((0, 1), (1, 1)): 9, ((0, 2), (1, 1)): 9}
    values = (("x",), ("x",), ("1", "2"))
    found = by_text(normalised_counts(measurement(ABC, values, SINGLES, pairs, {((0, 1, 2), (1, 1, 1)): 7})))
    assert found["b:x;c:1"] == 7
    assert found["a:x;b:x;c:1"] == 7


def test_a_negative_number_of_records_is_reported_as_zero():
    assert normalised_counts(measurement(ABC, ((), (), ()), {}, number_of_records=-4)).number_of_records == 0


def test_no_columns_and_no_levels_give_empty_aggregates():
    nothing = normalised_counts(measurement(Schema(()), ()))
    assert (nothing.headers, nothing.attributes, nothing.reporting_length) == ((), (), 0)


def test_items_become_headers_only_where_declared_or_released():
    """G4: a multi-valued column's undeclared items are headers of the wide form only once released."""
    schema = Schema(
        (Column("m", delimiter=";", max_items=2), Column("d", ("q", "p"), None, ";", 2), Column("z"))
    )
    counts = {((0,), (1,)): 5, ((0,), (2,)): -1, ((1,), (1,)): 4, ((1,), (2,)): 0}
    found = normalised_counts(
        measurement(schema, (("b", "a"), ("q", "p"), ()), counts, {((0, 1), (1, 1)): 3})
    )
    assert found.headers == ("m_b", "d_p", "d_q", "z")
    assert by_text(found) == {"d_q:1": 4, "m_b:1": 5, "d_q:1;m_b:1": 3}
    assert [(a.column, a.item) for a in found.attributes] == [(1, "q"), (0, "b")]


def slow(schema, values, counts):
    """SDS's post-processing on sets of (column, code)."""
    kept = [{tuple(zip(*t, strict=True)): c for t, c in each.items() if c > 0} for each in counts]
    singles = set(kept[0])
    before = {
        frozenset(t): c
        for each in kept
        for t, c in each.items()
        if all((attribute,) in singles for attribute in t)
    }
    whole = dict(before)
    for found in before:
        for size in range(2, len(found)):
            for part in itertools.combinations(sorted(found), size):
                if frozenset(part) not in before:
                    above = [c for t, c in before.items() if t > frozenset(part)]
                    whole[frozenset(part)] = max(above)
    return {
        found: min(
            whole[frozenset(part)]
            for size in range(1, len(found) + 1)
            for part in itertools.combinations(sorted(found), size)
        )
        for found in whole
    }


@st.composite
def noisy(draw):
    columns = draw(st.integers(1, 5))
    schema = Schema(
        tuple(Column(f"c{i}", None, None, ";" if i == 0 else None, 1 + (i == 0)) for i in range(columns))
    )
    sizes = [draw(st.integers(1, 3)) for _ in range(columns)]
    counts = []
    for length in range(1, min(draw(st.integers(1, 4)), schema.width) + 1):
        cells = [
            (combination, codes)
            for combination in schema.combinations(length)
            for codes in itertools.product(*(range(1, sizes[column] + 1) for column in combination))
            if all(
                a != b or x < y for (a, x), (b, y) in itertools.pairwise(zip(combination, codes, strict=True))
            )
        ]
        chosen = draw(st.sets(st.sampled_from(cells), max_size=12)) if cells else set()
        counts.append({cell: draw(st.integers(-2, 9)) for cell in sorted(chosen)})
    if draw(st.booleans()):
        counts[0] = {
            ((c,), (v,)): draw(st.integers(1, 9)) for c in range(columns) for v in range(1, sizes[c] + 1)
        }
    return schema, tuple(tuple(f"v{v}" for v in range(size)) for size in sizes), counts


@settings(max_examples=300, deadline=None)
@given(noisy())
def test_normalised_counts_are_the_slow_ones_and_agree(case):
    """Every part of a reported combination is reported, with a count at least as large."""
    schema, values, counts = case
    found = normalised_counts(measurement(schema, values, *counts))
    source = {
        i: (a.column, values[a.column].index(a.item if a.item is not None else a.value) + 1)
        for i, a in enumerate(found.attributes)
    }
    result = {
        frozenset(source[i] for i in row): int(count)
        for rows, each in zip(found.combinations, found.counts, strict=True)
        for row, count in zip(rows.tolist(), each.tolist(), strict=True)
    }
    assert result == slow(schema, values, counts)
    for rows in found.combinations:
        assert rows.tolist() == sorted(set(map(tuple, rows.tolist()))) or rows.tolist() == [
            list(row) for row in sorted(set(map(tuple, rows.tolist())))
        ]
        assert (np.diff(rows, axis=1) > 0).all()
    for whole, count in result.items():
        for size in range(1, len(whole)):
            for part in itertools.combinations(sorted(whole), size):
                assert result[frozenset(part)] >= count
    texts = [attribute.text for attribute in found.attributes]
    assert texts == sorted(texts)
