"""A stored table of coded records, opened: in this process, or in parts that the engine's workers read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tasks.core.errors import ClusterLost
from tasks.core.parts.workers import KeptWork
from tasks.core.records.table import RecordTable
from tasks.engine import current_engine, note_parts
from tasks.step import Output
from tasks.storage import StoredTable, Workspace


def open_table(into: Output, records: StoredTable) -> RecordTable:
    """The records, of which a step may make something in their store. Args: into: of that step."""
    table = RecordTable.in_folder(into.path(records), current_engine().workers, into.key)
    if table.parts:
        note_parts(into.run, table.store, into.key)
    return table


def open_resumable_table(into: Output, records: StoredTable) -> RecordTable:
    """As `open_table`, by workers that keep what is done, for a step that another run may go on with."""
    table = open_table(into, records)
    if not table.parts:
        return table
    workers = KeptWork(table.workers, table.store, f"{into.key}/done", into.run.secret())
    return replace(table, workers=workers)


@contextmanager
def keep_only_if_lost(table: RecordTable) -> Iterator[None]:
    """Forget what workers kept, unless the cluster is lost: then another run goes on with it."""
    try:
        yield
    except ClusterLost:
        raise
    except BaseException:
        _forget(table)
        raise
    _forget(table)


def _forget(table: RecordTable) -> None:
    if isinstance(table.workers, KeptWork):
        table.workers.forget()


def open_records(workspace: Workspace, records: StoredTable) -> RecordTable:
    """The records. Nothing is made of them in their store."""
    return RecordTable.in_folder(workspace.path(records), current_engine().workers)


def open_for_draw(workspace: Workspace, records: StoredTable) -> RecordTable:
    """The records that a release is drawn from. Once it is begun, a draw does not stop for a lost cluster."""
    return RecordTable.in_folder(workspace.path(records), current_engine().steadfast)
