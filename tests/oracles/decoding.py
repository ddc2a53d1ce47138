"""Coded records back to text, one column for each of the table's.

`CodedRecords` go in; an Arrow table comes out, absent cells null, the items of a multi-valued column
joined by its delimiter in the order of its codes (S1.4, "join back"). What comes out is as
sensitive as what went in.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Codes
from tasks.core.records.coded import CodedRecords


def decode(records: CodedRecords) -> pa.Table:
    """The records as text, in file order of columns, n rows."""
    columns = {}
    for index, column in enumerate(records.schema.columns):
        slots = [codes for codes, of in zip(records.slots, records.slot_columns, strict=True) if of == index]
        texts = [texts_of_codes(codes, records.values[index]) for codes in slots]
        columns[column.name] = _joined(texts, column.delimiter or "")
    return pa.table(columns)


def texts_of_codes(codes: Codes, values: tuple[str, ...]) -> pa.Array:
    """The text of each code; null for 0."""
    if not values:
        return pa.nulls(len(codes), pa.string())
    places = pa.array(codes.astype(np.int64) - 1, mask=codes == 0)
    return pa.array(values, pa.string()).take(places)


def _joined(texts: list[pa.Array], delimiter: str) -> pa.Array:
    """Slots joined; null where none is filled."""
    joined = texts[0]
    for text in texts[1:]:
        joined = pc.if_else(text.is_null(), joined, pc.binary_join_element_wise(joined, text, delimiter))
    return joined
