"""``marginalia syndiffix --flow``: the options of the command go in, a run of the flow with them is made."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.command import run as running
from flows.command.syndiffix import settings as syndiffix_settings
from tasks.configuration.flat_file import from_flat
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.reading import ChosenColumn
from tasks.core.tables.header import InputFile
from tasks.request import STAGES

_FILES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".json")


def run_flow(
    options: argparse.Namespace,
    source: InputFile,
    columns: Sequence[ChosenColumn],
    section: Mapping[str, Any],
) -> int:
    """Run the flow with its workspace in ``--output``.

    Args:
        options: of the command, checked.
        source: the table and its dialect.
        columns: to be synthesized.
        section: the settings that the options stand for.

    Raises:
        ParameterError: no workspace is named, or what the flow does not do is asked for.
    """
    output: Path | None = options.output
    if options.debug:
        raise ParameterError(
            "--debug and --flow can't go together, as a flow keeps no such file: leave one of them out."
        )
    if output is None or output.suffix.lower() in _FILES:
        raise ParameterError("--flow makes a whole release in a folder: name that folder as --output.")
    configuration = from_flat(flat_configuration(options, source, columns, section))
    running.run_showcase(configuration, STAGES, verbose=options.verbose)
    return 0


def flat_configuration(
    options: argparse.Namespace,
    source: InputFile,
    columns: Sequence[ChosenColumn],
    section: Mapping[str, Any],
) -> dict[str, Any]:
    """The same settings as a configuration file has them."""
    return {
        "sensitive_microdata_path": str(source.path.absolute()),
        "sensitive_microdata_delimiter": source.delimiter,
        "encoding": source.encoding,
        "subject_id": list(options.aidcolumns) or None,
        "dataset": options.dataset,
        "prefix": options.dataset,
        "output_dir": str(options.output.expanduser().absolute()),
        **syndiffix_settings.marks_of(options),
        "date_formats": {c.name: list(c.reading.date_formats) for c in columns if c.reading.date_formats},
        "synthesis_mode": "syndiffix",
        "syndiffix": {
            "columns": [f"{c.name}:{c.letter}" if c.letter else {"name": c.name} for c in columns],
            **section,
        },
    }
