"""Rows to records, one for each subject (S1.5, its faults mended): `CodedRows` in, `CodedRecords` out.

All rows of a record must be here, and of a table without subject ids all rows of equal content. Under
differential privacy joining is total (R2 and R13): a row without id is dropped, the row with the smallest
keyed hash stands for its subject, and of too many items those with the smallest are kept. The row stands as
a whole, so that what holds between the cells of every row holds in the record; only where its cell is empty
does that of the next row stand, by the same hashes. Otherwise a missing id and a conflict are errors, and
nothing is capped but what was declared to be.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Codes, Integers, Words
from tasks.core.errors import InputError
from tasks.core.records.cells import CodedRows, ItemCells, RawColumn, SingleCells
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Schema
from tasks.core.records.dropped import (
    ANOTHER_VALUE,
    BEYOND_THE_CAP,
    NO_SUBJECT,
    DroppedCells,
    ReportDropped,
    dropped_by_reason,
)
from tasks.core.records.kernels import join_items, join_values, largest_union
from tasks.core.records.keyed_choices import KeyedChoices

#: What `str.strip` takes off ASCII text.
_ASCII_SPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f "


@dataclass(frozen=True)
class Records:
    """Which rows make which record.

        row      0    1    2    3          rows    0 2 | 1 | 3
        subject  Ana  Ben  Ana  Eve        starts  0, 2, 3, 4: Ana's record is rows[0:2]

    Attributes:
        rows: row numbers, record after record, in file order within one; a dropped row is missing.
        starts: record i is ``rows[starts[i] : starts[i + 1]]``.
        identities: for each record its subject's hash, or its content's (`KeyedChoices.of_contents`);
            zeros where nothing is to be chosen.
    """

    rows: Integers
    starts: Integers
    identities: Words

    @property
    def number(self) -> int:
        return len(self.starts) - 1

    @property
    def are_single_rows(self) -> bool:
        return self.number == len(self.rows)


def group_by_subject(
    ids: RawColumn, choices: KeyedChoices, *, total: bool, row_number: Callable[[int], str]
) -> Records:
    """Group rows by subject; ids are compared after trimming and lowercasing.

    Raises: InputError: a row has no id, unless total.
    """
    texts = normalised_ids(ids.cells)
    encoded = texts.dictionary_encode()
    numbers = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
    subjects = ids.coded(numbers.astype(np.uint32), len(encoded.dictionary))
    missing = np.flatnonzero(subjects == 0)
    if len(missing) and not total:
        raise InputError(
            "Every row must have a subject id, but at least one has none: repair the file, or "
            "leave subject_id out.",
            operator_detail=row_number(int(missing[0])),
        )
    kept = np.flatnonzero(subjects)
    records = pa.array(subjects[kept]).dictionary_encode()  # in the order of their first rows
    numbers, of_record = records.indices.to_numpy(), records.dictionary.to_numpy().astype(np.int64)
    rows = kept[np.argsort(numbers, kind="stable")]
    starts = np.append(0, np.cumsum(np.bincount(numbers, minlength=len(of_record))))
    return Records(rows, starts, choices.of_texts("subject", encoded.dictionary)[of_record - 1])


def normalised_ids(cells: pa.Array) -> pa.Array:
    """Ids trimmed and lowercased; null where nothing is left."""
    if pc.all(pc.string_is_ascii(cells)).as_py() is not False:
        texts = pc.ascii_lower(pc.ascii_trim(cells, characters=_ASCII_SPACE))
    else:
        lowered = [None if cell is None else cell.strip().lower() for cell in cells.to_pylist()]
        texts = pa.array(lowered, pa.large_string())
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)


def row_hashes(records: Records, contents: Iterable[tuple[Codes, Words]], choices: KeyedChoices) -> Words:
    """For each place of ``records.rows`` its row's hash: the smallest of a record is the row that stands.

    Only rows that share their record are hashed; of others it is 0, and without such rows there is nothing.
    """
    if records.are_single_rows:
        return np.zeros(0, dtype=np.uint64)
    sizes = np.diff(records.starts)
    shared = np.flatnonzero(np.repeat(sizes > 1, sizes))
    rows = records.rows[shared]
    result = np.zeros(len(records.rows), dtype=np.uint64)
    result[shared] = choices.of_rows(
        ((codes[rows], of_code) for codes, of_code in contents), np.repeat(records.identities, sizes)[shared]
    )
    return result


def join_cells(
    records: Records, cells: ItemCells, cap: int, of_item: Words, words: tuple[np.uint64, np.uint64]
) -> tuple[list[Codes], int]:
    """The slots of a multi-valued column: a record's distinct items, at most `cap`; how many are beyond it.

    Without a cap (0) there are as many slots as the fullest record fills, at least one.
    """
    rows_of = (records.rows, records.starts, cells.cells, cells.starts, cells.items)
    width = cap or max(1, largest_union(*rows_of))
    slots = np.zeros((width, records.number), dtype=code_type(len(cells.values)))
    beyond = join_items(*rows_of, records.identities, of_item, *words, slots)
    return list(slots), int(beyond)


@dataclass(frozen=True)
class Joining:
    """How rows are joined.

    Attributes:
        total: see `EncodingOptions`.
        row_number: what the operator is told of a row, by its number in ``CodedRows``.
    """

    schema: Schema
    choices: KeyedChoices = field(repr=False)
    total: bool
    tags: bool
    positions: tuple[int, ...]
    subject: int | None
    row_number: Callable[[int], str]

    @property
    def wanted(self) -> list[int]:
        return [*self.positions, *([] if self.subject is None else [self.subject])]

    @property
    def chooses_by_content(self) -> bool:
        """Whether a record without a subject may need its content's hash: of which something is chosen."""
        caps = any(column.is_multi_valued and column.max_items for column in self.schema.columns)
        return self.schema.subject_id is None and (self.tags or caps)


def join_records(
    rows: CodedRows, joining: Joining, report_dropped: ReportDropped | None = None
) -> CodedRecords:
    """Join rows by subject; records are in the rows' order of first occurrence.

    Open columns keep all values that a row holds (see `with_held_values`). Raises as `group_by_subject` does.
    """
    schema, choices = joining.schema, joining.choices

    def drop(found: DroppedCells) -> None:
        if found.number and report_dropped is not None:
            report_dropped(found)

    records = _group_rows(rows, joining)
    drop(DroppedCells(schema.subject_id or "", NO_SUBJECT, rows.number_of_rows - len(records.rows)))
    hashes = row_hashes(records, contents_of(rows, schema, choices), choices)
    slots: list[Codes] = []
    slot_columns: list[int] = []
    for index, (column, coded) in enumerate(zip(schema.columns, rows.columns, strict=True)):
        for found in dropped_by_reason(column.name, coded.dropped):
            drop(found)
        if isinstance(coded, ItemCells):
            words = choices.words(f"choice {column.name}")
            of_item = choices.of_codes(f"value {column.name}", coded.values)
            own, beyond = join_cells(records, coded, column.max_items, of_item, words)
            drop(DroppedCells(column.name, BEYOND_THE_CAP, beyond))
        else:
            codes, conflict = coded.codes, False
            if not records.are_single_rows:
                codes, conflict = join_values(records.rows, records.starts, codes, hashes)
            elif len(records.rows) < len(codes):
                codes = codes[records.rows]
            own = [codes]
            if conflict:
                held, stands = coded.codes[records.rows], np.repeat(codes, np.diff(records.starts))
                others = int(((held != 0) & (held != stands)).sum())
                drop(DroppedCells(column.name, ANOTHER_VALUE, others))
        slots += own
        slot_columns += [index] * len(own)
    tags = None
    if joining.tags:
        tags = choices.of_pairs("tag", records.identities, np.zeros(records.number, np.uint64))
    values = tuple(coded.values for coded in rows.columns)
    return CodedRecords(schema, tuple(slots), tuple(slot_columns), values, records.number, tags)


def _group_rows(rows: CodedRows, joining: Joining) -> Records:
    choices, number = joining.choices, rows.number_of_rows
    if rows.ids is not None:
        return group_by_subject(rows.ids, choices, total=joining.total, row_number=joining.row_number)
    is_chosen = joining.tags or any(
        isinstance(coded, ItemCells) and 0 < column.max_items < np.diff(coded.starts).max(initial=0)
        for column, coded in zip(joining.schema.columns, rows.columns, strict=True)
    )
    identities = np.zeros(number, dtype=np.uint64)
    if is_chosen:
        identities = choices.of_contents(list(contents_of(rows, joining.schema, choices)), number)
    return Records(np.arange(number), np.arange(number + 1), identities)


def contents_of(rows: CodedRows, schema: Schema, choices: KeyedChoices) -> Iterator[tuple[Codes, Words]]:
    """Each column's part of the rows' contents: all of a cell's items, before any cap."""
    for column, coded in zip(schema.columns, rows.columns, strict=True):
        if isinstance(coded, SingleCells):
            yield coded.codes, choices.of_codes(f"value {column.name}", coded.values)
        else:
            texts = ["\0".join(coded.values[code - 1] for code in items) for items in coded.sets()]
            yield coded.cells, choices.of_texts(f"items {column.name}", texts)
