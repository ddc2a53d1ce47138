"""Hypothesis strategies of small tables and aggregates."""

from hypothesis import strategies as st

from tests.oracles.aggregate_seeded import aggregates_of, counted

HEADERS = ["B", "A", "C-", "C"]


@st.composite
def tables(draw, most_rows=12):
    """Rows of up to four columns of up to three values, some cells empty."""
    width = draw(st.integers(1, 4))
    cell = st.sampled_from(["", "x", "y", "z"])
    rows = draw(st.lists(st.tuples(*[cell] * width), min_size=0, max_size=most_rows))
    return HEADERS[:width], rows


@st.composite
def exact_aggregates(draw, most_rows=12):
    """Exact aggregates of a small table."""
    headers, rows = draw(tables(most_rows))
    return counted(rows, headers, draw(st.integers(1, 5)))


@st.composite
def noisy_aggregates(draw, largest=40):
    """Aggregates with counts that agree with no table; some combinations are gone, with or without parts."""
    exact = draw(exact_aggregates())
    levels = []
    for ids in exact.combinations:
        kept = [tuple(row) for row in ids.tolist() if draw(st.integers(0, 9))]
        levels.append({row: draw(st.integers(0, largest)) for row in kept})
    texts = [attribute.text for attribute in exact.attributes]
    return aggregates_of(texts, exact.headers, levels, exact.number_of_records)
