"""Tables in partitions for tests, and workers that do what a cluster may do."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np

from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.records.partitioned import PartitionedRecords


def stored(records, folder: Path, places):
    """A partition for each list of rows."""
    store = PartStore(str(folder))
    return [store.put(f"part/{place}", rows_of(records, rows).write) for place, rows in enumerate(places)]


def parted(records, folder: Path, number: int, workers=InProcess()) -> PartitionedRecords:
    """Records in partitions, every so-manieth in one; some may be empty."""
    places = [np.arange(place, records.number_of_records, number) for place in range(number)]
    return PartitionedRecords.opened(stored(records, folder, places), workers)


def rows_of(records, rows):
    """Some of the records, under the same dictionary."""
    tags = None if records.tags is None else records.tags[rows]
    slots = tuple(codes[rows] for codes in records.slots)
    return replace(records, slots=slots, tags=tags, number_of_records=len(rows))


class Sending(InProcess):
    """Sends what it is given as bytes; does each part twice, the last one first, and gives the second answer.

    Attributes:
        asked: the name of each work and the text of what was sent.
    """

    def __init__(self):
        self.asked = []

    def each(self, name, work, parts):
        sent = pickle.dumps(work)
        self.asked.append((name, len(parts), repr(work)))
        answers = {}
        for place in [*reversed(range(len(parts))), *range(len(parts))]:
            part = pickle.loads(pickle.dumps(parts[place]))
            answers[place] = pickle.dumps(pickle.loads(sent)(part))
        return (pickle.loads(answers[place]) for place in range(len(parts)))
