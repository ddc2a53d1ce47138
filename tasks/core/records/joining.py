"""Rows to records: coded rows go in, `CodedRecords` come out, multi-valued cells capped.

All rows of a record must be here, and of a table without subject ids all rows of equal content: those of a
whole table, or those of one partition by a hash of either.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tasks.core.arrays import Codes, Words
from tasks.core.records.coded import CodedRecords
from tasks.core.records.coded_rows import CodedColumn, CodedRows, SingleCells
from tasks.core.records.columns import Column, Schema
from tasks.core.records.dropped import (
    ANOTHER_VALUE,
    BEYOND_THE_CAP,
    NO_SUBJECT,
    DroppedCells,
    ReportDropped,
    dropped_by_reason,
)
from tasks.core.records.keyed_choices import KeyedChoices
from tasks.core.records.multi_values import ItemCells
from tasks.core.records.subjects import (
    Records,
    count_other_values,
    join_cells,
    join_column,
    one_per_row,
    one_per_subject,
    row_hashes,
)


@dataclass(frozen=True)
class Joining:
    """How rows are joined.

    Attributes:
        schema: of the measured columns.
        choices: the keyed hashes.
        total: see `EncodingOptions`.
        tags: whether each record has a tag.
        positions: of the columns in the file, from 0.
        row_number: what the operator is told of a row, by its number in ``CodedRows``.
    """

    schema: Schema
    choices: KeyedChoices = field(repr=False)
    total: bool
    tags: bool
    positions: tuple[int, ...]
    row_number: Callable[[int], str]

    @property
    def chooses_by_content(self) -> bool:
        """Whether a record without a subject may need its content's hash: of which something is chosen."""
        caps = any(column.is_multi_valued and column.max_items for column in self.schema.columns)
        return self.schema.subject_id is None and (self.tags or caps)


def joined_records(
    rows: CodedRows, how: Joining, report_dropped: ReportDropped | None = None
) -> CodedRecords:
    """Join rows by subject; records are in the rows' order of first occurrence.

    Open columns keep all values that a row holds (see `with_held_values`).

    Raises:
        InputError: a row without id, where joining is not total.
    """
    return _Joiner(rows, how, report_dropped).run()


def contents_of(rows: CodedRows, schema: Schema, choices: KeyedChoices) -> Iterator[tuple[Codes, Words]]:
    """Each column's part of the rows' content, for `KeyedChoices.of_contents`."""
    for column, coded in zip(schema.columns, rows.columns, strict=True):
        yield _content(column, coded, choices)


def _content(column: Column, coded: CodedColumn, choices: KeyedChoices) -> tuple[Codes, Words]:
    """A column's part of a row's content: all of a cell's items, before any cap."""
    if isinstance(coded, SingleCells):
        return coded.codes, choices.of_codes(f"value {column.name}", coded.values)
    texts = ["\0".join(coded.values[code - 1] for code in items) for items in coded.sets()]
    return coded.cells, choices.of_texts(f"items {column.name}", texts)


class _Joiner:
    """One set of rows."""

    def __init__(self, rows: CodedRows, how: Joining, report_dropped: ReportDropped | None) -> None:
        self._rows, self._how, self._report_dropped = rows, how, report_dropped

    def run(self) -> CodedRecords:
        """The records."""
        schema = self._how.schema
        records = self._records()
        without_subject = self._rows.number_of_rows - len(records.rows)
        self._drop(DroppedCells(schema.subject_id or "", NO_SUBJECT, without_subject))
        joined = self._joined(records)
        tags = None
        if self._how.tags:
            zeros = np.zeros(records.number, np.uint64)
            tags = self._how.choices.of_pairs("tag", records.identities, zeros)
        slots = tuple(codes for of_column in joined for codes in of_column)
        slot_columns = tuple(index for index, of_column in enumerate(joined) for _ in of_column)
        values = tuple(coded.values for coded in self._rows.columns)
        return CodedRecords(schema, slots, slot_columns, values, records.number, tags)

    def _drop(self, found: DroppedCells) -> None:
        """Tell of cells that are not counted, where there are any."""
        if found.number and self._report_dropped is not None:
            self._report_dropped(found)

    def _records(self) -> Records:
        """Which rows make which record, and their identities where something may be chosen."""
        rows, how = self._rows, self._how
        if rows.ids is not None:
            return one_per_subject(rows.ids, how.choices, total=how.total, row_number=how.row_number)
        needed = how.tags or any(
            isinstance(coded, ItemCells) and 0 < column.max_items < np.diff(coded.starts).max(initial=0)
            for column, coded in zip(how.schema.columns, rows.columns, strict=True)
        )
        identities = np.zeros(rows.number_of_rows, dtype=np.uint64)
        if needed:
            identities = how.choices.of_contents(list(self._contents()), rows.number_of_rows)
        return one_per_row(rows.number_of_rows, identities)

    def _contents(self) -> Iterator[tuple[Codes, Words]]:
        return contents_of(self._rows, self._how.schema, self._how.choices)

    def _joined(self, records: Records) -> list[list[Codes]]:
        """For each column its slots, record by record."""
        joined: list[list[Codes]] = []
        choices, columns = self._how.choices, self._how.schema.columns
        hashes = row_hashes(records, self._contents(), choices)
        for column, coded in zip(columns, self._rows.columns, strict=True):
            for found in dropped_by_reason(column.name, coded.dropped):
                self._drop(found)
            if isinstance(coded, ItemCells):
                words = choices.words(f"choice {column.name}")
                of_item = choices.of_codes(f"value {column.name}", coded.values)
                slots, beyond = join_cells(records, coded, column.max_items, of_item, words)
                self._drop(DroppedCells(column.name, BEYOND_THE_CAP, beyond))
            else:
                codes, conflict = join_column(records, coded.codes, hashes)
                slots = [codes]
                if conflict:
                    others = count_other_values(records, coded.codes, codes)
                    self._drop(DroppedCells(column.name, ANOTHER_VALUE, others))
            joined.append(slots)
        return joined
