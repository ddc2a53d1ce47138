"""Names in a sentence: some of many are shown, and how many more there are."""

from collections.abc import Sequence

#: So many names a sentence shows.
_MOST = 5


def some_of(names: Sequence[str], most: int = _MOST) -> str:
    """Names in quotes, up to so many.

    >>> some_of(["age", "sex", "town"], most=2)
    "'age', 'sex' and 1 more"
    """
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
