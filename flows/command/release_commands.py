"""The commands about finished releases: compare, lineage, errata. Their options, and what each does.

What does the work is imported where it is asked for, so that ``--help`` answers at once.
"""

import argparse
from pathlib import Path
from typing import Literal

from flows.command.arguments import CommandParser


def add_release_commands(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    """Add these commands to the parser's."""
    _add_compare(commands)
    _add_lineage(commands)
    _add_errata(commands)


def _add_compare(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    compare = commands.add_parser(
        "compare",
        help="show two or more runs side by side, in one table and one page",
        description="Compares releases, or evaluations against the raw table. A comparison with the raw "
        "table must stay on this machine.",
    )
    compare.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="a release, or an evaluation: OUTPUT_DIR/sensitive/DATASET/RUN/evaluation",
    )
    compare.add_argument(
        "--over-time",
        action="store_true",
        help="compare all vintages of one dataset: give OUTPUT_DIR/release/DATASET. The page shows which "
        "counts changed by more than noise or rounding explains",
    )
    compare.add_argument(
        "--output", type=Path, default=Path("comparison"), help="folder to write to (default: comparison)"
    )
    compare.set_defaults(action=_compare)


def _add_lineage(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    lineage = commands.add_parser(
        "lineage",
        help="say what a released file was made from, and what was made from it",
        description="Goes from a released file back to the table and forth to the page, and compares every "
        "hash with the manifest beside the file. It needs no server and reads nothing sensitive.",
    )
    lineage.add_argument("file", type=Path, metavar="FILE", help="a file in a release's folder")
    lineage.set_defaults(action=_lineage)


def _add_errata(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    errata = commands.add_parser(
        "errata",
        help="say that a release was withdrawn or corrected",
        description="Writes ERRATA.md beside the files of a release, which stay as they are, and names it in "
        "INDEX.json of the dataset's releases. The link latest never leads to a withdrawn release. Copies "
        "that were made by publish_to get the same.",
    )
    errata.add_argument(
        "release", type=Path, metavar="RELEASE", help="its folder: OUTPUT_DIR/release/DATASET/VINTAGE-N"
    )
    kind = errata.add_mutually_exclusive_group(required=True)
    kind.add_argument(
        "--withdraw", metavar="TEXT", help="nobody should use it any more: what is wrong, and why"
    )
    kind.add_argument("--correct", metavar="TEXT", help="it stands, with this correction")
    errata.add_argument(
        "--replaced-by", default="", metavar="VINTAGE", help="the vintage or release to take instead"
    )
    errata.set_defaults(action=_errata)


def _compare(options: argparse.Namespace) -> int:
    from flows.command import compare as comparing

    if options.over_time:
        return comparing.write_history(options.runs, options.output)
    return comparing.write_side_by_side(options.runs, options.output)


def _lineage(options: argparse.Namespace) -> int:
    from flows.command import lineage as telling

    return telling.show_lineage(options.file)


def _errata(options: argparse.Namespace) -> int:
    from flows.command import errata as errata_command

    kind: Literal["corrected", "withdrawn"] = "corrected" if options.withdraw is None else "withdrawn"
    text: str = options.correct if options.withdraw is None else options.withdraw
    return errata_command.tell_erratum(options.release, kind, text, options.replaced_by)
