"""The one vocabulary of clustering: what it may say, and what clusters its lists of names stand for."""

import pytest
from hypothesis import given

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import (
    Clusters,
    DerivedCluster,
    ListedClusters,
    clustering_problem,
    lists_of,
    named_in,
    read_clustering,
    with_names,
    written,
)
from tests.core.syndiffix.test_clusters import any_clusters

OWNED = {"columns": ("b", "c"), "owner": "left"}
ALL_FORMS = ["default", "one", "none", {"target": "b"}, (("a", "b"), ("b", "c")), (("a", "b"), OWNED)]


@pytest.mark.parametrize("value", ALL_FORMS, ids=str)
def test_every_form_is_one_and_is_read_as_it_was_written(value: object) -> None:
    assert clustering_problem(value) == ""
    assert read_clustering(written(value)) == with_names(value, str) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        *("single", "", None, True, 1, [], {}, ["a", "b"], [["a"], []], [["a", 1]], [[["a"]]]),
        *({"target": 1}, {"target": ["a"]}, {"target": "a", "features": ["b"]}, [OWNED, ["a"]]),
        *([["a"], {"columns": ["b"]}], [["a"], OWNED | {"owner": "me"}], [["a"], OWNED | {"columns": "bc"}]),
    ],
    ids=str,
)
def test_whatever_else_is_told_what_it_must_be_and_not_what_it_is(value: object) -> None:
    assert clustering_problem(value).startswith("must ")
    assert clustering_problem([["a"], ["somebody's cell", 1]]) == "must have in list 2 names of columns"


@given(any_clusters())
def test_clusters_by_hand_are_lists_of_names_and_come_back(clusters: Clusters) -> None:
    names = [f"column {number}" for number in range(len(clusters.columns))]
    listed = lists_of(clusters, names)
    assert clustering_problem(listed) == ""
    found = ListedClusters(listed).of(names)  # type: ignore[arg-type]
    assert found.combinations == clusters.combinations
    assert [(set(each.stitch), each.owner) for each in found.derived] == [
        (set(each.stitch), each.owner) for each in clusters.derived
    ]


def test_a_further_list_is_stitched_by_what_was_there_and_adds_the_rest() -> None:
    found = ListedClusters((("d", "a"), ("b", "a"), {"columns": ("c", "b", "d"), "owner": "right"}))
    assert found.of(["a", "b", "c", "d"]) == Clusters(
        (3, 0), (DerivedCluster("shared", (0,), (1,)), DerivedCluster("right", (1, 3), (2,)))
    )


@pytest.mark.parametrize(
    ("lists", "told"),
    [
        ((("a", "x"), ("b", "c")), "list 1 must name selected columns, and 'x' is not one"),
        ((("a", "a"), ("b", "c")), "list 1 must name each column once"),
        ((("a", "b", "c"), ("b", "c")), "list 2 must add a column to those before, and adds none"),
        ((("a", "b"),), "every selected column in a list, and 3 of 3 .counted from 1. is in none"),
        ((("b",),), "every selected column in a list, and 1, 3 of 3 .counted from 1. are in none"),
    ],
)
def test_lists_that_cannot_be_carried_out_are_told_by_their_place(lists: object, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        ListedClusters(lists).of(["a", "b", "c"])  # type: ignore[arg-type]


def test_every_name_takes_another_spelling() -> None:
    for value in ALL_FORMS:
        upper = with_names(value, str.upper)  # type: ignore[arg-type]
        assert [*named_in(upper)] == [name.upper() for name in named_in(value)]  # type: ignore[arg-type]
