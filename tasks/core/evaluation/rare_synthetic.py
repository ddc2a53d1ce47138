"""Rare combinations of the synthetic records, with the records that hold them: SDS's file (sds.md 5).

Synthetic and raw records, both coded, go in; a tab-separated file comes out, a set of columns at a time, so
that memory does not grow with the number of lines. Sensitive.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.aggregates.delimited import needs_quotes
from tasks.core.aggregates.keys import run_starts
from tasks.core.aggregates.wide_form import attribute
from tasks.core.evaluation import lines_kernels as kernels
from tasks.core.evaluation.cells import Columns, Numbering, RecordCells, Side, recoded
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Schema

Integers = npt.NDArray[np.int64]

_HEADER = ("combo_length", "combo", "record_id", "syn_count", "sen_count")
_BYTES_AT_ONCE = 1 << 25
_MOST_DIGITS = 20


@dataclass(frozen=True)
class _Rare:
    """Rare combinations of one set of columns: codes (N, k), counts in both tables (N,)."""

    columns: Columns
    codes: npt.NDArray[np.uint32]
    synthetic: Integers
    sensitive: Integers


def write_rare_combinations(
    synthetic: CodedRecords, sensitive: CodedRecords, resolution: int, longest: int, path: Path
) -> None:
    """Write each synthetic combination with a count below the resolution, once per record that holds it.

    Columns ``combo_length, combo, record_id, syn_count, sen_count``; the record's number is its place among
    the synthetic records, the sensitive count is rounded down to the resolution. By length, then by columns
    in file order, then by their values, then by record.

    Args:
        synthetic: whose combinations are listed.
        sensitive: the raw records, of the same columns.
        resolution: at least 1.
        longest: the longest combination looked at.
        path: the file to write.
    """
    sides: Sequence[Side] = (synthetic, sensitive)
    numbering = Numbering(sides)
    cells = [RecordCells(recoded(side, numbering), numbering) for side in (synthetic, sensitive)]
    texts = _Texts(numbering, synthetic.schema)
    with path.open("wb") as file:
        file.write("\t".join(_HEADER).encode() + b"\n")
        for length in range(1, min(longest, len(numbering.slot_columns)) + 1):
            for columns in sorted(cells[0].column_sets(length)):
                rare = _rare(columns, cells[0], cells[1], resolution)
                if len(rare.codes):
                    file.writelines(_lines(rare, cells[0], texts, resolution))


def _rare(columns: Columns, synthetic: RecordCells, sensitive: RecordCells, resolution: int) -> _Rare:
    codes, counts = synthetic.counter.cells(columns)
    codes, counts = codes[counts < resolution], counts[counts < resolution]
    true = sensitive.counter.counts_of(columns, codes) if len(codes) else counts
    return _Rare(columns, codes, counts, true)


def _lines(rare: _Rare, synthetic: RecordCells, texts: "_Texts", resolution: int) -> Iterator[memoryview]:
    starts = np.concatenate([[0], np.cumsum(rare.synthetic)])
    numbers = _holders(rare, synthetic, starts)
    rounded = rare.sensitive - rare.sensitive % resolution
    # What lines of one combination have in common is put together once.
    combos = texts.combinations(rare.columns, rare.codes)
    heads = pc.binary_join_element_wise(str(len(rare.columns)), combos, "", "\t")
    counts = (pa.array(each).cast(pa.string()) for each in (rare.synthetic, rounded))
    tails = pc.binary_join_element_wise(pc.binary_join_element_wise("", *counts, "\t"), "", "\n")
    longest = pc.add(pc.binary_length(heads), pc.binary_length(tails)).to_numpy() + _MOST_DIGITS
    # Whole combinations at a time, each of fewer lines than the resolution.
    parts = np.cumsum(longest * rare.synthetic) // _BYTES_AT_ONCE
    for first, end in itertools.pairwise([*run_starts(parts).tolist(), len(parts)]):
        own = (_raw(heads, first, end), _raw(tails, first, end))
        out = np.empty(int((longest * rare.synthetic)[first:end].sum()), np.uint8)
        written = kernels.write_lines(*own, starts[first : end + 1], numbers, out)
        yield out[:written].data


def _holders(rare: _Rare, synthetic: RecordCells, starts: Integers) -> Integers:
    """The records of each combination, ascending, one combination's behind the other's."""
    held = list(synthetic.counter.holders(rare.columns, rare.codes))
    records, places = (np.concatenate(one) for one in zip(*held, strict=True))
    if len(held) > 1:
        order = np.argsort(records, kind="stable")
        records, places = records[order], places[order]
    grouped = np.empty(len(records), np.int64)
    kernels.group(places, records, starts, grouped)
    return grouped


def _raw(texts: pa.Array, first: int, end: int) -> kernels.Texts:
    """The bytes of an array's texts, and the bounds of some of them."""
    bounds = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(texts.buffers()[2], np.uint8), bounds[first : end + 1]


class _Texts:
    """Combinations as text: ``header:value`` in code-point order, joined by `` AND ``."""

    def __init__(self, numbering: Numbering, schema: Schema) -> None:
        named = [(column, value) for column, own in enumerate(numbering.values) for value in own]
        texts = [attribute(schema.columns[column], column, value).text for column, value in named]
        order = sorted(range(len(texts)), key=texts.__getitem__)
        rank = np.empty(len(texts), np.int64)
        rank[order] = np.arange(len(texts))
        ends = np.cumsum([len(own) for own in numbering.values])[:-1]
        self._ranks = np.split(rank, ends)
        ascending = [texts[place] for place in order]
        # Quotes are doubled piece by piece, the enclosing ones are added where any piece needs them.
        self._texts = pa.array([text.replace('"', '""') for text in ascending], pa.string())
        self._enclosed = np.array([needs_quotes(text) for text in ascending], np.bool_)

    def combinations(self, columns: Columns, codes: npt.NDArray[np.uint32]) -> pa.Array:
        """The text of each row of codes (none of them 0), quoted only where it must be."""
        ranks = [self._ranks[column][codes[:, place] - 1] for place, column in enumerate(columns)]
        rows = np.sort(np.stack(ranks, axis=1), axis=1)
        pieces = [self._texts.take(pa.array(rows[:, place])) for place in range(len(columns))]
        joined = pc.binary_join_element_wise(*pieces, " AND ")
        enclosed = self._enclosed[rows].any(axis=1)
        if not enclosed.any():
            return joined
        return pc.if_else(pa.array(enclosed), pc.binary_join_element_wise('"', joined, '"', ""), joined)
