"""``marginalia syndiffix``: a table in a file goes in, a synthetic table of the same columns comes out.

In this process, without Prefect unless ``--flow`` asks for it. The table goes to ``--output`` or to standard
output, all else to standard error. Not differentially private.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from flows.command.syndiffix import arguments as syndiffix_options
from flows.command.syndiffix import blob as syndiffix_blob
from flows.command.syndiffix import log as syndiffix_log
from flows.command.syndiffix import settings as syndiffix_settings
from flows.command.syndiffix.places import require_places
from flows.command.syndiffix.steps import Steps
from tasks.core.arrays import Words
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import declared_column
from tasks.core.errors import InternalError, MarginaliaError, ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.ledger.tables import PublicTable
from tasks.core.syndiffix.blob import require_size
from tasks.core.syndiffix.clusters import target_of
from tasks.core.syndiffix.reading import (
    ChosenColumn,
    parse_column,
    read_table,
)
from tasks.core.syndiffix.settings import SynDiffixParameters, with_ids
from tasks.core.syndiffix.synthesizer import Synthesizer
from tasks.core.tables.header import Headers, InputFile, find_dialect, header_notes
from tasks.core.tables.number_format import EVERY_COLUMN
from tasks.core.tables.writing import write_delimited, write_table
from tasks.failures import unforeseen
from tasks.messages import tell
from tasks.plan.syndiffix import (
    NOTES,
    inferred_type_notes,
    left_out_note,
    missing_id_notes,
    weaker_protection_notes,
)
from tasks.progress import say
from tasks.sensitive.ledger import dataset_salt

_NOT_PRIVATE = f"{NOTES.say('not_private')}; docs/syndiffix.md says what protects and what does not."


def synthesize_table(options: argparse.Namespace) -> int:
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
    require_places(options)
    if syndiffix_blob.is_blob(options):
        answered = syndiffix_blob.answer(options)
        say(_NOT_PRIVATE)
        _write(answered, options.output)
        return 0
    asked = _asked(options)
    if options.flow:
        from flows.command.syndiffix import flow as syndiffix_flow

        return syndiffix_flow.run_flow(options, asked.source, asked.columns, asked.section)
    if options.debug:
        say(syndiffix_log.DEBUG_WARNING)
    made = _made(options, asked)
    if made is not None:
        _hand_out(made, options)
    return 0


def synthesized(options: argparse.Namespace) -> pa.Table:
    """The synthetic table itself, for whoever has no file to write to. Args: options: of the command.

    Raises:
        MarginaliaError: what can be explained; the rest is for whoever calls it, as in `synthesize_table`.
    """
    made = _made(options, _asked(options), "id column (ids)")
    assert made is not None, "no blob is asked for"
    _tell_made(made, options)
    return made.result


def build_blob_of(options: argparse.Namespace) -> None:
    """A blob in the file that ``--blob`` names. Args: options: of the command. Raises: as `synthesized`."""
    syndiffix_blob.require_buildable(options)
    require_places(options)
    _made(options, _asked(options), "id column (ids)")


def _made(
    options: argparse.Namespace, asked: "_Asked", ids_key: str = "id column (--aidcolumns)"
) -> syndiffix_log.Run | None:
    """The synthetic table and what made it; None where a blob was built instead."""
    if options.verbose:
        say(syndiffix_log.WARNING)
    tell(_NOT_PRIVATE)
    if not options.aidcolumns:
        tell(NOTES.say("rows_are_people", key=ids_key))
    safe = sorted(set(options.value_safe_columns))
    for line in weaker_protection_notes(asked.parameters.anonymization, safe, ", ".join(safe)):
        tell(line)
    with Steps(verbose=options.verbose) as steps:
        table, synthesizer = _prepared(options, asked, steps)
        if options.blob is not None:
            syndiffix_blob.build(options, synthesizer, steps)
            return None
        # Found once: what it takes to solve them may be the longest step.
        synthesizer.strategy = synthesizer.clusters()
        result = synthesizer.sample()
        steps("write", 0, 1)
    return syndiffix_log.Run(synthesizer, result, table, steps.seconds)


@dataclass(frozen=True)
class _Asked:
    """What is asked for.

    Attributes:
        source: the file and its dialect.
        names: its header.
        columns: to be synthesized.
        section: the settings, as a configuration has them.
    """

    source: InputFile
    names: list[str]
    columns: list[ChosenColumn]
    section: dict[str, Any]

    @property
    def selected(self) -> list[str]:
        """The headers of the columns."""
        return [column.name for column in self.columns]

    @cached_property
    def parameters(self) -> SynDiffixParameters:
        """The settings for the core; all but the salt."""
        found = SynDiffixParameters.of(self.section)
        return replace(found, clustering=with_ids(found.clustering, self.selected))


def _asked(options: argparse.Namespace) -> _Asked:
    """Read off options and header. Raises ParameterError."""
    source = find_dialect(options.table.expanduser(), options.encoding)
    for note in header_notes(source):
        say(note)
    names = list(source.headers.texts)
    _spell(options, source.headers)
    columns = _declared(options, names)
    selected = [column.name for column in columns]
    if options.blob is not None:
        require_size(len(selected), options.blob_largest)
    return _Asked(source, names, columns, syndiffix_settings.section_of(options, selected))


def _spell(options: argparse.Namespace, headers: Headers) -> None:
    """Put the header's spelling in place of every name that is given in another one."""

    def spelled(name: str) -> str:
        place = headers.find(name)
        return name if place is None else headers.texts[place]

    def typed(item: str) -> str:
        name, colon, letter = item.rpartition(":")
        is_typed = colon and headers.find(item) is None and headers.find(name) is not None
        return f"{spelled(name)}:{letter}" if is_typed else spelled(item)

    for option in ("aidcolumns", "value_safe_columns", "main_features"):
        setattr(options, option, list(map(spelled, getattr(options, option))))
    syndiffix_settings.spell_clustering(options, spelled)
    for option in ("ml_target", "main_column"):
        if getattr(options, option) is not None:
            setattr(options, option, spelled(getattr(options, option)))
    if options.columns is not None:
        options.columns = list(map(typed, options.columns))
    options.date_formats = syndiffix_settings.date_formats_of(options.date_formats, headers)


def _prepared(options: argparse.Namespace, asked: _Asked, steps: Steps) -> tuple[pa.Table, Synthesizer]:
    """The table, read whole, and what synthesizes it; a salt is made where the dataset has none."""
    table, contents = _read(options, asked)
    anonymization = replace(asked.parameters.anonymization, salt=_salt(options, asked))
    parameters = replace(asked.parameters, anonymization=anonymization)
    steps("prepare", 0, 1)
    return table, Synthesizer(
        table,
        parameters,
        columns=asked.selected,
        ids=options.aidcolumns,
        progress=steps,
        contents=contents,
    )


def _hand_out(run: syndiffix_log.Run, options: argparse.Namespace) -> None:
    """Write what was asked for, and say what was."""
    _tell_made(run, options)
    if options.debug:
        syndiffix_log.write_debug(run, options.output)
    else:
        _write(run.result, options.output)


def _tell_made(run: syndiffix_log.Run, options: argparse.Namespace) -> None:
    """What the person may not have expected of it."""
    if options.verbose:
        syndiffix_log.log(run)
    if not run.result.num_rows:
        mean = run.synthesizer.parameters.anonymization.low_count_params.mean
        tell(NOTES.say("empty", mean=f"{mean:g}"))
    left = [c.name for c in run.synthesizer.columns if c.name not in run.result.column_names]
    if left:
        target = target_of(syndiffix_settings.asked_clustering(options) or "default")
        tell(left_out_note(left, len(left), str(target)))


def _declared(options: argparse.Namespace, names: Sequence[str]) -> list[ChosenColumn]:
    """The columns to synthesize, each with its type where it has one.

    Raises:
        ParameterError: an unknown type, or a column that the file does not have.
    """
    if options.columns is None:
        columns = [ChosenColumn(name) for name in names if name not in options.aidcolumns]
    else:
        _require_apart(options.columns, names)
        columns = [_column(item, names) for item in options.columns]
    selected = [column.name for column in columns]
    problems = [
        f"The input has no column {name!r}: {did_you_mean(name, names, repr) or 'correct its name.'}"
        for name in (*selected, *options.aidcolumns, *options.value_safe_columns)
        if name not in names
    ]
    problems += [
        f"--value-safe-columns must name columns that are synthesized, and {name!r} is not: leave it out"
        f"{'.' if name in options.aidcolumns else ', or add it to --columns.'}"
        for name in options.value_safe_columns
        if name in names and name not in selected
    ]
    problems += [
        f"{name!r} says whose row it is and can't be synthesized: name it in --aidcolumns or in --columns, "
        "not in both."
        for name in selected
        if name in options.aidcolumns
    ]
    marks = syndiffix_settings.marks_of(options)
    problems += [
        f"--{key} names the column {name!r}, which is not synthesized: "
        f"{did_you_mean(name, selected, repr) or 'correct its name.'}"
        for key, named in (*marks.items(), ("date-format", options.date_formats))
        for name in named
        if name not in (*selected, EVERY_COLUMN)
    ]
    given = Declarations(
        decimal=marks["decimal"],
        thousands=marks["thousands"],
        date_formats={name: tuple(formats) for name, formats in options.date_formats.items()},
    )
    declared = [declared_column(name, given.of(name), None) for name in selected]
    for each in declared:
        problems += filter(None, [each.number_format.problem])
        problems += [f"Column {each.name!r}: {problem}" for problem in each.reading.problems]
    if problems:
        raise ParameterError(list(dict.fromkeys(problems)))
    return [
        replace(column, number_format=each.number_format, reading=each.reading)
        for column, each in zip(columns, declared, strict=True)
    ]


def _require_apart(items: Sequence[str], names: Sequence[str]) -> None:
    """Refuse columns that stand in one word, with commas. Raises ParameterError."""
    several = [item for item in items if "," in item and item not in names]
    parts = {part.rpartition(":")[0] or part for item in several for part in item.split(",")}
    if parts & set(names):
        told = " ".join(several[0].replace(",", " ").split())
        raise ParameterError(f"--columns must be separated by spaces, not commas: {told}.")


def _column(item: str, names: Sequence[str]) -> ChosenColumn:
    """A column as it is asked for: a header of the file where the whole text is one and nothing else is."""
    if item in names and item.rpartition(":")[0] not in names:
        return ChosenColumn(item)
    return parse_column(item)


def _salt(options: argparse.Namespace, asked: _Asked) -> bytes:
    table = PublicTable(asked.source.path, tuple(asked.names), tuple(asked.selected))
    return dataset_salt(options.dataset, table, is_named=options.dataset != syndiffix_options.DATASET)


def _read(options: argparse.Namespace, asked: _Asked) -> tuple[pa.Table, Words]:
    """The columns and ids, and what tells rows apart: all of their cells."""
    read = read_table(asked.source, asked.columns, options.aidcolumns)
    for complaint in read.complaints:
        say(complaint)
    told = [] if asked.source.is_parquet else inferred_type_notes(asked.columns, read.columns.schema)
    for line in [*told, *missing_id_notes(read.ids)]:
        say(line)
    table = read.columns
    for name in options.aidcolumns:
        table = table.append_column(name, read.ids[name])
    return table, read.contents


def _write(result: pa.Table, output: Path | None) -> None:
    if output is not None:
        write_table(result, output.expanduser())
        say(f"Wrote {result.num_rows} synthetic rows of {result.num_columns} columns to {output}.")
        return
    write_delimited(result, sys.stdout.buffer)
    sys.stdout.buffer.flush()
