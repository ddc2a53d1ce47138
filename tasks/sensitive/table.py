"""A stored table of coded records, opened: whole in memory, or in partitions that workers read."""

from tasks.core.dp.workload.exact import PartitionedTable
from tasks.core.records.coded import CodedRecords, read_coded_records
from tasks.core.records.partitions.index import is_parted, read_partitions
from tasks.engine import current_engine
from tasks.storage import StoredTable, Workspace


def open_for_draw(workspace: Workspace, records: StoredTable) -> CodedRecords | PartitionedTable:
    """The records that a release is drawn from. Once it is begun, the draw does not stop for a cluster."""
    folder = workspace.path(records)
    if not is_parted(folder):
        return read_coded_records(folder)
    found = read_partitions(folder)
    return PartitionedTable(found.parts, found.facts, current_engine().steadfast)
