"""Which records a page holds: all of them, or of very many as many as a browser opens, evenly spread.

    records of the release    0 1 2 3 4 5 6 7 8 9     n = 10
    on the page               0   2   4   6   8       m = 5: record i is that at floor(i * n / m)

No random number is needed. Records that are alike stand together in the published order, so that every kind
of them is thinned evenly.
"""

import numpy as np

from tasks.core.arrays import Integers, Json

#: More records than these make a page that browsers fail to open.
MOST_RECORDS = 1_000_000


def places_in_page(number: int) -> Integers | None:
    """The places of the records that a page holds, ascending; None where it holds all of them.

    Args:
        number: how many records the release has.
    """
    if number <= MOST_RECORDS:
        return None
    return np.arange(MOST_RECORDS, dtype=np.int64) * number // MOST_RECORDS


def in_page(each: Integers) -> Integers:
    """Of an array with an element a record, those that a page holds."""
    places = places_in_page(len(each))
    return each if places is None else each[places]


def records_told(number: int) -> Json:
    """What the page is told of how many records there are, and of how many it holds where that is fewer.

    >>> records_told(5), records_told(10_000_000)
    ({'records': 5}, {'records': 10000000, 'records_in_page': 1000000})
    """
    told: Json = {"records": number}
    return told if number <= MOST_RECORDS else told | {"records_in_page": MOST_RECORDS}
