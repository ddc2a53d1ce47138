"""Tables in partitions, and workers that send all there is to send and are done in the wrong order."""

import itertools
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np

from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess, Workers
from tasks.core.records.coded import CodedRecords, read_coded_facts
from tasks.core.records.table import RecordTable


class FarAway(Workers):
    """Does the last part first, the first one twice as where a machine is lost, and all with copies.

    Attributes:
        asked: of each work its name, its number of parts, and its text.
    """

    def __init__(self):
        self.asked = []

    def each(self, name, work, parts):
        self.asked.append((name, len(parts), repr(work)))
        found = {}
        for place in [*reversed(range(len(parts))), *range(min(1, len(parts)))]:
            far_work, far_part = pickle.loads(pickle.dumps((work, parts[place])))
            found[place] = pickle.loads(pickle.dumps(far_work(far_part)))
        return (found[place] for place in range(len(parts)))


def rows_of_records(records: CodedRecords, rows) -> CodedRecords:
    """Some of the records, under the same dictionary."""
    tags = None if records.tags is None else records.tags[rows]
    slots = tuple(codes[rows] for codes in records.slots)
    return replace(records, slots=slots, tags=tags, number_of_records=len(rows))


def stored(records, folder: Path, places):
    """A partition for each list of rows."""
    store = PartStore(str(folder))
    return [
        store.put(f"records/{place}", rows_of_records(records, rows).write)
        for place, rows in enumerate(places)
    ]


def opened(parts, workers: Workers = InProcess()) -> RecordTable:
    """The table of these parts."""
    facts = []
    for part in parts:
        with part.folder() as folder:
            facts.append(read_coded_facts(folder))
    whole = replace(facts[0], number_of_records=sum(each.number_of_records for each in facts))
    return RecordTable(whole, parts, workers)


def as_table(records: CodedRecords | RecordTable) -> RecordTable:
    return RecordTable.in_memory(records) if isinstance(records, CodedRecords) else records


def parted(records, folder: Path, number: int, workers: Workers = InProcess()) -> RecordTable:
    """Records in partitions, every so-manieth in one; some may be empty."""
    places = [np.arange(place, records.number_of_records, number) for place in range(number)]
    return opened(stored(records, folder, places), workers)


def in_partitions(
    records: CodedRecords, folder: Path, number: int, workers: Workers = InProcess()
) -> RecordTable:
    """The records in so many partitions, in order: the last has half of them, the first of many has none."""
    inner = np.linspace(0, records.number_of_records // 2, number)[1:].astype(int).tolist()
    bounds = [0, *inner, records.number_of_records]
    if number > 2:
        bounds[1] = 0
    places = [np.arange(start, end) for start, end in itertools.pairwise(bounds)]
    return RecordTable(records.facts, stored(records, folder / "store", places), workers)


def left_in_store(records: RecordTable) -> list[str]:
    """What is in the store beside the partitions themselves."""
    root = Path(records.store.root)
    return sorted(
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and path.relative_to(root).parts[0] != "records"
    )
