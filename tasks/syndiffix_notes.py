"""What whoever synthesizes a table by SynDiffix is told, by the flow and by the command alike."""

from collections.abc import Sequence

import pyarrow as pa

from tasks.core.syndiffix.reading import DeclaredColumn
from tasks.core.syndiffix.texts import type_letter

NOT_PRIVATE = "SynDiffix is not differentially private"


def rows_are_people(key: str) -> str:
    """That there are no ids. Args: key: what gives them."""
    return (
        f"ATTENTION: no {key} is given: each row is taken for a person of its own, and people with several "
        "rows are not protected. Give the id column, or several, unless a row is a person."
    )


def without_ids(ids: pa.Table) -> list[str]:
    """That some rows have no id. Args: ids: the id columns."""
    gaps = [name for name in ids.column_names if ids[name].null_count]
    if not gaps:
        return []
    return [
        f"ATTENTION: some rows have no {' or no '.join(gaps)}: they are nobody's, and who they are about is "
        "not protected as a person. Give every row its id, or leave such rows out."
    ]


def inferred_types(columns: Sequence[DeclaredColumn], schema: pa.Schema) -> list[str]:
    """Types that were found out, in a line; a text may have been meant for something else."""
    found = [
        (column.name, type_letter(schema.field(column.name).type)) for column in columns if not column.letter
    ]
    if not found:
        return []
    is_text = any(letter == "s" for _, letter in found)
    remedy = " NAME:r reads the numbers of a text, NAME:i, NAME:t and NAME:b likewise." if is_text else ""
    return [f"Types that were inferred: {' '.join(f'{name}:{letter}' for name, letter in found)}.{remedy}"]


def left_out(named: Sequence[str], number: int, target: str) -> str:
    """Which columns are not synthesized as they do not help to predict the target.

    Args:
        named: those that may be named.
        number: of all of them.
        target: header.
    """
    shown = ", ".join(named) if len(named) == number else f"{number} columns of the input"
    return f"Left out, as they do not help to predict {target!r}: {shown}."


def is_empty(mean: float) -> str:
    """That there is no row. Args: mean: the threshold, in people."""
    return f"The synthetic table is empty: each group has fewer people than may be shown (about {mean:g})."
