"""Constraints in words, for statements and for the operator: a schema goes in, sentences come out."""

from tasks.core.records.columns import Schema
from tasks.core.records.constraints import Condition, Constraint, Derivation, Ordering


def constraint_sentences(schema: Schema) -> list[str]:
    """One sentence for each constraint, in the order in which they are held."""
    return [_sentence(constraint, schema) for constraint in schema.constraints]


def constraints_json(schema: Schema, contract_sha256: str) -> dict[str, object] | None:
    """The part ``constraints`` of a statement: what holds in every synthetic record, and who says so.

    Args:
        schema: of the release.
        contract_sha256: of the contract that declares them.

    Returns:
        JSON, or None where nothing is declared.
    """
    if not schema.constraints:
        return None
    return {
        "sha256": contract_sha256,
        "rules": constraint_sentences(schema),
        "sentence": (
            "Every synthetic record holds these constraints. The data contract with this hash declares them; "
            "none was read off the table, and that they hold says nothing about it. A record of the table "
            "that broke one was repaired by itself before anything was counted. Nothing says how many."
        ),
    }


def _sentence(constraint: Constraint, schema: Schema) -> str:
    names = [column.name for column in schema.columns]
    if isinstance(constraint, Derivation):
        return (
            f"{names[constraint.column]} follows from {names[constraint.decided_by]}; "
            "what the table holds in it was not counted."
        )
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
