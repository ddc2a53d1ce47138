"""The command ``marginalia``: arguments in, an exit code out.

0 done, 2 usage, 3 budget, 4 contract, 5 the input is late, 1 anything else.

Stopped by a signal it ends with 128 and the signal's number: 130 after ctrl-C, 143 after SIGTERM.

Prefect and Great Expectations are imported only where a flow runs, so that ``--help`` answers at once.
"""

import argparse
import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from flows.command.arguments import CommandParser
from flows.command.init import arguments as init_options
from flows.command.interruption import raise_from
from flows.command.release_commands import add_release_commands
from flows.command.syndiffix import arguments as syndiffix_options
from flows.command.without_pandas import hide_pandas_from_pyarrow
from tasks.core.errors import InputError, MarginaliaError
from tasks.request import STAGES

#: The short spelling of a stage's option, and what its help says.
_STAGE_WORDS = {
    "aggregate": ("--agg", "count the table and protect the counts"),
    "generate": ("--gen", "make the synthetic records"),
    "evaluate": ("--eval", "compare them with the counts and with the table"),
    "navigate": ("--nav", "write the page <prefix>_data_showcase.html"),
}


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP came: the command unwinds as it does after ctrl-C."""

    def __init__(self, number: int) -> None:
        """Args: number: of the signal."""
        super().__init__()
        self.number = number


def run() -> NoReturn:
    """Run the command line and leave, exit functions run, without taking the interpreter down.

    With Prefect loaded, DuckDB's bindings otherwise print pages about objects that outlive them.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, _terminate)
    code = main()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    options = _parser().parse_args(_as_init(sys.argv[1:] if arguments is None else arguments))
    action: Callable[[argparse.Namespace], int] = options.action
    try:
        _take_interrupts()
        return action(options)
    except MarginaliaError as error:
        for line in str(error).splitlines():
            print(f"marginalia: {line}", file=sys.stderr)
        if isinstance(error, InputError) and error.operator_detail:
            print(f"marginalia: for the operator alone: {error.operator_detail}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt as stop:
        kept = ": what was done is kept" if getattr(options, "flow", False) else ""
        print(f"marginalia: interrupted. Run the same command again{kept}.", file=sys.stderr)
        return 128 + (stop.number if isinstance(stop, Terminated) else signal.SIGINT)
    except BrokenPipeError:
        return 1


def _as_init(arguments: Sequence[str]) -> list[str]:
    """`check --propose`, as `init` was called before, is `init`."""
    words = list(arguments)
    if words[:1] == ["check"] and "--propose" in words:
        return ["init", *(word for word in words[1:] if word != "--propose")]
    return words


def _take_interrupts() -> None:
    """From here on ctrl-C is answered; while the command was loaded it ended the process by itself."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise_from(frame, Terminated(number))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise_from(frame, KeyboardInterrupt())


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="marginalia",
        description="Share what is in a sensitive table without sharing the people in it.",
        epilog="Exit codes: 0 done, 2 configuration or command line, 3 budget, 4 contract, 5 the input is "
        "late, 130 interrupted (ctrl-C), 143 terminated (SIGTERM), 1 anything else.",
    )
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", parser_class=CommandParser
    )
    _add_run(commands)
    _add_init(commands)
    _add_check(commands)
    _add_ledger(commands)
    _add_publish(commands)
    _add_batch(commands)
    _add_deploy(commands)
    _add_notify(commands)
    add_release_commands(commands)
    _add_export(commands)
    _add_purge(commands)
    _add_syndiffix(commands)
    demo = commands.add_parser(
        "demo",
        help="run everything on a generated survey, in ./demo",
        description="Generates a survey and runs everything on it. Table, configuration, results and ledger "
        "are in one folder.",
    )
    demo.add_argument("--folder", type=Path, default=Path("demo"), help="where to work (default: demo)")
    _of_flow(demo).set_defaults(action=_demo)
    serve = commands.add_parser(
        "serve",
        help="run a Prefect server and a worker on this machine, for what was deployed",
        description="Runs the local Prefect server and one worker until you press ctrl-C or type marginalia "
        "stop. With PREFECT_API_URL set it runs a worker of that server. A second call says what runs.",
    )
    serve.add_argument("--pool", default="marginalia", help="whose runs it does (default: marginalia)")
    serve.set_defaults(action=_serve)
    stop = commands.add_parser(
        "stop",
        help="stop the local Prefect server and its worker",
        description="Stops the local Prefect server and the worker that serve started. The next run starts "
        "the server again.",
    )
    stop.set_defaults(action=_stop)
    return parser


def _add_run(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    run = commands.add_parser(
        "run",
        help="do the whole job on your own table",
        description="Runs all stages or, where you name stages, those up to the last one that you "
        "name. Steps whose inputs have not changed are skipped.",
    )
    _add_configuration(run)
    for stage in STAGES:
        short, what = _STAGE_WORDS[stage]
        run.add_argument(f"--{stage}", short, action="store_true", dest=stage, help=what)
    _of_flow(run).set_defaults(action=_run)


def _add_init(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    init = commands.add_parser(
        "init",
        help="look at a table, and write a configuration and a contract for it",
        description="Reads the table, shows what each column is taken for and why, asks what only you know, "
        "and writes a configuration and a contract that run as they are. Every question has an option that "
        "answers it, so it also runs without a terminal.",
    )
    init_options.add_init_options(init)
    init.set_defaults(action=_init)


def _add_check(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    check = commands.add_parser(
        "check",
        help="validate a configuration and show what its run would do and cost",
        description="Reads the configuration, the table's header and the ledger. It reads no value of the "
        "table. With --propose it is marginalia init.",
    )
    _add_configuration(check)
    check.set_defaults(action=_check)


def _add_ledger(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    ledger = commands.add_parser(
        "ledger",
        help="show or set a dataset's privacy budget",
        description="Verifies every entry of the ledger, and shows the budget of one dataset or of all: what "
        "is spent, what is left. With --cap it registers a dataset or changes its cap, the most that all its "
        "releases together may cost.",
    )
    ledger.add_argument("dataset", nargs="?", help="the dataset's name; without it, all datasets are shown")
    ledger.add_argument(
        "--cap",
        nargs=2,
        metavar=("EPSILON", "DELTA"),
        help="register the dataset with this cap, lower its cap, or (with --reason) raise it",
    )
    ledger.add_argument(
        "--threshold-delta", metavar="D", help="the part of DELTA that thresholds may use (with --cap)"
    )
    ledger.add_argument("--population", help="whose data these are, in words (with --cap, when you register)")
    ledger.add_argument(
        "--unit",
        choices=("subject", "row"),
        help="what the releases protect (with --cap, when you register): a subject, or a row where the "
        "configurations have no subject_id (default: subject)",
    )
    ledger.add_argument(
        "--reason",
        default="",
        help="why you raise the cap; or, by itself or when you register, why the dataset is about other "
        "people than every dataset that the ledger knows. The ledger keeps it",
    )
    ledger.add_argument(
        "--subject-id",
        metavar="COLUMN",
        help="the column that tells subjects apart has this name now, and a --reason why",
    )
    ledger.add_argument(
        "--configuration",
        type=Path,
        metavar="CONFIG.json",
        help="count the releases that are left at this configuration's setting (default: the latest's)",
    )
    ledger.add_argument("--json", action="store_true", help="print JSON, for programs")
    ledger.add_argument(
        "--export", type=Path, metavar="FILE", help="write all entries into a new file, which can be verified"
    )
    ledger.add_argument(
        "--verify",
        type=Path,
        metavar="FILE",
        help="verify an export without the ledger: its chain, phases, charges and caps (0: all is well)",
    )
    ledger.set_defaults(action=_ledger)


def _add_publish(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    publish = commands.add_parser(
        "publish",
        help="rebuild a release from its measurement alone",
        description="Reads the measurement, and neither the table nor the folder sensitive/. So a user "
        "without access to these can publish.",
    )
    _add_configuration(publish)
    publish.add_argument(
        "--measurement",
        type=Path,
        metavar="FOLDER",
        help="the measurement (default: the configuration's own in OUTPUT_DIR/measurement)",
    )
    _of_flow(publish).set_defaults(action=_publish)


def _add_batch(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    batch = commands.add_parser(
        "batch",
        help="do many runs from one batch file and compare them by group",
        description="Does every run of the file. A run that fails does not stop the others. The command then "
        "lists the failed runs and ends with 1.",
    )
    batch.add_argument(
        "file", type=Path, metavar="BATCH.json", help="the batch file (docs/batches.md explains it)"
    )
    _of_flow(batch).set_defaults(action=_batch)


def _add_deploy(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    deploy = commands.add_parser(
        "deploy",
        help="put a configuration on a Prefect server, to be run by a schedule or from its pages",
        description="Makes one deployment of the configuration or batch file, or updates it. What somebody "
        "has set on the server's pages stays, and the command says what differs.",
    )
    _add_configuration(deploy)
    when = deploy.add_mutually_exclusive_group()
    when.add_argument("--cron", help='when it runs, such as "0 4 1 * *": at four on the first of each month')
    when.add_argument("--every", metavar="TIME", help="run it in this interval: 30m, 2h or 1d")
    deploy.add_argument(
        "--timezone", metavar="ZONE", help="of the schedule, such as Europe/Vienna (default: UTC)"
    )
    deploy.add_argument(
        "--paused", action="store_true", help="leave the schedule off until somebody turns it on"
    )
    deploy.add_argument("--pool", help="the work pool whose workers run it (default: marginalia)")
    deploy.add_argument("--name", metavar="SLUG", help="the deployment's name (default: that of the file)")
    deploy.add_argument(
        "--overwrite", action="store_true", help="replace what somebody has set on the server's pages"
    )
    deploy.set_defaults(action=_deploy)


def _add_notify(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    notify = commands.add_parser(
        "notify",
        help="be told of failed runs, budgets that run out and late tables",
        description="Makes automations on the Prefect server, or updates them: on a failed or crashed run "
        "and on a low budget they send a notification with the run's address.",
    )
    target = notify.add_mutually_exclusive_group(required=True)
    target.add_argument(
        "--webhook",
        metavar="URL",
        help='where to send {"text": ...}, as Slack and others take it; - reads it from standard input. It '
        "is kept as a secret of a block",
    )
    target.add_argument(
        "--block", metavar="NAME", help="a notification block of the server, such as slack-webhook/ops"
    )
    notify.add_argument("--try", dest="try_it", action="store_true", help="send a trial message now, too")
    notify.set_defaults(action=_notify)


def _add_export(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    export = commands.add_parser(
        "export",
        help="write SDS's listings of all combinations of a run, for you alone",
        description="Writes the true counts of a run, and the combinations of its synthetic records, as the "
        "files that SDS writes. The files are large, and they must stay on this machine.",
    )
    export.add_argument(
        "run",
        type=Path,
        metavar="FOLDER",
        help="OUTPUT_DIR/sensitive/DATASET/RUN, or OUTPUT_DIR/sensitive/DATASET for its newest run",
    )
    export.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="write these files alone: sensitive_aggregates, sensitive_aggregated_data, "
        "synthetic_aggregates, synthetic_rare_combos_by_length",
    )
    export.add_argument("--output", type=Path, help="folder to write to (default: export in FOLDER)")
    export.set_defaults(action=_export)


def _add_purge(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    purge = commands.add_parser(
        "purge",
        help="remove what is older than the configuration's retention_days from sensitive/",
        description="Removes tables, trees, evaluations and logs that were made of the raw table and are "
        "older than retention_days. It never touches ledger, measurements and releases, and removes nothing "
        "while a run of the dataset is at work.",
    )
    _add_configuration(purge)
    purge.add_argument("--dry-run", action="store_true", help="only say how much it would remove")
    purge.set_defaults(action=_purge)


def _add_syndiffix(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    syndiffix = commands.add_parser(
        "syndiffix",
        allow_abbrev=False,
        usage="%(prog)s FILE [OUTPUT] [options]",  # all of them would bury what is wrong
        help="make a synthetic table by SynDiffix (not differentially private)",
        description="Makes a synthetic table by SynDiffix. It counts groups of rows, suppresses rare values "
        "and adds noise that stays the same however often you ask. It is not differentially private. Give "
        "FILE first.",
    )
    syndiffix_options.add_arguments(syndiffix)
    syndiffix.set_defaults(action=_syndiffix)


def _add_configuration(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "configuration",
        type=Path,
        metavar="CONFIG.json",
        help="the configuration (docs/configuration.md explains its keys)",
    )


def _of_flow(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What every command has that runs a flow, whose finished steps are kept."""
    parser.add_argument(
        "-v", "--v", "--verbose", action="store_true", dest="verbose", help="show Prefect's log"
    )
    parser.set_defaults(flow=True)
    return parser


def _run(options: argparse.Namespace) -> int:
    from flows.command import run as running
    from tasks.configuration.flat_file import read_configuration

    stages = [stage for stage in STAGES if getattr(options, stage)] or list(STAGES)
    running.run_showcase(read_configuration(options.configuration), stages, verbose=options.verbose)
    return 0


def _publish(options: argparse.Namespace) -> int:
    from flows.command import run as running
    from tasks.configuration.flat_file import read_configuration

    running.run_publish(
        read_configuration(options.configuration), options.measurement, verbose=options.verbose
    )
    return 0


def _batch(options: argparse.Namespace) -> int:
    from flows.command import run as running

    running.run_batch(options.file, verbose=options.verbose)
    return 0


def _deploy(options: argparse.Namespace) -> int:
    from flows.command import deploy as deploying

    return deploying.deploy(options)


def _notify(options: argparse.Namespace) -> int:
    from flows.command import notify as notifying

    return notifying.notify(options)


def _export(options: argparse.Namespace) -> int:
    from flows.command import export as exporting

    return exporting.export_listings(options.run, options.only, options.output)


def _purge(options: argparse.Namespace) -> int:
    from tasks.configuration.flat_file import read_configuration
    from tasks.sensitive.retention import purge_configured

    purge_configured(read_configuration(options.configuration), dry=options.dry_run)
    return 0


def _syndiffix(options: argparse.Namespace) -> int:
    if not options.flow:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
        hide_pandas_from_pyarrow()
    from flows.command.syndiffix import command as syndiffix_command

    return syndiffix_command.synthesize_table(options)


def _demo(options: argparse.Namespace) -> int:
    from flows.command import run as running

    running.run_demo(options.folder, verbose=options.verbose)
    return 0


def _check(options: argparse.Namespace) -> int:
    from flows.command.check import command as checking

    return checking.check(options.configuration)


def _init(options: argparse.Namespace) -> int:
    from flows.command.init import command as init_command

    return init_command.init(options)


def _ledger(options: argparse.Namespace) -> int:
    from flows.command import ledger as ledger_command

    return ledger_command.show_or_set(options)


def _serve(options: argparse.Namespace) -> int:
    from flows.command import serve

    return serve.serve(options.pool)


def _stop(options: argparse.Namespace) -> int:
    from flows.command import serve, server

    stopped = [serve.stop_worker(), server.stop()]
    print("Stopped." if any(stopped) else "No server was running.")
    return 0
