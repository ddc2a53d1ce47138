"""``marginalia syndiffix``: a table in a file goes in, a synthetic table of the same columns comes out.

The table goes to ``--output`` or to standard output, all else to standard error.
"""

import argparse
import io
import json
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from flows.command.main import hide_pandas_from_pyarrow
from flows.command.run import run_showcase
from flows.command.syndiffix import arguments as syndiffix_options
from flows.command.syndiffix.arguments import given, requested_clustering, spell_option
from tasks.configuration.flat_file import from_flat
from tasks.core.arrays import ColumnNumbers, StepDone
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import DeclaredColumn
from tasks.core.errors import InternalError, MarginaliaError, ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.ledger.place import ledger_place, local_folder
from tasks.core.ledger.tables import PublicTable
from tasks.core.recognition.dialect import find_dialect
from tasks.core.syndiffix.blob import ENDING, BlobFile, read_blob, require_blob_name, require_size, write_blob
from tasks.core.syndiffix.clusters import (
    clustering_text,
    read_clustering,
    respell_columns,
    target_of,
    way_of,
    write_clusters,
)
from tasks.core.syndiffix.dependence import entropies
from tasks.core.syndiffix.forest import Forest, single_valued
from tasks.core.syndiffix.reading import ChosenColumn, parse_column, read_table
from tasks.core.syndiffix.settings import SynDiffixParameters, with_ids
from tasks.core.syndiffix.synthesizer import Synthesizer
from tasks.core.syndiffix.tree_kernels import NO_NODE, STUB, Tree
from tasks.core.tables.header import Headers, InputFile, header_notes
from tasks.core.tables.writing import is_stream, place, require_ending, write_delimited, write_table
from tasks.failures import describe_unforeseen
from tasks.messages import Progress, say, tell
from tasks.plan.syndiffix import (
    NOTES,
    inferred_type_notes,
    left_out_note,
    missing_id_notes,
    weaker_protection_notes,
)
from tasks.request import STAGES
from tasks.sensitive.ledger import dataset_salt
from tasks.storage import INTERMEDIATE, MEASUREMENT, RELEASE


def require_places(options: argparse.Namespace) -> None:
    output: Path | None = options.blob or options.output
    # A link named so may lead to standard output.
    home = None if output is None else output.expanduser().resolve()
    if options.debug and (home is None or home.suffix.lower() != ".json" or is_stream(home)):
        raise ParameterError(
            "--debug writes the table itself, so it needs a file of its own that ends in .json: name one "
            "with --output, in a folder that nobody else can read."
        )
    if output is None or home is None:
        return
    if not options.flow:
        _require_place_for_a_file(output)
        if options.blob is None and not options.debug:
            require_ending(output.expanduser())
    if home == options.table.expanduser().resolve():
        raise ParameterError("The output must not replace the table it is made from: name another file.")
    if home.is_relative_to(local_folder(ledger_place()).resolve()):
        raise ParameterError(
            f"The output {output} must not be in the ledger's folder, which is secret: name another folder."
        )
    zone = next((zone for zone in (RELEASE, INTERMEDIATE, MEASUREMENT) if zone in home.parts), None)
    if options.debug and zone:
        raise ParameterError(
            f"--debug writes the table itself, which must not be in {zone}/, and {output} is: name another "
            "folder."
        )


def _require_place_for_a_file(output: Path) -> None:
    path = output.expanduser()
    if is_stream(path):
        return
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise ParameterError(f"The output {output} must be a file in a folder that exists: name another.")
    try:
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass
    except OSError as error:
        why = f"The output {output} can't be written ({error.strerror}): name another place."
        raise ParameterError(why) from None


@contextmanager
def _shown_steps(*, verbose: bool) -> Iterator[StepDone]:
    """Tell the person at the terminal which step is at work, for as long as it lasts."""
    bar, started, ended = Progress("syndiffix"), time.monotonic(), threading.Event()
    now = ("read", 0.0)

    def take(step: str, done: int, of: int) -> None:
        nonlocal now
        if verbose and step != now[0]:
            say(f"[{time.monotonic() - started:7.1f} s] {step}")
        now = (step, done / of)

    def show() -> None:
        while not ended.wait(0.2):
            bar(*now)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield take
    finally:
        ended.set()
        thread.join()
        bar.close()


@dataclass(frozen=True)
class Run:
    synthesizer: Synthesizer
    result: pa.Table
    table: pa.Table
    seconds: float


def log_run(run: Run) -> None:
    synthesizer, relations = run.synthesizer, run.synthesizer.relations
    if relations is None:
        say("Dependence: not measured, because these clusters did not need it.")
    else:
        say("Dependence:")
        for line in _matrix_lines(relations.dependence):
            say(line)
    say("Columns:")
    width = max(len(column.name) for column in synthesizer.columns)
    named = zip(synthesizer.columns, entropies(synthesizer.forest), strict=True)
    for number, (column, entropy) in enumerate(named):
        say(f"{number:>4}  {column.name:<{width}}  {column.kind:<9}  entropy {entropy:.4f}")
    say(f"Clusters: {write_clusters(synthesizer.clusters())}")
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, kilobytes elsewhere
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
    say(f"Elapsed: {run.seconds * 1000:.0f} ms; memory: {memory} MB")


def _matrix_lines(matrix: "np.ndarray[Any, np.dtype[np.float64]]") -> Iterator[str]:
    numbers = "".join(f"{number:>7}" for number in range(len(matrix)))
    yield f"{'':>7}{numbers}{'total':>8}"
    for number, row in enumerate(matrix):
        yield f"{number:>7}" + "".join(f"{value:7.2f}" for value in row) + f"{row.sum():8.2f}"
    totals = "".join(f"{value:7.2f}" for value in matrix.sum(axis=0))
    yield f"{'total':>7}{totals}{matrix.sum():8.2f}"


def _write_members(run: Run, stream: BinaryIO) -> None:
    """Columns, parameters, trees, buckets and rows as JSON, one by one, as all need more than the table."""
    forest, file = run.synthesizer.forest, io.TextIOWrapper(stream, encoding="utf-8")
    for number, (name, value) in enumerate(_debug_facts(run).items()):
        file.write(f"{',' if number else '{'}\n{json.dumps(name)}: {_to_json(value)}")
    for name, members in (("trees", _trees(forest)), ("buckets", _buckets(forest))):
        file.write(f",\n{json.dumps(name)}: [")
        for number, member in enumerate(members):
            file.write(f"{',' if number else ''}\n{_to_json(member)}")
        file.write("]")
    file.write("}\n")
    file.detach()  # written out, and left open


def _debug_facts(run: Run) -> dict[str, object]:
    synthesizer = run.synthesizer
    parameters = synthesizer.parameters
    anonymization = asdict(parameters.anonymization)
    del anonymization["salt"]
    return {
        "columns": [column.name for column in synthesizer.columns],
        "null_mappings": synthesizer.forest.null_values,
        "anonymization": anonymization,
        "bucketization": asdict(parameters.bucketization),
        "clustering": {type(parameters.clustering).__name__: asdict(parameters.clustering)},
        "value_safe_columns": sorted(parameters.value_safe_columns),
        "clusters": json.loads(write_clusters(run.synthesizer.clusters())),
        "elapsed_seconds": run.seconds,
        "original_columns": run.table.column_names,
        "original_rows": _rows(run.table),
        "synthetic_columns": run.result.column_names,
        "synthetic_rows": _rows(run.result),
    }


def _rows(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _trees(forest: Forest) -> Iterator[dict[str, object]]:
    for combination, tree in sorted(forest.grown.items(), key=lambda grown: (len(grown[0]), grown[0])):
        yield {"combination": combination, "root": tree.root, "nodes": list(_nodes(tree))}


def _nodes(tree: Tree) -> Iterator[dict[str, object]]:
    """The nodes from the root down: their snapped ranges, and their children or else their rows' numbers."""
    nodes, single = tree.nodes, single_valued(tree.nodes)
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        start, rows, depth, _, _, first, children, flags = nodes.table[node].tolist()
        size = np.ldexp(tree.grid.size, -depth)
        below = list(range(first, first + children)) if first != NO_NODE else []
        held = {"children": below} if below else {"rows": nodes.order[start : start + rows].tolist()}
        yield {
            "id": node,
            "ranges": np.stack([nodes.lower[node], nodes.lower[node] + size], axis=1).tolist(),
            "single": single[node].tolist(),
            "stub": bool(flags & STUB),
            "noisy_rows": int(tree.noisy[node]),
            **held,
        }
        waiting.extend(reversed(below))


def _buckets(forest: Forest) -> Iterator[dict[str, object]]:
    combinations: list[ColumnNumbers] = sorted(forest.grown, key=lambda columns: (len(columns), columns))
    for combination in combinations:
        found = forest.buckets(combination)
        ranges = np.stack([found.lower, found.upper], axis=2)
        yield {"combination": combination, "ranges": ranges.tolist(), "counts": found.counts.tolist()}


def _to_json(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


_BY_DEPENDENCE = "A blob puts columns together by how they depend on each other"
_NOT_WITH_BUILDING = ("output", "debug", "flow", "ml_target", "main_features")
_WITH_ASKING = {"columns", "output", "clustering", "ml_target", "syndiffix_args", "dev"}


def require_buildable(options: argparse.Namespace) -> None:
    """Refuse what does not go with building a blob, where one is asked for. Raises ParameterError."""
    if options.blob is None:
        if "blob_largest" in given(options):
            raise ParameterError("--blob-largest is for building a blob: name the blob's file with --blob.")
        return
    require_blob_name(options.blob)
    asked = requested_clustering(options) or "default"
    any_question = "A blob is built for any later question"
    for why, names in (
        (any_question, [name for name in _NOT_WITH_BUILDING if getattr(options, name)]),
        (any_question, ["clustering"] * (target_of(asked) is not None)),
        (_BY_DEPENDENCE, ["clustering"] * (way_of(asked) == "none")),
        (
            "A blob's dependences are measured on all rows",
            ["sample_size"] * ("sample_size" in given(options)),
        ),
    ):
        _refuse(why, options, names)
    if options.max_weight <= 1:
        raise ParameterError(
            f"{spell_option(options, 'max_weight')} must be more than 1 for a blob, which puts columns "
            "together by how they depend on each other: leave it out."
        )


def answer_from_blob(options: argparse.Namespace) -> pa.Table:
    settled = sorted(given(options).keys() - _WITH_ASKING)
    target = target_of(requested_clustering(options) or "default")
    if options.clustering is not None and target is None:
        settled.append("clustering")
    _refuse("What is in a blob was settled when it was built", options, settled)
    path = options.table.expanduser()
    with closing(BlobFile(path)) as blob:
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
        shown = ", ".join(spell_option(options, name) for name in names)
        raise ParameterError(f"{why}, so it doesn't go with {shown}: leave that out.")


_FILES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".json")


def flat_configuration(
    options: argparse.Namespace,
    source: InputFile,
    columns: Sequence[ChosenColumn],
    section: Mapping[str, Any],
) -> dict[str, Any]:
    return {
        "sensitive_microdata_path": str(source.path.absolute()),
        "sensitive_microdata_delimiter": source.delimiter,
        "encoding": source.encoding,
        "subject_id": list(options.aidcolumns) or None,
        "dataset": options.dataset,
        "prefix": options.dataset,
        "output_dir": str(options.output.expanduser().absolute()),
        **syndiffix_options.marks_of(options),
        "date_formats": {c.name: list(c.reading.date_formats) for c in columns if c.reading.date_formats},
        "synthesis_mode": "syndiffix",
        "syndiffix": {
            "columns": [f"{c.name}:{c.letter}" if c.letter else {"name": c.name} for c in columns],
            **section,
        },
    }


_NOT_PRIVATE = f"{NOTES.say('not_private')}; docs/syndiffix.md says what protects and what does not."


def synthesize_table(options: argparse.Namespace) -> int:
    """Run the command. A library's own error can carry cells of the table, so none leaves it."""
    if not options.flow:
        hide_pandas_from_pyarrow()
    try:
        return _run(options)
    except (MarginaliaError, BrokenPipeError):
        raise
    except Exception as error:
        problem = describe_unforeseen(error)
    # Outside the handler, so that the original is not chained to what leaves.
    raise InternalError(problem)


def _run(options: argparse.Namespace) -> int:
    options = syndiffix_options.expand_wrapper_options(options)
    require_buildable(options)
    require_places(options)
    if options.table.name.endswith(ENDING):
        answered = answer_from_blob(options)
        say(_NOT_PRIVATE)
        _write(answered, options.output)
        return 0
    asked = _read_request(options)
    if options.flow:
        if options.debug:
            raise ParameterError(
                "--debug and --flow can't go together, as a flow keeps no such file: leave one of them out."
            )
        if options.output is None or options.output.suffix.lower() in _FILES:
            raise ParameterError("--flow makes a whole release in a folder: name that folder as --output.")
        flat = flat_configuration(options, asked.source, asked.columns, asked.section)
        run_showcase(from_flat(flat), STAGES, verbose=options.verbose)
        return 0
    if options.debug:
        say("SENSITIVE: the output of --debug holds the table itself and true counts. Do not share it.")
    made = _synthesize(options, asked)
    if made is None:
        return 0
    _tell_result(made, options)
    if options.debug:
        place(options.output.expanduser(), lambda stream: _write_members(made, stream), is_private=True)
    else:
        _write(made.result, options.output)
    return 0


def make_table(options: argparse.Namespace) -> pa.Table | None:
    """The synthetic table, or none where a blob was built, for whoever has no command line."""
    require_buildable(options)
    require_places(options)
    made = _synthesize(options, _read_request(options))
    if made is not None:
        _tell_result(made, options)
    return None if made is None else made.result


def _synthesize(options: argparse.Namespace, asked: "_Request") -> Run | None:
    if options.verbose:
        say(
            "SENSITIVE: the figures in this log come from the data and are only partly protected. Do not "
            "share it."
        )
    tell(_NOT_PRIVATE)
    if not options.aidcolumns:
        tell(NOTES.say("rows_are_people", key="id column (--aidcolumns)"))
    safe = sorted(set(options.value_safe_columns))
    for line in weaker_protection_notes(asked.parameters.anonymization, safe, ", ".join(safe)):
        tell(line)
    started = time.monotonic()
    with _shown_steps(verbose=options.verbose) as steps:
        table, synthesizer = _prepare(options, asked, steps)
        if options.blob is not None:
            path, largest = options.blob.expanduser(), options.blob_largest
            count = write_blob(synthesizer, path, largest=largest, progress=steps)
            say(f"The blob {options.blob} holds {count} tables.")
            return None
        # Found once: what it takes to solve them may be the longest step.
        synthesizer.strategy = synthesizer.clusters()
        result = synthesizer.sample()
        steps("write", 0, 1)
    return Run(synthesizer, result, table, time.monotonic() - started)


@dataclass(frozen=True)
class _Request:
    source: InputFile
    columns: list[ChosenColumn]
    section: dict[str, Any]

    @property
    def selected(self) -> list[str]:
        return [column.name for column in self.columns]

    @cached_property
    def parameters(self) -> SynDiffixParameters:
        found = SynDiffixParameters.of(self.section)
        return replace(found, clustering=with_ids(found.clustering, self.selected))


def _read_request(options: argparse.Namespace) -> _Request:
    source = find_dialect(options.table.expanduser(), options.encoding)
    for note in header_notes(source):
        say(note)
    _spell_as_headers(options, source.headers)
    columns = _choose_columns(options, source.headers.texts)
    selected = [column.name for column in columns]
    if options.blob is not None:
        require_size(len(selected), options.blob_largest)
    return _Request(source, columns, syndiffix_options.settings_section(options, selected))


def _spell_as_headers(options: argparse.Namespace, headers: Headers) -> None:
    def exact_name(name: str) -> str:
        place = headers.find(name)
        return name if place is None else headers.texts[place]

    def exact_item(item: str) -> str:
        name, colon, letter = item.rpartition(":")
        is_typed = colon and headers.find(item) is None and headers.find(name) is not None
        return f"{exact_name(name)}:{letter}" if is_typed else exact_name(item)

    for option in ("aidcolumns", "value_safe_columns", "main_features"):
        setattr(options, option, list(map(exact_name, getattr(options, option))))
    if options.clustering is not None:
        asked = respell_columns(read_clustering(options.clustering), exact_name)
        options.clustering = clustering_text(asked)
    for option in ("ml_target", "main_column"):
        if getattr(options, option) is not None:
            setattr(options, option, exact_name(getattr(options, option)))
    if options.columns is not None:
        options.columns = list(map(exact_item, options.columns))
    options.date_formats = syndiffix_options.date_formats_of(options.date_formats, headers)


def _prepare(options: argparse.Namespace, asked: _Request, steps: StepDone) -> tuple[pa.Table, Synthesizer]:
    """The table, read whole, and what synthesizes it; a salt is made where the dataset has none."""
    read = read_table(asked.source, asked.columns, options.aidcolumns)
    told = [] if asked.source.is_parquet else inferred_type_notes(asked.columns, read.columns.schema)
    for line in [*read.complaints, *told, *missing_id_notes(read.ids)]:
        say(line)
    table = read.columns
    for name in options.aidcolumns:
        table = table.append_column(name, read.ids[name])
    public = PublicTable(asked.source.path, asked.source.headers.texts, tuple(asked.selected))
    salt = dataset_salt(options.dataset, public, is_named=options.dataset != syndiffix_options.DATASET)
    anonymization = replace(asked.parameters.anonymization, salt=salt)
    parameters = replace(asked.parameters, anonymization=anonymization)
    steps("prepare", 0, 1)
    return table, Synthesizer(
        table,
        parameters,
        columns=asked.selected,
        ids=options.aidcolumns,
        progress=steps,
        contents=read.contents,
    )


def _tell_result(run: Run, options: argparse.Namespace) -> None:
    if options.verbose:
        log_run(run)
    if not run.result.num_rows:
        mean = run.synthesizer.parameters.anonymization.low_count_params.mean
        tell(NOTES.say("empty", mean=f"{mean:g}"))
    left = [c.name for c in run.synthesizer.columns if c.name not in run.result.column_names]
    if left:
        target = target_of(requested_clustering(options) or "default")
        tell(left_out_note(left, len(left), str(target)))


def _choose_columns(options: argparse.Namespace, names: Sequence[str]) -> list[ChosenColumn]:
    if options.columns is None:
        columns = [ChosenColumn(name) for name in names if name not in options.aidcolumns]
    else:
        _require_apart(options.columns, names)
        columns = [
            # A header of the file where the whole text is one and nothing else is.
            ChosenColumn(item)
            if item in names and item.rpartition(":")[0] not in names
            else parse_column(item)
            for item in options.columns
        ]
    selected = [column.name for column in columns]
    problems = [
        f"The input has no column {name!r}: {did_you_mean(name, names, repr) or 'correct its name.'}"
        for name in (*selected, *options.aidcolumns, *options.value_safe_columns)
        if name not in names
    ]
    problems += [
        f"{name!r} says whose row it is and can't be synthesized: name it in --aidcolumns or in --columns, "
        "not in both."
        for name in selected
        if name in options.aidcolumns
    ]
    marks = syndiffix_options.marks_of(options)
    given = Declarations(
        decimal=marks["decimal"],
        thousands=marks["thousands"],
        date_formats={name: tuple(formats) for name, formats in options.date_formats.items()},
    )
    declared = [DeclaredColumn(name, given.of(name), None) for name in selected]
    for read in declared:
        problems += filter(None, [read.number_format.problem])
        problems += [f"Column {read.name!r}: {problem}" for problem in read.reading.problems]
    if problems:
        raise ParameterError(list(dict.fromkeys(problems)))
    return [
        replace(column, number_format=read.number_format, reading=read.reading)
        for column, read in zip(columns, declared, strict=True)
    ]


def _require_apart(items: Sequence[str], names: Sequence[str]) -> None:
    several = [item for item in items if "," in item and item not in names]
    parts = {part.rpartition(":")[0] or part for item in several for part in item.split(",")}
    if parts & set(names):
        told = " ".join(several[0].replace(",", " ").split())
        raise ParameterError(f"--columns must be separated by spaces, not commas: {told}.")


def _write(result: pa.Table, output: Path | None) -> None:
    if output is not None:
        write_table(result, output.expanduser())
        say(f"Wrote {result.num_rows} synthetic rows of {result.num_columns} columns to {output}.")
        return
    write_delimited(result, sys.stdout.buffer)
    sys.stdout.buffer.flush()
