"""``marginalia syndiffix``: a table in a file goes in, a synthetic table of the same columns comes out.

In this process, without Prefect unless ``--flow`` asks for it. The table goes to ``--output`` or to standard
output, all else to standard error. Not differentially private.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa

from flows import syndiffix_blob, syndiffix_log, syndiffix_options, syndiffix_settings
from tasks.core.dp.ledger.place import ledger_place
from tasks.core.errors import InternalError, MarginaliaError, ParameterError
from tasks.core.records.reading import InputFile, header_notes, read_headers
from tasks.core.suggestions import did_you_mean
from tasks.core.syndiffix.blob import require_size
from tasks.core.syndiffix.reading import DeclaredColumn, column_names, find_dialect, parse_column, read_table
from tasks.core.syndiffix.salt import salt_of, salt_path
from tasks.core.syndiffix.synthesizer import SynDiffixParameters, Synthesizer
from tasks.core.syndiffix.writing import write_delimited, write_table
from tasks.failures import unforeseen
from tasks.progress import Progress, say
from tasks.storage import INTERMEDIATE, MEASUREMENT, RELEASE


def synthesize(options: argparse.Namespace) -> int:
    """Run the command.

    Raises:
        MarginaliaError: whatever happens: a library's own error can carry cells of the table.
    """
    try:
        return _run(options)
    except (MarginaliaError, BrokenPipeError):
        raise
    except Exception as error:
        problem = unforeseen(error)
    # Outside the handler, so that the original is not chained to what leaves.
    raise InternalError(problem)


def _run(options: argparse.Namespace) -> int:
    """Run the command. What can be refused is refused before a salt is made."""
    options = syndiffix_options.unfold(options)
    syndiffix_blob.require_buildable(options)
    _require_places(options)
    if syndiffix_blob.is_blob(options):
        _write(syndiffix_blob.answer(options), options.output)
        return 0
    asked = _asked(options)
    if options.flow:
        from flows import syndiffix_flow

        return syndiffix_flow.run_flow(options, asked.columns, asked.parameters)
    if options.verbose:
        say(syndiffix_log.WARNING)
    if options.debug:
        say(syndiffix_log.DEBUG_WARNING)
    with _Steps(verbose=options.verbose) as steps:
        table, synthesizer = _prepared(options, asked, steps)
        if options.blob is not None:
            return syndiffix_blob.build(options, synthesizer, steps)
        # Found once: what it takes to solve them may be the longest step.
        synthesizer.strategy = synthesizer.clusters()
        result = synthesizer.sample()
        steps("write", 0, 1)
    _hand_out(syndiffix_log.Run(synthesizer, result, table, steps.seconds), options)
    return 0


@dataclass(frozen=True)
class _Asked:
    """What is asked for.

    Attributes:
        source: the file and its dialect.
        names: its header.
        columns: to be synthesized.
        parameters: all but the salt.
    """

    source: InputFile
    names: list[str]
    columns: list[DeclaredColumn]
    parameters: SynDiffixParameters


def _asked(options: argparse.Namespace) -> _Asked:
    """Read off options and header. Raises ParameterError."""
    source = find_dialect(options.table)
    for note in header_notes(read_headers(source), source):
        say(note)
    names = column_names(source)
    columns = _declared(options, names)
    selected = [column.name for column in columns]
    if options.blob is not None:
        require_size(len(selected), options.blob_largest)
    return _Asked(source, names, columns, _parameters(options, selected))


def _prepared(options: argparse.Namespace, asked: _Asked, steps: "_Steps") -> tuple[pa.Table, Synthesizer]:
    """The table, read whole, and what synthesizes it; a salt is made where the dataset has none."""
    table, ids = _read(options, asked)
    anonymization = replace(asked.parameters.anonymization, salt=_salt(options.dataset))
    parameters = replace(asked.parameters, anonymization=anonymization)
    steps("prepare", 0, 1)
    selected = [column.name for column in asked.columns]
    return table, Synthesizer(table, parameters, columns=selected, ids=ids, progress=steps)


def _hand_out(run: syndiffix_log.Run, options: argparse.Namespace) -> None:
    """Write what was asked for, and say what was."""
    if options.verbose:
        syndiffix_log.log(run)
    if not run.result.num_rows:
        mean = run.synthesizer.parameters.anonymization.low_count_params.mean
        say(f"The synthetic table is empty: each group has fewer people than may be shown (about {mean:g}).")
    if options.debug:
        syndiffix_log.write_debug(run, options.output)
    else:
        _write(run.result, options.output)


class _Steps:
    """Which step is at work, told to the person at the terminal for as long as it lasts."""

    def __init__(self, *, verbose: bool) -> None:
        """Args: verbose: each step is a line of its own."""
        self._verbose = verbose
        self._bar = Progress("syndiffix")
        self._now = ("read", 0.0)
        self._started = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._started

    def __call__(self, step: str, done: int, of: int) -> None:
        """Say where the work is. Args: step: a word. done, of: in the step's own units."""
        if self._verbose and step != self._now[0]:
            say(f"[{self.seconds:7.1f} s] {step}")
        self._now = (step, done / of)

    def __enter__(self) -> Self:
        """Begin to tell."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, and clear the line."""
        self._ended.set()
        self._thread.join()
        self._bar.close()

    def _tell(self) -> None:
        while not self._ended.wait(0.2):
            self._bar(*self._now)


def _require_places(options: argparse.Namespace) -> None:
    """Refuse an output that would be written too late to be refused, or where it must not be."""
    output: Path | None = options.blob or options.output
    if options.debug and (output is None or output.suffix.lower() != ".json"):
        raise ParameterError(
            "What --debug writes holds the table itself, so it needs a file of its own that ends in .json: "
            "name one with --output, in a folder that nobody shares."
        )
    if output is None:
        return
    home = output.expanduser().resolve()
    if not options.flow:
        _require_place_for_a_file(output)
    if home == options.table.expanduser().resolve():
        raise ParameterError("The output must not take the place of the table it is made from: name another.")
    if home.is_relative_to(ledger_place().resolve()):
        raise ParameterError(
            f"The output {output} must not be in the ledger's folder, which is secret: name another folder."
        )
    zone = next((zone for zone in (RELEASE, INTERMEDIATE, MEASUREMENT) if zone in home.parts), None)
    if options.debug and zone:
        raise ParameterError(
            f"What --debug writes holds the table itself and must be outside of {zone}/, and {output} is in "
            "it: name another folder."
        )


def _require_place_for_a_file(output: Path) -> None:
    """Refuse what is known to fail once all is computed. Raises ParameterError."""
    path = output.expanduser()
    if path.exists() and not path.is_file() and not path.is_dir():
        return  # a device or a pipe
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise ParameterError(f"The output {output} must be a file in a folder that is there: name another.")
    problem = ""
    try:
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass
    except OSError as error:
        problem = f"The output {output} can't be written ({error.strerror}): name another place."
    if problem:
        raise ParameterError(problem)


def _declared(options: argparse.Namespace, names: Sequence[str]) -> list[DeclaredColumn]:
    """The columns to synthesize, each with its type where it has one.

    Raises:
        ParameterError: an unknown type, or a column that the file does not have.
    """
    if options.columns is None:
        columns = [DeclaredColumn(name) for name in names if name not in options.aidcolumns]
    else:
        columns = [_column(item, names) for item in options.columns]
    selected = [column.name for column in columns]
    asked = [(name, names) for name in (*selected, *options.aidcolumns)]
    asked += [(name, selected) for name in options.value_safe_columns]
    problems = [
        f"Column {name!r} must be one of the input's{'' if known is names else ' that are synthesized'}, and "
        f"is not: {did_you_mean(name, known, repr) or 'correct its name.'}"
        for name, known in asked
        if name not in known
    ]
    if problems:
        raise ParameterError(list(dict.fromkeys(problems)))
    return columns


def _column(item: str, names: Sequence[str]) -> DeclaredColumn:
    """A column as it is asked for: a header of the file where the whole text is one and nothing else is."""
    if item in names and item.rpartition(":")[0] not in names:
        return DeclaredColumn(item)
    return parse_column(item)


def _parameters(options: argparse.Namespace, selected: Sequence[str]) -> SynDiffixParameters:
    """All parameters but the salt. Raises ParameterError, which names the options."""
    with syndiffix_settings.named_options():
        return SynDiffixParameters(
            syndiffix_settings.anonymization_of(options),
            syndiffix_settings.bucketization_of(options),
            syndiffix_settings.strategy_of(options, selected),
            frozenset(options.value_safe_columns),
        )


def _salt(dataset: str) -> bytes:
    """The dataset's salt; of a new one, the person is told to keep it."""
    path = salt_path(ledger_place(), dataset)
    is_new = not path.exists()
    salt = salt_of(ledger_place(), dataset)
    if is_new:
        say(f"A salt was made for the dataset {dataset!r}: {path}. Back the ledger's folder up, in secret.")
    return salt


def _read(options: argparse.Namespace, asked: _Asked) -> tuple[pa.Table, list[str]]:
    """The whole table, as rows are told apart by all of it, and what its id columns are called in it."""
    selected, ids = {column.name for column in asked.columns}, options.aidcolumns
    others = [name for name in asked.names if name and name not in selected and name not in ids]
    read = read_table(asked.source, [*asked.columns, *map(DeclaredColumn, others)], ids)
    for complaint in read.complaints:
        say(complaint)
    table, called = read.columns, []
    for name in ids:
        # One that is synthesized as well is there twice: typed, and as the text that says whose a row is.
        called.append(f"{name}\0" if name in selected else name)
        table = table.append_column(called[-1], read.ids[name])
    return table, called


def _write(result: pa.Table, output: Path | None) -> None:
    if output is not None:
        write_table(result, output.expanduser())
        return
    write_delimited(result, sys.stdout.buffer)
    sys.stdout.buffer.flush()
