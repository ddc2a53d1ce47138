"""Edges of a run's graph: from a result, wherever it is in what a step is given, unless another shows it."""

from dataclasses import dataclass

import pytest

from tasks.step import as_lookup, edges_from, record_origins, results_in, without_edges
from tasks.storage import HoldsResults, Reference


class Result(Reference):
    """Of a step."""


@dataclass
class Built(HoldsResults):
    """What was built so far."""

    counts: Result
    page: Result | None = None


@dataclass(frozen=True)
class Facts:
    """Public facts."""

    result: Result


@pytest.fixture
def chain() -> list[Result]:
    """Three results, each made from the one before; the last from all."""
    made = [Result(), Result(), Result()]
    record_origins(made[0], [])
    record_origins(made[1], made[:1])
    record_origins(made[2], made[1:2])
    return made


def test_results_are_found_in_whatever_holds_them(chain: list[Result]) -> None:
    first, second, third = chain
    given = ["text", 3, None, [first], {"a": (second,)}, Built(first, third)]
    assert results_in(given) == [first, second, third]
    assert results_in([Facts(first), as_lookup(second), Result()]) == []


def test_a_result_that_another_was_made_from_has_no_edge(chain: list[Result]) -> None:
    first, second, third = chain
    other = Result()
    record_origins(other, [first])
    assert edges_from([first, second, third]) == [third]
    assert edges_from([third, other]) == [third, other]
    assert edges_from([first, other]) == [other]


def test_what_holds_a_result_is_hidden_from_prefect_and_nothing_else(chain: list[Result]) -> None:
    built = Built(chain[0])
    assert without_edges("text") == "text" and without_edges(as_lookup(3)).unquote() == 3
    assert without_edges(built).unquote() is built
