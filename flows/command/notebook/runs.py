"""A notebook's table, protected by the same run as the command's: settings and Parquet in, places out.

The table is put where any table in storage is read from, as ``memory://DATASET.parquet``. It is on no disk
until a run fetches it into a file without a name in ``sensitive/``, as it does from S3. To the ledger all
such tables are in one place: a second dataset of it needs a written reason.
"""

import argparse
import io
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import fsspec
import pyarrow.parquet as pq
from annotated_types import Len
from pydantic import TypeAdapter, ValidationError

from flows.command.notebook.process import argument_name
from flows.command.parser import CommandParser
from flows.command.run import run_showcase
from flows.command.syndiffix import arguments as syndiffix_options
from flows.command.syndiffix.command import make_table
from tasks.configuration.flat_file import from_flat
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.blob import BlobFile, read_blob
from tasks.core.syndiffix.clusters import StitchOwner, clustering_problem, clustering_text, named_columns
from tasks.core.syndiffix.published import stitch_tables
from tasks.core.syndiffix.settings import SETTINGS
from tasks.core.tables.column_names import column_name
from tasks.core.tables.writing import write_table
from tasks.request import STAGES, UNCHANGED
from tasks.storage import Workspace


def answer_open_blob(_: bytes, *, path: str) -> dict[str, Any]:
    """What a blob is about: its columns, and a sentence on whom it protects."""
    with closing(BlobFile(Path(path))) as blob:
        header = blob.header
    return {"path": path, "columns": header.columns.names, "protects": str(header.parameters["protects"])}


def answer_read_blob(
    _: bytes, *, path: str, columns: list[str], target: str | None, output: str
) -> dict[str, Any]:
    """Write the table of some of a blob's columns, as Parquet."""
    write_table(read_blob(Path(path), columns, target), Path(output))
    return {}


def answer_stitch(tables: bytes, *, left_bytes: int, owner: StitchOwner, output: str) -> dict[str, Any]:
    """Write two tables, the second of which begins at a byte, as one (`stitch_tables`), as Parquet."""
    left, right = (pq.read_table(io.BytesIO(part)) for part in (tables[:left_bytes], tables[left_bytes:]))
    write_table(stitch_tables(left, right, owner), Path(output))
    return {}


def in_memory(dataset: object, table: bytes) -> str:
    """Put a dataset's table, a Parquet file, where a run finds it: at the URL that comes out."""
    name = f"{dataset}.parquet".replace("/", "_")
    fsspec.filesystem("memory").pipe(f"/{name}", table)
    return f"memory://{name}"


def answer_protect(table: bytes, *, settings: dict[str, Any]) -> dict[str, Any]:
    """Make a release as ``marginalia run`` does.

    Args:
        settings: the keys of a flat configuration, but for the table's path.

    Returns:
        ``release``, its folder; ``unchanged``, the vintage whose release it is, where nothing new was
        released; ``names``, the table's own spelling of each column by the released one.
    """
    names = pq.read_schema(io.BytesIO(table)).names
    for key in ("use_columns", "sensitive_zeros"):
        if isinstance(settings.get(key), list) and (said := _problem("columns", settings[key], len(names))):
            raise ParameterError(f"{key}= {said}.")
    path = in_memory(settings.get("dataset"), table)
    configuration = from_flat({**settings, "sensitive_microdata_path": path})
    places = run_showcase(configuration, STAGES, verbose=False)
    root = Workspace.of(configuration).root
    return {
        "release": str(root / places["release"]),
        "unchanged": places.get(UNCHANGED),
        "names": {column_name(name): name for name in names},
    }


def answer_syndiffix(table: bytes, *, options: dict[str, Any], output: str) -> dict[str, Any]:
    """Make a synthetic table as ``marginalia syndiffix`` does, without a release; write it as Parquet.

    Args:
        options: of the command, by the names of its settings.
    """
    write_table(make_table(_options(options, table)), Path(output))
    return {}


def answer_build_blob(
    table: bytes, *, options: dict[str, Any], path: str, largest: int | None
) -> dict[str, Any]:
    """Build a blob as ``marginalia syndiffix --blob`` does, and say what it is about.

    Args:
        options: as of `answer_syndiffix`.
        largest: columns of its largest table; None: as many as the command takes.
    """
    asked = _options(options, table)
    asked.blob = Path(path)
    if largest is not None:
        asked.blob_largest = largest
    make_table(asked)
    return answer_open_blob(b"", path=path)


def _options(asked: dict[str, Any], table: bytes) -> argparse.Namespace:
    """The command's options, with what was asked for, by their own names, in place of their defaults."""
    columns = len(pq.read_schema(io.BytesIO(table)).names)
    problems = [
        f"syndiffix has no setting {name!r}: {did_you_mean(name, _KINDS, repr) or 'leave it out.'}"
        for name in asked
        if name not in _KINDS
    ] or [
        f"{argument_name(name)}= {problem}."
        for name, value in asked.items()
        if (problem := _problem(_KINDS[name], value, columns))
    ]
    if problems:
        raise ParameterError(problems)
    parser = CommandParser("marginalia syndiffix", add_help=False)
    syndiffix_options.add_arguments(parser)
    options = parser.parse_args([in_memory(asked.get("dataset", syndiffix_options.DATASET), table)])
    options.clustering = "default"  # never by the reference's other options
    options.given = {"clustering": "clustering"}
    for name, value in asked.items():
        if value is False:
            continue
        setattr(options, name, _option_value(_KINDS[name], value))
        is_number = name in SETTINGS and not _KINDS[name].startswith("column")
        options.given[name] = SETTINGS[name].options[0] if is_number else name
    return options


def _option_value(kind: str, value: Any) -> Any:
    if kind == "formats":
        return [
            f"{column}={format}"
            for column, formats in value.items()
            for format in ([formats] if isinstance(formats, str) else formats)
        ]
    if kind == "clustering":
        return clustering_text(value)
    # As the command's words are read: of an integer that no float holds it makes infinity, which is refused.
    return float(str(value)) if kind == "number" else value


#: The kind of each setting and of each other option of a call.
_KINDS = {name: setting.kind for name, setting in SETTINGS.items()} | {
    "columns": "columns",
    "aidcolumns": "columns",
    "dataset": "column",
    "date_formats": "formats",
    "clustering": "clustering",
}
#: What a value of each kind is, and what is said of one that is not.
_EXPECTED: dict[str, tuple[Any, str]] = {
    "whole": (int, "must be a whole number: correct it"),
    "number": (int | float, "must be a number: correct it"),
    "interval": (Annotated[list[int], Len(2, 2)], "must be two whole numbers: correct it"),
    "flag": (bool, "must be True or False: correct it"),
    "column": (str, "must be a text: give one"),
    "columns": (list[str], "must be a list of texts: give the names of columns"),
    "formats": (
        dict[str, str | list[str]],
        'must hold texts by column, such as {"visit": "%d/%m/%Y"}: give these',
    ),
}


def _problem(kind: str, value: object, columns: int) -> str:
    """Why a value is none of a kind; empty where it is one. What it holds may be cells."""
    sizes = [len(value)] if kind in ("columns", "formats") and isinstance(value, list | dict) else []
    if kind == "clustering":
        if problem := clustering_problem(value):
            return problem
        lists = value if isinstance(value, list) else []
        sizes = [len(lists), *(len([*named_columns((listed,))]) for listed in lists)]
    else:
        expected, problem = _EXPECTED[kind]
        try:
            TypeAdapter(expected).validate_python(value, strict=True)
        except ValidationError:
            return problem
    is_long = max(sizes, default=0) > columns
    return "must name columns, and holds more texts than there are columns" if is_long else ""
