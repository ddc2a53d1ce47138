"""The cells of a table by column: distinct texts, how many cells hold each, and which row holds which.

A file goes in. What comes out is as sensitive as the table.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Flags, Floats, Integers
from tasks.core.queries import QueryResources
from tasks.core.records.cell_reading import AS_IT_STANDS, CellReading
from tasks.core.records.cells import CellCollector, RawColumn, run_with_cells
from tasks.core.tables.batches import read_batches
from tasks.core.tables.header import InputFile
from tasks.core.tables.texts import is_list

#: So few rows decide nothing of a draft; how cells are written needs this share of the rows as well.
FEW, _LEAST_SHARE = 20, 0.01
#: Of a longer table so many rows are looked at, from the first on.
MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class SeenColumn:
    """One column.

        rows: Lyon, Nice, (empty), Lyon     texts [Lyon, Nice]     held [2, 1]     codes [0, 1, -1, 0]

    Texts are distinct, trimmed, none empty. The kind is a Parquet column's Arrow type; empty for other files.
    """

    name: str
    texts: tuple[str, ...]
    codes: Integers
    kind: str = ""

    @cached_property
    def held(self) -> Integers:
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts))

    @property
    def rows(self) -> int:
        return len(self.codes)

    @property
    def filled(self) -> int:
        return int(self.held.sum())

    @property
    def distinct(self) -> int:
        return len(self.texts)

    @cached_property
    def array(self) -> pa.Array:
        return pa.array(self.texts, pa.string())

    @cached_property
    def margin(self) -> int:
        """So many rows decide how cells are written; fewer don't. 20 of 300 rows, 500 of 50,000."""
        return max(FEW, int(_LEAST_SHARE * self.rows))

    def is_few(self, chosen: Flags) -> bool:
        return int(self.held[chosen].sum()) < self.margin

    @cached_property
    def usual(self) -> int:
        """How many different texts the column has without the rarest, which few rows hold in all."""
        return usual_number(self.held, FEW)

    def matching(self, pattern: str) -> Flags:
        """Which texts match an expression as a whole (RE2)."""
        found = pc.match_substring_regex(self.array, f"^(?:{pattern})$")
        return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)

    def among(self, texts: Collection[str]) -> Flags:
        return flags(self.texts, texts.__contains__)

    def chosen(self, chosen: Flags) -> list[str]:
        return sorted(text for text, is_one in zip(self.texts, chosen.tolist(), strict=True) if is_one)

    def share(self, chosen: Flags) -> float:
        return float(self.held[chosen].sum() / self.filled) if self.filled else 0.0

    def where(self, chosen: Flags) -> "SeenColumn":
        place = np.cumsum(chosen) - 1
        codes = np.append(np.where(chosen, place, -1), -1)[self.codes]
        texts = tuple(text for text, keep in zip(self.texts, chosen.tolist(), strict=True) if keep)
        return replace(self, texts=texts, codes=codes)

    def mapped(self, change: Callable[[list[str]], list[str]]) -> "SeenColumn":
        """The same rows with each text changed; an empty one empties the cell."""
        changed = change(list(self.texts))
        distinct = sorted({text for text in changed if text})
        place = {text: index for index, text in enumerate(distinct)} | {"": -1}
        of_text = np.array([place[text] for text in changed] + [-1], np.int64)
        return replace(self, texts=tuple(distinct), codes=of_text[self.codes])

    def read(self, reading: CellReading) -> "SeenColumn":
        if reading == AS_IT_STANDS:
            return self
        return self.mapped(lambda texts: [text or "" for text in reading.read(texts).texts])


def flags(texts: Iterable[str], is_chosen: Callable[[str], object]) -> Flags:
    return np.array([bool(is_chosen(text)) for text in texts], np.bool_)


def count_strays(source: Integers, decided: Integers) -> int:
    """How many rows hold another of the decided codes than most rows with the same source code.

    >>> count_strays(np.array([4, 4, 4, 7]), np.array([1, 1, 0, 5]))
    1
    """
    width = int(decided.max(initial=0)) + 1
    pairs, held = np.unique(source.astype(np.int64) * width + decided, return_counts=True)
    starts = np.unique(pairs // width, return_index=True)[1]
    return int(held.sum() - np.maximum.reduceat(held, starts).sum()) if len(held) else 0


def usual_number(held: Integers, few: int) -> int:
    """How many of the commonest hold all cells but fewer than a few.

    >>> usual_number(np.array([40, 1, 100, 2]), 20)
    2
    """
    ranked = np.cumsum(np.sort(held)[::-1])
    return int(np.searchsorted(ranked, ranked[-1] - few + 1)) + 1 if len(ranked) else 0


def usual_ends(values: Floats, held: Integers, few: int) -> tuple[float, float]:
    """The lowest and the highest of numbers that a few cells lie beyond: no single one is an end."""
    order = np.argsort(values)
    sums = np.cumsum(held[order])
    beyond = min(few, int(sums[-1]) // 4)
    places = np.searchsorted(sums, [beyond + 1, sums[-1] - beyond])
    low, high = values[order][np.minimum(places, len(order) - 1)]
    return float(low), float(high)


def load_cells(source: InputFile) -> list[SeenColumn]:
    """Every column with a name, of the first `MOST_ROWS` rows. A list is written with bars between its items.

    Raises:
        InputError: the file can't be read as a table; the message carries no cell.
        ResourceLimit: it needs more memory than there is.
    """
    headers = source.headers
    positions = [position for position, name in enumerate(headers.names) if name]
    kinds = headers.types or ("",) * len(headers.names)

    def load(connection: duckdb.DuckDBPyConnection) -> list[SeenColumn]:
        collectors = {place: CellCollector(connection) for place in positions}
        rows = 0
        for batch in read_batches(source, positions):
            batch = batch.slice(0, MOST_ROWS - rows)
            rows += batch.num_rows
            for place, collector in collectors.items():
                cells = batch.column(batch.schema.get_field_index(str(place)))
                if is_list(cells.type):
                    lists = cells.to_pylist()
                    joined = [None if items is None else "|".join(map(str, items)) for items in lists]
                    cells = pa.array(joined, pa.string())
                collector.add(cells)
            if rows >= MOST_ROWS:
                break
        return [_column(headers.names[at], kinds[at], collectors.pop(at).finish()) for at in positions]

    return run_with_cells(QueryResources(), load)


def _column(name: str, kind: str, raw: RawColumn) -> SeenColumn:
    distinct = pc.utf8_trim_whitespace(raw.cells).dictionary_encode()
    texts = distinct.dictionary.to_pylist()
    places = np.append(-1, distinct.indices.fill_null(-1).to_numpy(zero_copy_only=False))
    found = SeenColumn(name, tuple(texts), places[raw.places_of_rows()], kind)
    return found.where((found.held > 0) & flags(texts, bool))
