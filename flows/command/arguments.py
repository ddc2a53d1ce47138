"""The command's arguments: each command is one function here, whose docstring is its help.

Nothing that a command needs in order to work is loaded for it: what does the work is named, and imported
when the command is known. The options of SynDiffix are declared with its command.
"""

import argparse
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from flows.command.parser import CommandParser
from tasks.request import STAGES

#: The short spelling of a stage's option, and what its help says.
_STAGE_WORDS = {
    "aggregate": ("--agg", "count the table and protect the counts"),
    "generate": ("--gen", "make the synthetic records"),
    "evaluate": ("--eval", "compare them with the counts and with the table"),
    "navigate": ("--nav", "write the page <prefix>_data_showcase.html"),
}


_Declaration = Callable[[CommandParser], None]
#: By a command's name: what does its work, as MODULE:FUNCTION, and what declares its arguments.
_COMMANDS: dict[str, tuple[str, _Declaration]] = {}


def parse_command_line(words: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; ``action`` is what does its work, as MODULE:FUNCTION.

    Raises:
        SystemExit: help was asked for (0), or it can't be parsed (2).
    """
    parser = CommandParser(
        prog="marginalia",
        description="Share what is in a sensitive table without sharing the people in it.",
        epilog="Exit codes: 0 done, 2 configuration or command line, 3 budget, 4 contract, 5 the input is "
        "late, 130 interrupted (ctrl-C), 143 terminated (SIGTERM), 1 anything else.",
    )
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", parser_class=CommandParser
    )
    for name, (action, declare) in _COMMANDS.items():
        summary, _, description = inspect.cleandoc(declare.__doc__ or "").partition("\n\n")
        help = summary[0].lower() + summary.rstrip(".")[1:]
        command = commands.add_parser(name, help=help, description=" ".join(description.split()))
        if name in words[:1]:
            command.set_defaults(action=action, flow=False)
            declare(command)
    return parser.parse_args(words)


def _command(action: str) -> Callable[[_Declaration], _Declaration]:
    def register(declare: _Declaration) -> _Declaration:
        _COMMANDS[declare.__name__.removeprefix("_")] = (action, declare)
        return declare

    return register


def _add_configuration(parser: CommandParser) -> None:
    parser.add_argument(
        "configuration",
        type=Path,
        metavar="CONFIG.json",
        help="the configuration (docs/configuration.md explains its keys)",
    )


def _add_flow(parser: CommandParser) -> None:
    parser.add_argument(
        "-v", "--v", "--verbose", action="store_true", dest="verbose", help="show Prefect's log"
    )
    parser.set_defaults(flow=True)


@_command("flows.command.run:start_runs")
def _run(parser: CommandParser) -> None:
    """Do the whole job on your own table.

    Runs all stages or, where you name stages, those up to the last one that you name. Steps whose inputs
    have not changed are skipped.
    """
    _add_configuration(parser)
    for stage in STAGES:
        short, what = _STAGE_WORDS[stage]
        parser.add_argument(f"--{stage}", short, action="store_true", dest=stage, help=what)
    _add_flow(parser)


@_command("flows.command.init.command:init")
def _init(parser: CommandParser) -> None:
    """Look at a table, and write a configuration and a contract for it.

    Reads the table, shows what each column is taken for and why, asks what only you know, and writes a
    configuration and a contract that run as they are. Every question has an option that answers it, so it
    also runs without a terminal.
    """
    from tasks.core.recognition.init_answers import WORDS, ProtectionName

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    words = (
        f"  {word + (':' + detail if detail else ''):<20}{told}" for word, (detail, told, _) in WORDS.items()
    )
    parser.epilog = "\n".join(["what a column can be:", *words])
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="the table, or a configuration that says how to read it"
    )
    _add_file(parser.add_argument_group("how the file is written, where it is not recognised"))
    _add_columns(parser.add_argument_group("what columns are"))
    _add_answers(parser.add_argument_group("what only you know"), get_args(ProtectionName))
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
    from tasks.core.tables.column_names import Encoding

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


def _add_answers(group: argparse._ArgumentGroup, protections: Sequence[str]) -> None:
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
        choices=protections,
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


@_command("flows.command.run:check")
def _check(parser: CommandParser) -> None:
    """Validate a configuration and show what its run would do and cost.

    Reads the configuration, the table's header and the ledger. It reads no value of the table. With
    --propose it is marginalia init.
    """
    _add_configuration(parser)


@_command("flows.command.ledger:show_or_set")
def _ledger(parser: CommandParser) -> None:
    """Show or set a dataset's privacy budget.

    Verifies every entry of the ledger, and shows the budget of one dataset or of all: what is spent, what is
    left. With --cap it registers a dataset or changes its cap, the most that all its releases together may
    cost.
    """
    parser.add_argument("dataset", nargs="?", help="the dataset's name; without it, all datasets are shown")
    parser.add_argument(
        "--cap",
        nargs=2,
        metavar=("EPSILON", "DELTA"),
        help="register the dataset with this cap, lower its cap, or (with --reason) raise it",
    )
    parser.add_argument(
        "--threshold-delta", metavar="D", help="the part of DELTA that thresholds may use (with --cap)"
    )
    parser.add_argument("--population", help="whose data these are, in words (with --cap, when you register)")
    parser.add_argument(
        "--unit",
        choices=("subject", "row"),
        help="what the releases protect (with --cap, when you register): a subject, or a row where the "
        "configurations have no subject_id (default: subject)",
    )
    parser.add_argument(
        "--reason",
        default="",
        help="why you raise the cap; or, by itself or when you register, why the dataset is about other "
        "people than every dataset that the ledger knows. The ledger keeps it",
    )
    parser.add_argument(
        "--subject-id",
        metavar="COLUMN",
        help="the column that tells subjects apart has this name now, and a --reason why",
    )
    parser.add_argument(
        "--configuration",
        type=Path,
        metavar="CONFIG.json",
        help="count the releases that are left at this configuration's setting (default: the latest's)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument(
        "--export", type=Path, metavar="FILE", help="write all entries into a new file, which can be verified"
    )
    parser.add_argument(
        "--verify",
        type=Path,
        metavar="FILE",
        help="verify an export without the ledger: its chain, phases, charges and caps (0: all is well)",
    )


@_command("flows.command.run:publish_measurement")
def _publish(parser: CommandParser) -> None:
    """Rebuild a release from its measurement alone.

    Reads the measurement, and neither the table nor the folder sensitive/. So a user without access to
    these can publish.
    """
    _add_configuration(parser)
    parser.add_argument(
        "--measurement",
        type=Path,
        metavar="FOLDER",
        help="the measurement (default: the configuration's own in OUTPUT_DIR/measurement)",
    )
    _add_flow(parser)


@_command("flows.command.run:run_batch")
def _batch(parser: CommandParser) -> None:
    """Do many runs from one batch file and compare them by group.

    Does every run of the file. A run that fails does not stop the others. The command then lists the failed
    runs and ends with 1.
    """
    parser.add_argument(
        "file", type=Path, metavar="BATCH.json", help="the batch file (docs/batches.md explains it)"
    )
    _add_flow(parser)


@_command("flows.command.deploy:deploy")
def _deploy(parser: CommandParser) -> None:
    """Put a configuration on a Prefect server, to be run by a schedule or from its pages.

    Makes one deployment of the configuration or batch file, or updates it. What somebody has set on the
    server's pages stays, and the command says what differs.
    """
    _add_configuration(parser)
    when = parser.add_mutually_exclusive_group()
    when.add_argument("--cron", help='when it runs, such as "0 4 1 * *": at four on the first of each month')
    when.add_argument("--every", metavar="TIME", help="run it in this interval: 30m, 2h or 1d")
    parser.add_argument(
        "--timezone", metavar="ZONE", help="of the schedule, such as Europe/Vienna (default: UTC)"
    )
    parser.add_argument(
        "--paused", action="store_true", help="leave the schedule off until somebody turns it on"
    )
    parser.add_argument("--pool", help="the work pool whose workers run it (default: marginalia)")
    parser.add_argument("--name", metavar="SLUG", help="the deployment's name (default: that of the file)")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace what somebody has set on the server's pages"
    )


@_command("flows.command.notify:notify")
def _notify(parser: CommandParser) -> None:
    """Be told of failed runs, budgets that run out and late tables.

    Makes automations on the Prefect server, or updates them: on a failed or crashed run and on a low budget
    they send a notification with the run's address.
    """
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument(
        "--webhook",
        metavar="URL",
        help='where to send {"text": ...}, as Slack and others take it; - reads it from standard input. It '
        "is kept as a secret of a block",
    )
    target.add_argument(
        "--block", metavar="NAME", help="a notification block of the server, such as slack-webhook/ops"
    )
    parser.add_argument("--try", dest="try_it", action="store_true", help="send a trial message now, too")


@_command("flows.command.compare:compare")
def _compare(parser: CommandParser) -> None:
    """Show two or more runs side by side, in one table and one page.

    Compares releases, or evaluations against the raw table. A comparison with the raw table must stay on
    this machine.
    """
    parser.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="a release, or an evaluation: OUTPUT_DIR/sensitive/DATASET/RUN/evaluation",
    )
    parser.add_argument(
        "--over-time",
        action="store_true",
        help="compare all vintages of one dataset: give OUTPUT_DIR/release/DATASET. The page shows which "
        "counts changed by more than noise or rounding explains",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("comparison"), help="folder to write to (default: comparison)"
    )


@_command("flows.command.lineage:show_lineage")
def _lineage(parser: CommandParser) -> None:
    """Say what a released file was made from, and what was made from it.

    Goes from a released file back to the table and forth to the page, and compares every hash with the
    manifest beside the file. It needs no server and reads nothing sensitive.
    """
    parser.add_argument("file", type=Path, metavar="FILE", help="a file in a release's folder")


@_command("flows.command.errata:write_erratum")
def _errata(parser: CommandParser) -> None:
    """Say that a release was withdrawn or corrected.

    Writes ERRATA.md beside the files of a release, which stay as they are, and names it in INDEX.json of the
    dataset's releases. The link latest never leads to a withdrawn release. Copies that were made by
    publish_to get the same.
    """
    parser.add_argument(
        "release", type=Path, metavar="RELEASE", help="its folder: OUTPUT_DIR/release/DATASET/VINTAGE-N"
    )
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument(
        "--withdraw", metavar="TEXT", help="nobody should use it any more: what is wrong, and why"
    )
    kind.add_argument("--correct", metavar="TEXT", help="it stands, with this correction")
    parser.add_argument(
        "--replaced-by", default="", metavar="VINTAGE", help="the vintage or release to take instead"
    )


@_command("flows.command.run:export_listings")
def _export(parser: CommandParser) -> None:
    """Write SDS's listings of all combinations of a run, for you alone.

    Writes the true counts of a run, and the combinations of its synthetic records, as the files that SDS
    writes. The files are large, and they must stay on this machine.
    """
    parser.add_argument(
        "run",
        type=Path,
        metavar="FOLDER",
        help="OUTPUT_DIR/sensitive/DATASET/RUN, or OUTPUT_DIR/sensitive/DATASET for its newest run",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="write these files alone: sensitive_aggregates, sensitive_aggregated_data, "
        "synthetic_aggregates, synthetic_rare_combos_by_length",
    )
    parser.add_argument("--output", type=Path, help="folder to write to (default: export in FOLDER)")


@_command("flows.command.run:purge_workspace")
def _purge(parser: CommandParser) -> None:
    """Remove what is older than the configuration's retention_days from sensitive/.

    Removes tables, trees, evaluations and logs that were made of the raw table and are older than
    retention_days. It never touches ledger, measurements and releases, and removes nothing while a run of
    the dataset is at work.
    """
    _add_configuration(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say how much it would remove")


@_command("flows.command.syndiffix.command:synthesize_table")
def _syndiffix(parser: CommandParser) -> None:
    """Make a synthetic table by SynDiffix (not differentially private).

    Makes a synthetic table by SynDiffix. It counts groups of rows, suppresses rare values and adds noise
    that stays the same however often you ask. It is not differentially private. Give FILE first.
    """
    from flows.command.syndiffix.arguments import add_arguments

    parser.allow_abbrev = False
    parser.usage = "%(prog)s FILE [OUTPUT] [options]"  # all of them would bury what is wrong
    add_arguments(parser)


@_command("flows.command.run:demo")
def _demo(parser: CommandParser) -> None:
    """Run everything on a generated survey, in ./demo.

    Generates a survey and runs everything on it. Table, configuration, results and ledger are in one folder.
    """
    parser.add_argument("--folder", type=Path, default=Path("demo"), help="where to work (default: demo)")
    _add_flow(parser)


@_command("flows.command.serve:serve")
def _serve(parser: CommandParser) -> None:
    """Run a Prefect server and a worker on this machine, for what was deployed.

    Runs the local Prefect server and one worker until you press ctrl-C or type marginalia stop. With
    PREFECT_API_URL set it runs a worker of that server. A second call says what runs.
    """
    parser.add_argument("--pool", default="marginalia", help="whose runs it does (default: marginalia)")


@_command("flows.command.serve:stop_serving")
def _stop(parser: CommandParser) -> None:
    """Stop the local Prefect server and its worker.

    Stops the local Prefect server and the worker that serve started. The next run starts the server again.
    """
