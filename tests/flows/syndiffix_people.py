"""People in a table, and the command ``marginalia syndiffix`` on it."""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from flows.command import main as command
from flows.command.syndiffix import arguments

HEADER = ["pid", "age", "income", "city", "joined", "member"]


def people(rows: int = 400) -> list[list[str]]:
    """People of some ages, cities and incomes; every other one is a member."""
    return [
        [
            str(row),
            str(20 + row % 5 * 10),
            str(1000.5 * (1 + row % 4)),
            ("Ulm", "Graz", "Bern, old town")[row % 3],
            f"2024-0{1 + row % 4}-01",
            ("true", "false")[row % 2],
        ]
        for row in range(rows)
    ]


def write(path: Path, rows: Sequence[Sequence[object]], header: Sequence[str] = HEADER) -> Path:
    """A CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def read(path: Path) -> list[list[str]]:
    """A CSV file's lines, the header first."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def run(*arguments: object) -> int:
    """The exit code of the command."""
    return command.main(["syndiffix", *map(str, arguments)])


def usage(*arguments: object) -> int:
    """The exit code of a command line that argparse refuses."""
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def syndiffix_parser() -> argparse.ArgumentParser:
    """The parser of the command alone."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    arguments.add_arguments(parser)
    return parser
