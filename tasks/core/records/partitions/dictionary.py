"""One dictionary for all blocks: what each has seen goes in, the values of all come out."""

from collections.abc import Sequence
from functools import partial

from tasks.core.parts.store import StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.columns import Column
from tasks.core.records.partitions.pieces import Values, read_values

#: Blocks whose values are united at a time.
_AT_A_TIME = 16


def united_values(columns: Sequence[Column], texts: Sequence[StoredPart], workers: Workers) -> Values:
    """Of each column the declared values or its bins, or what a block has seen, in code-point order."""
    groups = [texts[start : start + _AT_A_TIME] for start in range(0, len(texts), _AT_A_TIME)]
    known = [column.known_values for column in columns]
    opened = tuple(values is None for values in known)
    seen: list[set[str]] = [set() for _ in columns]
    for united in workers.each("unite", partial(_values_of_blocks, opened), groups):
        for own, values in zip(seen, united, strict=True):
            own.update(values)
    return tuple(
        tuple(sorted(own)) if values is None else values for values, own in zip(known, seen, strict=True)
    )


def _values_of_blocks(opened: tuple[bool, ...], texts: Sequence[StoredPart]) -> list[set[str]]:
    """The values of open columns that some blocks hold."""
    seen: list[set[str]] = [set() for _ in opened]
    for part in texts:
        with part.folder() as folder:
            for own, values, is_open in zip(seen, read_values(folder, len(opened)), opened, strict=True):
                own.update(values if is_open else ())
    return seen
