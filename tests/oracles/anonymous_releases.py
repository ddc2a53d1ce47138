"""A k-anonymous release of the invented population, counted and rounded the slow way.

For tests of what comes after rounding: statement and page.
"""

import functools
import itertools
from collections import Counter

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.statement.k_anonymity import AnonymityFacts
from tasks.core.synthesis.records import SyntheticRecords
from tests.oracles.releases import SCHEMA, _attribute, attributes_of, records


def facts(**changes) -> AnonymityFacts:
    given = {
        "dataset": "survey",
        "vintage": "2024-05",
        "unit": "subject",
        "schema": SCHEMA,
        "resolution": 10,
        "reporting_length": 3,
        "synthesis_mode": "row_seeded",
    }
    return AnonymityFacts(**{**given, **changes})


@functools.cache
def rounded(number: int = 600, resolution: int = 10, length: int = 3) -> tuple[Aggregates, SyntheticRecords]:
    """Counts rounded down, and records of a fresh sample cut to the reported attributes."""
    counts = [
        {c: n // resolution * resolution for c, n in _counted(number, k).items() if n >= resolution}
        for k in range(1, length + 1)
    ]
    attributes = tuple(sorted((_attribute(*c[0]) for c in counts[0]), key=lambda a: a.text))
    ids = {(a.column, a.item or a.value): i for i, a in enumerate(attributes)}
    headers = tuple(
        header
        for index, column in enumerate(SCHEMA.columns)
        for header in (
            sorted(a.header for a in attributes if a.column == index)
            if column.is_multi_valued
            else [column.name]
        )
    )
    tables = [
        np.array(
            sorted((*sorted(ids[a] for a in c), n) for c, n in kept.items()), dtype=np.int64
        ).reshape(-1, k + 1)
        for k, kept in enumerate(counts, start=1)
    ]  # fmt: skip
    aggregates = Aggregates(
        headers,
        attributes,
        number // resolution * resolution,
        tuple(table[:, :-1].astype(np.int32) for table in tables),
        tuple(table[:, -1] for table in tables),
    )
    drawn = [sorted(ids[a] for a in attributes_of(r) if a in ids) for r in records(number, seed=8)]
    offsets = np.concatenate([[0], np.cumsum([len(r) for r in drawn])]).astype(np.int64)
    flat = np.array([i for r in drawn for i in r], dtype=np.int32)
    return aggregates, SyntheticRecords(headers, attributes, offsets, flat)


def _counted(number: int, k: int) -> Counter:
    return Counter(c for r in records(number) for c in itertools.combinations(attributes_of(r), k))
