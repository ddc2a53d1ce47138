"""The edges of a run's graph: what a step is given goes in, the edges that are drawn to it come out.

Each result knows what it was made from, all the way back. A step that is given two results, one of which was
made from the other, draws an edge from the later one alone: the longer way shows the other, and a person can
read the graph. The lineage names all that each file was made from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from prefect.utilities.annotations import quote

_T = TypeVar("_T")
#: Of each result of a step, by the object itself: the results that it was made from.
_before: "WeakKeyDictionary[Any, frozenset[Any]]" = WeakKeyDictionary()


def looked_up(value: _T) -> _T:
    """What a step is given beside its data, such as where a schema is found: no edge of the graph is drawn.

    Args:
        value: the step gets it as it is, and its cache key has it as any other.
    """
    return cast(_T, quote(value))


def results_in(values: Iterable[Any]) -> list[Any]:
    """The results of steps that are in what a step is given; not those that it only looks up."""
    return list(dict.fromkeys(each for value in values for each in _results(value)))


def edges_from(given: list[Any]) -> list[Any]:
    """Those that no other one was made from. Args: given: results of steps."""
    return [each for each in given if not any(each in _before[other] for other in given)]


def without_edges(value: Any) -> Any:
    """What a step is given, so that Prefect draws none of its own to it."""
    return value if isinstance(value, quote) or not results_in([value]) else quote(value)


def keep(result: Any, given: list[Any]) -> None:
    """Note what a result was made from. Args: result: of a step. given: results of others."""
    if _is_reference(result):
        _before[result] = frozenset(given).union(*(_before[each] for each in given))


def _results(value: Any) -> Iterator[Any]:
    if isinstance(value, quote):
        return
    if isinstance(value, list | tuple):
        for each in value:
            yield from _results(each)
    elif isinstance(value, dict):
        yield from _results(list(value.values()))
    elif is_dataclass(value):  # what was built so far; a frozen one is public facts, and may be large
        if not cast(Any, type(value)).__dataclass_params__.frozen:
            yield from _results([getattr(value, field.name) for field in fields(value)])
    elif _is_reference(value) and value in _before:
        yield value


def _is_reference(value: Any) -> bool:
    """Whether it is an object of a plain class, which stands for itself alone."""
    return cast(Any, type(value)).__hash__ is object.__hash__ and hasattr(value, "__dict__")
