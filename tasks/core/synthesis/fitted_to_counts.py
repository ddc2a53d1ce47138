"""Fitted synthesis from reported counts, in which rare combinations are missing.

Counts are rounded down to multiples of the resolution k, so what was left out is no zero, but from 0 to
k - 1. A missing cell is filled with what the rest implies for it, but never with more than may be missing.
Columns and pairs come first; then those longer reported sets of columns that the
records keep worst are joined to the search. All of it follows from the reported counts and the seed.

Where a contract has constraints, the search is kept out of the cells that they make impossible, and records
are repaired. The counts are those of the table as it is, and stay so: what is mended are synthetic records
alone. A value that no count reports comes into them only where the contract names it: as what follows from
another column, or as what a record is repaired by.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates, Attribute, read_aggregates
from tasks.core.arrays import ColumnNumbers, Floats, Ids, Integers, ShareDone
from tasks.core.errors import ParameterError
from tasks.core.fitting.noisy_tables import Domain, ImpossibleCells
from tasks.core.fitting.search import LONG_ANNEALING, HeldRecords
from tasks.core.fitting.sharded_search import ShardedSearch, read_shard_cells
from tasks.core.fitting.targets import Target
from tasks.core.parts.shards import RecordShard, ShardPlace, record_shards
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.columns import Schema
from tasks.core.records.constraints import Derivation
from tasks.core.records.rulebook import MOST_CELLS_OF_A_MASK, Coding, Rulebook
from tasks.core.synthesis.assembly import order_records
from tasks.core.synthesis.records import (
    SyntheticRecords,
    group_by_columns,
    header_places,
    join_shards,
    number_to_draw,
    publish_shards,
)


@dataclass(frozen=True)
class HeldConstraints:
    """What holds in every record, over columns whose counts know nothing of it.

    Attributes:
        schema: with its constraints; columns that others decide are the last ones.
        places: of each of its columns the place among the columns that were counted.
    """

    schema: Schema
    places: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema, counted: Schema) -> "HeldConstraints":
        """Of two schemas of the same columns, the first with constraints, the second as they were counted."""
        names = [column.name for column in counted.columns]
        return cls(schema, tuple(names.index(column.name) for column in schema.columns))


@dataclass(frozen=True)
class _Column:
    """One column in the records.

    Attributes:
        headers: its places among the headers: one, or one an item.
        texts: these, then absence, then declared values that no count reports.
    """

    headers: tuple[int, ...]
    ids: tuple[int, ...]
    texts: tuple[str, ...]
    is_multi_valued: bool

    @property
    def absent(self) -> int:
        return len(self.ids)

    @property
    def unreported(self) -> tuple[str, ...]:
        return self.texts[self.absent + 1 :]


class ConstrainedHeaders:
    """The constraints over the headers of some aggregates.

    A record has a cell of each header: a reported value, by its place in ``values``, or absence, the last.
    """

    def __init__(
        self, held: HeldConstraints, aggregates: Aggregates, values: Sequence[Sequence[int]]
    ) -> None:
        """``values``: of each header its attributes, in order."""
        self._held, self._aggregates = held, aggregates
        self._values = values
        self._columns = [self._column(place) for place in range(len(held.schema.columns))]
        self._book = Rulebook(held.schema, self._coding)
        if held.schema.constraints and self._book.resorts is None:
            raise ParameterError(
                "The contract's constraints must leave records that hold all of them; with the values that "
                "are reported they leave none. Lower reporting_resolution, or take a constraint back."
            )

    def _column(self, place: int) -> _Column:
        about, counted = self._held.schema.columns[place], self._held.places[place]
        attributes = self._aggregates.attributes
        headers = [
            header
            for header, name in enumerate(self._aggregates.headers)
            if (
                any(attributes[each].column == counted for each in self._values[header])
                or (not about.is_multi_valued and name == about.name)
            )
        ]
        ids = [each for header in headers for each in self._values[header]]
        reported = [attributes[each].item or attributes[each].value for each in ids]
        # Of items only reported ones: each other one would be a header more.
        declared = () if about.is_multi_valued else about.domain or ()
        unreported = [text for text in declared if text not in reported]
        texts = (*reported, "", *unreported)
        return _Column(tuple(headers), tuple(ids), texts, about.is_multi_valued)

    @cached_property
    def _coding(self) -> Coding:
        measured = self._columns[: len(self._held.schema.measured.columns)]
        widths = [max(1, len(column.ids)) if column.is_multi_valued else 1 for column in measured]
        starts = np.cumsum([0, *widths]).tolist()
        return Coding(
            tuple(tuple((text,) for text in column.texts) for column in measured),
            tuple(column.absent for column in measured),
            tuple(range(low, high) for low, high in itertools.pairwise(starts)),
        )

    def impossible(self) -> tuple[ImpossibleCells, ...]:
        """The cells of headers that no record may be in, as far as a table of them has room."""
        return (*self._by_rules(), *self._by_derivations())

    def _by_rules(self) -> Iterator[ImpossibleCells]:
        for columns, mask in self._book.masks():
            about = [self._columns[place] for place in columns]
            items = [place for place, column in enumerate(about) if column.is_multi_valued]
            if len(items) > 1:
                continue  # left to the repair
            reported = mask[tuple(slice(column.absent + 1) for column in about)]
            if not items:
                yield _impossible_cells([column.headers[0] for column in about], reported)
                continue
            (item,) = items
            for code, header in enumerate(about[item].headers):
                headers = [column.headers[0] for column in about]
                headers[item] = header
                holds = np.take(reported, [code], axis=item)
                yield _impossible_cells(headers, np.concatenate([holds, np.zeros_like(holds)], axis=item))

    def _by_derivations(self) -> Iterator[ImpossibleCells]:
        for found in self._held.schema.derivations:
            other, own = self._columns[found.decided_by], self._columns[found.column]
            if math.prod((other.absent + 1, own.absent + 1)) > MOST_CELLS_OF_A_MASK:
                continue
            codes = _derived_codes(found, other, own)[: other.absent + 1]
            allowed = np.where(codes < own.absent, codes, own.absent)
            mask = np.arange(own.absent + 1)[None, :] != allowed[:, None]
            yield _impossible_cells([other.headers[0], own.headers[0]], mask)

    def published(
        self, records: Ids, unreported: Sequence[Attribute] | None = None
    ) -> tuple[tuple[Attribute, ...], Ids]:
        """Records that hold every constraint.

        ``unreported``: attributes that only constraints bring in; None: what the records need.

        Returns the aggregates' attributes and these behind them; and of each record the attribute under each
        header, int32 (n, headers), -1 for none.
        """
        own = self._repaired(records)
        more = self._unreported_in(own) if unreported is None else unreported
        attributes = (*self._aggregates.attributes, *more)
        number = {each: place for place, each in enumerate(more, start=len(self._aggregates.attributes))}
        ids = np.full(records.shape, -1, np.int32)
        for place, codes in enumerate(own):
            column = self._columns[place]
            if column.is_multi_valued:
                for code, (header, attribute) in enumerate(zip(column.headers, column.ids, strict=True)):
                    ids[(codes == code).any(axis=1), header] = attribute
            else:
                beyond = [number.get(self._attribute(place, text), -1) for text in column.unreported]
                attribute_of = np.array([*column.ids, -1, *beyond], np.int32)
                ids[:, column.headers[0]] = attribute_of[codes[:, 0]]
        return attributes, ids

    def unreported(self, records: Ids) -> list[Attribute]:
        """The attributes that no count reports and that some of the records hold, in order."""
        return self._unreported_in(self._repaired(records))

    def all_unreported(self) -> list[Attribute]:
        """Every attribute that `unreported` may name, in that order."""
        return [
            self._attribute(place, text)
            for place, column in enumerate(self._columns)
            if not column.is_multi_valued
            for text in column.unreported
        ]

    def _repaired(self, records: Ids) -> list[Ids]:
        measured = self._columns[: len(self._held.schema.measured.columns)]
        slots = [self._slots(column, records) for column in measured]
        coded = np.concatenate(slots, axis=1) if slots else np.empty((len(records), 0), np.int32)
        coded = self._book.repaired(coded)
        own = [coded[:, places.start : places.stop] for places in self._coding.slots]
        for found in self._held.schema.derivations:
            column, other = self._columns[found.column], self._columns[found.decided_by]
            own.append(_derived_codes(found, other, column)[own[found.decided_by]].astype(np.int32))
        return own

    def _unreported_in(self, own: Sequence[Ids]) -> list[Attribute]:
        found = []
        for place, (column, codes) in enumerate(zip(self._columns, own, strict=True)):
            if not column.is_multi_valued:
                used = set(np.unique(codes).tolist())
                texts = enumerate(column.unreported, start=column.absent + 1)
                found += [self._attribute(place, text) for code, text in texts if code in used]
        return found

    def _attribute(self, place: int, text: str) -> Attribute:
        header = self._aggregates.headers[self._columns[place].headers[0]]
        return Attribute(header, text, self._held.places[place])

    def _slots(self, column: _Column, records: Ids) -> Ids:
        if not column.is_multi_valued:
            return records[:, column.headers[:1]]
        if not column.ids:
            return np.zeros((len(records), 1), np.int32)
        codes = np.arange(len(column.ids), dtype=np.int32)
        return np.where(records[:, column.headers] == 0, codes, np.int32(column.absent))


def _impossible_cells(headers: Sequence[int], mask: npt.NDArray[np.bool_]) -> ImpossibleCells:
    order = np.argsort(headers)
    return ImpossibleCells(tuple(sorted(headers)), np.ascontiguousarray(np.transpose(mask, order)))


def _derived_codes(derivation: Derivation, other: _Column, own: _Column) -> npt.NDArray[np.int64]:
    codes = {text: code for code, text in enumerate(own.texts)}
    return np.array([codes[derivation.text(text)] for text in other.texts], np.int64)


#: Temperatures of the passes after longer sets have joined.
_WARM = (100.0, 50.0, 20.0, 10.0, 0.0)
#: The most longer sets that are joined, and the most cells of one.
_MOST_LONGER, _MOST_CELLS = 60, 20_000
#: Of more headers than these, the most frequent ones are fitted in pairs, the others each by itself.
_MOST_HEADERS = 200
_MARGIN_WEIGHT = 0.2

#: Sets of headers in, the counts of records in each of them out, in order.
CountedSets = Callable[[Sequence[ColumnNumbers]], Iterable[Integers]]


def draw_fitted_to_counts(
    aggregates: Aggregates,
    resolution: int,
    seed: int,
    *,
    held: HeldConstraints | None = None,
    number: int | None = None,
    threads: int = 0,
    progress: ShareDone = lambda share: None,
) -> SyntheticRecords:
    """Records fitted to reported counts; the same arguments give the same records on any machine.

    Args:
        aggregates: reported, rounded down to the resolution; length 1 at least.
        held: the constraints that every record holds; None: there are none.
        number: how many records; None: the reported number, or 0 where that is below 0.
    """
    wanted = number_to_draw(aggregates.number_of_records, number)
    tables = ReportedTables(aggregates, resolution, held)
    search = HeldRecords(tables.domain, tables.margins, wanted, seed, tables.variance, threads)
    tables.approach(search, wanted, progress)
    progress(1.0)
    return tables.published(search.records)


class ReportedTables:
    """Reported counts as tables over headers; each header's cells are its reported values, then `absent`.

    A true count is evenly up to k - 1 above the reported one.
    """

    def __init__(self, aggregates: Aggregates, resolution: int, held: HeldConstraints | None = None) -> None:
        self._aggregates = aggregates
        self._most_missing, self._mean_missing = resolution - 1, (resolution - 1) / 2
        self._deviation = max(0.5, resolution / 12**0.5)
        self.variance = self._deviation**2
        self.records = max(1.0, aggregates.number_of_records + self._mean_missing)
        self._header = header_places(aggregates.headers, aggregates.attributes).astype(np.int64)
        self._code = np.zeros(len(aggregates.attributes), np.int64)
        values: list[list[int]] = [[] for _ in aggregates.headers]
        for attribute, header in enumerate(self._header.tolist()):
            self._code[attribute] = len(values[header])
            values[header].append(attribute)
        self._values = values
        self._constrained = None if held is None else ConstrainedHeaders(held, aggregates, values)
        self.domain = Domain(
            tuple(len(codes) + 1 for codes in values),
            absent=tuple(len(codes) for codes in values),
            impossible=() if self._constrained is None else self._constrained.impossible(),
        )
        self.margins = [self._margin(header) for header in range(len(values))]

    def _margin(self, header: int) -> Floats:
        """Estimated counts of a header's values, and of records without one: what is left."""
        found = np.zeros(self.domain.sizes[header])
        if self._aggregates.counts:
            ids = self._aggregates.combinations[0][:, 0]
            mine = self._header[ids] == header
            found[self._code[ids[mine]]] = self._aggregates.counts[0][mine] + self._mean_missing
        given = found.sum()
        if given > self.records:
            found *= self.records / given
        found[-1] = max(0.0, self.records - found.sum())
        return found

    def approach(self, search: HeldRecords | ShardedSearch, number: int, report: ShareDone) -> None:
        """Bring so many records near to the tables: columns and pairs first, then longer sets."""
        scale = number / self.records
        targets = [*self.column_targets(scale), *self.pair_targets(scale)]
        search.run(targets, LONG_ANNEALING, lambda share: report(0.6 * share))
        longer = self.longer_targets(search.each_count, scale)
        if longer:
            search.run([*targets, *longer], _WARM, lambda share: report(0.6 + 0.4 * share))

    def column_targets(self, scale: float) -> list[Target]:
        """Exact where they can be: with a weight that grows with the number of columns."""
        weight = _MARGIN_WEIGHT * max(1, len(self.margins) - 1) / self._deviation
        return [Target((header,), margin * scale, weight) for header, margin in enumerate(self.margins)]

    def pair_targets(self, scale: float) -> list[Target]:
        """Of every two of the most frequent headers: cells as reported, or as independence has them."""
        weight = 1 / self.variance
        held = {header: float(margin[:-1].sum()) for header, margin in enumerate(self.margins)}
        kept = sorted(sorted(held, key=lambda header: -held[header])[:_MOST_HEADERS])
        reported = self._reported_by_columns(2)
        found = []
        for pair in combinations(kept, 2):
            one, other = pair
            implied = np.outer(self.margins[one], self.margins[other]) / self.records
            counts = self._fill_missing(implied, reported.get(pair))
            found.append(Target(pair, self._with_margins(counts, pair) * scale, weight))
        return found

    def longer_targets(self, counted: CountedSets, scale: float) -> list[Target]:
        """Reported sets of three and more headers that the records keep worst."""
        weight, scored = 1 / self.variance, []
        for length in range(3, min(4, self._aggregates.reporting_length) + 1):
            reported = {
                columns: cells
                for columns, cells in self._reported_by_columns(length).items()
                if np.prod([float(self.domain.sizes[header]) for header in columns]) <= _MOST_CELLS
            }
            for (columns, cells), counts in zip(reported.items(), counted(list(reported)), strict=True):
                held = counts / max(scale, 1e-9)
                target = self._fill_missing(held.astype(np.float64), cells)
                beyond = np.abs(target - held) - 2 * self._deviation
                score = float(np.maximum(beyond, 0).sum())
                if score > 0:
                    scored.append((score, Target(columns, target * scale, weight)))
        scored.sort(key=lambda each: (-each[0], each[1].columns))
        return [target for _, target in scored[:_MOST_LONGER]]

    def _reported_by_columns(self, length: int) -> dict[ColumnNumbers, tuple[Integers, Floats]]:
        """The reported cells of each set of headers: codes (n, length) and counts."""
        if self._aggregates.reporting_length < length:
            return {}
        ids = self._aggregates.combinations[length - 1]
        counts = self._aggregates.counts[length - 1].astype(np.float64) + self._mean_missing
        grouped = group_by_columns(self._header[ids], self._code[ids])
        return {headers: (codes, counts[rows]) for headers, codes, rows in grouped}

    def _fill_missing(self, implied: Floats, cells: tuple[Integers, Floats] | None) -> Floats:
        """Reported cells as reported, cells without absent values as implied but below the threshold."""
        found = implied.copy()
        values = tuple(slice(0, -1) for _ in implied.shape)
        found[values] = np.minimum(found[values], self._most_missing)
        if cells is not None:
            codes, counts = cells
            found[tuple(codes.T)] = counts
        return found

    def _with_margins(self, counts: Floats, pair: tuple[int, int]) -> Floats:
        one, other = (self.margins[header] for header in pair)
        counts = counts.copy()
        counts[:-1, -1] = np.maximum(one[:-1] - counts[:-1, :-1].sum(axis=1), 0)
        counts[-1, :-1] = np.maximum(other[:-1] - counts[:-1, :-1].sum(axis=0), 0)
        counts[-1, -1] = max(0.0, one[-1] - counts[-1, :-1].sum())
        return counts

    def unreported(self, records: Ids | None = None) -> list[Attribute]:
        """Attributes that no count reports and constraints bring into these records, or may into any."""
        if self._constrained is None:
            return []
        return (
            self._constrained.all_unreported() if records is None else self._constrained.unreported(records)
        )

    def published(self, records: Ids, unreported: Sequence[Attribute] | None = None) -> SyntheticRecords:
        """The records as sets of attributes, in published order.

        ``unreported`` stand behind the reported attributes; None: what these records need.
        """
        aggregates = self._aggregates
        if self._constrained is None:
            attributes, ids = aggregates.attributes, self._attributes_of(records)
        else:
            attributes, ids = self._constrained.published(records, unreported)
        held_cells = ids >= 0
        sizes = held_cells.sum(axis=1).astype(np.int32)
        return order_records(aggregates.headers, attributes, sizes, ids[held_cells])

    def _attributes_of(self, records: Ids) -> Ids:
        ids = np.full(records.shape, -1, np.int32)
        for header, held in enumerate(self._values):
            attribute_of = np.array([*held, -1], np.int32)
            ids[:, header] = attribute_of[records[:, header]]
        return ids


#: The share of the work that is the fit.
_FIT = 0.9


def write_fitted_to_counts(
    aggregates: Aggregates,
    resolution: int,
    seed: int,
    folder: Path,
    place: ShardPlace,
    *,
    held: HeldConstraints | None = None,
    number: int | None = None,
    threads: int = 1,
    progress: ShareDone = lambda share: None,
) -> None:
    """Write records fitted to reported counts; the same whoever works, in whatever order."""
    shards = record_shards(number_to_draw(aggregates.number_of_records, number), place.most, seed)
    if len(shards) == 1:
        draw_fitted_to_counts(
            aggregates, resolution, seed, held=held, number=number, threads=threads, progress=progress
        ).write(folder)
        return
    with place.store() as store:
        reported = partial(read_reported, store.put("aggregates", aggregates.write), resolution, held)
        parts = draw_fitted_to_counts_shards(
            reported, shards, store=store, workers=place.workers, threads=threads, progress=progress
        )
        join_shards(parts, folder)


def read_reported(
    aggregates: StoredPart, resolution: int, held: HeldConstraints | None = None
) -> ReportedTables:
    with aggregates.folder() as folder:
        return ReportedTables(read_aggregates(folder), resolution, held)


def draw_fitted_to_counts_shards(
    reported: Callable[[], ReportedTables],
    shards: Sequence[RecordShard],
    *,
    store: PartStore,
    workers: Workers,
    threads: int = 1,
    progress: ShareDone = lambda share: None,
) -> list[StoredPart]:
    """Fit shards of records together; records and what is counted in them stay in their shards.

    ``reported``: the tables, wherever it is called; can be sent.
    """
    tables, fit = reported(), store.below("fit")
    number = sum(shard.number_of_records for shard in shards)
    search = ShardedSearch(
        tables.domain, shards, tables.variance, store=fit, workers=workers, threads=threads
    )
    tables.approach(search, number, lambda share: progress(_FIT * share))
    possible = tables.unreported()
    found = workers.each("find values", partial(_unreported, reported), search.held) if possible else []
    # Attributes are those of all shards, so that all have the same.
    used = {attribute for attributes in found for attribute in attributes}
    unreported = [attribute for attribute in possible if attribute in used]
    parts = publish_shards(search.held, partial(_publish_shard, reported, unreported), store, workers)
    progress(1.0)
    return parts


def _unreported(reported: Callable[[], ReportedTables], part: StoredPart) -> list[Attribute]:
    return reported().unreported(read_shard_cells(part))


def _publish_shard(
    reported: Callable[[], ReportedTables], unreported: Sequence[Attribute], fitted: StoredPart
) -> Callable[[Path], None]:
    return reported().published(read_shard_cells(fitted), unreported).write
