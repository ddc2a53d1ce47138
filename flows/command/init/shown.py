"""What ``marginalia init`` saw of a table: how it is written, and each column with its reason."""

import shutil
import textwrap
from collections.abc import Iterable, Sequence

from tasks.core.contracts.draft import Answers
from tasks.core.listing import some_of
from tasks.core.recognition.table import RecognisedTable
from tasks.core.recognition.treatment import Recognised

_HEAD = ("column", "what it is", "why", "what will be done")
_NAME, _KIND, _NARROWEST, _WIDEST = 20, 16, 88, 160
_PARTS = {
    "encoding": "encoding",
    "delimiter": "delimiter",
    "quote": "quote",
    "escape": "escape",
    "title": "title",
    "header": "header",
    "names": "LOOK",
    "nameless": "LOOK",
    "form": "form",
    "dialect": "written",
}


def print_table(table: RecognisedTable, subject: str | None) -> None:
    """Print all of it. Args: subject: the column that says whose row it is, as far as it is known."""
    for part, reason in table.reasons.items():
        print(f"  {_PARTS[part]:<10} {printable(reason)}")
    if table.comma:
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
            print("-+-".join("-" * each for each in widths))


def _row(column: Recognised, subject: str | None) -> tuple[str, str, str, str]:
    doubt = f". LOOK: {column.doubt}" if column.doubt else ""
    if column.name == subject:
        return column.name, "whose row it is", column.reason, "tells people apart; never released"
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
    said = []
    if required:
        said.append(f"never empty (required): {some_of(required)}")
    if limited and answers.protection != "syndiffix":
        said.append(f"never below 0 (minimum): {some_of(limited)}")
    if not said:
        return ""
    return (
        f"The contract promises what all but a few cells keep to: {'; '.join(said)}. A later cell that "
        "doesn't stops nothing, but no record of a release will show it. (A cell whose value was too rare to "
        "be released can still come out empty.) Take out what is not always so."
    )


def printable(text: str) -> str:
    """Without signs that would move the cursor or change the terminal."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
