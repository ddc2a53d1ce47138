"""Between codes and attributes: marginals as `Aggregates`, the wide form that SDS's users know."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.stored_marginals import MarginalFacts, Marginals
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Column, Schema

Integers = npt.NDArray[np.int64]


def as_aggregates(marginals: Marginals) -> Aggregates:
    """The counts of all lengths 1..R over the attributes that occur.

    Item x of a multi-valued column A becomes header ``A_x`` with value ``1`` (sds.md 1.4).

    Raises:
        ParameterError: unless the marginals hold all combinations of each length from 1 on.
    """
    facts = marginals.facts
    if marginals.lengths != tuple(range(1, len(marginals.lengths) + 1)) or any(
        ids is not None for ids in facts.workload.values()
    ):
        raise ParameterError(
            "Aggregates need all combinations of each length from 1 on; these marginals hold chosen sets of "
            "columns: count with a reporting length."
        )
    places = [places_of(marginals, length) for length in marginals.lengths]
    used = np.unique(places[0]) if places else np.zeros(0, np.int64)
    attributes = [attribute_at(facts, int(place)) for place in used]
    order = sorted(range(len(attributes)), key=lambda i: (attributes[i].text, attributes[i].column))
    identifiers = np.zeros(number_of_places(facts.values), np.int32)
    identifiers[used[order]] = np.arange(len(order), dtype=np.int32)
    combinations, counts = [], []
    for length, rows in zip(marginals.lengths, places, strict=True):
        ids = np.sort(identifiers[rows], axis=1)
        ranks = np.lexsort(ids.T[::-1])
        combinations.append(ids[ranks])
        counts.append(marginals.table(length)["count"].to_numpy()[ranks])
    ordered = tuple(attributes[i] for i in order)
    return Aggregates(
        headers=wide_headers(facts.schema, ordered),
        attributes=ordered,
        number_of_records=facts.number_of_records,
        combinations=tuple(combinations),
        counts=tuple(counts),
    )


def wide_headers(schema: Schema, attributes: tuple[Attribute, ...]) -> tuple[str, ...]:
    """Headers of the wide form: file order, the items that occur in place and by code point."""
    headers: list[str] = []
    for index, column in enumerate(schema.columns):
        if column.is_multi_valued:
            headers += sorted(a.header for a in attributes if a.column == index)
        else:
            headers.append(column.name)
    return tuple(headers)


def attribute(column: Column, index: int, value: str) -> Attribute:
    """The attribute of a value or item in the column at ``index``."""
    if column.is_multi_valued:
        return Attribute(header=f"{column.name}_{value}", value="1", column=index, item=value)
    return Attribute(header=column.name, value=value, column=index)


def number_of_places(values: tuple[tuple[str, ...], ...]) -> int:
    """How many places `first_places` gives out."""
    return sum(len(column) for column in values)


def first_places(values: tuple[tuple[str, ...], ...]) -> Integers:
    """Place of each column's code 1, when all values of all columns stand in one row."""
    sizes = [0, *(len(column) for column in values)]
    return np.cumsum(sizes)[:-1].astype(np.int64)


def places_of(marginals: Marginals, length: int) -> Integers:
    """Each tuple of one length as ascending places of its values (see `first_places`), (N, length)."""
    table = marginals.table(length)
    codes = [table[f"code_{place}"].to_numpy() for place in range(1, length + 1)]
    return place_rows(marginals.facts, table["combination_id"].to_numpy(), codes)


def place_rows(
    facts: MarginalFacts, combinations: npt.NDArray[np.uint32], codes: Sequence[npt.NDArray[np.integer]]
) -> Integers:
    """Rows of codes as rows of places, int64 (N, length)."""
    columns = np.array(facts.combinations(len(codes)), np.int64).reshape(-1, len(codes))
    first = first_places(facts.values)
    rows = np.empty((len(combinations), len(codes)), np.int64)
    for place, column_codes in enumerate(codes):
        rows[:, place] = first[columns[combinations, place]] + column_codes.astype(np.int64) - 1
    return rows


def attribute_at(facts: MarginalFacts, place: int) -> Attribute:
    """The attribute whose value stands at a place."""
    first = first_places(facts.values)
    column = int(np.searchsorted(first, place, side="right")) - 1
    value = facts.values[column][place - int(first[column])]
    return attribute(facts.schema.columns[column], column, value)
