"""The public schema: what may be known of a table before anybody looks at its rows.

A column takes ``max_items`` *slots*: one for an ordinary column, the cap for a multi-valued one. A
record is then a fixed number of slots, and its k-tuples are choices of k filled slots: at most
C(width, k) of them, which is what the sensitivity of a release is built on (R12).

    column   sex   languages, at most 2   town        width W = 4: at most C(4, 2) = 6 pairs
    slot      0          1     2            3
    holds   female    Arabic  French      (absent)    this record has 3 of them
"""

import itertools
import json
import math
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import Any

from pydantic import TypeAdapter

from tasks.core.records.cell_reading import AS_IT_STANDS, CellReading
from tasks.core.records.constraints import Constraint, Derivation
from tasks.core.tables.number_format import PLAIN, NumberFormat

#: Of bins that can't be, so many edges are repeated in a message.
_EDGES_SHOWN = 8
#: Sets of so many columns are kept for the next who asks.
_FEW_COLUMNS = 2


@lru_cache(maxsize=4)
def _kept_combinations(slot_columns: tuple[int, ...], length: int) -> tuple[tuple[int, ...], ...]:
    """Of a thousand columns there are half a million pairs, which are asked for dozens of times."""
    return tuple(sorted(set(itertools.combinations(slot_columns, length))))


def bin_labels(
    edges: tuple[float, ...], minimum: float | None = None, maximum: float | None = None
) -> tuple[str, ...]:
    """Labels of the bins between increasing edges, with an open bin at each end that some number may reach.

    >>> bin_labels((0, 18, 65)), bin_labels((0, 18, 65), minimum=0)
    (('<0', '[0,18)', '[18,65]', '>65'), ('[0,18)', '[18,65]', '>65'))
    """
    texts = [format(edge, ".15g") for edge in edges]
    inner = [f"[{low},{high})" for low, high in itertools.pairwise(texts)]
    inner[-1] = inner[-1][:-1] + "]"
    below = () if minimum is not None and minimum >= edges[0] else (f"<{texts[0]}",)
    above = () if maximum is not None and maximum <= edges[-1] else (f">{texts[-1]}",)
    return (*below, *inner, *above)


def declared_values(
    values: tuple[str, ...] | None,
    bins: tuple[float, ...] | None,
    minimum: float | None = None,
    maximum: float | None = None,
    other: str | None = None,
) -> tuple[str, ...] | None:
    """The bins of a column, or else its listed values, and behind them what other ones are called.

    >>> declared_values(None, (0, 18), minimum=0, other="unknown"), declared_values(None, None, other="else")
    (('[0,18]', '>18', 'unknown'), None)
    """
    domain = bin_labels(bins, minimum, maximum) if bins is not None else values
    return domain if domain is None or other is None or other in domain else (*domain, other)


def domain_problems(values: tuple[str, ...]) -> list[str]:
    """What keeps a list of (normalised) values from being a domain."""
    if not values:
        return ["a list of values must hold at least one; leave the list out where the values aren't known."]
    problems = []
    if any(value == "" for value in values):
        problems.append("a list of values must not hold the empty text, which means absent.")
    if len(set(values)) < len(values):  # which ones is not said: a list may have been made from the table
        problems.append("a list of values must hold each once, and this one repeats some: leave repeats out.")
    return problems


def _listed(edges: tuple[float, ...]) -> str:
    shown = ", ".join(format(edge, ".15g") for edge in edges[:_EDGES_SHOWN])
    return f"[{shown}{', ...' if len(edges) > _EDGES_SHOWN else ''}]"


def bin_problems(edges: tuple[float, ...]) -> list[str]:
    if len(edges) < 2 or not all(map(math.isfinite, edges)):
        return [f"bins must be two or more finite numbers, not {_listed(edges)}: give such as [0, 18, 65]."]
    if any(high <= low for low, high in itertools.pairwise(edges)):
        return [f"bins must increase strictly, not be {_listed(edges)}: put them in order, each once."]
    if len({format(edge, ".15g") for edge in edges}) < len(edges):
        return ["bins are too close together to tell their labels apart."]
    return []


def limit_problems(
    edges: tuple[float, ...] | None, minimum: float | None, maximum: float | None
) -> list[str]:
    """What keeps a least and a largest number from going with the edges of bins."""
    if edges is None:
        found = minimum is not None or maximum is not None
        return ["minimum and maximum need bins: declare their edges."] if found else []
    problems = []
    if minimum is not None and minimum > edges[0]:
        problems.append("minimum is above the first edge of the bins: begin the bins there.")
    if maximum is not None and maximum < edges[-1]:
        problems.append("maximum is below the last edge of the bins: end the bins there.")
    return problems


@dataclass(frozen=True)
class Column:
    """One column of the public schema.

    Attributes:
        domain: the declared values, normalised, in declared order; None where the domain is open.
            A binned column's domain is `bin_labels` of its edges.
        delimiter: what separates the items of a cell; None for a single-valued column.
        max_items: the largest number of items that one subject may hold; 0 is "no cap"
            (never under differential privacy).
        zero_is_value: whether the text ``0`` is declared to be a value; `keeps_zero` says whether it is one.
        other: the declared value that stands for a value outside the domain; None: it becomes absent.
        value_format: strftime pattern of a typed date or timestamp, or None.
        forbidden: regular expressions (RE2 syntax, found anywhere in the normalised cell or item) of
            what looks like an identifier of a person: what one of them matches becomes absent.
        number_format: how numbers are written, where the cells are text that is read as numbers.
        minimum, maximum: what no number of a column with bins lies below or above, as is publicly known: one
            that does is no value; None: not known.
        required: whether it is publicly known that every record has a value.
    """

    name: str
    domain: tuple[str, ...] | None = None
    bins: tuple[float, ...] | None = None
    delimiter: str | None = None
    max_items: int = 1
    zero_is_value: bool = False
    other: str | None = None
    value_format: str | None = None
    forbidden: tuple[str, ...] = ()
    number_format: NumberFormat = PLAIN
    reading: CellReading = AS_IT_STANDS
    minimum: float | None = None
    maximum: float | None = None
    required: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the values are read off the data (and so must pass the threshold)."""
        return self.domain is None

    @property
    def keeps_zero(self) -> bool:
        """Whether ``0`` is a value; otherwise it means absent, as in SDS.

        In a column with bins 0 is a number like any other: SDS's rule would lose the spelling ``0`` and
        keep ``0.0``, and with it the youngest of an age.
        """
        return self.zero_is_value or self.bins is not None

    @property
    def known_values(self) -> tuple[str, ...] | None:
        return declared_values(None, self.bins, self.minimum, self.maximum) if self.is_open else self.domain

    @property
    def open_ends(self) -> tuple[str, ...]:
        """The bins beyond the declared edges."""
        bins = () if self.bins is None else bin_labels(self.bins, self.minimum, self.maximum)
        return tuple(label for label in bins if label[0] in "<>")

    @property
    def is_multi_valued(self) -> bool:
        return self.delimiter is not None


@dataclass(frozen=True)
class Schema:
    """The columns of a table, without the subject id.

    >>> schema = Schema((Column("sex"), Column("languages", delimiter=";", max_items=2)))
    >>> schema.slot_columns, schema.combinations(2)  # sex with a language, a language with another one
    ((0, 1, 1), [(0, 1), (1, 1)])

    Attributes:
        columns: in file order, then those that other columns decide.
        subject_id: the column that says whose row it is, or None.
        constraints: what holds in every record of a fitted release; none elsewhere.
    """

    columns: tuple[Column, ...]
    subject_id: str | None = None
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def derivations(self) -> tuple[Derivation, ...]:
        return tuple(found for found in self.constraints if isinstance(found, Derivation))

    @cached_property
    def measured(self) -> "Schema":
        """The schema of what is read and measured: without columns that others decide."""
        if not self.derivations:
            return self
        return replace(
            self, columns=self.columns[: len(self.columns) - len(self.derivations)], constraints=()
        )

    @cached_property
    def slot_columns(self) -> tuple[int, ...]:
        """For each slot, the index of its column; ascending."""
        return tuple(index for index, column in enumerate(self.columns) for _ in range(column.max_items))

    @property
    def width(self) -> int:
        """W: the largest number of attributes that one subject can hold (R12)."""
        return len(self.slot_columns)

    @property
    def open_items(self) -> int:
        """The most values of open columns that one record holds."""
        return sum(column.max_items for column in self.columns if column.is_open)

    @property
    def all_declared(self) -> bool:
        return not any(column.is_open for column in self.columns)

    def combinations(self, length: int) -> list[tuple[int, ...]]:
        """Every set of columns that a tuple of this length can come from, in canonical order.

        A multi-valued column stands in it up to ``max_items`` times. The place in this list is the
        *combination id* of every stored marginal.
        """
        if length <= _FEW_COLUMNS:
            return list(_kept_combinations(self.slot_columns, length))
        return sorted(set(itertools.combinations(self.slot_columns, length)))

    @property
    def number_of_pairs(self) -> int:
        """How many `combinations` of two there are: of a thousand columns half a million, never made here."""
        held = [column.max_items for column in self.columns if column.max_items > 0]
        return math.comb(len(held), 2) + sum(items > 1 for items in held)

    def to_json(self) -> str:
        """Canonical JSON: equal schemas give equal text."""
        return json.dumps(_without_defaults(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Schema":
        return _schemas().validate_json(text)


@cache
def _schemas() -> TypeAdapter[Schema]:
    return TypeAdapter(Schema)


def _without_defaults(value: Any) -> Any:
    """A dataclass as JSON: what has its default is not written. A constraint is told by all that it has."""
    if isinstance(value, Schema | Column | NumberFormat | CellReading):
        said = [each.name for each in fields(value) if getattr(value, each.name) != each.default]
        return {name: _without_defaults(getattr(value, name)) for name in said}
    if isinstance(value, tuple):
        return [_without_defaults(each) for each in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
