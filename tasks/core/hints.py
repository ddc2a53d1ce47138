"""What messages add to help: where a path led, which known name may have been meant, some names of many.

>>> no_such_file("The input file", Path("/data/people.csv"))
'The input file /data/people.csv does not exist: correct its path.'
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path


def no_such_file(what: str, path: Path) -> str:
    """The sentence that a file is not there, with the place that a relative path led to."""
    if path.is_absolute():
        return f"{what} {path} does not exist: correct its path."
    return (
        f"{what} {path} does not exist. It was looked for at {path.absolute()}, as a relative path starts at "
        "the current folder: correct the path, or run this in the folder that the path starts at."
    )


def show_path(path: Path) -> str:
    """A path as it was given and, where it is relative, the place that it leads to."""
    return str(path) if path.is_absolute() else f"{path} ({path.absolute()})"


def list_some(names: Sequence[str], most: int = 5) -> str:
    """Names in quotes, up to so many, and how many more there are.

    >>> list_some(["age", "sex", "town"], most=2)
    "'age', 'sex' and 1 more"
    """
    first = ", ".join(map(repr, names[:most]))
    return first if len(names) <= most else f"{first} and {len(names) - most:,} more"


_LETTERS_A_SLIP = 3  # one edit may be a slip in so many letters


def did_you_mean(given: str, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """``did you mean ...?`` of the nearest known name, as ``shown`` shows it; empty where none is near.

    >>> did_you_mean("subjcet_id", ["subject_id", "use_columns"])
    'did you mean subject_id?'
    """
    # Upper and lower case is the likeliest slip of all.
    spelt = {name.casefold(): name for name in known if name}
    wanted = given.casefold()
    near = {name: _distance(wanted, name) for name in spelt}
    nearest = min(near, key=lambda name: near[name], default="")
    if nearest and near[nearest] <= min(max(len(wanted) // _LETTERS_A_SLIP, 1), len(wanted) - 1):
        return f"did you mean {shown(spelt[nearest])}?"
    longer = [name for name in spelt if len(wanted) >= _LETTERS_A_SLIP and name.startswith(wanted)]
    return f"did you mean {shown(spelt[longer[0]])}?" if len(longer) == 1 else ""


def _distance(one: str, other: str) -> int:
    """How many letters are left out, added, replaced or swapped with the next (optimal string alignment)."""
    before, last = [0] * (len(other) + 1), list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        now = [row]
        for place, wanted in enumerate(other, start=1):
            cost = min(last[place] + 1, now[-1] + 1, last[place - 1] + (letter != wanted))
            if row > 1 and place > 1 and letter == other[place - 2] and one[row - 2] == wanted:
                cost = min(cost, before[place - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]
