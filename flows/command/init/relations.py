"""What holds between columns: what init drafts of it, and what it offers to declare."""

from collections import defaultdict
from dataclasses import replace

from flows.command.init.questions import Asker, Question
from flows.command.init.shown import printable
from tasks.core.contracts.draft import Answers
from tasks.core.errors import ParameterError
from tasks.core.recognition.relations import Implication, ObservedDependency, Relations, relations_of
from tasks.core.recognition.table import RecognisedTable

_OPTION = "--declare COLUMN, or --declare all"
_ALL = "all"
_MOST_SHOWN = 12


def with_relations(
    asker: Asker, table: RecognisedTable, answers: Answers, declared: list[str] | None
) -> Answers:
    """The answers with what the contract is to say of relations between columns, under fitted synthesis.

    Args:
        asker: asks which of those that name values are to be declared.
        table: as it was recognised and corrected.
        answers: the person's.
        declared: columns that an option names; None: it was not given.

    Raises:
        ParameterError: a named column has no part in any relation.
    """
    if answers.protection != "dp":
        return answers
    found = relations_of(table, answers.subject)
    _print(found)
    chosen = _chosen(asker, found, declared)
    constraints: dict[str, list[object]] = defaultdict(list)
    if found.empty_together:
        constraints["emptyTogether"] = [list(group) for group in found.empty_together]
    for choice in found.choices:
        constraints["exactlyOne"].append({"columns": list(choice.columns), "value": choice.value})
    for relation in chosen:
        for key, entry in relation.declared():
            constraints[key].append(entry)
    left = {
        relation.column: relation.source
        for relation in found.stated
        if isinstance(relation, ObservedDependency) and relation not in chosen
    }
    return replace(answers, constraints=dict(constraints), seems_to_follow=left)


def _print(found: Relations) -> None:
    lines = [f"{', '.join(group)}: all empty or all filled; declared" for group in found.empty_together]
    lines += [
        f"{', '.join(choice.columns)}: exactly one is {choice.value!r}; declared" for choice in found.choices
    ]
    lines += [relation.words for relation in found.stated[:_MOST_SHOWN]]
    more = len(found.stated) - _MOST_SHOWN
    if lines:
        print("\nThese hold between columns, but for a few rows at most:")
        print("\n".join(f"  {printable(line)}" for line in lines))
    if more > 0:
        print(f"  and {more} more")


def _chosen(
    asker: Asker, found: Relations, declared: list[str] | None
) -> list[ObservedDependency | Implication]:
    """The relations that are to be declared beside those that name no value."""
    if not found.stated:
        if declared and declared != [_ALL]:
            _of_columns(found, declared)
        return []
    print(
        "Whoever declares one of those that aren't declared yet says that it holds for everybody, and its "
        "values become public. Every synthetic record then keeps to it; otherwise some won't."
    )
    question = Question(
        "Which columns' relations are to be declared (names with commas, or all)?",
        _OPTION,
        check=lambda answer: _of_columns(found, _names(answer)),
    )
    answer = asker.ask(question, None if declared is None else ",".join(declared))
    return _of_columns(found, _names(answer))


def _names(answer: str) -> list[str]:
    return [name for name in map(str.strip, answer.split(",")) if name]


def _of_columns(found: Relations, names: list[str]) -> list[ObservedDependency | Implication]:
    """Those of the named columns; of a column that follows from another one nothing else is needed."""
    known = {relation.column for relation in found.stated}
    if strange := [name for name in names if name not in known and name != _ALL]:
        listed = f"one of {', '.join(map(repr, sorted(known)))}, or all" if known else "nothing"
        raise ParameterError(
            f"A column whose relation is to be declared must have one in this table, and {strange[0]!r} has "
            f"none: give {listed}."
        )
    wanted = known if names == [_ALL] and _ALL not in known else {*names}
    follows = {
        each.column for each in found.stated if isinstance(each, ObservedDependency) and each.column in wanted
    }
    return [
        each
        for each in found.stated
        if each.column in wanted
        and (isinstance(each, ObservedDependency) or not {each.column, each.source} & follows)
    ]
