"""What ``marginalia init`` says of columns that the release would lose, and what would keep them.

The table and the drafted configuration go in. A release under differential privacy names a value of an open
column only where its noisy count passes a threshold, one under k-anonymity only where k share it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.configuration.flat_file import from_flat
from tasks.configuration.workload import workload_parameters
from tasks.core.contracts.draft import Answers
from tasks.core.dp.workload.expected import planned_first_length
from tasks.core.errors import ParameterError
from tasks.core.listing import some_of
from tasks.core.recognition.lost_values import LostColumn, lost_columns, number_of_records
from tasks.core.recognition.table import RecognisedTable
from tasks.core.records.columns import Schema
from tasks.storage import Workspace

#: So many columns have a sentence each; of more, so many are named in one.
_FEW, _MOST_NAMED = 3, 40


def losses(
    table: RecognisedTable, answers: Answers, configuration: dict[str, Any]
) -> tuple[int, list[LostColumn]]:
    """The least count of a value that is released (0: none is needed), and columns that would mostly be lost.

    Args:
        table: as it was recognised and corrected.
        answers: the person's.
        configuration: as it was drafted, flat.
    """
    least = _least_count(table, answers, configuration)
    return least, lost_columns(table, answers.subject, least) if least else []


def loss_words(lost: Sequence[LostColumn], least: int, answers: Answers) -> list[str]:
    """A sentence on each of a few columns, or one for all of many, and what helps."""
    each = [_words_of_one(column, least, answers) for column in lost]
    if len(lost) <= _FEW:
        return each
    empty = [column.name for column in lost if column.is_empty]
    rest = [column.name for column in lost if not column.is_empty]
    parts = [f"{len(empty)} columns will likely be empty ({some_of(empty, _MOST_NAMED)})"] if empty else []
    if rest:
        parts.append(f"most cells of {some_of(rest, _MOST_NAMED)} will likely be lost")
    example = each[0].removeprefix("ATTENTION: ")
    return [f"ATTENTION: in the release, {' and '.join(parts)}. One of them: {example}"]


def write_losses(lost: Sequence[LostColumn], least: int, answers: Answers, root: Path) -> Path | None:
    """The sentence on each of many columns, in a file that stays with the table; None where they are few.

    Args:
        lost: see `losses`.
        least: see `losses`.
        answers: the person's.
        root: of the workspace.
    """
    if len(lost) <= _FEW:
        return None
    workspace = Workspace(root)
    workspace.prepare()
    path = workspace.sensitive / answers.dataset / "init" / "lost_columns.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{_words_of_one(each, least, answers)}\n" for each in lost), encoding="utf-8")
    return path


def _words_of_one(lost: LostColumn, least: int, answers: Answers) -> str:
    """A sentence on one column, and what helps."""
    price = f"at epsilon {answers.epsilon:g} " if answers.protection == "dp" else ""
    what = "will likely be empty" if lost.is_empty else "will likely lose most of its cells"
    why = "none of its values has as many" if lost.is_empty else "most cells hold a value that has fewer"
    unit = "rows" if answers.subject is None else "people"
    helps = (
        f"Read it coarser: --column {lost.name!r}={lost.coarser}."
        if lost.coarser
        else f"If you know all its values without the table, list them (--column {lost.name!r}=values:A,B); "
        f"or leave it out (--column {lost.name!r}=skip)."
    )
    return (
        f"ATTENTION: {lost.name!r} {what} in the release: {price}a value needs about {least:,} {unit}, and "
        f"{why}. {helps}"
    )


def _least_count(table: RecognisedTable, answers: Answers, configuration: dict[str, Any]) -> int:
    """0 where no count is needed: nothing is open, or SynDiffix decides by groups."""
    if answers.protection == "k_anonymity":
        return answers.resolution
    if answers.protection != "dp":
        return 0
    drafted = from_flat({key: value for key, value in configuration.items() if key != "contract"})
    columns = (column.treatment.column(column.name) for column in table.used(answers.subject))
    schema = Schema(tuple(columns), answers.subject)
    records = max(1, number_of_records(table, answers.subject))
    try:
        return planned_first_length(workload_parameters(drafted, schema), schema, records).threshold or 0
    except ParameterError:  # such as of too many columns: check tells it, with what helps
        return 0
