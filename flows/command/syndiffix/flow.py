"""``marginalia syndiffix --flow``: the options of the command go in, a run of the flow with them is made."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flows.command import run as running
from flows.command.syndiffix import settings as syndiffix_settings
from tasks.configuration.flat_file import from_flat
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import Clusters, write_clusters
from tasks.core.syndiffix.reading import ChosenColumn
from tasks.core.syndiffix.settings import (
    ColumnReference,
    DefaultClustering,
    MlClustering,
    NoClustering,
    SingleClustering,
    by_name,
)
from tasks.core.syndiffix.synthesizer import SynDiffixParameters
from tasks.core.tables.header import InputFile
from tasks.stages import STAGES

_FILES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".json")


def run_flow(
    options: argparse.Namespace,
    source: InputFile,
    columns: Sequence[ChosenColumn],
    parameters: SynDiffixParameters,
) -> int:
    """Run the flow with its workspace in ``--output``.

    Args:
        options: of the command, checked.
        source: the table and its dialect.
        columns: to be synthesized.
        parameters: what the options stand for; with any salt.

    Raises:
        ParameterError: no workspace is named, or what the flow does not do is asked for.
    """
    output: Path | None = options.output
    if options.debug:
        raise ParameterError("--debug is not for --flow, which keeps no such file: leave one of them out.")
    if output is None or output.suffix.lower() in _FILES:
        raise ParameterError(
            "With --flow a whole release is made, in a folder: name that folder as --output."
        )
    configuration = from_flat(flat_configuration(options, source, columns, parameters))
    running.run_showcase(configuration, STAGES, verbose=options.verbose)
    return 0


def flat_configuration(
    options: argparse.Namespace,
    source: InputFile,
    columns: Sequence[ChosenColumn],
    parameters: SynDiffixParameters,
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
        "synthesis_mode": "syndiffix",
        "syndiffix": {
            "columns": [f"{c.name}:{c.letter}" if c.letter else {"name": c.name} for c in columns],
            "value_safe_columns": list(options.value_safe_columns),
            **by_name(parameters.anonymization, parameters.bucketization),
            **_clustering(parameters, [column.name for column in columns]),
        },
    }


def _clustering(parameters: SynDiffixParameters, names: Sequence[str]) -> dict[str, Any]:
    def name_of(column: ColumnReference | None) -> str | None:
        return names[column] if isinstance(column, int) else column

    match parameters.clustering:
        case SingleClustering():
            return {"clustering": "single"}
        case NoClustering():
            return {"clustering": "none"}
        case Clusters() as clusters:
            return {"clustering": "clusters", "clusters": json.loads(write_clusters(clusters))}
        case MlClustering() as chosen:
            return {
                "clustering": "ml",
                "target_column": name_of(chosen.target_column),
                "drop_non_features": chosen.drop_non_features,
                "main_features": [name_of(feature) for feature in chosen.main_features or ()],
                "max_weight": chosen.max_weight,
            }
        case DefaultClustering() as chosen:
            return {
                "clustering": "default",
                "main_column": name_of(chosen.main_column),
                "sample_size": chosen.sample_size,
                "max_weight": chosen.max_weight,
                "merge_threshold": chosen.merge_threshold,
                "solver_alpha": chosen.solver_alpha,
            }
