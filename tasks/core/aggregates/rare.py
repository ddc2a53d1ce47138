"""Rare and unique combinations, and the records that they single out: marginals and coded records in.

Everything here is read off the table, so what comes out is as sensitive as what goes in.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.core.aggregates.marginals import slot_choices
from tasks.core.aggregates.rounding import rounded_down
from tasks.core.aggregates.stored_marginals import MarginalFacts, Marginals
from tasks.core.queries import Resources, identifier, listed, query_text, render

_ROWS_A_READ = 1 << 18


@dataclass(frozen=True)
class RareByLength:
    """Distinct combinations of one length, and those with a count below the resolution."""

    length: int
    combinations: int
    rare: int

    @property
    def proportion(self) -> float:
        """Rare of all, 0 where there is none."""
        return self.rare / self.combinations if self.combinations else 0.0


@dataclass(frozen=True)
class RecordAnalysis:
    """Records by the shortest length at which one of their combinations singles them out (sds.md 2.3).

    Attributes:
        number_of_records: n.
        unique: by length 1, 2, ...: records whose shortest unique combination has this length.
        rare: the same for rare combinations, of the records that have no unique one.
    """

    number_of_records: int
    unique: tuple[int, ...]
    rare: tuple[int, ...]

    @property
    def risky(self) -> tuple[int, ...]:
        """Unique and rare together."""
        return tuple(u + r for u, r in zip(self.unique, self.rare, strict=True))

    def protected(self, resolution: int) -> "RecordAnalysis":
        """Every number rounded down to a multiple of the resolution."""
        return RecordAnalysis(
            rounded_down(self.number_of_records, resolution),
            tuple(rounded_down(count, resolution) for count in self.unique),
            tuple(rounded_down(count, resolution) for count in self.rare),
        )


def rare_by_length(
    marginals: Marginals, resolution: int, resources: Resources = Resources()
) -> list[RareByLength]:
    """How many combinations of each length are rare (count below the resolution)."""
    rows = []
    with resources.connect() as connection:
        for length in marginals.lengths:
            values = {"marginals": str(marginals.path(length)), "resolution": resolution}
            found = connection.sql(query_text("aggregates/rare_by_length"), params=values).to_arrow_table()
            row = found.to_pylist()[0]
            rows.append(RareByLength(length, row["combinations"], row["rare"]))
    return rows


def analyse_records(
    records: Path, marginals: Marginals, resolution: int, resources: Resources = Resources()
) -> RecordAnalysis:
    """Assign each record to the shortest length that makes it unique, or else rare (sds.md 2.3).

    Args:
        records: the folder of coded records that the marginals were counted from, all of it.
        marginals: all combinations of each length from 1 on.
        resolution: a count below it is rare.
        resources: memory (beside two bytes a record), threads, scratch.
    """
    size = marginals.facts.number_of_records
    unique_at, rare_at = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    for length, rows in rare_incidences(records, marginals, max(resolution, 2), resources):
        ids = rows["record_id"].to_numpy()
        counts = rows["count"].to_numpy()
        _first(rare_at, ids[counts < resolution], length)
        _first(unique_at, ids[counts == 1], length)
    rare_at[unique_at > 0] = 0
    lengths = len(marginals.lengths) + 1
    unique, rare = (np.bincount(at, minlength=lengths)[1:lengths] for at in (unique_at, rare_at))
    return RecordAnalysis(size, tuple(unique.tolist()), tuple(rare.tolist()))


def rare_incidences(
    records: Path, marginals: Marginals, below: int, resources: Resources = Resources()
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Every record that holds a combination with a count below ``below``, once per such combination.

    Args:
        records: the folder of coded records that the marginals were counted from.
        marginals: what was counted from them.
        below: combinations with a smaller count are looked for.
        resources: memory, threads, scratch.

    Yields:
        The length, and rows of record_id (place in the file), combination_id, code_1.., count; lengths
        and combination ids ascending.
    """
    facts = marginals.facts
    with resources.connect() as connection:
        names = listed([f"slot_{slot}" for slot in range(len(facts.slot_columns))])
        if not names:
            return
        text = render("aggregates/load_numbered_records", slots=names)
        connection.execute(text, {"records": str(records / "records.parquet")})
        for length in marginals.lengths:
            values = {"marginals": str(marginals.path(length)), "below": below}
            connection.execute(query_text("aggregates/load_rare_cells"), values)
            yield from ((length, rows) for rows in _incidences(connection, facts, length))


def _incidences(
    connection: duckdb.DuckDBPyConnection, facts: MarginalFacts, length: int
) -> Iterator[pa.RecordBatch]:
    combinations = facts.counted(length)
    present = connection.sql(query_text("aggregates/rare_combinations")).to_arrow_table()
    for combination_id in present["combination_id"].to_pylist():
        combination = combinations[combination_id]
        sizes = [len(facts.values[column]) + 1 for column in combination]
        for slots in slot_choices(combination, facts.slot_columns):
            text = _join_text(slots, sizes)
            found = connection.sql(text, params={"combination_id": combination_id})
            yield from found.to_arrow_reader(_ROWS_A_READ)


def _join_text(slots: Sequence[int], sizes: Sequence[int]) -> str:
    slot_names = [f"slot_{slot}" for slot in slots]
    code_names = [f"code_{place}" for place in range(1, len(slots) + 1)]
    return render(
        "aggregates/records_of_rare_cells",
        cell_key=_key(code_names, sizes),
        record_key=_key(slot_names, sizes),
        filled=" and ".join(f"{identifier(name)} > 0" for name in slot_names),
    )


def _key(names: Sequence[str], sizes: Sequence[int]) -> str:
    """Codes packed into one integer, which joins several times faster than k columns do."""
    cells = math.prod(sizes)
    if cells >= 1 << 63:
        return f"[{', '.join(f'{identifier(name)}::uinteger' for name in names)}]"
    kind = "uinteger" if cells < 1 << 32 else "ubigint"
    text = f"{identifier(names[0])}::{kind}"
    for name, size in zip(names[1:], sizes[1:], strict=True):
        text = f"({text} * {size}::{kind} + {identifier(name)}::{kind})"
    return text


def _first(at: npt.NDArray[np.uint8], ids: npt.NDArray[np.uint32], length: int) -> None:
    """Note the length at records that have none yet; lengths come ascending."""
    at[ids[at[ids] == 0]] = length
