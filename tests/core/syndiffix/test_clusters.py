import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import (
    Clusters,
    DerivedCluster,
    ListedClusters,
    clustering_problem,
    clustering_text,
    lists_of,
    named_columns,
    one_cluster,
    read_clustering,
    read_clusters,
    respell_columns,
    write_clusters,
)

TEXT = (
    '{"InitialCluster": [2, 0], "DerivedClusters": ['
    '{"StitchOwner": "left", "StitchColumns": [0], "DerivedColumns": [3]},'
    '{"StitchOwner": "shared", "StitchColumns": [], "DerivedColumns": [1]}]}'
)
CLUSTERS = Clusters((2, 0), (DerivedCluster("left", (0,), (3,)), DerivedCluster("shared", (), (1,))))


def with_derived(**changes):
    derived = {"StitchOwner": "left", "StitchColumns": [0], "DerivedColumns": [1]} | changes
    return json.dumps({"InitialCluster": [0], "DerivedClusters": [derived]})


@st.composite
def any_clusters(draw):
    columns = draw(st.permutations(range(draw(st.integers(1, 8)))))
    cuts = sorted(draw(st.sets(st.integers(1, len(columns)))) | {len(columns)})
    derived = []
    for start, end in pairwise(cuts):
        stitch = draw(st.lists(st.sampled_from(columns[:start]), unique=True))
        owner = draw(st.sampled_from(["left", "right", "shared"]))
        derived.append(DerivedCluster(owner, tuple(stitch), tuple(columns[start:end])))
    return Clusters(tuple(columns[: cuts[0]]), tuple(derived))


def test_clusters_are_read_from_a_file_or_as_they_stand(tmp_path):
    path = tmp_path / "clusters.json"
    path.write_text(TEXT)
    assert read_clusters(str(path)) == read_clusters("\n " + TEXT) == CLUSTERS
    assert read_clusters(with_derived(StitchOwner="Shared")).derived[0].owner == "shared"
    assert read_clusters('{"InitialCluster": [0, 1]}') == one_cluster(2)


@given(any_clusters())
def test_clusters_that_are_written_are_read_as_they_were(clusters):
    assert read_clusters(write_clusters(clusters)) == clusters


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("no such file.json", "no such file as"),
        ("nul\0name", "no such file as"),
        ('{"InitialCluster": [0', "valid JSON.*line 1"),
        ('{"a":' * 100_000, "valid JSON"),
        ('{"InitialCluster": "0"}', "InitialCluster must be a list of column numbers"),
        ('{"InitialCluster": ["town"]}', "column numbers, .* among the selected columns, not of names"),
        (" [[0, 1], [2, 3, 4]]", r"Clusters must be an object of JSON.* give such as .*InitialCluster"),
        ('{"InitialCluster": [true]}', "InitialCluster must be a list of column numbers"),
        ('{"InitialCluster": [0], "Other": 1}', "object with InitialCluster"),
        ('{"DerivedClusters": []}', "object with InitialCluster"),
        ('{"InitialCluster": [0], "DerivedClusters": {}}', "DerivedClusters must be a list"),
        ('{"InitialCluster": [0], "DerivedClusters": [1]}', "Derived cluster 1 must be an object"),
        (with_derived(StitchOwner="up"), "StitchOwner must be left, right or shared"),
        (with_derived(StitchOwner=None), "StitchOwner must be left, right or shared"),
        (with_derived(StitchColumns=[0.5]), "Derived cluster 1: StitchColumns must be a list"),
        (with_derived(Other=1), "Derived cluster 1 must be an object"),
    ],
)
def test_json_that_is_no_clusters_is_complained_about(text, complaint):
    with pytest.raises(ParameterError, match=complaint):
        read_clusters(text)


@pytest.mark.parametrize(
    ("initial", "derived", "complaint"),
    [
        ((), (), r"initial cluster must hold at least one column, .* not \[\]"),
        ((0, 0), (), "initial cluster must hold .* each once"),
        ((-1,), (), "counted from 0"),
        ((0,), (DerivedCluster("left", (0,), ()),), r"Derived cluster 1 \(derived columns\) must hold"),
        ((0,), (DerivedCluster("left", (0, 0), (1,)),), r"Derived cluster 1 \(stitch columns\) must hold"),
        ((0,), (DerivedCluster("up", (0,), (1,)),), "left, right or shared, not up"),
        (
            (0,),
            (DerivedCluster("left", (2,), (1,)),),
            "must be stitched on columns of earlier clusters, and 2",
        ),
        (
            (0, 1),
            (DerivedCluster("left", (0,), (1,)),),
            "must derive columns that no earlier cluster has, and 1",
        ),
    ],
)
def test_clusters_that_cannot_be_carried_out_are_refused(initial, derived, complaint):
    with pytest.raises(ParameterError, match=complaint):
        Clusters(initial, derived)


def test_every_faulty_cluster_is_named():
    with pytest.raises(ParameterError) as error:
        Clusters((0,), (DerivedCluster("left", (5,), (1,)), DerivedCluster("left", (1,), (0,))))
    assert [text[:17] for text in error.value.problems] == ["Derived cluster 1", "Derived cluster 2"]


def test_clusters_must_contain_every_selected_column_and_no_other():
    assert CLUSTERS.require_all(4) is CLUSTERS
    with pytest.raises(ParameterError, match="must contain every selected column, and 4, 5 "):
        CLUSTERS.require_all(6)
    with pytest.raises(ParameterError, match=r"may name columns 0 to 1 .*, not 2, 3"):
        CLUSTERS.require_all(2)


def shared(*stitch, derived, owner="shared"):
    return DerivedCluster(owner, stitch, derived)


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        (
            Clusters((1,), (shared(1, derived=(2, 3)), shared(1, 2, derived=(4, 5)))),
            Clusters((1, 2, 3), (shared(1, 2, derived=(4, 5)),)),
        ),
        (Clusters((1,), (shared(1, derived=(2,)), shared(2, 1, derived=(4,)))), Clusters((1, 2, 4))),
        *[(Clusters((1,), (shared(1, derived=(2,), owner="left"),)),) * 2],
    ],
)
def test_derived_clusters_are_merged_as_long_as_they_share_the_initial_one(clusters, expected):
    assert clusters.simplified() == expected


@given(any_clusters())
def test_simplified_clusters_have_the_same_columns(clusters):
    assert clusters.simplified().columns == clusters.columns


OWNED = {"columns": ("b", "c"), "owner": "left"}
ALL_FORMS = ["default", "one", "none", {"target": "b"}, (("a", "b"), ("b", "c")), (("a", "b"), OWNED)]


@pytest.mark.parametrize("value", ALL_FORMS, ids=str)
def test_every_form_is_one_and_is_read_as_it_was_written(value):
    assert clustering_problem(value) == ""
    assert read_clustering(clustering_text(value)) == respell_columns(value, str) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        *("single", "", None, True, 1, [], {}, ["a", "b"], [["a"], []], [["a", 1]], [[["a"]]]),
        *({"target": 1}, {"target": ["a"]}, {"target": "a", "features": ["b"]}, [OWNED, ["a"]]),
        *([["a"], {"columns": ["b"]}], [["a"], OWNED | {"owner": "me"}], [["a"], OWNED | {"columns": "bc"}]),
    ],
    ids=str,
)
def test_whatever_else_is_told_what_it_must_be_and_not_what_it_is(value):
    assert clustering_problem(value).startswith("must ")
    assert clustering_problem([["a"], ["somebody's cell", 1]]) == "must have in list 2 names of columns"


@given(any_clusters())
def test_clusters_by_hand_are_lists_of_names_and_come_back(clusters):
    names = [f"column {number}" for number in range(len(clusters.columns))]
    listed = lists_of(clusters, names)
    assert clustering_problem(listed) == ""
    found = ListedClusters(listed).of(names)  # type: ignore[arg-type]
    assert found.combinations == clusters.combinations
    assert [(set(each.stitch), each.owner) for each in found.derived] == [
        (set(each.stitch), each.owner) for each in clusters.derived
    ]


def test_a_further_list_is_stitched_by_what_was_there_and_adds_the_rest():
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
def test_lists_that_cannot_be_carried_out_are_told_by_their_place(lists, told):
    with pytest.raises(ParameterError, match=told):
        ListedClusters(lists).of(["a", "b", "c"])  # type: ignore[arg-type]


def test_every_name_takes_another_spelling():
    for value in ALL_FORMS:
        upper = respell_columns(value, str.upper)  # type: ignore[arg-type]
        assert [*named_columns(upper)] == [name.upper() for name in named_columns(value)]  # type: ignore[arg-type]
