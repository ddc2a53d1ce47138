"""A stored table of coded records, opened: whole, or in partitions that the engine's workers read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tasks.core.errors import ClusterLost
from tasks.core.parts.workers import InProcess, KeptWork, Workers
from tasks.core.records.coded import read_coded_records
from tasks.core.records.partitioned import AnyRecords, PartitionedRecords, is_parted, read_partitions
from tasks.engine import current_engine, note_parts
from tasks.step import Output
from tasks.storage import StoredTable, Workspace


def open_table(into: Output, records: StoredTable) -> Path | PartitionedRecords:
    """The folder of the records, or where its partitions are. Args: into: of the step that reads them."""
    folder = into.path(records)
    if not is_parted(folder):
        return folder
    table = read_partitions(folder, current_engine().workers, into.key)
    note_parts(into.run, table.store, into.key)
    return table


def opened_folder(folder: Path) -> Path | PartitionedRecords:
    """A folder of records, or where its partitions are, read by this process. Args: folder: of a table."""
    return read_partitions(folder, InProcess()) if is_parted(folder) else folder


def open_kept(into: Output, records: StoredTable) -> Path | PartitionedRecords:
    """As `open_table`, by workers that keep what is done, for a step that another run may go on with."""
    found = open_table(into, records)
    if isinstance(found, Path):
        return found
    workers = KeptWork(found.workers, found.store, f"{into.key}/done", into.run.secret())
    return replace(found, workers=workers)


@contextmanager
def done_or_kept(table: PartitionedRecords) -> Iterator[None]:
    """Forget what workers kept, unless the cluster is lost: then another run goes on with it."""
    try:
        yield
    except ClusterLost:
        raise
    except BaseException:
        _forget(table)
        raise
    _forget(table)


def _forget(table: PartitionedRecords) -> None:
    if isinstance(table.workers, KeptWork):
        table.workers.forget()


def open_records(workspace: Workspace, records: StoredTable) -> AnyRecords:
    """The records in memory, or where their partitions are. Nothing is made of them in their store."""
    return _opened(workspace.path(records), current_engine().workers)


def open_for_draw(workspace: Workspace, records: StoredTable) -> AnyRecords:
    """The records that a release is drawn from. Once it is begun, a draw does not stop for a lost cluster."""
    return _opened(workspace.path(records), current_engine().steadfast)


def _opened(folder: Path, workers: Workers) -> AnyRecords:
    return read_partitions(folder, workers) if is_parted(folder) else read_coded_records(folder)
