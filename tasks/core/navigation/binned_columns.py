"""A column of a synthetic table in its bins: its cells go in, their codes and a whole scale come out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tasks.core.arrays import Integers
from tasks.core.syndiffix.bins import Bins

#: Of numbers or periods one apart.
_MOST_FILLED = 48


def with_scale(bins: Bins) -> Bins:
    """The bins with those between them that no row is in, so that a chart of them has a scale.

    >>> with_scale(Bins("rooms", "integer", ("1", "2", "5"))).labels
    ('1', '2', '3', '4', '5')
    """
    places = None if bins.edges is not None else _places(bins)
    if places is None or places[-1] - places[0] >= _MOST_FILLED:
        return bins
    return replace(bins, labels=tuple(_labels(bins, places)))


def _places(bins: Bins) -> Integers | None:
    """Where labels are, in steps; None where there are no steps, or labels are not in their order."""
    if not bins.labels or not (bins.period or bins.kind == "integer"):
        return None
    try:
        if bins.period is None:
            found = np.array([int(label) for label in bins.labels], np.int64)
        else:
            unit = f"datetime64[{bins.period[0]}]"
            found = np.array([label.removesuffix(" h") for label in bins.labels], unit).astype(np.int64)
    except (ValueError, OverflowError):  # a year or a number that is beyond what can be told
        return None
    return found if all(low < high for low, high in pairwise(found.tolist())) else None


def _labels(bins: Bins, places: Integers) -> Sequence[str]:
    """The labels of all steps from the first place to the last."""
    steps = range(int(places[0]), int(places[-1]) + 1)
    if bins.period is None:
        return [str(step) for step in steps]
    unit = bins.period[0]
    texts = np.datetime_as_string(np.array(steps, f"datetime64[{unit}]"))
    return [text.replace("T", " ") + (" h" if unit == "h" else "") for text in texts.tolist()]


@dataclass(frozen=True)
class BinnedColumn:
    """A column of the table of all columns, in its bins."""

    bins: Bins
    codes: Integers
