"""``marginalia syndiffix --blob`` and the same command on a blob: built once, asked any number of times.

In: the command's options. Out: a blob's file from a table; a table from a blob.
"""

import argparse

import pyarrow as pa

from flows.command.syndiffix.arguments import given, spelled
from flows.command.syndiffix.settings import asked_clustering
from tasks.core.arrays import StepDone
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.blob import ENDING, BlobFile, read_blob, require_blob_name, write_blob
from tasks.core.syndiffix.clusters import target_of, way_of
from tasks.core.syndiffix.synthesizer import Synthesizer
from tasks.progress import say

_OF_BUILDING = ("output", "debug", "flow", "ml_target", "main_features")
_OF_ASKING = {"columns", "output", "clustering", "ml_target", "syndiffix_args", "dev"}


def is_blob(options: argparse.Namespace) -> bool:
    """Whether the command's file is a blob."""
    return str(options.table.name).endswith(ENDING)


def require_buildable(options: argparse.Namespace) -> None:
    """Refuse what does not go with building a blob, where one is asked for. Raises ParameterError."""
    if options.blob is None:
        if "blob_largest" in given(options):
            raise ParameterError("--blob-largest is for building a blob: name the blob's file with --blob.")
        return
    require_blob_name(options.blob)
    _refuse(
        "A blob is built for any later question", options, [n for n in _OF_BUILDING if getattr(options, n)]
    )
    asked = asked_clustering(options) or "default"
    if target_of(asked) is not None:
        _refuse("A blob is built for any later question", options, ["clustering"])
    if way_of(asked) == "none":
        _refuse("A blob puts columns together by how they depend on each other", options, ["clustering"])
    if "sample_size" in given(options):
        _refuse("A blob's dependences are measured on all rows", options, ["sample_size"])
    if options.max_weight <= 1:
        raise ParameterError(
            f"{spelled(options, 'max_weight')} must be more than 1 for a blob, which puts columns together "
            "by how they depend on each other: leave it out."
        )


def build(options: argparse.Namespace, synthesizer: Synthesizer, progress: StepDone) -> int:
    """Write the blob; 0, the command's exit code."""
    path, largest = options.blob.expanduser(), options.blob_largest
    count = write_blob(synthesizer, path, largest=largest, progress=progress)
    say(f"The blob {options.blob} holds {count} tables.")
    return 0


def answer(options: argparse.Namespace) -> pa.Table:
    """The table of the columns that are asked for, of all without any.

    Raises:
        ParameterError: options by which nothing in a blob can change; or see `read_blob`.
    """
    settled = sorted(given(options).keys() - _OF_ASKING)
    target = target_of(asked_clustering(options) or "default")
    if options.clustering is not None and target is None:
        settled.append("clustering")
    _refuse("What is in a blob was settled when it was built", options, settled)
    path = options.table.expanduser()
    with BlobFile(path) as blob:
        names = blob.header.columns.names
        protects = blob.header.parameters["protects"]
    say(str(protects))
    columns = names if options.columns is None else options.columns
    typed = [item for item in columns if item not in names and item.rpartition(":")[0] in names]
    if typed:
        bare = " ".join(item.rpartition(":")[0] if item in typed else item for item in columns)
        raise ParameterError(f"Types were settled when the blob was built: leave them out, --columns {bare}.")
    return read_blob(path, columns, target)


def _refuse(why: str, options: argparse.Namespace, names: list[str]) -> None:
    if names:
        shown = ", ".join(spelled(options, name) for name in names)
        raise ParameterError(f"{why}, so it doesn't go with {shown}: leave that out.")
