"""How well synthetic records keep the released counts: two sets of counts in, the page's figures out."""

import math
from dataclasses import dataclass

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Floats, Ids, Integers

Points = tuple[tuple[float, float], ...]

#: Of the synthetic counts: nine of ten lie between the first and the last, half between the inner two.
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Less of the rarest values' counts is told in words.
_NEARLY_ALL = 0.8


@dataclass(frozen=True)
class Band:
    """Combinations whose released counts are near each other: `_QUANTILES` of their synthetic counts."""

    released: float
    combinations: int
    synthetic: tuple[float, ...]


@dataclass(frozen=True)
class LengthFidelity:
    """Combinations of one length; total variation 0..1 over all of them, None where one side has none."""

    length: int
    combinations: int
    kept: int
    mean_count: float
    mean_error: float
    total_variation: float | None


@dataclass(frozen=True)
class Fidelity:
    """Everything the page says of synthetic against released counts; small whatever the release's size.

    Attributes:
        bands: synthetic by released count, all lengths together, ascending.
        error_by_count: for each length, points (mean released count of a bin, mean error).
        rarest_kept: of the quarter of single attributes with the smallest released counts, the sum of their
            synthetic counts over that of the released ones; None where there is none.
    """

    scale: float
    lengths: tuple[LengthFidelity, ...]
    bands: tuple[Band, ...]
    error_by_count: tuple[tuple[int, Points], ...]
    rarest_kept: float | None


def comparable_scale(released: float, synthetic: float) -> float:
    """What synthetic counts are multiplied with to be compared: 1 as a rule.

    >>> comparable_scale(released=1000, synthetic=950), comparable_scale(released=1000, synthetic=500)
    (1.0, 2.0)

    Without a target number of records, synthesis uses up the released counts of single attributes, however
    many records that makes. Where a target was asked for, those counts add up to less or more; where by
    more than a quarter, they are scaled to the same sum.
    """
    if released <= 0 or synthetic <= 0 or 0.8 <= released / synthetic <= 1.25:
        return 1.0
    return released / synthetic


def fidelity(reportable: Aggregates, recounted: Aggregates) -> Fidelity:
    scale = comparable_scale(
        *(float(side.counts[0].sum()) if side.counts else 0.0 for side in (reportable, recounted))
    )
    rows, across, up, errors = [], [], [], []
    for place, (ids, counts) in enumerate(zip(reportable.combinations, reportable.counts, strict=True)):
        if not len(ids):
            continue
        drawn_ids, drawn = recounted.combinations[place], recounted.counts[place].astype(np.float64) * scale
        at = places_of_rows(drawn_ids, ids)
        held = np.where(at >= 0, np.append(drawn, 0.0)[at], 0.0)
        released = counts.astype(np.float64)
        rows.append(_fidelity_of_length(place + 1, released, held, float(drawn.sum() - held.sum())))
        across.append(released)
        up.append(held)
        errors.append((place + 1, _error_by_count(released, np.abs(held - released))))
    nothing = [np.zeros(0)]
    bands = _bands(np.concatenate(across or nothing), np.concatenate(up or nothing))
    rarest = _rarest_kept(across[0], up[0]) if rows and rows[0].length == 1 else None
    return Fidelity(scale, tuple(rows), bands, tuple(errors), rarest)


def _rarest_kept(released: Floats, held: Floats) -> float | None:
    rarest = np.argsort(released, kind="stable")[: math.ceil(len(released) / 4)]
    whole = float(released[rarest].sum())
    return float(held[rarest].sum()) / whole if whole > 0 else None


def describe_rare_values(found: Fidelity) -> list[str]:
    """A sentence where rare values fall short, as they do where records stop at a target number."""
    if found.rarest_kept is None or found.rarest_kept >= _NEARLY_ALL:
        return []
    return [
        "Rare values fall short. For the quarter of published values with the smallest counts, the synthetic "
        f"records reach only {100 * found.rarest_kept:.0f} % of these counts."
    ]


def _fidelity_of_length(length: int, released: Floats, held: Floats, extra: float) -> LengthFidelity:
    """One length's figures; ``extra`` is the synthetic mass on combinations that were not published."""
    variation = None
    whole, drawn = float(released.sum()), float(held.sum()) + extra
    if whole > 0 and drawn > 0:
        variation = 0.5 * (float(np.abs(released / whole - held / drawn).sum()) + extra / drawn)
    return LengthFidelity(
        length=length,
        combinations=len(released),
        kept=int(np.count_nonzero(held)),
        mean_count=float(released.mean()),
        mean_error=float(np.abs(held - released).mean()),
        total_variation=variation,
    )


def places_of_rows(rows: Ids, wanted: Ids) -> Integers:
    """Where each wanted row stands among rows that ascend, -1 where it is none of them."""
    if not len(rows):
        return np.full(len(wanted), -1, np.int64)
    keys = _row_numbers(np.concatenate([rows, wanted]))
    own, sought = keys[: len(rows)], keys[len(rows) :]
    place = np.minimum(np.searchsorted(own, sought), len(own) - 1)
    return np.where(own[place] == sought, place, -1)


def _row_numbers(rows: Ids) -> Integers:
    """A number for each row of ids, in the rows' order: its digits, renumbered where they are too many."""
    base = int(rows.max(initial=0)) + 1
    keys, most = np.zeros(len(rows), np.int64), 1
    for column in rows.T:
        if most * base >= 2**63:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            most = len(keys)
        keys = keys * base + column
        most *= base
    return keys


def _bands(released: Floats, synthetic: Floats) -> tuple[Band, ...]:
    found = []
    for chosen in _places_by_bin(released, 6):
        quantiles = np.quantile(synthetic[chosen], _QUANTILES, method="inverted_cdf")
        found.append(Band(_mean_of_chosen(released, chosen), len(chosen), tuple(map(float, quantiles))))
    return tuple(found)


def _error_by_count(released: Floats, error: Floats) -> Points:
    return tuple(
        (_mean_of_chosen(released, chosen), float(error[chosen].mean()))
        for chosen in _places_by_bin(released, 3)
    )


def _mean_of_chosen(released: Floats, chosen: Integers) -> float:
    return float(np.maximum(released[chosen], 1).mean())


def _places_by_bin(released: Floats, a_decade: int) -> list[Integers]:
    """For each bin of the released count that has any: which are in it. Counts below 1 count as 1."""
    # Integers of 16 bits are put in order without comparing them.
    bins = np.floor(np.log10(np.maximum(released, 1)) * a_decade + 1e-9).astype(np.int16)
    order = np.argsort(bins, kind="stable")
    starts = np.flatnonzero(np.diff(bins[order])) + 1
    return [chosen for chosen in np.split(order, starts) if len(chosen)]
