"""Constraints in words, for statements and for the operator: a schema goes in, sentences come out."""

from collections.abc import Sequence

from tasks.core.records.columns import Schema
from tasks.core.records.constraints import (
    Condition,
    Constraint,
    Derivation,
    EmptyTogether,
    ExactlyOne,
    Ordering,
)
from tasks.core.sentences import sentences_of

_TEXT = sentences_of("all_protections")


def constraint_sentences(schema: Schema, *, is_counted: bool = False) -> list[str]:
    """One sentence for each constraint, in the order in which they are held.

    Args:
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
        "sentence": _TEXT.say(f"constraints.{'counted' if is_counted else 'repaired'}"),
    }


def _sentence(constraint: Constraint, schema: Schema, *, is_counted: bool) -> str:
    names = [column.name for column in schema.columns]
    if isinstance(constraint, Derivation):
        how = "counted" if is_counted else "repaired"
        return _TEXT.say(
            f"constraint.follows.{how}", column=names[constraint.column], columns=names[constraint.decided_by]
        )
    if isinstance(constraint, Ordering):
        lower, higher = (names[column] for column in constraint.columns)
        limit = "below" if constraint.strict else "at_most"
        return _TEXT.say(f"constraint.order.{limit}", lower=lower, higher=higher)
    if isinstance(constraint, EmptyTogether):
        return _TEXT.say("constraint.empty_together", columns=_listed(constraint.columns, names))
    if isinstance(constraint, ExactlyOne):
        columns = _listed(constraint.columns, names)
        return _TEXT.say("constraint.exactly_one", columns=columns, value=repr(constraint.value))
    met = "; ".join(_words(condition, names[condition.column]) for condition in constraint.conditions)
    return _TEXT.say("constraint.never_together", met=met)


def _listed(columns: Sequence[int], names: Sequence[str]) -> str:
    *most, last = (names[column] for column in columns)
    return f"{', '.join(most)} {_TEXT.say('constraint.and')} {last}"


def _words(condition: Condition, name: str) -> str:
    if not condition.excluded:
        values = [repr(value) if value else _TEXT.say("constraint.empty") for value in condition.values]
        listed = f" {_TEXT.say('constraint.or')} ".join(values)
        return _TEXT.say("constraint.is_any", column=name, values=listed)
    values = [repr(value) for value in condition.values if value]
    if not values:
        return _TEXT.say("constraint.has_any", column=name)
    listed = f" {_TEXT.say('constraint.and')} ".join(values)
    return _TEXT.say("constraint.is_not", column=name, values=listed)
