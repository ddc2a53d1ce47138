"""Constraints over codes: which records break one, and what these become (W22).

A schema with constraints and a coding of its columns go in. The same book serves raw records before anything
is counted and synthetic ones before they are written. Each record is repaired by itself, in the contract's
order of constraints: of those it breaks, the last column becomes its repair value, its declared `other` or
absent, whichever first breaks nothing that the column has part in; else all columns of the constraint become
absent; else the columns that hang together become what the public facts alone say is possible. Nobody is
dropped for a constraint, and how many were repaired is for ``sensitive/`` alone.

Values are ordered by the ends of what their text may stand for: a number, a bin, a date or a time.
"""

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from functools import cached_property

import numpy as np

from tasks.core.arrays import Codes, Flags, Ids, Integers
from tasks.core.errors import InternalError
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.constraints import Constraint, Derivation, OrderedScale, Ordering
from tasks.core.records.dropped import BROKE_A_CONSTRAINT, DroppedCells, ReportDropped

#: A year, or a year and a month, of ISO 8601.
_MONTH = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?", re.ASCII)
#: When it begins, in seconds: no calendar of Python's has it.
_YEAR_10000 = 253_402_300_800
#: A place on a scale: a number, and -1 or 1 where what ends there is just below or just above it.
End = tuple[float, int]
Ends = tuple[End, End]


def ends_of_values(column: Column, scale: OrderedScale) -> dict[str, Ends]:
    if column.bins is not None:
        ends = dict(zip(bin_labels(column.bins), _ends_of_bins(column.bins), strict=True))
        return {label: ends[label] for label in bin_labels(column.bins, column.minimum, column.maximum)}
    found = ((value, ends_of_text(value, column, scale)) for value in column.domain or ())
    return {value: ends for value, ends in found if ends is not None}


def ends_of_text(text: str, column: Column, scale: OrderedScale) -> Ends | None:
    """The ends of one text of a column without bins; None for a text that has none.

    A number or a moment has one place. A year or a month has two: where it begins, and just below the next.

    >>> ends_of_text("12.5", Column("weight"), "number"), ends_of_text("heavy", Column("weight"), "number")
    (((12.5, 0), (12.5, 0)), None)
    """
    text = text.replace("<colon>", ":").replace("<semicolon>", ";")
    if scale == "moment" and column.value_format is None and _MONTH.fullmatch(text):
        return _ends_of_months(text)
    try:
        at = _number(text, column) if scale == "number" else _moment(text, column.value_format, scale)
    except (ValueError, OverflowError):
        return None
    return ((at, 0), (at, 0)) if at == at else None  # NaN has no place


def _ends_of_months(text: str) -> Ends | None:
    if text.startswith("0000"):
        return None  # no calendar of Python's has it
    first = np.datetime64(text)
    begin, after = (float(at.astype("datetime64[s]").astype(np.int64)) for at in (first, first + 1))
    return (begin, 0), (after if after < _YEAR_10000 else float("inf"), -1)


def _ends_of_bins(edges: tuple[float, ...]) -> list[Ends]:
    """Bins are closed below and open above; the last inner one is closed, and those at the ends are open.

    label     <0            [0,18)        [18,65]      >65
    from      (-inf, 0)     (0, 0)        (18, 0)      (65, 1): just above 65
    to        (0, -1)       (18, -1)      (65, 0)      (inf, 0)
    """
    inner: list[Ends] = [((low, 0), (high, -1)) for low, high in itertools.pairwise(edges)]
    inner[-1] = (inner[-1][0], (edges[-1], 0))
    below: Ends = ((float("-inf"), 0), (edges[0], -1))
    return [below, *inner, ((edges[-1], 1), (float("inf"), 0))]


def _number(text: str, column: Column) -> float:
    plain = column.number_format.plain_text(text)
    return float("nan") if plain is None else float(plain)


def _moment(text: str, value_format: str | None, scale: OrderedScale) -> float:
    """Seconds since 1970, or since midnight."""
    if value_format is not None:
        read = datetime.strptime(text, value_format)
        at = read.time() if scale == "time" else read
    else:
        at = time.fromisoformat(text) if scale == "time" else datetime.fromisoformat(text)
    if isinstance(at, time):
        return at.hour * 3600.0 + at.minute * 60 + at.second + at.microsecond * 1e-6
    return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp()


#: What each column of a record holds: codes, none where it is absent.
CodedRow = dict[int, tuple[int, ...]]

#: Of a table that the search of a fit can keep records out of.
MOST_COLUMNS_OF_A_MASK, MOST_CELLS_OF_A_MASK = 16, 2_000_000

_LOWEST, _HIGHEST = (float("-inf"), -1), (float("inf"), 1)


@dataclass(frozen=True)
class Coding:
    """What the codes of a schema's measured columns stand for.

    Attributes:
        texts: for each column and code the texts that it may stand for; several where that is not settled
            yet. A code breaks a constraint only if all its texts do. The empty text is absence.
        absent: for each column the code of absence, also of an empty slot.
    """

    texts: tuple[tuple[tuple[str, ...], ...], ...]
    absent: tuple[int, ...]
    slots: tuple[range, ...]


def coding_of_values(
    values: Sequence[Sequence[str]], slot_columns: Sequence[int], filled: Mapping[int, str] | None = None
) -> Coding:
    """Of coded records: 0 is absent, code c stands for ``values[column][c - 1]``.

    Columns that are ``filled`` have a value where a cell is empty.
    """
    instead = filled or {}
    return Coding(
        tuple(
            ((instead.get(column, ""),), *((value,) for value in of_column))
            for column, of_column in enumerate(values)
        ),
        (0,) * len(values),
        slot_ranges(slot_columns, len(values)),
    )


def slot_ranges(slot_columns: Sequence[int], number: int) -> tuple[range, ...]:
    """For each column the slots it has; ``slot_columns`` is ascending."""
    starts = np.searchsorted(np.asarray(slot_columns, np.int64), np.arange(number + 1))
    return tuple(range(int(low), int(high)) for low, high in itertools.pairwise(starts))


@dataclass(frozen=True)
class CodeRule:
    """One constraint over codes.

    Attributes:
        columns: measured columns, each once, the one to repair last.
        instead: codes that the last column may become, the first that does first.
        breaks: for a code of each column, given as arrays that broadcast, whether they break the constraint.
            A code behind a column's last one, which stands for no item, never does.
    """

    columns: tuple[int, ...]
    instead: tuple[int, ...]
    breaks: Callable[[Sequence[Integers]], Flags]


class Rulebook:
    """All constraints of a schema but derivations, over one coding: of the schema's measured columns."""

    def __init__(self, schema: Schema, coding: Coding) -> None:
        self._schema = schema
        self._coding = coding
        self._bases = {found.column: found for found in schema.derivations}
        self.rules = tuple(itertools.chain.from_iterable(map(self._rules_of, schema.constraints)))

    def broken(self, slots: Ids) -> Flags:
        """Which records break a constraint. Args: slots: (n, slots), codes."""
        found = np.zeros(len(slots), np.bool_)
        for rule in self.rules:
            held = [list(self._codes_in_column(column, slots)) for column in rule.columns]
            for codes in itertools.product(*held):
                found |= rule.breaks(codes)
        return found

    def repaired(self, slots: Ids) -> Ids:
        """The same records, those that break a constraint repaired; the same array where none does."""
        rows = np.flatnonzero(self.broken(slots))
        if not len(rows):
            return slots
        involved = [slot for column in self._involved for slot in self._coding.slots[column]]
        kinds, kind = np.unique(slots[rows][:, involved], axis=0, return_inverse=True)
        mended = np.array([self._mend_row(one, involved) for one in kinds], slots.dtype)
        result = slots.copy()
        result[rows[:, None], involved] = mended[kind.ravel()]
        return result

    def masks(self) -> Iterator[tuple[tuple[int, ...], Flags]]:
        """For each constraint its columns, ascending, and which cells of their table break it.

        Those whose table is too large for a search are left to `repaired`.
        """
        for rule in self.rules:
            sizes = [len(self._coding.texts[column]) for column in rule.columns]
            if len(sizes) > MOST_COLUMNS_OF_A_MASK or math.prod(sizes) > MOST_CELLS_OF_A_MASK:
                continue
            places = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij", sparse=True)
            broken = np.broadcast_to(rule.breaks(places), sizes)
            order = np.argsort(rule.columns)
            yield tuple(sorted(rule.columns)), np.transpose(broken, order)

    def is_possible(self, column: int, code: int) -> bool:
        """Whether some record can hold this code; open columns may hold any of theirs in it."""
        together = next((group for group in self._groups if column in group), (column,))
        row: CodedRow = {column: ((code,) if code != self._coding.absent[column] else ())}
        return self._extend_row(together, row, self._all_choices)

    @cached_property
    def resorts(self) -> dict[int, CodedRow] | None:
        """For each column what all that hang together with it may always be; None if nothing can be."""
        found: dict[int, CodedRow] = {}
        for group in self._groups:
            row: CodedRow = {}
            if not self._extend_row(group, row, self._public_choices):
                return None
            found |= dict.fromkeys(group, row)
        return found

    @cached_property
    def _involved(self) -> tuple[int, ...]:
        return tuple(sorted({column for rule in self.rules for column in rule.columns}))

    @cached_property
    def _groups(self) -> list[tuple[int, ...]]:
        groups: list[set[int]] = []
        for rule in self.rules:
            joined = {*rule.columns}.union(*(group for group in groups if group & {*rule.columns}))
            groups = [group for group in groups if not group & joined] + [joined]
        return [tuple(sorted(group)) for group in groups]

    def _extend_row(
        self, group: Sequence[int], row: CodedRow, choices: Callable[[int], Iterator[tuple[int, ...]]]
    ) -> bool:
        """Extend a row over a group of columns so that nothing is broken, in place; False if none can be."""
        left = [column for column in group if column not in row]
        ready = [rule for rule in self.rules if all(column in row for column in rule.columns)]
        if any(self._is_broken(rule, row) for rule in ready):
            return False
        if not left:
            return True
        column = left[0]
        for codes in choices(column):  # one after the other, and back where nothing fits the rest
            row[column] = codes
            if self._extend_row(group, row, choices):
                return True
            for later in left:
                row.pop(later, None)
        return False

    def _public_choices(self, column: int) -> Iterator[tuple[int, ...]]:
        return iter([()]) if self._schema.columns[column].is_open else self._all_choices(column)

    def _all_choices(self, column: int) -> Iterator[tuple[int, ...]]:
        yield ()
        absent = self._coding.absent[column]
        yield from ((code,) for code in range(len(self._coding.texts[column])) if code != absent)

    def _codes_in_column(self, column: int, slots: Ids) -> Iterator[Integers]:
        """The codes that records hold in a column, slot by slot; an empty one beside others is no code."""
        places, absent = self._coding.slots[column], self._coding.absent[column]
        if len(places) == 1:
            yield slots[:, places[0]].astype(np.int64)
            return
        codes = slots[:, places.start : places.stop].astype(np.int64)
        is_empty = (codes == absent).all(axis=1)
        for place in range(codes.shape[1]):
            # The code behind the last one is of no item and breaks nothing; a record without any item has
            # absence once, in its first slot.
            counts = (codes[:, place] != absent) | (is_empty & (place == 0))
            yield np.where(counts, codes[:, place], len(self._coding.texts[column]))

    def _mend_row(self, codes: Ids, involved: Sequence[int]) -> list[int]:
        at = dict(zip(involved, codes.tolist(), strict=True))
        row: CodedRow = {}
        for column in self._involved:
            absent = self._coding.absent[column]
            row[column] = tuple(at[slot] for slot in self._coding.slots[column] if at[slot] != absent)
        for rule in self.rules:
            if self._is_broken(rule, row):
                self._mend_rule(rule, row)
        for column in self._involved:
            slots, absent = self._coding.slots[column], self._coding.absent[column]
            at |= itertools.zip_longest(slots, sorted(row[column]), fillvalue=absent)
        return [at[slot] for slot in involved]

    def _mend_rule(self, rule: CodeRule, row: CodedRow) -> None:
        """Change a row that breaks a rule so that it keeps it and breaks none that it kept."""
        last = rule.columns[-1]
        for codes in self._repair_choices(rule, row):
            changed = row | {last: codes}
            if not self._any_broken(changed, (last,)):
                row.update(changed)
                return
        changed = row | dict.fromkeys(rule.columns, ())
        if self._any_broken(changed, rule.columns):
            if self.resorts is None:
                raise InternalError("Constraints that leave no record must be refused before any is read.")
            changed = row | self.resorts[last]
        row.update(changed)

    def _repair_choices(self, rule: CodeRule, row: CodedRow) -> Iterator[tuple[int, ...]]:
        """What the last column may become: of several items those that break nothing are kept."""
        last = rule.columns[-1]
        if len(self._coding.slots[last]) > 1:
            kept = tuple(item for item in row[last] if not self._is_broken(rule, row | {last: (item,)}))
            yield kept
        yield from ((code,) for code in rule.instead)
        yield ()

    def _any_broken(self, row: CodedRow, columns: Sequence[int]) -> bool:
        return any(
            self._is_broken(rule, row) for rule in self.rules if not {*columns}.isdisjoint(rule.columns)
        )

    def _is_broken(self, rule: CodeRule, row: CodedRow) -> bool:
        held = [row[column] or (self._coding.absent[column],) for column in rule.columns]
        choices = itertools.product(*held)
        return any(bool(rule.breaks([np.array(code) for code in codes])) for codes in choices)

    def _rules_of(self, constraint: Constraint) -> Iterator[CodeRule]:
        if isinstance(constraint, Ordering):
            yield self._ordering(constraint)
        elif not isinstance(constraint, Derivation):
            for part in constraint.combinations:
                conditions = [(entry.column, entry.holds) for entry in part.conditions]
                yield self._combination(conditions, part.conditions[-1].column, part.repair)

    def _combination(
        self, conditions: Sequence[tuple[int, Callable[[str], bool]]], last: int, repair: str | None
    ) -> CodeRule:
        """A rule that conditions on texts of columns make; several of one measured column are one."""
        matches: dict[int, Flags] = {}
        for column, holds in conditions:
            base = self._base(column)
            found = [
                all(holds(self._text(column, text)) for text in texts) for texts in self._coding.texts[base]
            ]
            known = matches.pop(base, np.ones(len(found) + 1, np.bool_))
            matches[base] = known & np.array([*found, False])
        columns = (*(column for column in matches if column != self._base(last)), self._base(last))
        arrays = [matches[column] for column in columns]

        def breaks(codes: Sequence[Integers]) -> Flags:
            broken = arrays[0][codes[0]]
            for array, of_column in zip(arrays[1:], codes[1:], strict=True):
                broken = broken & array[of_column]
            return np.asarray(broken)

        return CodeRule(columns, self._repair_codes(last, repair), breaks)

    def _ordering(self, ordering: Ordering) -> CodeRule:
        """A rule on the lowest that one value may stand for against the highest of the other."""
        lower, higher = ordering.columns
        ends = {column: self._ends(column, ordering) for column in ordering.columns}
        if self._base(lower) == self._base(higher):

            def is_wrong(text: str) -> bool:
                low, high = (ends[column](self._text(column, text)) for column in (lower, higher))
                return low[0] > high[1]

            return self._combination([(self._base(lower), is_wrong)], self._base(lower), None)
        low = [min(end[0] for end in ends) for ends in self._ends_of_codes(lower, ends[lower])]
        high = [max(end[1] for end in ends) for ends in self._ends_of_codes(higher, ends[higher])]
        ranks = {end: rank for rank, end in enumerate(sorted({*low, *high}))}
        lows, highs = np.array([ranks[end] for end in low]), np.array([ranks[end] for end in high])
        turned = ordering.later == lower

        def breaks(codes: Sequence[Integers]) -> Flags:
            one, other = reversed(codes) if turned else codes
            return np.asarray(lows[one] > highs[other])

        columns = (self._base(lower), self._base(higher))
        return CodeRule(
            columns[::-1] if turned else columns, self._repair_codes(ordering.later, ordering.repair), breaks
        )

    def _ends(self, column: int, ordering: Ordering) -> Callable[[str], Ends]:
        about = self._schema.columns[column]
        known = ends_of_values(about, ordering.scale)
        unknown: Ends = (_LOWEST, _HIGHEST)

        def of(text: str) -> Ends:
            found = known.get(text)
            if found is None and about.is_open:
                found = ends_of_text(text, about, ordering.scale)
            if found is None:
                return unknown
            low, high = found
            return ((low[0], 1), (high[0], 0)) if ordering.strict else (low, high)

        return of

    def _ends_of_codes(self, column: int, ends: Callable[[str], Ends]) -> Iterator[list[Ends]]:
        for texts in self._coding.texts[self._base(column)]:
            yield [ends(self._text(column, text)) for text in texts]

    def _base(self, column: int) -> int:
        """The measured column that decides one; itself where it is measured."""
        while column in self._bases:
            column = self._bases[column].decided_by
        return column

    def _text(self, column: int, of_base: str) -> str:
        derivation = self._bases.get(column)
        if derivation is None:
            return of_base
        return derivation.text(self._text(derivation.decided_by, of_base))

    def _repair_codes(self, column: int, repair: str | None) -> tuple[int, ...]:
        """Codes of the repair value and of `other`; none for a column that another one decides."""
        if column in self._bases:
            return ()
        about: Column = self._schema.columns[column]
        codes = {texts[0]: code for code, texts in enumerate(self._coding.texts[column]) if len(texts) == 1}
        return tuple(codes[text] for text in (repair, about.other) if text is not None and text in codes)


def repair_records(
    records: CodedRecords,
    schema: Schema,
    report_dropped: ReportDropped | None = None,
    filled: Collection[int] = (),
) -> CodedRecords:
    """Repair records and add the columns that others decide.

    Columns that are ``filled`` have a value where a cell is empty, as the draw counts them.
    """
    if not schema.constraints:
        return records
    instead = {column: schema.columns[column].other or "" for column in filled}
    book = Rulebook(schema, coding_of_values(records.values, records.slot_columns, instead))
    held = np.array(records.slots, np.int32).reshape(len(records.slots), records.number_of_records).T
    repaired = book.repaired(held)
    if report_dropped is not None:
        _report_repairs(records, held, repaired, report_dropped)
    return _with_derived_columns(_replace_slots(records, repaired), schema, instead)


def _report_repairs(records: CodedRecords, held: Ids, repaired: Ids, report_dropped: ReportDropped) -> None:
    places = np.asarray(records.slot_columns)
    for column, about in enumerate(records.schema.columns):
        before, after = held[:, places == column], repaired[:, places == column]
        gone = (before[:, :, None] != after[:, None, :]).all(axis=2) & (before != 0)
        if gone.any():
            report_dropped(DroppedCells(about.name, BROKE_A_CONSTRAINT, int(gone.sum())))


def _replace_slots(records: CodedRecords, slots: Ids) -> CodedRecords:
    """The records with codes in slots: items ascend and fill the first ones."""
    places = np.asarray(records.slot_columns)
    found: list[Codes] = []
    for column, values in enumerate(records.values):
        codes = slots[:, places == column]
        if codes.shape[1] > 1:
            codes = np.sort(np.where(codes == 0, np.int32(len(values) + 1), codes), axis=1)
            codes[codes > len(values)] = 0
        found.extend(np.ascontiguousarray(codes.T, code_type(len(values))))
    return replace(records, slots=tuple(found))


def _with_derived_columns(records: CodedRecords, schema: Schema, instead: Mapping[int, str]) -> CodedRecords:
    slots, values, slot_columns = list(records.slots), list(records.values), list(records.slot_columns)
    for derivation in schema.derivations:
        domain = schema.columns[derivation.column].domain or ()
        texts = (instead.get(derivation.decided_by, ""), *values[derivation.decided_by])
        known = {value: code for code, value in enumerate(domain, start=1)}
        table = np.array([known.get(derivation.text(text), 0) for text in texts], code_type(len(domain)))
        slots.append(table[slots[slot_columns.index(derivation.decided_by)]])
        slot_columns.append(derivation.column)
        values.append(domain)
    return replace(
        records, schema=schema, slots=tuple(slots), slot_columns=tuple(slot_columns), values=tuple(values)
    )
