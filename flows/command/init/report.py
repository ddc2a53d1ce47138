"""What ``marginalia init`` tells of a table: how it is written, its columns, what would be lost."""

import shutil
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tasks.configuration.flat_file import from_flat
from tasks.configuration.parameters import workload_parameters
from tasks.core.contracts.draft import Answers
from tasks.core.dp.workload.expected import planned_first_length
from tasks.core.errors import ParameterError
from tasks.core.hints import list_some
from tasks.core.recognition.table import LostColumn, RecognisedTable, lost_columns, number_of_records
from tasks.core.recognition.treatment import Recognised
from tasks.core.records.columns import Schema
from tasks.storage import Workspace

_HEAD = ("column", "what it is", "why", "what will be done")
_NAME, _KIND, _NARROWEST, _WIDEST = 20, 16, 88, 160
_LABELS = {"names": "LOOK", "nameless": "LOOK", "dialect": "written"}
#: So many lost columns have a sentence each; of more, so many are named in one.
_FEW, _MOST_NAMED = 3, 40


def print_table(table: RecognisedTable, subject: str | None) -> None:
    for part, reason in table.reasons.items():
        print(f"  {_LABELS.get(part, part):<10} {printable(reason)}")
    if table.context.comma:
        print("  decimals   commas: some numbers can't be read otherwise")
    more = ", the first of the file" if table.is_part else ""
    print(f"  rows       {table.rows:,} looked at{more}")
    if table.total:
        print(f"  LOOK       the last row begins with {table.total!r}: delete it, or it counts as a person")
    print()
    print_columns(table.columns, subject)


def print_columns(columns: Iterable[Recognised], subject: str | None) -> None:
    """A table of four columns as wide as the terminal; the person's id says so."""
    width = min(max(shutil.get_terminal_size((120, 40)).columns, _NARROWEST), _WIDEST)
    rest = width - _NAME - _KIND - 9
    widths = (_NAME, _KIND, rest // 2, rest - rest // 2)
    rows = [_HEAD, *(_row(column, subject) for column in columns)]
    for number, row in enumerate(rows):
        print("\n".join(_lines(row, widths)))
        if number == 0:
            print("-+-".join("-" * column for column in widths))


def _row(column: Recognised, subject: str | None) -> tuple[str, str, str, str]:
    if column.name == subject:
        return column.name, "whose row it is", column.reason, "tells people apart; never released"
    doubt = f". LOOK: {column.doubt}" if column.doubt else ""
    return column.name, column.kind, column.reason + doubt, column.treatment.words


def _lines(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    wrapped = [textwrap.wrap(printable(cell), width) or [""] for cell, width in zip(row, widths, strict=True)]
    height = max(map(len, wrapped))
    padded = [[*cell, *[""] * (height - len(cell))] for cell in wrapped]
    return [
        " | ".join(f"{part:<{width}}" for part, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*padded, strict=True)
    ]


def promise_words(table: RecognisedTable, answers: Answers) -> str:
    """What the contract promises of columns because hardly a cell says otherwise; empty: nothing."""
    used = table.used(answers.subject)
    required = [column.name for column in used if column.treatment.is_required and answers.protection == "dp"]
    limited = [column.name for column in used if column.treatment.minimum is not None]
    promised = []
    if required:
        promised.append(f"never empty (required): {list_some(required)}")
    if limited and answers.protection != "syndiffix":
        promised.append(f"never below 0 (minimum): {list_some(limited)}")
    if not promised:
        return ""
    return (
        f"The contract promises what all but a few cells keep to: {'; '.join(promised)}. A later cell that "
        "doesn't stops nothing, but no record of a release will show it. (A cell whose value was too rare to "
        "be released can still come out empty.) Take out what is not always so."
    )


def printable(text: str) -> str:
    """Without signs that would move the cursor or change the terminal."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def print_losses(table: RecognisedTable, answers: Answers, configuration: dict[str, Any]) -> bool:
    """Print which columns a release would mostly lose, and what would keep them; whether there are any.

    Under differential privacy a value of an open column is named only where its noisy count passes a
    threshold, under k-anonymity only where k share it. If many columns lose, a file in ``sensitive/`` has the
    sentences.
    """
    least = _least_count(table, answers, configuration)
    lost = lost_columns(table, answers.subject, least) if least else []
    sentences = [_loss_words(column, least, answers) for column in lost]
    if len(lost) <= _FEW:
        print("".join(f"{sentence}\n" for sentence in sentences), end="")
        return bool(lost)
    empty = [column.name for column in lost if column.is_empty]
    rest = [column.name for column in lost if not column.is_empty]
    parts = [f"{len(empty)} columns will likely be empty ({list_some(empty, _MOST_NAMED)})"] if empty else []
    if rest:
        parts.append(f"most cells of {list_some(rest, _MOST_NAMED)} will likely be lost")
    example = sentences[0].removeprefix("ATTENTION: ")
    print(f"ATTENTION: in the release, {' and '.join(parts)}. One of them: {example}")
    workspace = Workspace(Path(configuration["output_dir"]))
    workspace.prepare()
    path = workspace.sensitive / answers.dataset / "init" / "lost_columns.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
    print(f"What helps each of them is in {path}.")
    return True


def _loss_words(lost: LostColumn, least: int, answers: Answers) -> str:
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
