"""The command's arguments: each command is one function here, whose docstring is its help.

Nothing that a command needs in order to work is loaded for it: what does the work is named, and imported
when the command is known. The options of SynDiffix are declared with its command.
"""

import argparse
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from flows.command.parser import CommandParser, add_option, add_options

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
    add_option(
        parser, "configuration CONFIG.json", "the configuration (docs/configuration.md explains its keys)"
    )


def _add_flow(parser: CommandParser) -> None:
    add_option(parser, "-v --v --verbose", "show Prefect's log", dest="verbose")
    parser.set_defaults(flow=True)


@_command("flows.command.run:start_runs")
def _run(parser: CommandParser) -> None:
    """Do the whole job on your own table.

    Runs all stages or, where you name stages, those up to the last one that you name. Steps whose inputs
    have not changed are skipped.
    """
    _add_configuration(parser)
    stages = {
        "--aggregate --agg": "count the table and protect the counts",
        "--generate --gen": "make the synthetic records",
        "--evaluate --eval": "compare them with the counts and with the table",
        "--navigate --nav": "write the page <prefix>_data_showcase.html",
    }
    add_options(parser, stages)
    _add_flow(parser)


@_command("flows.command.init.command:init")
def _init(parser: CommandParser) -> None:
    """Look at a table, and write a configuration and a contract for it.

    Reads the table, shows what each column is taken for and why, asks what only you know, and writes a
    configuration and a contract that run as they are. Every question has an option that answers it, so it
    also runs without a terminal.
    """
    from tasks.core.recognition.init_answers import WORDS, ProtectionName
    from tasks.core.tables.column_names import Encoding

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    words = (
        f"  {word + (':' + detail if detail else ''):<20}{told}" for word, (detail, told, _) in WORDS.items()
    )
    parser.epilog = "\n".join(["what a column can be:", *words])
    add_option(parser, "file FILE", "the table, or a configuration that says how to read it")
    file = parser.add_argument_group("how the file is written, where it is not recognised")
    add_option(file, "--encoding", "the encoding of a text file", choices=get_args(Encoding))
    texts = {
        "--delimiter SIGN": "what separates the cells of a text file; tab for a tab",
        "--quote SIGN": "what stands around cells that hold a delimiter",
        "--escape SIGN": "what precedes a quote inside a cell, such as a backslash",
        "--skip-lines N": "lines of a text file above its header, such as a title",
    }
    add_options(file, texts)
    header = "whether the first line of a text file names the columns"
    add_option(file, "--header", header, choices=("yes", "no"))
    columns = {
        "--column COLUMN=WORD": "what a column is, where you know better, such as --column age=bins:0,18,65 "
        "(may be repeated)",
        "--value-names COLUMN:CODE=WORD,...": "what the codes of a column mean, such as --value-names "
        "sex:1=men,2=women; the page then shows both (may be repeated)",
        "--declare COLUMN": "declare how this column hangs on another one, as init found it: it then holds "
        "in every record, and its values become public; all for every column (may be repeated)",
    }
    add_options(parser.add_argument_group("what columns are"), columns, action="append")
    parser.set_defaults(column=[], value_names=[])
    asked = parser.add_argument_group("what only you know")
    whose = {
        "--subject-id COLUMN": "the column that says whose row it is; somebody may have several",
        "--one-row-each": "each row is another person; a row is what is protected",
    }
    add_options(asked.add_mutually_exclusive_group(), whose)
    protection = "what protects the people: differential privacy (dp, the default), k_anonymity or syndiffix"
    add_option(asked, "--protection", protection, choices=get_args(ProtectionName))
    answers = {
        "--epsilon E": "the price of one release (dp; default: 1)",
        "--releases N": "how many releases are planned (dp; default: 12)",
        "--population TEXT": "whose data these are; every release states it (dp)",
        "--purpose TEXT": "for whom and for what the releases are",
        "--unit WORD": "what a row is called, such as visit",
        "--dataset NAME": "the name that the budget is kept under (default: the file's)",
        "--vintage LABEL": "the label of the first release (default: the month in the file's name, or this "
        "month)",
    }
    add_options(asked, answers)
    written = parser.add_argument_group("what is written")
    add_option(written, "--output FOLDER", "where to write both files (default: here)", default=Path())
    flags = {
        "--overwrite": "replace a configuration and a contract that are there",
        "--yes": "ask nothing: take what is proposed wherever no option answers",
    }
    add_options(written, flags)


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
    add_option(parser, "dataset", "the dataset's name; without it, all datasets are shown", nargs="?")
    caps = {
        "--cap EPSILON DELTA": "register the dataset with this cap, lower its cap, or (with --reason) raise "
        "it",
        "--threshold-delta D": "the part of DELTA that thresholds may use (with --cap)",
        "--population POPULATION": "whose data these are, in words (with --cap, when you register)",
    }
    add_options(parser, caps)
    unit = (
        "what the releases protect (with --cap, when you register): a subject, or a row where the "
        "configurations have no subject_id (default: subject)"
    )
    add_option(parser, "--unit", unit, choices=("subject", "row"))
    reason = (
        "why you raise the cap; or, by itself or when you register, why the dataset is about other people "
        "than every dataset that the ledger knows. The ledger keeps it"
    )
    add_option(parser, "--reason REASON", reason, default="")
    further = {
        "--subject-id COLUMN": "the column that tells subjects apart has this name now, and a --reason why",
        "--configuration CONFIG.json": "count the releases that are left at this configuration's setting "
        "(default: the latest's)",
        "--json": "print JSON, for programs",
        "--export FILE": "write all entries into a new file, which can be verified",
        "--verify FILE": "verify an export without the ledger: its chain, phases, charges and caps (0: all "
        "is well)",
    }
    add_options(parser, further)


@_command("flows.command.run:publish_measurement")
def _publish(parser: CommandParser) -> None:
    """Rebuild a release from its measurement alone.

    Reads the measurement, and neither the table nor the folder sensitive/. So a user without access to
    these can publish.
    """
    _add_configuration(parser)
    measurement = "the measurement (default: the configuration's own in OUTPUT_DIR/measurement)"
    add_option(parser, "--measurement FOLDER", measurement)
    _add_flow(parser)


@_command("flows.command.run:run_batch")
def _batch(parser: CommandParser) -> None:
    """Do many runs from one batch file and compare them by group.

    Does every run of the file. A run that fails does not stop the others. The command then lists the failed
    runs and ends with 1.
    """
    add_option(parser, "file BATCH.json", "the batch file (docs/batches.md explains it)")
    _add_flow(parser)


@_command("flows.command.deploy:deploy")
def _deploy(parser: CommandParser) -> None:
    """Put a configuration on a Prefect server, to be run by a schedule or from its pages.

    Makes one deployment of the configuration or batch file, or updates it. What somebody has set on the
    server's pages stays, and the command says what differs.
    """
    _add_configuration(parser)
    when = {
        "--cron CRON": 'when it runs, such as "0 4 1 * *": at four on the first of each month',
        "--every TIME": "run it in this interval: 30m, 2h or 1d",
    }
    add_options(parser.add_mutually_exclusive_group(), when)
    how = {
        "--timezone ZONE": "of the schedule, such as Europe/Vienna (default: UTC)",
        "--paused": "leave the schedule off until somebody turns it on",
        "--pool POOL": "the work pool whose workers run it (default: marginalia)",
        "--name SLUG": "the deployment's name (default: that of the file)",
        "--overwrite": "replace what somebody has set on the server's pages",
    }
    add_options(parser, how)


@_command("flows.command.notify:notify")
def _notify(parser: CommandParser) -> None:
    """Be told of failed runs, budgets that run out and late tables.

    Makes automations on the Prefect server, or updates them: on a failed or crashed run and on a low budget
    they send a notification with the run's address.
    """
    targets = {
        "--webhook URL": 'where to send {"text": ...}, as Slack and others take it; - reads it from standard '
        "input. It is kept as a secret of a block",
        "--block NAME": "a notification block of the server, such as slack-webhook/ops",
    }
    add_options(parser.add_mutually_exclusive_group(required=True), targets)
    add_option(parser, "--try", "send a trial message now, too", dest="try_it")


@_command("flows.command.compare:compare")
def _compare(parser: CommandParser) -> None:
    """Show two or more runs side by side, in one table and one page.

    Compares releases, or evaluations against the raw table. A comparison with the raw table must stay on
    this machine.
    """
    options = {
        "runs FOLDER ...": "a release, or an evaluation: OUTPUT_DIR/sensitive/DATASET/RUN/evaluation",
        "--over-time": "compare all vintages of one dataset: give OUTPUT_DIR/release/DATASET. The page shows "
        "which counts changed by more than noise or rounding explains",
    }
    add_options(parser, options)
    output = "folder to write to (default: comparison)"
    add_option(parser, "--output OUTPUT", output, default=Path("comparison"))


@_command("flows.command.lineage:show_lineage")
def _lineage(parser: CommandParser) -> None:
    """Say what a released file was made from, and what was made from it.

    Goes from a released file back to the table and forth to the page, and compares every hash with the
    manifest beside the file. It needs no server and reads nothing sensitive.
    """
    add_option(parser, "file FILE", "a file in a release's folder")


@_command("flows.command.errata:write_erratum")
def _errata(parser: CommandParser) -> None:
    """Say that a release was withdrawn or corrected.

    Writes ERRATA.md beside the files of a release, which stay as they are, and names it in INDEX.json of the
    dataset's releases. The link latest never leads to a withdrawn release. Copies that were made by
    publish_to get the same.
    """
    add_option(parser, "release RELEASE", "its folder: OUTPUT_DIR/release/DATASET/VINTAGE-N")
    kinds = {
        "--withdraw TEXT": "nobody should use it any more: what is wrong, and why",
        "--correct TEXT": "it stands, with this correction",
    }
    add_options(parser.add_mutually_exclusive_group(required=True), kinds)
    add_option(parser, "--replaced-by VINTAGE", "the vintage or release to take instead", default="")


@_command("flows.command.run:export_listings")
def _export(parser: CommandParser) -> None:
    """Write SDS's listings of all combinations of a run, for you alone.

    Writes the true counts of a run, and the combinations of its synthetic records, as the files that SDS
    writes. The files are large, and they must stay on this machine.
    """
    run = "OUTPUT_DIR/sensitive/DATASET/RUN, or OUTPUT_DIR/sensitive/DATASET for its newest run"
    add_option(parser, "run FOLDER", run)
    only = (
        "write these files alone: sensitive_aggregates, sensitive_aggregated_data, synthetic_aggregates, "
        "synthetic_rare_combos_by_length"
    )
    add_option(parser, "--only NAME ...", only, default=[])
    add_option(parser, "--output OUTPUT", "folder to write to (default: export in FOLDER)")


@_command("flows.command.run:purge_workspace")
def _purge(parser: CommandParser) -> None:
    """Remove what is older than the configuration's retention_days from sensitive/.

    Removes tables, trees, evaluations and logs that were made of the raw table and are older than
    retention_days. It never touches ledger, measurements and releases, and removes nothing while a run of
    the dataset is at work.
    """
    _add_configuration(parser)
    add_option(parser, "--dry-run", "only say how much it would remove")


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
    add_option(parser, "--folder FOLDER", "where to work (default: demo)", default=Path("demo"))
    _add_flow(parser)


@_command("flows.command.serve:serve")
def _serve(parser: CommandParser) -> None:
    """Run a Prefect server and a worker on this machine, for what was deployed.

    Runs the local Prefect server and one worker until you press ctrl-C or type marginalia stop. With
    PREFECT_API_URL set it runs a worker of that server. A second call says what runs.
    """
    add_option(parser, "--pool POOL", "whose runs it does (default: marginalia)", default="marginalia")


@_command("flows.command.serve:stop_serving")
def _stop(parser: CommandParser) -> None:
    """Stop the local Prefect server and its worker.

    Stops the local Prefect server and the worker that serve started. The next run starts the server again.
    """
