"""What shards of synthetic records hold, counted shard by shard: references in, counts of all records out.

Both answers are those that all records in one process would give, to the last bit: whole numbers are added
up. What comes to one place is a table of counts, or the aggregates of a part.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.aggregates.wide_form import in_order, wide_headers
from tasks.core.arrays import ColumnNumbers, Ids, Integers
from tasks.core.dp.workload.cells import domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.errors import InternalError
from tasks.core.evaluation.fit import FitEvaluation, evaluate_counts, tables_to_count
from tasks.core.evaluation.synthetic import code_synthetic
from tasks.core.fitting.noisy_tables import Domain, table_counts
from tasks.core.parts.store import StoredPart
from tasks.core.parts.workers import Counts, Workers, total
from tasks.core.records.columns import Schema
from tasks.core.synthesis.sharded_records import ShardedRecords, read_fitted_cells, read_record_shard

#: Aggregates are added up where they are counted, so that no more than these come to one place.
_MOST_ANSWERS = 16


def evaluate_sharded_fit(
    measurement: WorkloadMeasurement, records: ShardedRecords, seed: int, workers: Workers
) -> FitEvaluation:
    """`evaluate_fit` of fitted records in shards.

    Args:
        measurement: what they were fitted to.
        records: with their cells.
        seed: of the noise that is drawn anew; public.
        workers: who counts.
    """
    domain, asked = domain_of(measurement.cells, measurement.schema), tables_to_count(measurement)
    work = partial(_count_cells, domain, asked)
    found = total(workers, "count the fit", work, records.parts)
    counts = {
        columns: flat.reshape(domain.shape(columns)) for columns, flat in zip(asked, found, strict=True)
    }
    return evaluate_counts(measurement, counts, records.number_of_records, seed)


def _count_cells(domain: Domain, asked: Sequence[ColumnNumbers], part: StoredPart) -> Counts:
    cells = np.asfortranarray(read_fitted_cells(part))
    return [table_counts(domain, columns, cells).ravel() for columns in asked]


def count_sharded_records(
    records: ShardedRecords, schema: Schema, reporting_length: int, workers: Workers
) -> Aggregates:
    """`count_in_memory` of all records (see `code_synthetic`): what their combinations are held by.

    Args:
        records: in shards.
        schema: public.
        reporting_length: the most attributes of a combination; -1: all lengths.
        workers: who counts.

    Raises:
        ParameterError: the length is 0 or below -1.
    """
    size = -(-len(records.parts) // _MOST_ANSWERS)
    groups = [records.parts[start : start + size] for start in range(0, len(records.parts), size)]
    work = partial(_count_shards, schema, reporting_length)
    return reduce(_added, workers.each("count combinations", work, groups)).aggregates(
        schema, reporting_length
    )


@dataclass(frozen=True)
class _Counted:
    """Combinations of some shards over the attributes that all of them share.

    Attributes:
        attributes: in the order of their texts.
        number: of records.
        slots: int64, of each column how many its fullest record needs.
        levels: of each length the combinations, in order, and their counts, all above 0.
    """

    attributes: tuple[Attribute, ...]
    number: int
    slots: Integers
    levels: tuple[tuple[Ids, Integers], ...]

    def aggregates(self, schema: Schema, longest: int) -> Aggregates:
        """Over the attributes that somebody holds; as many lengths as one coding of all records has."""
        used = self.levels[0][0][:, 0] if self.levels else np.empty(0, np.int32)
        attributes = tuple(self.attributes[place] for place in used.tolist())
        numbers = np.zeros(len(self.attributes), np.int32)
        numbers[used] = np.arange(len(used), dtype=np.int32)
        most = int(self.slots.sum())
        return Aggregates(
            wide_headers(schema, attributes),
            attributes,
            self.number,
            tuple(numbers[ids] for ids, _ in self.levels),
            tuple(counts for _, counts in self.levels),
        ).up_to(most if longest == -1 else min(longest, most))


def _count_shards(schema: Schema, longest: int, parts: Sequence[StoredPart]) -> _Counted:
    return reduce(_added, (_count_shard(schema, longest, part) for part in parts))


def _count_shard(schema: Schema, longest: int, part: StoredPart) -> _Counted:
    records = read_record_shard(part)
    coded = code_synthetic(records, schema)
    counted = count_in_memory(coded, longest)
    # Counted attributes are in the order of their texts; those of records may not be.
    attributes = tuple(sorted(records.attributes, key=_in_order))
    place = {_in_order(each): number for number, each in enumerate(attributes)}
    numbers = np.array([place[_in_order(each)] for each in counted.attributes], np.int32)
    slots = np.bincount(np.array(coded.slot_columns, np.int64), minlength=len(schema.columns))
    levels = tuple(
        (numbers[ids].reshape(ids.shape), counts)
        for ids, counts in zip(counted.combinations, counted.counts, strict=True)
    )
    return _Counted(attributes, counted.number_of_records, slots, levels)


def _in_order(attribute: Attribute) -> tuple[str, int]:
    return attribute.text, attribute.column


def _added(one: _Counted, other: _Counted) -> _Counted:
    if one.attributes != other.attributes:
        raise InternalError("Shards of one table have the same attributes.")
    longest = max(len(one.levels), len(other.levels))
    return _Counted(
        one.attributes,
        one.number + other.number,
        np.maximum(one.slots, other.slots),
        tuple(_level(length, (one, other)) for length in range(1, longest + 1)),
    )


def _level(length: int, counted: tuple[_Counted, _Counted]) -> tuple[Ids, Integers]:
    bound = len(counted[0].attributes)
    rows: Iterator[tuple[Ids, Integers]] = (
        own.levels[length - 1] for own in counted if len(own.levels) >= length
    )
    ids, counts = in_order(rows, length, bound)
    if not len(ids):
        return ids, counts
    starts = np.flatnonzero(np.concatenate([[True], (ids[1:] != ids[:-1]).any(axis=1)]))
    return ids[starts], np.add.reduceat(counts, starts)
