"""The page of the data's owner: synthetic records and TRUE counts go in. All of it is sensitive.

True counts stand where a release's page has the published ones, exact ones of a resolution of 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import aggregates_of_cells, stored_cells
from tasks.core.arrays import Integers, Json
from tasks.core.evaluation.raw import RawEvaluation
from tasks.core.evaluation.sensitive_files import RecordsPromise, four_sentences
from tasks.core.evaluation.typed_tables import TableDistances
from tasks.core.figures import format_near, format_whole
from tasks.core.navigation.inputs import Naming
from tasks.core.navigation.page import Page, html
from tasks.core.navigation.payload.block import Buffers, in_page, narrowest, records_told
from tasks.core.navigation.payload.columns import (
    ShownColumn,
    columns_told,
    first_attributes,
    layout,
    record_codes,
)
from tasks.core.navigation.payload.counts import put_counts, put_rows
from tasks.core.navigation.payload.release import Payload, named, shown_columns
from tasks.core.navigation.payload.synthetic_table import column_of_bins, held_cells, joined_bins
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import AnySynthetic

#: Lengths are left out from the first one on that would bring more true counts than these onto the page.
MOST_COUNTS = 1_000_000


@dataclass(frozen=True)
class Compared:
    """What a page is of.

    Attributes:
        naming: the prefix of files, and what a record and its values are called.
        unit: ``subject`` or ``row``.
    """

    dataset: str
    naming: Naming
    unit: str

    def meta(self, title: str) -> Json:
        statement = {"dataset": self.dataset, "vintage": "", "guarantee": {"unit": self.unit}}
        told = named(statement, self.naming, title)
        return told | {
            "audience": "owner",
            "protection": "k_anonymity",
            "resolution": 1,
            "tables": [],
        }


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
    compared: Compared, title: str, schema: Schema, exact: Aggregates, synthetic: AnySynthetic
) -> Payload:
    block = Buffers()
    codes = record_codes(shown_columns(schema, None, exact.attributes, synthetic.attributes), synthetic)
    codes.put_into(block)
    counts = put_counts(block, codes.columns, exact)
    number = exact.number_of_records
    meta = compared.meta(title) | {
        **records_told(synthetic.number_of_records),
        "number": {"value": number, "low": number, "high": number},
        "columns": columns_told(codes.columns, compared.naming),
        "reporting_length": exact.reporting_length,
        "counts": counts,
        "layout": layout(codes.columns, Naming()),
        "buffers": block.index(),
    }
    return Payload(meta, block.text())


def payload_of_true_table(
    compared: Compared, title: str, raw: pa.Table, synthetic: pa.Table, edges: Mapping[str, Sequence[float]]
) -> Payload:
    block, names = Buffers(), synthetic.column_names
    bins = [
        joined_bins(name, (held_cells(synthetic, name), held_cells(raw, name)), edges.get(name))
        for name in names
    ]
    shown = [column_of_bins(each) for each in bins]
    for place, each in enumerate(bins):
        codes = in_page(each.codes(held_cells(synthetic, each.name)) + 1)
        block.put(f"column/{place}/0", codes.astype(narrowest(len(each.labels))))
    counts = _put_true_counts(block, shown, [each.codes(held_cells(raw, each.name)) for each in bins])
    meta = compared.meta(title) | {
        **records_told(synthetic.num_rows),
        "number": {"value": raw.num_rows, "low": raw.num_rows, "high": raw.num_rows},
        "columns": columns_told(shown, compared.naming),
        "reporting_length": len(counts),
        "counts": counts,
        "layout": layout(shown, Naming()),
        "buffers": block.index(),
    }
    return Payload(meta, block.text())


def _put_true_counts(block: Buffers, columns: Sequence[ShownColumn], codes: Sequence[Integers]) -> list[Json]:
    first = first_attributes(columns).astype(np.int64)
    told = []
    for length in (1, 2):
        parts = [_held(chosen, codes, first) for chosen in combinations(range(len(columns)), length)]
        rows = np.concatenate([np.zeros((0, length + 1), np.int64), *parts])
        if length > 1 and len(rows) > MOST_COUNTS:
            break
        told.append(put_rows(block, length, rows[:, :-1], rows[:, -1], int(first[-1])))
    return told


def _held(columns: Sequence[int], codes: Sequence[Integers], first: Integers) -> Integers:
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
    """The page. Args: dataset: its name. payload: of true counts. answers: what was found, in words."""
    context = {
        "title": owner_title(dataset),
        "answers": answers,
        "length": payload.meta["reporting_length"],
    }
    return html(context, Page("owner.html.j2", explorer=payload))


def answers_of_counts(evaluation: RawEvaluation, claim: RecordsPromise) -> list[Answer]:
    table, reported, private, records = four_sentences(evaluation, claim)
    distances = [
        f"By total variation, {format_near(100 * each.mean, 2)} % of the records differ from the table for "
        f"{_columns(each.length)}, and {format_near(100 * each.largest, 2)} % for the worst."
        for each in evaluation.synthetic.distances
    ]
    return [
        ("How close are the counts?", [reported]),
        ("How close are the records?", [*distances[:2], records]),
        ("Who stands out?", [table, private]),
    ]


def answers_of_tables(found: TableDistances) -> list[Answer]:
    synthetic, raw = found.records
    ranked = sorted((*found.single, *found.pairs), key=lambda each: (-each.total_variation, each.columns))
    worst = [
        f"{' × '.join(each.columns)}: {format_near(100 * each.total_variation, 2)} %"
        for each in ranked[:_NAMED]
    ]
    means = [
        f"By total variation, {format_near(100 * fmean(each.total_variation for each in held), 2)} % of the "
        f"rows differ from the table for {_columns(length)} on average."
        for length, held in ((1, found.single), (2, found.pairs))
        if held
    ]
    return [
        ("How close is it?", means),
        ("Where is it farthest?", worst),
        (
            "How many rows?",
            [f"{format_whole(synthetic)} synthetic ones stand for {format_whole(raw)} of the table."],
        ),
    ]


def _columns(length: int) -> str:
    return "one column" if length == 1 else f"{length} columns together"
