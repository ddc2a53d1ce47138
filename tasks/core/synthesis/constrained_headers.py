"""A data contract's constraints over records of headers: fitted records that are made from reported counts.

Reported values of each header and the schema with its constraints go in. Out come the cells that the search
keeps records out of, and records that hold every constraint. The counts are those of the table as it is, and
stay so: what is mended here are synthetic records alone. A value that no count reports comes into them only
where the contract names it: as what follows from another column, or as what a record is repaired by.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.arrays import Ids
from tasks.core.errors import ParameterError
from tasks.core.fitting.noisy_tables import ImpossibleCells
from tasks.core.records.columns import Schema
from tasks.core.records.constraints import Derivation
from tasks.core.records.rulebook import MOST_CELLS_OF_A_MASK, Coding, Rulebook


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
        ids: of its reported values or items the attributes.
        texts: these, then absence, then declared values that no count reports.
    """

    headers: tuple[int, ...]
    ids: tuple[int, ...]
    texts: tuple[str, ...]
    is_multi_valued: bool

    @property
    def absent(self) -> int:
        """The code of absence."""
        return len(self.ids)

    @property
    def unreported(self) -> tuple[str, ...]:
        """Declared values that no count reports."""
        return self.texts[self.absent + 1 :]


class ConstrainedHeaders:
    """The constraints over the headers of some aggregates.

    A record has a cell of each header: a reported value, by its place in ``values``, or absence, the last.
    """

    def __init__(
        self, held: HeldConstraints, aggregates: Aggregates, values: Sequence[Sequence[int]]
    ) -> None:
        """Args: held: what holds. aggregates: reported. values: of each header its attributes, in order."""
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
                yield _cells([column.headers[0] for column in about], reported)
                continue
            (item,) = items
            for code, header in enumerate(about[item].headers):
                headers = [column.headers[0] for column in about]
                headers[item] = header
                holds = np.take(reported, [code], axis=item)
                yield _cells(headers, np.concatenate([holds, np.zeros_like(holds)], axis=item))

    def _by_derivations(self) -> Iterator[ImpossibleCells]:
        for found in self._held.schema.derivations:
            other, own = self._columns[found.decided_by], self._columns[found.column]
            if math.prod((other.absent + 1, own.absent + 1)) > MOST_CELLS_OF_A_MASK:
                continue
            codes = _follows(found, other, own)[: other.absent + 1]
            allowed = np.where(codes < own.absent, codes, own.absent)
            mask = np.arange(own.absent + 1)[None, :] != allowed[:, None]
            yield _cells([other.headers[0], own.headers[0]], mask)

    def published(
        self, records: Ids, unreported: Sequence[Attribute] | None = None
    ) -> tuple[tuple[Attribute, ...], Ids]:
        """Records that hold every constraint.

        Args:
            records: int32 (n, headers), cells.
            unreported: what stands behind the aggregates' attributes; None: what the records need.

        Returns:
            The aggregates' attributes and, behind them, those that only constraints brought in; and of each
            record the attribute under each header, int32 (n, headers), -1 for none.
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
        """The records' codes, column by column, those that others decide among them."""
        measured = self._columns[: len(self._held.schema.measured.columns)]
        slots = [self._slots(column, records) for column in measured]
        coded = np.concatenate(slots, axis=1) if slots else np.empty((len(records), 0), np.int32)
        coded = self._book.repaired(coded)
        own = [coded[:, places.start : places.stop] for places in self._coding.slots]
        for found in self._held.schema.derivations:
            column, other = self._columns[found.column], self._columns[found.decided_by]
            own.append(_follows(found, other, column)[own[found.decided_by]].astype(np.int32))
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


def _cells(headers: Sequence[int], mask: npt.NDArray[np.bool_]) -> ImpossibleCells:
    """Impossible cells of headers in any order."""
    order = np.argsort(headers)
    return ImpossibleCells(tuple(sorted(headers)), np.ascontiguousarray(np.transpose(mask, order)))


def _follows(derivation: Derivation, other: _Column, own: _Column) -> npt.NDArray[np.int64]:
    """For each code of the other column the code that follows."""
    codes = {text: code for code, text in enumerate(own.texts)}
    return np.array([codes[derivation.text(text)] for text in other.texts], np.int64)
