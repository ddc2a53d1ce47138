"""The page of the data's owner: synthetic records and TRUE counts go in. All of it is sensitive.

True counts stand where a release's page has the published ones, exact ones of a resolution of 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import aggregates_of_cells, stored_cells
from tasks.core.arrays import Integers, Json
from tasks.core.evaluation.raw import RawEvaluation
from tasks.core.evaluation.sensitive_files import RecordsPromise, four_sentences
from tasks.core.evaluation.typed_tables import TableDistances, farthest
from tasks.core.figures import format_near, format_whole
from tasks.core.navigation.inputs import Naming
from tasks.core.navigation.page import html
from tasks.core.navigation.payload.block import Buffers
from tasks.core.navigation.payload.columns import ShownColumn, first_attributes, put_records
from tasks.core.navigation.payload.counts import put_counts, put_rows
from tasks.core.navigation.payload.release import (
    Payload,
    assemble_payload,
    describe_release,
    shown_columns,
)
from tasks.core.navigation.payload.synthetic_table import (
    bins_of_all_parts,
    cells_with_values,
    column_of_bins,
    put_rows_by_bins,
)
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import AnySynthetic

#: Lengths are left out from the first one on that would bring more true counts than these onto the page.
MOST_COUNTS = 1_000_000


@dataclass(frozen=True)
class OwnerNames:
    """What a page is of: the dataset, what a record and its values are called, ``subject`` or ``row``."""

    dataset: str
    naming: Naming
    unit: str

    def payload(
        self, block: Buffers, columns: Sequence[ShownColumn], records: int, number: int, counts: list[Json]
    ) -> Payload:
        """The data of a page whose arrays are all in the block: exact counts of a resolution of 1."""
        statement = {"dataset": self.dataset, "vintage": "", "guarantee": {"unit": self.unit}}
        about = describe_release(statement, self.naming, owner_title(self.dataset))
        return assemble_payload(
            block,
            about | {"audience": "owner", "protection": "k_anonymity"},
            self.naming,
            columns,
            records=records,
            number={"value": number, "low": number, "high": number},
            counts=counts,
            tables=[],
            accuracy={"resolution": 1},
        )


def true_counts(marginals: Marginals, most: int = MOST_COUNTS) -> Aggregates:
    """The exact counts of as many lengths as there is room for, at least of length 1."""
    lengths, total = [], 0
    for length in marginals.lengths:
        total += pq.read_metadata(marginals.path(length)).num_rows
        if length > 1 and total > most:
            break
        lengths.append(length)
    number = marginals.facts.number_of_records
    return aggregates_of_cells(marginals.facts, number, (stored_cells(marginals, each) for each in lengths))


def payload_of_truth(
    names: OwnerNames, schema: Schema, exact: Aggregates, synthetic: AnySynthetic
) -> Payload:
    block = Buffers()
    columns = shown_columns(schema, None, exact.attributes, synthetic.attributes)
    columns = put_records(block, columns, synthetic)
    counts = put_counts(block, columns, exact)
    return names.payload(block, columns, synthetic.number_of_records, exact.number_of_records, counts)


def payload_of_true_table(
    names: OwnerNames, raw: pa.Table, synthetic: pa.Table, edges: Mapping[str, Sequence[float]]
) -> Payload:
    block = Buffers()
    bins = [
        bins_of_all_parts(
            name, (cells_with_values(synthetic, name), cells_with_values(raw, name)), edges.get(name)
        )
        for name in synthetic.column_names
    ]
    columns = [column_of_bins(own) for own in bins]
    put_rows_by_bins(block, synthetic, bins)
    counts = _put_true_counts(block, columns, [own.codes(cells_with_values(raw, own.name)) for own in bins])
    return names.payload(block, columns, synthetic.num_rows, raw.num_rows, counts)


def _put_true_counts(block: Buffers, columns: Sequence[ShownColumn], codes: Sequence[Integers]) -> list[Json]:
    first = first_attributes(columns).astype(np.int64)
    told = []
    for length in (1, 2):
        parts = [
            _count_combinations(chosen, codes, first) for chosen in combinations(range(len(columns)), length)
        ]
        rows = np.concatenate([np.zeros((0, length + 1), np.int64), *parts])
        if length > 1 and len(rows) > MOST_COUNTS:
            break
        told.append(put_rows(block, length, rows[:, :-1], rows[:, -1], int(first[-1])))
    return told


def _count_combinations(columns: Sequence[int], codes: Sequence[Integers], first: Integers) -> Integers:
    """Attribute ids of what rows hold in these columns, and how many rows do: (different, columns + 1)."""
    cells = np.stack([codes[column] for column in columns], axis=1)
    kept = (cells >= 0).all(axis=1)
    ids = cells[kept] + first[list(columns)]
    different, counts = np.unique(ids, axis=0, return_counts=True)
    found: Integers = np.column_stack([different, counts]).astype(np.int64)
    return found.reshape(-1, len(columns) + 1)


#: A question and the sentences that answer it.
Answer = tuple[str, Sequence[str]]
#: Sets of columns that are named as the farthest from the raw table.
_NAMED = 12


def owner_title(dataset: str) -> str:
    return f"{dataset}: the release beside the table itself"


def render_owner_page(dataset: str, payload: Payload, answers: Sequence[Answer]) -> str:
    context = {
        "title": owner_title(dataset),
        "answers": answers,
        "length": payload.meta["reporting_length"],
    }
    return html("owner.html.j2", context, explorer=payload)


def answers_of_counts(evaluation: RawEvaluation, claim: RecordsPromise) -> list[Answer]:
    table, reported, private, records = four_sentences(evaluation, claim)
    distances = [
        f"By total variation, {format_near(100 * each.mean, 2)} % of the records differ from the table for "
        f"{_name_columns(each.length)}, and {format_near(100 * each.largest, 2)} % for the worst."
        for each in evaluation.synthetic.distances
    ]
    return [
        ("How close are the counts?", [reported]),
        ("How close are the records?", [*distances[:2], records]),
        ("Who stands out?", [table, private]),
    ]


def answers_of_tables(found: TableDistances) -> list[Answer]:
    synthetic, raw = found.records
    worst = [
        f"{' × '.join(columns)}: {format_near(100 * apart, 2)} %"
        for columns, apart in farthest((*found.single, *found.pairs), _NAMED)
    ]
    means = [
        f"By total variation, {format_near(100 * mean, 2)} % of the rows differ from the table for "
        f"{_name_columns(length)} on average."
        for length, mean in found.means.items()
    ]
    return [
        ("How close is it?", means),
        ("Where is it farthest?", worst),
        (
            "How many rows?",
            [f"{format_whole(synthetic)} synthetic ones stand for {format_whole(raw)} of the table."],
        ),
    ]


def _name_columns(length: int) -> str:
    return "one column" if length == 1 else f"{length} columns together"
