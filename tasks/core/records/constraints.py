"""Constraints: impossible combinations of values, orderings of columns, columns that other ones decide.

A data contract declares them; these are the public forms that a schema carries. Columns are places in the
schema, values are texts as the outputs spell them, and the empty text is absence. Nothing here was read off
a table (W22).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

#: What the values of an ordering are.
OrderedScale = Literal["number", "moment", "time"]


@dataclass(frozen=True)
class Condition:
    """What one column of an impossible combination holds.

    Attributes:
        column: its place.
        values: any of these; the empty text is absence.
        excluded: whether instead any value is meant but these. Absence is no value.
    """

    column: int
    values: tuple[str, ...]
    excluded: bool = False

    def holds(self, text: str) -> bool:
        """Whether a cell with this text meets it.

        >>> Condition(0, ("male",)).holds("male"), Condition(0, ("male",), excluded=True).holds("")
        (True, False)
        """
        return text != "" and text not in self.values if self.excluded else text in self.values


@dataclass(frozen=True)
class ImpossibleCombination:
    """Conditions that no record meets all of.

    Attributes:
        conditions: in the contract's order of columns.
        repair: what the last column becomes in a record that meets all; None: its `other`, or absent.
    """

    conditions: tuple[Condition, ...]
    repair: str | None = None
    kind: Literal["impossible_combination"] = "impossible_combination"


@dataclass(frozen=True)
class Ordering:
    """Two columns whose values stand in an order, wherever a record has both.

    Attributes:
        columns: that of the lower value, that of the higher one.
        strict: whether they must differ.
        scale: what the values are.
        later: which of the two is repaired.
        repair: as in `ImpossibleCombination`.
    """

    columns: tuple[int, int]
    strict: bool
    scale: OrderedScale
    later: int
    repair: str | None = None
    kind: Literal["ordering"] = "ordering"


@dataclass(frozen=True)
class Derivation:
    """A column that another one decides. It is neither counted nor measured.

    Attributes:
        column: the decided one; such columns are the last ones of a schema, each behind what decides it.
        decided_by: the other one.
        values: pairs of a value of that and the value that follows; absence is the empty text, on both sides.
        otherwise: what follows from all else.
    """

    column: int
    decided_by: int
    values: tuple[tuple[str, str], ...]
    otherwise: str = ""
    kind: Literal["derivation"] = "derivation"

    @cached_property
    def _known(self) -> dict[str, str]:
        return dict(self.values)

    def text(self, of_other: str) -> str:
        """What follows from a text of the other column.

        >>> Derivation(1, 0, (("Lyon", "south"),), "elsewhere").text("Lille")
        'elsewhere'
        """
        return self._known.get(of_other, self.otherwise)


Constraint = ImpossibleCombination | Ordering | Derivation


def constraint_of(body: Mapping[str, Any]) -> Constraint:
    """The constraint that `dataclasses.asdict` and JSON wrote."""
    rest = {key: value for key, value in body.items() if key != "kind"}
    if body["kind"] == "derivation":
        return Derivation(**rest | {"values": tuple((one, other) for one, other in rest["values"])})
    if body["kind"] == "ordering":
        return Ordering(**rest | {"columns": tuple(rest["columns"])})
    conditions = (Condition(**entry | {"values": tuple(entry["values"])}) for entry in rest["conditions"])
    return ImpossibleCombination(tuple(conditions), rest["repair"])
