"""Values that a constraint names: texts and ranges of a contract go in, values of a column come out.

A range is written as bins are: ``<18``, ``>=65``, ``[18,30)``. It stands for the bins that lie in it, whose
edges it must keep to, or for the declared numbers in it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.records.columns import Column
from tasks.core.records.scales import Ends, ends_of_values
from tasks.core.suggestions import did_you_mean

#: Of the values that a column has, so many are named.
_SHOWN = 8
_NUMBER = r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?|[+-]?inf)"
_HALF = re.compile(rf"(<=|<|>=|>)\s*{_NUMBER}")
_WHOLE = re.compile(rf"([\[(])\s*{_NUMBER}\s*,\s*{_NUMBER}\s*([\])])")


@dataclass(frozen=True)
class NamedValues:
    """What was named.

    Attributes:
        values: texts as the column has them; the empty one is absence.
        problems: what is wrong with what was named, one sentence each.
    """

    values: tuple[str, ...]
    problems: tuple[str, ...] = ()


def named_values(texts: Sequence[str], column: Column, *, is_numeric: bool) -> NamedValues:
    """The values that texts of a contract name.

    Args:
        texts: normalised; the empty one is absence.
        column: of the schema; an open one may have any value.
        is_numeric: whether the column is declared to hold numbers, so that ranges are meant.
    """
    values: dict[str, None] = {}
    problems: list[str] = []
    strange: list[str] = []
    for text in texts:
        if text == "" or text in (column.domain or ()):
            values[text] = None
            continue
        ends = _range(text) if is_numeric or column.bins is not None else None
        if ends is not None and column.is_open:
            problems.append(f"the range {text!r} of {column.name!r} needs declared bins or values.")
        elif ends is not None:
            found = _inside(ends, column)
            problems += _range_problems(text, ends, column, found)
            values |= dict.fromkeys(found)
        elif column.is_open:
            values[text] = None
        else:
            strange.append(text)
    if strange:
        problems.append(_not_there(strange, column))
    return NamedValues(tuple(values), tuple(problems))


def _not_there(strange: list[str], column: Column) -> str:
    listed, known = ", ".join(map(repr, sorted(strange))), column.domain or ()
    meant = did_you_mean(strange[0], known, repr)
    if not meant:
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        ranges = ", and ranges between its edges" if column.bins is not None else ""
        meant = f"it has {', '.join(map(repr, known[:_SHOWN]))}{more}{ranges}."
    return f"{column.name!r} does not have the value{'s' if len(strange) > 1 else ''} {listed}; {meant}"


def _range(text: str) -> Ends | None:
    """The ends of a range, or None for any other text."""
    try:
        if half := _HALF.fullmatch(text):
            at = float(half[2])
            if half[1].startswith("<"):
                return (float("-inf"), 0), (at, 0 if half[1] == "<=" else -1)
            return (at, 0 if half[1] == ">=" else 1), (float("inf"), 0)
        if whole := _WHOLE.fullmatch(text):
            low, high = float(whole[2]), float(whole[3])
            return (low, 0 if whole[1] == "[" else 1), (high, 0 if whole[4] == "]" else -1)
    except ValueError:
        return None
    return None


def _inside(ends: Ends, column: Column) -> list[str]:
    """The values all of which lie in a range."""
    return [
        value
        for value, (low, high) in ends_of_values(column, "number").items()
        if ends[0] <= low and high <= ends[1]
    ]


def _range_problems(text: str, ends: Ends, column: Column, found: list[str]) -> list[str]:
    edges = column.bins
    inner = [at for at, _ in ends if at not in (float("-inf"), float("inf"))]
    if edges is not None and any(at not in edges for at in inner):
        known = ", ".join(format(edge, ".15g") for edge in edges)
        return [f"the range {text!r} of {column.name!r} must begin and end at edges of its bins: {known}."]
    return [] if found else [f"the range {text!r} of {column.name!r} holds none of its values."]
