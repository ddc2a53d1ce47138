"""How a table becomes what is counted, in words: the public schema goes in, a sentence comes out.

Every statement has it, as each other sentence of one is about records prepared in this way.
"""

from collections.abc import Collection

from tasks.core.records.columns import Column, Schema
from tasks.core.tables.number_format import PLAIN


def prepared(schema: Schema, contract_mode: str = "none", filled: Collection[int] = ()) -> str:
    """What of a table is counted at all.

    Args:
        schema: the public schema.
        contract_mode: ``repair`` where cells that broke a data contract were blanked.
        filled: columns in which an empty cell counts as the value for what is outside.
    """
    columns = schema.columns
    rules = ["cells are trimmed, and empty ones hold no value"]
    if not all(column.keeps_zero for column in columns):
        rules.append("a 0 is no value in a column that is not marked as keeping it")
    binned = [column for column in columns if column.bins]
    if binned:
        rules.append(f"{_numbers(binned)} stands for its bin, and what is no number for no value")
    if any(column.number_format != PLAIN for column in columns):
        rules.append("a number is what is written with the marks that were declared of its column")
    if any(column.domain is not None and not column.bins for column in columns):
        rules.append("a value that is not among those declared of its column is no value")
    rules += [_outside(column, place in filled) for place, column in enumerate(columns) if column.other]
    if any(column.is_multi_valued and column.max_items for column in columns):
        rules.append("of a column with several items no more than its cap are kept, others are dropped")
    if contract_mode == "repair":
        rules.append("a cell that broke the data contract was blanked or replaced by a declared value")
    if schema.constraints:
        rules.append("a record that broke a constraint of the data contract was repaired by itself")
    if schema.derivations:
        names = ", ".join(repr(columns[derivation.column].name) for derivation in schema.derivations)
        rules.append(f"what stands in {names} is not counted: it follows from other columns")
    return (
        f"Counted are the records as they were prepared: {'; '.join(rules)}. To hold a value or a "
        "combination, here and below, is to hold it after that; the table itself may have more of it."
    )


def _outside(column: Column, is_filled: bool) -> str:
    """Where a value is declared for all that is not."""
    empty = " and an empty cell" if is_filled else ""
    return f"but in {column.name!r} what is not declared{empty} stands for {column.other!r}"


def _numbers(binned: list[Column]) -> str:
    """A number of such a column; of an older release, whose 0 may have been lost, no more than that."""
    keep = all(column.keeps_zero for column in binned)
    return f"a number of a column with bins{', 0 among them,' if keep else ''}"
