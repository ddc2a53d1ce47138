"""The command ``marginalia``: arguments in, an exit code out (0 done, 2 usage, 3 budget, 4 contract, 1 else).

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
from typing import NoReturn, get_args

from flows.command.arguments import CommandParser
from flows.command.interruption import raise_from
from flows.command.syndiffix import arguments as syndiffix_options
from flows.command.without_pandas import hide_pandas_from_pyarrow
from tasks.core.errors import InputError, MarginaliaError
from tasks.core.tables.column_names import Encoding
from tasks.request import STAGES

_SHORT = {"aggregate": "--agg", "generate": "--gen", "evaluate": "--eval", "navigate": "--nav"}


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
    options = _parser().parse_args(arguments)
    action: Callable[[argparse.Namespace], int] = options.action
    try:
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


def _terminate(number: int, frame: FrameType | None) -> None:
    raise_from(frame, Terminated(number))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise_from(frame, KeyboardInterrupt())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="marginalia",
        description="Share what is in a sensitive table without sharing the people in it.",
        epilog="Exit codes: 0 done, 2 configuration or usage, 3 budget, 4 contract, 1 anything else.",
    )
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", parser_class=CommandParser
    )
    _add_run(commands)
    _add_check(commands)
    _add_ledger(commands)
    _add_publish(commands)
    _add_batch(commands)
    _add_compare(commands)
    _add_export(commands)
    _add_syndiffix(commands)
    demo = commands.add_parser("demo", help="run everything on a generated survey, into ./demo")
    demo.add_argument("--folder", type=Path, default=Path("demo"), help="where to work (default: demo)")
    _of_flow(demo).set_defaults(action=_demo)
    stop = commands.add_parser("stop", help="end the local Prefect server")
    stop.set_defaults(action=_stop)
    return parser


def _add_run(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    run = commands.add_parser(
        "run",
        help="the whole job on your own table",
        description="Runs the stages that are named, and any missing earlier one first; none named: all.",
    )
    run.add_argument("configuration", type=Path, metavar="CONFIG.json")
    for stage in STAGES:
        run.add_argument(f"--{stage}", _SHORT[stage], action="store_true", dest=stage, help=f"{stage} stage")
    _of_flow(run).set_defaults(action=_run)


def _add_check(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    check = commands.add_parser(
        "check",
        help="validate a configuration and say what its run would cost",
        description="Reads the header and public facts, never a value (except with --propose).",
    )
    check.add_argument("configuration", type=Path, metavar="CONFIG.json")
    check.add_argument(
        "--propose",
        action="store_true",
        help="read the table and draft dialect, bins and a contract for you to accept; "
        "CONFIG may be the table itself",
    )
    check.add_argument("--encoding", choices=get_args(Encoding), help="of the table, with --propose")
    check.set_defaults(action=_check)


def _add_ledger(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    ledger = commands.add_parser("ledger", help="show or set a dataset's privacy budget")
    ledger.add_argument("dataset", nargs="?", help="without it, every dataset")
    ledger.add_argument(
        "--cap", nargs=2, metavar=("EPSILON", "DELTA"), help="register, lower, or (with --reason) raise"
    )
    ledger.add_argument("--threshold-delta", metavar="D", help="cap of the thresholds' share of delta")
    ledger.add_argument("--population", default="", help="whose data these are, in words")
    ledger.add_argument(
        "--unit",
        choices=("subject", "row"),
        help="what a new dataset's releases protect: row where there is no subject_id (default: subject)",
    )
    ledger.add_argument(
        "--reason",
        default="",
        help="why a cap is raised, or (by itself, or with a first cap) why the people of a dataset are not "
        "those of any dataset that is known by now; stays in the ledger",
    )
    ledger.set_defaults(action=_ledger)


def _add_publish(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    publish = commands.add_parser(
        "publish",
        help="rebuild a release from its measurement alone",
        description="Reads neither the table nor sensitive/: may run as a user who can't.",
    )
    publish.add_argument("configuration", type=Path, metavar="CONFIG.json")
    publish.add_argument(
        "--measurement", type=Path, help="its folder; without it, the one in OUTPUT_DIR/measurement"
    )
    _of_flow(publish).set_defaults(action=_publish)


def _add_batch(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    batch = commands.add_parser(
        "batch",
        help="many runs from one batch file, compared by group",
        description="One run that fails stops no other; the command then ends with 1 and the list.",
    )
    batch.add_argument("file", type=Path, metavar="BATCH.json")
    _of_flow(batch).set_defaults(action=_batch)


def _add_compare(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    compare = commands.add_parser(
        "compare",
        help="two or more runs side by side, in one table and one page",
        description="Of releases, or of evaluations against the raw table (what then must not leave).",
    )
    compare.add_argument(
        "runs", type=Path, nargs="+", metavar="FOLDER", help="a release's, or an evaluation's in sensitive/"
    )
    compare.add_argument(
        "--output", type=Path, default=Path("comparison"), help="folder to write to (default: comparison)"
    )
    compare.set_defaults(action=_compare)


def _add_export(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    export = commands.add_parser(
        "export",
        help="SDS's listings of all combinations of a run, for you alone",
        description="Writes the true counts that a run keeps as Parquet, and the combinations of its "
        "synthetic records, as the files that SDS writes. Large, and they must not leave this machine.",
    )
    export.add_argument(
        "run",
        type=Path,
        metavar="FOLDER",
        help="OUTPUT_DIR/sensitive/DATASET/RUN, or DATASET: its newest run",
    )
    export.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="these alone: sensitive_aggregates, sensitive_aggregated_data, synthetic_aggregates, "
        "synthetic_rare_combos_by_length",
    )
    export.add_argument("--output", type=Path, help="folder to write to (default: export in FOLDER)")
    export.set_defaults(action=_export)


def _add_syndiffix(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    syndiffix = commands.add_parser(
        "syndiffix",
        allow_abbrev=False,
        usage="%(prog)s FILE [OUTPUT] [options]",  # all of them would bury what is wrong
        help="a synthetic table by SynDiffix: not differentially private",
        description="Synthesizes a table by SynDiffix: aggregated, rare values suppressed, noise that is the "
        "same each time. Not differentially private. Give FILE first.",
    )
    syndiffix_options.add_arguments(syndiffix)
    syndiffix.set_defaults(action=_syndiffix)


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


def _compare(options: argparse.Namespace) -> int:
    from flows.command import compare as comparing

    return comparing.write_side_by_side(options.runs, options.output)


def _export(options: argparse.Namespace) -> int:
    from flows.command import export as exporting

    return exporting.export_listings(options.run, options.only, options.output)


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

    return checking.check(options.configuration, propose=options.propose, encoding=options.encoding)


def _ledger(options: argparse.Namespace) -> int:
    from flows.command import ledger as ledger_command

    return ledger_command.show_or_set(options)


def _stop(options: argparse.Namespace) -> int:
    from flows.command import server

    print("Stopped." if server.stop() else "No server was running.")
    return 0
