"""From noisy counts as drawn to counts that agree with each other: SDS's post-processing.

Every sub-combination of a reported combination is then reported too, with a count at least as large. Released
numbers alone are read, so it costs no privacy (D12, S3.3).
"""

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.arrays import Ids, Integers
from tasks.core.dp.measurement import Level, Measurement


def normalised_counts(measurement: Measurement) -> Aggregates:
    """SDS's normalised counts of the survivors (S3.3).

    Counts of zero or less are removed, and with an attribute every combination that holds it. A missing
    sub-combination of length >= 2 comes back with the largest count of a combination that contains it.
    Then every count is capped by the least count of its proper sub-combinations. The number of records
    is the noisy one, or 0 where that is negative.

                      sex:female   town:Lyon   town:Nice   women in Lyon   women in Nice
        as drawn          60          40          -2             43              3
        normalised        60          40                         40
    """
    attributes, ids = _attributes(measurement)
    combinations, counts = [], []
    for length, level in enumerate(measurement.levels, start=1):
        rows, values = _attribute_rows(measurement, level, length, ids)
        combinations.append(rows)
        counts.append(values)
    parents = _parents(combinations, len(attributes))
    if parents is None:
        _insert_missing(combinations, counts, len(attributes))
        parents = _parents(combinations, len(attributes)) or []
    for place, above in enumerate(parents, start=1):
        counts[place] = np.minimum(counts[place], counts[place - 1][above].min(axis=1))
    return Aggregates(
        headers=_headers(measurement, attributes),
        attributes=attributes,
        number_of_records=max(0, measurement.number_of_records),
        combinations=tuple(combinations),
        counts=tuple(counts),
    )


def _attributes(measurement: Measurement) -> tuple[tuple[Attribute, ...], list[Ids]]:
    """The attributes with a positive count by text, and for each column the id of each code, or -1."""
    found = []
    if measurement.levels:
        level = measurement.levels[0]
        kept = level.survives & (level.counts > 0)
        columns = [columns[0] for columns in measurement.schema.combinations(1)]
        for combination, code in zip(
            level.combinations[kept].tolist(), level.codes[kept, 0].tolist(), strict=True
        ):
            column = columns[combination]
            value = measurement.values[column][code - 1]
            found.append((_attribute(measurement, column, value), column, code))
    found.sort(key=lambda entry: (entry[0].text, entry[1]))
    ids = [np.full(len(values) + 1, -1, np.int32) for values in measurement.values]
    for place, (_, column, code) in enumerate(found):
        ids[column][code] = place
    return tuple(attribute for attribute, _, _ in found), ids


def _attribute(measurement: Measurement, column: int, value: str) -> Attribute:
    about = measurement.schema.columns[column]
    if about.is_multi_valued:
        return Attribute(f"{about.name}_{value}", "1", column, value)
    return Attribute(about.name, value, column)


def _headers(measurement: Measurement, attributes: tuple[Attribute, ...]) -> tuple[str, ...]:
    """File order; of a multi-valued column the declared items and those released, never another (G4)."""
    headers: list[str] = []
    for index, column in enumerate(measurement.schema.columns):
        if not column.is_multi_valued:
            headers.append(column.name)
            continue
        items = set(column.domain or ())
        items.update(a.item for a in attributes if a.column == index and a.item is not None)
        headers.extend(f"{column.name}_{item}" for item in sorted(items))
    return tuple(headers)


def _attribute_rows(
    measurement: Measurement, level: Level, length: int, ids: list[Ids]
) -> tuple[Ids, Integers]:
    kept = level.survives & (level.counts > 0)
    combinations, codes, counts = level.combinations[kept], level.codes[kept], level.counts[kept]
    table = np.full((len(ids), max((len(column) for column in ids), default=1)), -1, np.int32)
    for column, of_codes in enumerate(ids):
        table[column, : len(of_codes)] = of_codes
    columns = np.array(measurement.schema.combinations(length), np.int64).reshape(-1, length)
    rows = table[columns[combinations], codes].reshape(-1, length)
    whole = (rows >= 0).all(axis=1)
    return _in_order(np.sort(rows[whole], axis=1), counts[whole], int(table.max(initial=0)) + 1)


def _in_order(rows: Ids, counts: Integers, attributes: int) -> tuple[Ids, Integers]:
    if attributes ** rows.shape[1] < 2**62:
        key = np.zeros(len(rows), np.int64)
        for place in range(rows.shape[1]):
            key = key * attributes + rows[:, place]
        order = np.argsort(key, kind="stable")
    else:
        order = np.lexsort(rows.T[::-1])
    return rows[order], counts[order]


def _parents(combinations: list[Ids], attributes: int) -> list[Integers] | None:
    """For lengths 2..R the row of each immediate sub-combination in the length before, (N_k, k).

    The j-th lacks the j-th attribute. None if one is missing. A row's key is its prefix's row times the
    number of attributes, plus its last attribute: 64 bits hold it at every length.
    """
    parents: list[Integers] = []
    keys = [np.arange(attributes, dtype=np.int64)]
    for length, rows in enumerate(combinations[1:], start=2):
        above = np.empty((len(rows), length), np.int64)
        above[:, length - 1] = _prefix_rows(rows, keys, attributes)
        if length == 2:
            above[:, 0] = rows[:, 1]
        elif (above[:, length - 1] >= 0).all():
            before = parents[-1][above[:, length - 1]]
            for place in range(length - 1):
                above[:, place] = _find(keys[-1], before[:, place] * attributes + rows[:, -1])
        if (above < 0).any():
            return None
        parents.append(above)
        keys.append(above[:, length - 1] * attributes + rows[:, -1])
    return parents


def _prefix_rows(rows: Ids, keys: list[Integers], attributes: int) -> Integers:
    """For each canonical row the place of its first k-1 attributes in the length before, or -1."""
    prefixes = rows[:, :-1]
    first = np.ones(len(rows), bool)
    first[1:] = (prefixes[1:] != prefixes[:-1]).any(axis=1)
    different = prefixes[first].astype(np.int64)
    found = different[:, 0]
    for place in range(1, different.shape[1]):
        found = np.where(found >= 0, _find(keys[place], found * attributes + different[:, place]), -1)
    places: Integers = found[np.cumsum(first) - 1]
    return places


def _find(keys: Integers, wanted: Integers) -> Integers:
    if not len(keys):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _insert_missing(combinations: list[Ids], counts: list[Integers], attributes: int) -> None:
    """Insert every missing sub-combination of length >= 2, with the most of what contains it.

    From the longest length down; ``most`` is for each row the largest count of itself and of all that
    contains it.
    """
    most = counts[-1]
    for length in range(len(combinations), 2, -1):
        rows = combinations[length - 1]
        parts = [combinations[length - 2]]
        values = [counts[length - 2]]
        for place in range(length):
            parts.append(np.delete(rows, place, axis=1))
            values.append(most)
        owned = len(parts[0])  # of equal rows the sort puts the length's own first, which keeps its count
        every, order = _in_order(
            np.concatenate(parts), np.arange(sum(map(len, parts)), dtype=np.int64), attributes
        )
        first = np.ones(len(every), bool)
        first[1:] = (every[1:] != every[:-1]).any(axis=1)
        group = np.cumsum(first) - 1
        most = np.zeros(int(first.sum()), np.int64)
        value = np.concatenate(values)[order]
        np.maximum.at(most, group, value)
        count = np.where(order[first] < owned, value[first], most)
        combinations[length - 2], counts[length - 2] = every[first], count
