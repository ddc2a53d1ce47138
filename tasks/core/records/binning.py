"""Distinct cells of a column to codes of its values.

Distinct raw texts and the column's public description go in; a code for each text and the column's
values come out. Total: any text has a code, perhaps 0 (absent), and no text changes another's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Bytes, Floats, HalfWords
from tasks.core.records.cells import numbers_of_texts
from tasks.core.records.columns import Column
from tasks.core.records.dropped import FORBIDDEN_PATTERN, IDENTIFIER, NOT_A_DATE, NOT_A_NUMBER, OUTSIDE
from tasks.core.records.identifiers import IDENTIFIER_PATTERNS
from tasks.core.tables.column_names import output_spelling


@dataclass(frozen=True)
class CodedTexts:
    """What distinct texts stand for.

    Attributes:
        values: the text of codes 1, 2, ...
        codes: for each of the texts its code, 0 = absent.
        reasons: for each of the texts why it is absent, a place in `dropped.REASONS`; 0: it is not, or was
            empty, or a 0 that means absence.
    """

    values: tuple[str, ...]
    codes: HalfWords
    reasons: Bytes


def code_texts(
    texts: Sequence[str | None], column: Column, connection: duckdb.DuckDBPyConnection
) -> CodedTexts:
    """Read distinct texts as declared, normalise them (sds.md 1.3) and code them.

    Declared values are coded in declared order; a text outside the domain becomes `other`'s code, or
    absent. Open values are those of `texts`, in code-point order.

    >>> texts = ["male", " female ", "n/a", ""]
    >>> code_texts(texts, Column("sex", domain=("female", "male")), duckdb.connect()).codes.tolist()
    [2, 1, 0, 0]
    """
    read = column.reading.read(connection, texts)
    held = [present(text, column) for text in read.texts]
    rules = _rules_against(held, column.forbidden)
    values = ["" if rule else value for value, rule in zip(held, rules.tolist(), strict=True)]
    if column.bins is not None:
        numbers = numbers_of_texts(connection, values, column.number_format)
        domain, codes = _binned(values, numbers, column)
        not_listed = np.where(np.isnan(numbers), NOT_A_NUMBER, OUTSIDE)
    else:
        domain, codes = _listed(values, column)
        not_listed = np.full(len(texts), OUTSIDE)
    reasons = np.zeros(len(texts), np.uint8)
    is_lost = (codes == 0) & np.array([value != "" for value in held], dtype=np.bool_)
    if is_lost.any():
        reasons[is_lost] = np.where(rules, rules, not_listed)[is_lost]
    reasons[read.unread & (codes == 0)] = NOT_A_DATE
    return CodedTexts(domain, codes, reasons)


def _listed(values: list[str], column: Column) -> tuple[tuple[str, ...], HalfWords]:
    """The values of a column without bins, and a code for each text."""
    domain = (
        column.domain if column.domain is not None else tuple(sorted({value for value in values if value}))
    )
    code_of = {value: code for code, value in enumerate(domain, start=1)}
    outside = code_of.get(column.other, 0) if column.other is not None else 0
    code_of[""] = 0
    return domain, np.array([code_of.get(value, outside) for value in values], dtype=np.uint32)


def present(text: str | None, column: Column) -> str:
    """A cell's value, or ``""`` where it is absent: nothing, or ``0`` where that is not a value."""
    if text is None:
        return ""
    value = output_spelling(text)
    return "" if value == "0" and not column.keeps_zero else value


def _rules_against(values: list[str], forbidden: tuple[str, ...]) -> Bytes:
    """Of each value the rule, as a place in `REASONS`, of which a pattern is found in it; 0: of none.

    The patterns are RE2's, as Arrow and DuckDB have it. Of two rules the one about identifiers is told.
    """
    rules = np.zeros(len(values), np.uint8)
    array = pa.array(values if forbidden else [], pa.large_string())
    for pattern in sorted(forbidden, key=IDENTIFIER_PATTERNS.__contains__):
        found = pc.match_substring_regex(array, pattern).to_numpy(zero_copy_only=False)
        rules[found] = IDENTIFIER if pattern in IDENTIFIER_PATTERNS else FORBIDDEN_PATTERN
    return rules


def bin_codes(
    numbers: Floats, edges: tuple[float, ...], minimum: float | None = None, maximum: float | None = None
) -> HalfWords:
    """The code of each number's bin among `bin_labels`; 0 for NaN, and for what lies beyond the limits.

    Bins are closed below and open above, but the last inner one is closed at both ends. Infinities
    are in the end bins.

    >>> bin_codes(np.array([-1.0, 17.9, 18.0, 65.0, 65.1, np.nan]), (0.0, 18.0, 65.0)).tolist()
    [1, 2, 3, 3, 4, 0]
    >>> bin_codes(np.array([-1.0, 17.9, 18.0, 65.0, 65.1, np.nan]), (0.0, 18.0, 65.0), minimum=0).tolist()
    [0, 1, 2, 2, 3, 0]
    """
    codes = np.searchsorted(np.asarray(edges), numbers, side="right") + 1
    codes[numbers == edges[-1]] = len(edges)
    is_outside = np.isnan(numbers)
    if minimum is not None:
        is_outside |= numbers < minimum
        codes -= minimum >= edges[0]
    if maximum is not None:
        is_outside |= numbers > maximum
    codes[is_outside] = 0
    return codes.astype(np.uint32)


def _binned(values: list[str], numbers: Floats, column: Column) -> tuple[tuple[str, ...], HalfWords]:
    """The labels of bins, and the codes of texts that are numbers (NaN: it is none, and outside)."""
    labels = column.known_values or ()
    codes = bin_codes(numbers, column.bins or (), column.minimum, column.maximum)
    if column.other in labels:
        outside = (codes == 0) & np.array([value != "" for value in values], dtype=np.bool_)
        codes[outside] = labels.index(column.other) + 1
    return labels, codes
