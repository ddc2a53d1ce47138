"""Published tables put together by what they say: no raw table, no tree and no salt is needed.

All random numbers are public, as all that they act on is published: what comes out tells nothing that is not
in what went in, and protects nothing that is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Floats
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import DerivedCluster, StitchOwner
from tasks.core.syndiffix.columns import encode_column, plain_array
from tasks.core.syndiffix.intervals import Interval, map_nulls
from tasks.core.syndiffix.microdata import DrawnCells
from tasks.core.syndiffix.stitching import JoiningBasis, Microdata, join_tables, shuffle


def public_basis(names: Sequence[str], entropies: Floats, intervals: Mapping[int, Interval]) -> JoiningBasis:
    """What published rows are joined by: nothing secret, so public random numbers."""
    return JoiningBasis(names, entropies, intervals, salt=b"", stream=("blob",))


@dataclass(frozen=True)
class PublishedColumn:
    """The cells of each of several tables, and the interval of all of them, as numbers of one scale."""

    parts: list[DrawnCells]
    interval: Interval
    missing: float
    is_text: bool

    @property
    def entropy(self) -> float:
        counts = np.unique(np.concatenate([part.numbers for part in self.parts]), return_counts=True)[1]
        shares = counts / counts.sum()
        return float(-(shares * np.log2(shares)).sum())


def on_one_scale(name: str, parts: Sequence[pa.ChunkedArray]) -> PublishedColumn:
    """The cells of one column, of one plain type, in several tables; InputError if it has no numbers."""
    encoded = encode_column(name, pa.chunked_array([chunk for part in parts for chunk in part.chunks]))
    numbers, null_value, interval = map_nulls(encoded.values)
    found, first = [], 0
    for part in parts:
        found.append(DrawnCells(numbers[first : first + len(part)], part.combine_chunks()))
        first += len(part)
    return PublishedColumn(found, interval, null_value, encoded.vocabulary is not None)


def stitch_tables(left: pa.Table, right: pa.Table, owner: StitchOwner) -> pa.Table:
    """Two tables as one: rows with like values of the columns that both have become one row.

    >>> sexes = pa.table({"age": [20, 60], "sex": ["f", "m"]})
    >>> towns = pa.table({"age": [61, 21], "town": ["A", "B"]})
    >>> sorted(stitch_tables(sexes, towns, "left").to_pylist(), key=lambda row: row["age"])
    [{'age': 20, 'sex': 'f', 'town': 'B'}, {'age': 60, 'sex': 'm', 'town': 'A'}]

    ``owner``: whose rows are kept, each once, with its values of the shared columns; ``shared``: as many rows
    as both have on average, and the shared columns' values by turns.

    Returns:
        The left table's columns, then the right one's others; rows in random order, the same each time.

    Raises:
        ParameterError: they share no column, or one with values of another kind.
        InputError: a shared column has no order, or infinite numbers.
    """
    names = [*left.column_names, *(name for name in right.column_names if name not in left.column_names)]
    shared = [name for name in left.column_names if name in right.column_names]
    if not shared:
        raise ParameterError(
            "The tables must share a column of the same name, and share none: synthesize both with one in "
            "common."
        )
    left, right = _of_one_kind(left, right, shared)
    found = {name: on_one_scale(name, [left[name], right[name]]) for name in shared}
    entropies = np.array([found[name].entropy if name in found else 0.0 for name in names])
    basis = public_basis(names, entropies, {names.index(name): found[name].interval for name in shared})
    one, other = (
        Microdata(
            table.num_rows,
            {
                names.index(name): found[name].parts[place]
                if name in found
                else DrawnCells(np.zeros(table.num_rows), table[name].combine_chunks())
                for name in table.column_names
            },
        )
        for place, table in enumerate((left, right))
    )
    stitch = tuple(names.index(name) for name in shared)
    derived = tuple(number for number in sorted(other.cells) if number not in stitch)
    rows = shuffle(join_tables(one, other, DerivedCluster(owner, stitch, derived), basis), basis)
    return pa.table({name: rows.cells[number].values for number, name in enumerate(names)})


def _of_one_kind(left: pa.Table, right: pa.Table, shared: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    sides = [
        pa.table({name: plain_array(each[name]) for name in each.column_names}) for each in (left, right)
    ]
    problems = []
    for name in shared:
        kinds = [side.schema.field(name).type for side in sides]
        try:
            fields = [pa.schema([(name, kind)]) for kind in kinds]
            kind = pa.unify_schemas(fields, promote_options="permissive").field(name).type
            for place, side in enumerate(sides):
                sides[place] = side.set_column(side.column_names.index(name), name, side[name].cast(kind))
        except pa.ArrowException:
            problems.append(
                f"Column {name!r} must hold values of one kind in both tables, and holds {kinds[0]} and "
                f"{kinds[1]}: convert it in one of them."
            )
    if problems:
        raise ParameterError(problems)
    return sides[0], sides[1]
