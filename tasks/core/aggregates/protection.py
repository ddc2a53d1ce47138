"""Protection by k-anonymity: exact marginals in, the aggregates that may be reported out.

This is the crossing from ``sensitive/`` under k-anonymity. Every number that comes out is rounded down to a
multiple of the resolution (S2.2, floor_res), and nothing that fewer records hold leaves a trace, neither
a value nor a header.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import duckdb

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.stored_marginals import ROWS_A_READ, Marginals, code_names
from tasks.core.aggregates.wide_form import CountedCells, aggregates_of_cells
from tasks.core.errors import ParameterError
from tasks.core.queries import QueryResources, filled_query, identifiers


def round_down(count: int, resolution: int) -> int:
    """The largest multiple of the resolution (at least 1) that the count reaches.

    >>> round_down(29, 10), round_down(9, 10)
    (20, 0)
    """
    return count - count % resolution


def protect_counts(
    marginals: Marginals, resolution: int, resources: QueryResources = QueryResources()
) -> Aggregates:
    """Round every count down to a multiple of the resolution and keep what is not 0 (S2.2).

    The number of records is rounded down too. Attributes and headers of items are those of reported
    combinations alone; single-valued columns keep their headers, which are public. With fewer records than
    the resolution, all lengths are without a combination.

    Raises:
        ParameterError: the resolution is below 1.
    """
    if resolution < 1:
        raise ParameterError(
            f"The reporting resolution must be at least 1, not {resolution}: counts are rounded down to a "
            "multiple of it."
        )
    with resources.connect() as connection:
        levels = (_reported(connection, marginals, length, resolution) for length in marginals.lengths)
        records = round_down(marginals.facts.number_of_records, resolution)
        return aggregates_of_cells(marginals.facts, records, levels)


def extend_to_length(aggregates: Aggregates, reporting_length: int) -> Aggregates:
    """Rounded counts to a reporting length that says nothing of how many items anybody holds.

    Marginals end where the fullest record does; a release goes on, without a combination.

    ``reporting_length``: R as it is public; -1 where only the records tell it: then one length more than the
    longest combination reported, so that what is made from the counts stays within them.
    """
    if reporting_length != -1:
        return aggregates.up_to(reporting_length)
    reported = [length for length, counts in enumerate(aggregates.counts, start=1) if len(counts)]
    return aggregates.up_to(max(reported, default=0) + 1)


def _reported(
    connection: duckdb.DuckDBPyConnection, marginals: Marginals, length: int, resolution: int
) -> Iterator[CountedCells]:
    text = filled_query("aggregates/round_down_counts", codes=identifiers(code_names(length)))
    values = {"marginals": str(marginals.path(length)), "resolution": resolution}
    yield from map(CountedCells.of, connection.sql(text, params=values).to_arrow_reader(ROWS_A_READ))


@dataclass(frozen=True)
class AnonymityParameters:
    """Everything public that touches what is reported, and names such a release.

    Attributes:
        resolution: k, at least 1: counts are rounded down to its multiples.
        reporting_length: R; -1 for as long as the records are.
        record_limit: only the first so many rows were read; None: all.
        synthesis: mode and settings where synthesis reads the raw records, without the seed; else None.
    """

    resolution: int
    reporting_length: int
    record_limit: int | None = None
    synthesis: Mapping[str, object] | None = None
