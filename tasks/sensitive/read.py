"""Ingest stage: the sensitive table in, judged by its contract; coded records out, under the schema.

Under differential privacy that the release exists shows that the table kept its contract, and the statement
says so (R2). The verdicts are made here, once, before the draw, and kept with what is drawn.
"""

import hashlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.configuration.sections import Model
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.expectations import validation_result
from tasks.core.contracts.validation import judge_table
from tasks.core.dp.budget import AnyParameters
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.errors import ContractViolation
from tasks.core.ledger.dataset_notes import BROKEN
from tasks.core.ledger.tables import PublicTable
from tasks.core.records.columns import Schema
from tasks.core.records.dropped import DroppedCells, is_any_lost, write_dropped
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.table import RecordTable
from tasks.core.statement.contract_verdicts import passed_json
from tasks.core.tables.header import InputFile
from tasks.core.tables.source import RemoteFile, changed_meanwhile
from tasks.engine import current_engine, note_parts
from tasks.messages import say
from tasks.sensitive.ledger import open_user_ledger
from tasks.step import Output, step
from tasks.storage import FULL, SENSITIVE, RunWorkspace, StoredTable, Workspace, write_json

#: Its name in the folder of the step that read the table.
DROPPED = "dropped_cells.tsv"
#: Of a typed table and of a synthetic one.
TABLE = "table.parquet"
#: In a judged table: the verdicts as they may be published, where all rules are kept.
VERDICTS = "verdicts.json"
_TOLD_OF_A_STOP = (
    ", or set contract_mode to repair. The ledger keeps that this run was stopped, and every later release "
    "says so."
)


def report_dropped_cells(run: RunWorkspace, configuration: RunConfiguration, read: StoredTable) -> None:
    """Put the table into the run's own folder, and say where it is.

    Under differential privacy the line is the same whatever was dropped, and names a folder of this run
    also where the step was skipped: a terminal may be logged, and neither may tell of the table (R3).
    """
    path = run.folder(SENSITIVE) / f"{configuration.prefix}_{DROPPED}"
    shutil.copyfile(run.path(read) / DROPPED, path)
    if configuration.protection.is_drawn_once:
        say(
            f"ATTENTION: {path} lists the cells that were not counted, if there are any, and why: numbers "
            "that can't be read, values outside their domain. It must stay on this machine."
        )
    elif is_any_lost(path):
        say(
            f"ATTENTION: some cells were not counted. {path} lists in which columns, why and how many. If "
            "they are numbers, check decimal and thousands; if dates, date_formats. The file must stay on "
            "this machine."
        )


class SensitiveTable(StoredTable):
    """Reference to the operator's own file, by a hash of its bytes and dialect."""

    def __init__(self, source: InputFile) -> None:
        dialect = json.dumps(asdict(source) | {"path": source.opened.sha256()}, sort_keys=True)
        digest = hashlib.sha256(dialect.encode()).hexdigest()
        super().__init__(str(source.path), digest, SENSITIVE, "sensitive table")
        self.source = source


@step(SENSITIVE)
def locate_table(workspace: Workspace, source: InputFile) -> SensitiveTable:
    """Hash the input, so that what was made from the same bytes need not be made again.

    What is in storage is fetched first, once, to the disk of the closed zone.
    """
    if isinstance(source.opened, RemoteFile):
        try:
            source.opened.fetch(workspace.sensitive)
        except OSError as error:
            if error.errno in FULL:
                raise workspace.is_full() from None
            raise
    return SensitiveTable(source)


def require_unchanged(table: SensitiveTable) -> None:
    """Refuse a table that was changed since it was hashed: two steps would have read two tables."""
    if SensitiveTable(table.source).sha256 != table.sha256:
        raise changed_meanwhile()


@step(SENSITIVE, cached=True)
def judge_contract(
    run: RunWorkspace,
    table: SensitiveTable,
    contract: Contract,
    schema: Schema,
    drawn_as: tuple[str, PublicTable] | None,
) -> StoredTable:
    """Judge the raw table; counts of what was found go to ``sensitive/``. Raises ContractViolation.

    Args:
        drawn_as: the vintage that is to be drawn, and what is public of its table; None where nothing is
            drawn, and no statement has to tell of a run that is stopped.
    """
    with run.resources.connect() as connection:
        judged = judge_table(connection, table.source, schema, contract)
    require_unchanged(table)
    broken = [rule.violation for rule in judged.broken]
    if broken and drawn_as is not None:
        # First of all: what is in the ledger is told, whenever this process ends.
        vintage, public = drawn_as
        open_user_ledger().note_stop(run.dataset, vintage, BROKEN, contract.meaning, public)

    def write(folder: Path) -> None:
        result, page = validation_result(judged, contract, schema)
        (folder / "validation_result.json").write_text(result, encoding="utf-8")
        (folder / "data_docs.html").write_text(page, encoding="utf-8")
        if not broken:
            write_json(folder / VERDICTS, passed_json(contract, schema))

    stored = run.store(run.folder(SENSITIVE) / "contract", "judged contract", write)
    if broken:
        # Which rules is sensitive: it is told at the terminal; the error that Prefect keeps has none of it.
        for sentence in broken:
            say(f"contract: {sentence}")
        what_else = "." if drawn_as is None else _TOLD_OF_A_STOP
        raise ContractViolation(
            "The table must keep its data contract, which is strict, but breaks it. "
            f"{run.root / stored.key}/data_docs.html says which rules, for you alone. Correct the table or "
            f"the contract{what_else}"
        )
    return stored


class EncodingRules(Model):
    """What a regime asks of the encoding."""

    total: bool  # no record stops the run (R2); otherwise ids that conflict or lack do
    tags: bool = False  # whether records are sampled or dropped by a tag of their own
    record_limit: int | None = None  # the first so many rows; under differential privacy a sample
    filled: tuple[int, ...] = ()  # columns in which the draw counts an empty cell as a value

    @classmethod
    def of(cls, configuration: RunConfiguration, parameters: AnyParameters | None) -> "EncodingRules":
        if parameters is None:
            return cls(total=False, record_limit=configuration.input.record_limit)
        # Constraints are held by fitted records alone, so a draw by lengths fills no cell.
        filled = parameters.filled if isinstance(parameters, WorkloadParameters) else ()
        return cls(total=True, tags=parameters.needs_tags, filled=filled)


@step(SENSITIVE, makes="coded records", folder="coded_records", progress="ingest")
def encode_records(into: Output, table: SensitiveTable, schema: Schema, rules: EncodingRules) -> None:
    """Read, normalise, join by subject and code the records."""
    dropped: list[DroppedCells] = []
    options = EncodingOptions(
        key=into.run.secret(),
        resources=into.run.resources,
        progress=into.progress,
        report_dropped=dropped.append,
        **dict(rules),
    )
    engine = current_engine()
    if engine.partitions:
        from tasks.core.records.partitions.encoding import PartitionPlace, encode_partitions

        place = PartitionPlace(engine.partitions, engine.store(into.run), f"{into.key}-{engine.partitions}")
        note_parts(into.run, place.store, place.prefix)
        encode_partitions(table.source, schema, options, place, engine.workers).write(into.folder)
    else:
        encode(table.source, schema, options).write(into.folder)
    # Kept under the hash of the table, and perhaps used by a later run: so they must be of that table.
    require_unchanged(table)
    write_dropped(dropped, into.folder / DROPPED)


def open_table(into: Output, records: StoredTable) -> RecordTable:
    """The records, of which a step may make something in their store. Args: into: of that step."""
    table = RecordTable.in_folder(into.path(records), current_engine().workers, into.key)
    if table.parts:
        note_parts(into.run, table.store, into.key)
    return table


def open_records(workspace: Workspace, records: StoredTable) -> RecordTable:
    """The records. Nothing is made of them in their store."""
    return RecordTable.in_folder(workspace.path(records), current_engine().workers)
