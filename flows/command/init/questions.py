"""Questions that only a person can answer: by an option, or at the terminal; else a proposal is taken.

>>> Asker(is_asking=False).ask("How many releases are planned?", "--releases", None, "12")
Not asked: How many releases are planned? Taken: 12. The answer is an option: --releases.
'12'
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from flows.command.init.report import printable
from tasks.core.contracts.draft import Answers
from tasks.core.errors import ParameterError
from tasks.core.recognition.init_answers import parse_value_names
from tasks.core.recognition.relations import Relation, relations_between
from tasks.core.recognition.table import RecognisedTable

#: Of columns with more values the codes need no asking: they are rather a scale or a list.
_MOST_CODES, _MOSTLY, _MOST_NAMED = 24, 0.95, 5
_MOST_RELATIONS_SHOWN = 12
_ALL = "all"


class Asker:
    """Asks at the terminal, or says what it took."""

    def __init__(self, *, is_asking: bool) -> None:
        self.is_asking = is_asking

    def ask(
        self,
        text: str,
        option: str,
        given: object | None,
        proposed: str = "",
        check: Callable[[str], object] = str,
    ) -> str:
        """The answer.

        Args:
            given: by the option; None: it was not given.
            proposed: what is taken where nothing is said; empty: nothing is.
            check: raises ParameterError for what is no answer.
        """
        if given is not None:
            check(str(given))
            return str(given)
        if not self.is_asking:
            print(f"Not asked: {text} Taken: {proposed or 'nothing'}. The answer is an option: {option}.")
            return proposed
        while True:
            answer = self.line(f"{text} [{proposed}] ") or proposed
            try:
                check(answer)
            except ParameterError as error:
                if not self.is_asking:  # the input has ended
                    raise
                print(f"  {error}")
                continue
            return answer

    def take_lines(self, take: Callable[[str], None]) -> None:
        while answer := self.line("> "):
            try:
                take(answer)
            except ParameterError as error:
                print(f"  {error}")

    def line(self, prompt: str) -> str:
        """What the person types; nothing where the input has ended, and nobody is asked any more."""
        try:
            return input(prompt).strip()
        except EOFError:
            self.is_asking = False
            print()
            return ""


def ask_code_meanings(
    asker: Asker, table: RecognisedTable, subject: str | None, said: Iterable[str]
) -> dict[str, dict[str, str]]:
    """What codes mean, by column and code, as options (`said`) and the person at the terminal say.

    None is guessed: a dictionary that is taken wrongly would call people what they are not.
    """
    found: dict[str, dict[str, str]] = {}

    def take(text: str) -> None:
        name, named = _code_meanings(table, subject, text)
        found[name] = named

    for text in said:
        take(text)
    coded = [name for name in _coded_columns(table, subject) if name not in found]
    if not coded:
        return found
    shown = ", ".join(map(repr, coded[:_MOST_NAMED])) + (", ..." if len(coded) > _MOST_NAMED else "")
    question = f"What do the codes of {shown} mean?"
    if asker.is_asking:
        print(f"{question} Type COLUMN:CODE=WORD,CODE=WORD, or nothing to go on.")
        asker.take_lines(take)
    else:
        asker.ask(question, "--value-names COLUMN:CODE=WORD,CODE=WORD", None)
    return found


def _code_meanings(table: RecognisedTable, subject: str | None, text: str) -> tuple[str, dict[str, str]]:
    """One answer. A code that no cell holds is told, as it may be a slip."""
    name, named = parse_value_names(text)
    column = table.column(name)
    name = column.name
    used = {each.name: each for each in table.used(subject)}
    if name not in used or used[name].treatment.bins is not None:
        why = "its values are ranges of numbers" if name in used else "it is not in the release"
        raise ParameterError(
            f"What codes mean can't be said of {name!r}: {why}. Take the column's values as they stand "
            f"(--column {name!r}=text), or leave the answer out."
        )
    absent = [code for code in named if code not in table.cells_of(column).texts]
    if absent:
        print(f"LOOK: no cell of {name!r} holds {', '.join(map(repr, absent))}.")
    return name, named


def _coded_columns(table: RecognisedTable, subject: str | None) -> list[str]:
    found = []
    for column in table.used(subject):
        cells, reading = table.cells_of(column), column.treatment.reading
        if column.treatment.is_open and not reading.holds_dates and 1 < cells.usual <= _MOST_CODES:
            codes = cells.matching(r"-?[0-9]{1,3}|\pL") | cells.among(reading.missing)
            if cells.share(codes) >= _MOSTLY:
                found.append(column.name)
    return found


def ask_relations(
    asker: Asker, table: RecognisedTable, answers: Answers, declared: list[str] | None
) -> Answers:
    """The answers with what the contract is to say of relations, under fitted synthesis.

    Args:
        declared: columns that an option names; None: it was not given.
    """
    if answers.protection != "dp":
        return answers
    found = relations_between(table.cells, table.used(answers.subject))
    stated = [relation for relation in found if relation.column]
    _print_relations([relation for relation in found if not relation.column], stated)
    chosen = _ask_which(asker, stated, declared)
    constraints: dict[str, list[object]] = defaultdict(list)
    for relation in found:
        if not relation.column or relation in chosen:
            key, entry = relation.declared
            constraints[key].append(entry)
    left = {each.column: each.source for each in stated if each not in chosen}
    return replace(answers, constraints=dict(constraints), seems_to_follow=left)


def _print_relations(drafted: list[Relation], stated: list[Relation]) -> None:
    if shown := [*drafted, *stated[:_MOST_RELATIONS_SHOWN]]:
        print("\nThese hold between columns, but for a few rows at most:")
        print("\n".join(f"  {printable(relation.words)}" for relation in shown))
    if len(stated) > _MOST_RELATIONS_SHOWN:
        print(f"  and {len(stated) - _MOST_RELATIONS_SHOWN} more")


def _ask_which(asker: Asker, stated: list[Relation], declared: list[str] | None) -> list[Relation]:
    if not stated:
        return _relations_of(stated, declared) if declared and declared != [_ALL] else []
    print(
        "Whoever declares one of those that aren't declared yet says that it holds for everybody, and its "
        "values become public. Every synthetic record then keeps to it; otherwise some won't."
    )
    answer = asker.ask(
        "Which columns' relations are to be declared (names with commas, or all)?",
        "--declare COLUMN, or --declare all",
        None if declared is None else ",".join(declared),
        check=lambda answer: _relations_of(stated, answer.split(",")),
    )
    return _relations_of(stated, answer.split(","))


def _relations_of(stated: list[Relation], named: Iterable[str]) -> list[Relation]:
    names = list(filter(None, map(str.strip, named)))
    known = {relation.column for relation in stated}
    if strange := [name for name in names if name not in known and name != _ALL]:
        listed = f"one of {', '.join(map(repr, sorted(known)))}, or all" if known else "nothing"
        raise ParameterError(
            f"A column whose relation is to be declared must have one in this table, and {strange[0]!r} has "
            f"none: give {listed}."
        )
    wanted = known if names == [_ALL] and _ALL not in known else {*names}
    return [relation for relation in stated if relation.column in wanted]
