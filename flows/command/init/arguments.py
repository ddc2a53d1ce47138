"""The options of ``marginalia init``: how the file is written, what columns are, what only a person knows."""

import argparse
from pathlib import Path
from typing import get_args

from tasks.core.recognition.init_answers import WORDS, ProtectionName
from tasks.core.tables.column_names import Encoding


def add_init_options(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    words = (
        f"  {word + (':' + detail if detail else ''):<20}{told}" for word, (detail, told) in WORDS.items()
    )
    parser.epilog = "\n".join(["what a column can be:", *words])
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="the table, or a configuration that says how to read it"
    )
    _add_file(parser.add_argument_group("how the file is written, where it is not recognised"))
    _add_columns(parser.add_argument_group("what columns are"))
    _add_answers(parser.add_argument_group("what only you know"))
    output = parser.add_argument_group("what is written")
    output.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where to write both files (default: here)",
    )
    output.add_argument(
        "--overwrite", action="store_true", help="replace a configuration and a contract that are there"
    )
    output.add_argument(
        "--yes", action="store_true", help="ask nothing: take what is proposed wherever no option answers"
    )


def _add_file(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--encoding", choices=get_args(Encoding), help="the encoding of a text file")
    group.add_argument(
        "--delimiter", metavar="SIGN", help="what separates the cells of a text file; tab for a tab"
    )
    group.add_argument("--quote", metavar="SIGN", help="what stands around cells that hold a delimiter")
    group.add_argument(
        "--escape", metavar="SIGN", help="what precedes a quote inside a cell, such as a backslash"
    )
    group.add_argument(
        "--skip-lines", type=int, metavar="N", help="lines of a text file above its header, such as a title"
    )
    group.add_argument(
        "--header", choices=("yes", "no"), help="whether the first line of a text file names the columns"
    )


def _add_columns(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="COLUMN=WORD",
        help="what a column is, where you know better, such as --column age=bins:0,18,65 (may be repeated)",
    )
    group.add_argument(
        "--value-names",
        action="append",
        default=[],
        metavar="COLUMN:CODE=WORD,...",
        help="what the codes of a column mean, such as --value-names sex:1=men,2=women; the page then shows "
        "both (may be repeated)",
    )
    group.add_argument(
        "--declare",
        action="append",
        metavar="COLUMN",
        help="declare how this column hangs on another one, as init found it: it then holds in every record, "
        "and its values become public; all for every column (may be repeated)",
    )


def _add_answers(group: argparse._ArgumentGroup) -> None:
    whose = group.add_mutually_exclusive_group()
    whose.add_argument(
        "--subject-id",
        metavar="COLUMN",
        help="the column that says whose row it is; somebody may have several",
    )
    whose.add_argument(
        "--one-row-each", action="store_true", help="each row is another person; a row is what is protected"
    )
    group.add_argument(
        "--protection",
        choices=get_args(ProtectionName),
        help="what protects the people: differential privacy (dp, the default), k_anonymity or syndiffix",
    )
    group.add_argument("--epsilon", type=float, metavar="E", help="the price of one release (dp; default: 1)")
    group.add_argument(
        "--releases", type=int, metavar="N", help="how many releases are planned (dp; default: 12)"
    )
    group.add_argument(
        "--population", metavar="TEXT", help="whose data these are; every release states it (dp)"
    )
    group.add_argument("--purpose", metavar="TEXT", help="for whom and for what the releases are")
    group.add_argument("--unit", metavar="WORD", help="what a row is called, such as visit")
    group.add_argument(
        "--dataset", metavar="NAME", help="the name that the budget is kept under (default: the file's)"
    )
    group.add_argument(
        "--vintage",
        metavar="LABEL",
        help="the label of the first release (default: the month in the file's name, or this month)",
    )
