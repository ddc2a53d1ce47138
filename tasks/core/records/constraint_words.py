"""Constraints in words, for statements and for the operator: a schema goes in, sentences come out."""

from tasks.core.records.columns import Schema
from tasks.core.records.constraints import Condition, Constraint, Derivation, Ordering

#: What became of records of the table that broke a constraint.
_REPAIRED = "A record of the table that broke one was repaired by itself before anything was counted."
_COUNTED = (
    "The reported counts are of the table as it is: where its records break one, a reported combination may "
    "be in no synthetic record, and a value that follows may be in more of them than is reported, or not be "
    "reported at all."
)


def constraint_sentences(schema: Schema, *, is_counted: bool = False) -> list[str]:
    """One sentence for each constraint, in the order in which they are held.

    >>> from tasks.core.records.columns import Column
    >>> order = Ordering((0, 1), strict=False, scale="moment", later=1)
    >>> constraint_sentences(Schema((Column("admitted"), Column("discharged")), constraints=(order,)))
    ['admitted is at most discharged, where a record has both.']

    Args:
        schema: with them.
        is_counted: whether the table was counted as it is, columns that others decide included.
    """
    return [_sentence(constraint, schema, is_counted=is_counted) for constraint in schema.constraints]


def constraints_json(
    schema: Schema, contract_sha256: str, *, is_counted: bool = False
) -> dict[str, object] | None:
    """The part ``constraints`` of a statement: what holds in every synthetic record, and who says so.

    None where nothing is declared. ``contract_sha256`` is of the contract that declares them.
    """
    if not schema.constraints:
        return None
    return {
        "sha256": contract_sha256,
        "rules": constraint_sentences(schema, is_counted=is_counted),
        "sentence": (
            "Every synthetic record holds these constraints. The data contract with this hash declares them; "
            "none was read off the table, and that they hold says nothing about it. "
            f"{_COUNTED if is_counted else _REPAIRED} Nothing says how many."
        ),
    }


def _sentence(constraint: Constraint, schema: Schema, *, is_counted: bool) -> str:
    names = [column.name for column in schema.columns]
    if isinstance(constraint, Derivation):
        follows = f"{names[constraint.column]} follows from {names[constraint.decided_by]}"
        return f"{follows}." if is_counted else f"{follows}; what the table holds in it was not counted."
    if isinstance(constraint, Ordering):
        words = "is below" if constraint.strict else "is at most"
        lower, higher = constraint.columns
        return f"{names[lower]} {words} {names[higher]}, where a record has both."
    met = "; ".join(_words(condition, names[condition.column]) for condition in constraint.conditions)
    return f"Never together: {met}."


def _words(condition: Condition, name: str) -> str:
    if not condition.excluded:
        return f"{name} is {' or '.join(repr(value) if value else 'empty' for value in condition.values)}"
    listed = [repr(value) for value in condition.values if value]
    return f"{name} has a value{' other than ' if listed else ''}{' and '.join(listed)}"
