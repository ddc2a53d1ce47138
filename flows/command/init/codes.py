"""What ``marginalia init`` asks of codes: which columns hold them, and what a person says that they mean.

Meanings are the person's words and a setting of the page (`value_names`): none is guessed, as a dictionary
that is taken wrongly would call people what they are not.
"""

from collections.abc import Iterable, Mapping

from flows.command.init.questions import Asker, Question
from tasks.core.errors import ParameterError
from tasks.core.recognition.said import parse_value_names
from tasks.core.recognition.table import RecognisedTable

#: More values are rather a scale or a list that needs no asking.
_MOST_CODES, _MOSTLY, _MOST_NAMED = 24, 0.95, 5
_OPTION = "--value-names COLUMN:CODE=WORD,CODE=WORD"

#: By column and code.
Meanings = dict[str, dict[str, str]]


def code_meanings(asker: Asker, table: RecognisedTable, subject: str | None, said: Iterable[str]) -> Meanings:
    """What codes mean, as options and the person at the terminal say.

    Args:
        asker: who asks.
        table: as it was recognised and corrected.
        subject: the column that says whose row it is.
        said: by options.

    Raises:
        ParameterError: an option names no column of the release, or one whose values are no codes.
    """
    found: Meanings = {}
    for text in said:
        found |= _meaning(table, subject, text)
    coded = [name for name in _coded(table, subject) if name not in found]
    if not coded:
        return found
    shown = ", ".join(map(repr, coded[:_MOST_NAMED])) + (", ..." if len(coded) > _MOST_NAMED else "")
    if not asker.is_asking:
        asker.ask(Question(f"What do the codes of {shown} mean?", _OPTION), None)
        return found
    print(f"What do the codes of {shown} mean? Type COLUMN:CODE=WORD,CODE=WORD, or nothing to go on.")
    while answer := asker.line("> "):
        try:
            found |= _meaning(table, subject, answer)
        except ParameterError as error:
            print(f"  {error}")
    return found


def _meaning(table: RecognisedTable, subject: str | None, text: str) -> Mapping[str, dict[str, str]]:
    """One answer. A code that no cell holds is told, as it may be a slip."""
    name, named = parse_value_names(text)
    name = table.column(name).name
    used = {column.name: column for column in table.used(subject)}
    if name not in used or used[name].treatment.bins is not None:
        why = "its values are ranges of numbers" if name in used else "it is not in the release"
        raise ParameterError(
            f"What codes mean can't be said of {name!r}: {why}. Take the column's values as they stand "
            f"(--column {name!r}=text), or leave the answer out."
        )
    cells = next(each for each in table.cells if each.name == name)
    absent = [code for code in named if code not in cells.texts]
    if absent:
        print(f"LOOK: no cell of {name!r} holds {', '.join(map(repr, absent))}.")
    return {name: named}


def _coded(table: RecognisedTable, subject: str | None) -> list[str]:
    """Columns whose values are numbers or letters that only a dictionary explains."""
    cells = {each.name: each for each in table.cells}
    found = []
    for column in table.used(subject):
        each, treatment = cells[column.name], column.treatment
        is_plain = treatment.bins is None and treatment.domain is None and not treatment.reading.holds_dates
        if is_plain and 1 < each.usual <= _MOST_CODES:
            codes = each.matching(r"-?[0-9]{1,3}|\pL")
            if each.share(codes | each.among(treatment.reading.missing)) >= _MOSTLY:
                found.append(column.name)
    return found
