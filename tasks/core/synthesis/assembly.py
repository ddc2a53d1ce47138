"""Published order and files of synthetic records: records as drawn in, TSV out (sds.md 4.0)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.arrays import Ids
from tasks.core.synthesis.assembly_kernels import gathered, packed, sort_within, spread
from tasks.core.synthesis.records import AnySynthetic, SyntheticRecords, header_places
from tasks.core.tables.delimited import as_lines, quoted

#: Cells that are turned into text at once, and how many bytes they may come to.
_CELLS_AT_ONCE = 1 << 22
_BYTES_AT_ONCE = 1 << 28


def ordered(
    headers: tuple[str, ...],
    attributes: tuple[Attribute, ...],
    sizes: Ids,
    attribute_ids: Ids,
) -> SyntheticRecords:
    """Records in the published order (sds.md 4.0), whatever order they and their attributes come in.

    More filled records first, and those equally filled by their cells as text in header order, an empty
    cell before any other.

    Args:
        headers: of the wide form.
        attributes: what the ids stand for.
        sizes: (n,), number of attributes of each record.
        attribute_ids: the records' attributes, one record after the other.
    """
    rank_of, attribute_of = _ranks(headers, attributes)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    ranks = rank_of[attribute_ids]
    sort_within(offsets, ranks)
    width = max(len(attributes).bit_length(), 1)
    order = []
    for size in np.unique(sizes)[::-1]:
        records = np.flatnonzero(sizes == size)
        keys = packed(offsets[records], int(size), ranks, width)
        order.append(records[np.lexsort(keys[::-1])] if size else records)
    new_offsets, ids = gathered(
        offsets, ranks, np.concatenate(order) if order else np.empty(0, np.int64), attribute_of
    )
    sort_within(new_offsets, ids)
    return SyntheticRecords(headers=headers, attributes=attributes, offsets=new_offsets, attribute_ids=ids)


def _ranks(headers: tuple[str, ...], attributes: tuple[Attribute, ...]) -> tuple[Ids, Ids]:
    """Rank of each attribute, and the attribute of each rank.

    Later headers rank lower, and within a header values rank by code point. Where two records of equal
    size first differ, going through their headers in order, either both have that header and the lower
    value comes first, or the one whose next attribute is under a later header has an empty cell, and
    comes first: the lower rank comes first either way.
    """
    places = header_places(headers, attributes)
    by_rank = sorted(range(len(attributes)), key=lambda i: (-int(places[i]), attributes[i].value))
    attribute_of = np.array(by_rank, np.int32)
    rank_of = np.empty_like(attribute_of)
    rank_of[attribute_of] = np.arange(len(by_rank), dtype=np.int32)
    return rank_of, attribute_of


def write_wide_tsv(records: AnySynthetic, path: Path) -> None:
    """One line a record and one column a header; the empty text where a record has no value.

    Tab-separated, UTF-8, lines ended by a line feed, a cell quoted only where it holds a tab, a quote or a
    line break (and where it is the only cell of its line and empty, since readers skip empty lines).
    """
    texts = pa.array([quoted(attribute.value) for attribute in records.attributes], pa.string())
    empty = quoted("", alone=len(records.headers) == 1)
    with path.open("wb") as file:
        only = len(records.headers) == 1
        file.write(("\t".join(quoted(h, alone=only) for h in records.headers) + "\n").encode())
        for cells in chunks(records, texts):
            columns = [pc.fill_null(texts.take(pa.array(ids, mask=ids < 0)), empty) for ids in cells]
            for line in as_lines(columns) if columns else [b"\n" * cells.shape[1]]:
                file.write(line)


def chunks(records: AnySynthetic, texts: pa.Array) -> Iterator[Ids]:
    """Cells (headers, records) of a bounded number of records at a time: attribute ids, -1 for empty."""
    header_of = header_places(records.headers, records.attributes)
    longest = np.zeros(max(len(records.headers), 1), np.int64)
    lengths = pc.binary_length(texts).to_numpy().astype(np.int64)
    np.maximum.at(longest, header_of, lengths)
    most = min(_CELLS_AT_ONCE // len(longest), _BYTES_AT_ONCE // (int((longest + 1).sum())))
    step = max(most, 1)
    for part in records.parts():
        for start in range(0, part.number_of_records, step):
            offsets = part.offsets[start : start + step + 1]
            cells = np.empty((len(part.headers), len(offsets) - 1), np.int32)
            spread(offsets, part.attribute_ids, header_of, cells)
            yield cells
