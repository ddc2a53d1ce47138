"""A k-anonymous release of the invented population, counted and rounded the slow way.

For tests of what comes after rounding: statement and page.
"""

import functools

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.navigation.inputs import Naming, ReportInputs
from tasks.core.statement.k_anonymity import AnonymityFacts, anonymity_statement
from tasks.core.synthesis.records import SyntheticRecords
from tests.oracles.releases import SCHEMA, counted, published


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
    kept = [
        {c: n // resolution * resolution for c, n in counted(number, k).items() if n >= resolution}
        for k in range(1, length + 1)
    ]
    return published(kept, number, number // resolution * resolution)


def rounded_inputs(number: int = 600, naming: Naming = Naming(), **changes) -> ReportInputs:
    """What the page of such a release is made of."""
    aggregates, synthetic = rounded(number, changes.get("resolution", 10))
    body = anonymity_statement(facts(**changes), aggregates, "abc1234")
    return ReportInputs(body, SCHEMA, aggregates, None, synthetic, naming=naming)
