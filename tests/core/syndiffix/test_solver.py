import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tasks.core.syndiffix.clusters import Clusters, DerivedCluster, one_cluster, separate_clusters
from tasks.core.syndiffix.settings import DefaultClustering, MlClustering
from tasks.core.syndiffix.solver import (
    _fewest_features,
    as_problem,
    clusters_in_order,
    column_weights,
    select_features,
    solve,
    solve_with_features,
    thin_rows,
)
from tests.oracles import syndiffix_solver as oracle

MAINS = pytest.mark.parametrize(("case", "main"), [("main=None", None), ("main=2", 2)])


@pytest.fixture(scope="module")
def solver():
    """What the reference's port computed, with max_weight 15, merge_threshold 0.1 and alpha 0.01."""
    return json.loads((Path(__file__).parent / "solver_vectors.json").read_text())


def as_clusters(value):
    derived = (
        DerivedCluster(owner.lower(), tuple(stitch), tuple(own)) for owner, stitch, own in value["derived"]
    )
    return Clusters(tuple(value["initial"]), tuple(derived))


def random_dependence(count, seed):
    """Full-precision numbers, so that no two averages tie by accident, and zeros, which do."""
    random = np.random.default_rng(seed)
    present = random.random((count, count)) < random.random()
    # Where all are small, more averages fall into the same step.
    largest = random.choice([0.2, 1.0])
    upper = largest * np.triu(random.random((count, count)) * present, 1)
    return upper + upper.T + np.eye(count)


def order_without(main, count):
    return np.array([column for column in range(count) if column != main])


@st.composite
def problems(draw):
    count = draw(st.integers(2, 12))
    main = draw(st.none() | st.integers(0, count - 1))
    parameters = DefaultClustering(
        main, max_weight=draw(st.floats(1.5, 30)), merge_threshold=draw(st.sampled_from([0.0, 0.1, 0.4, 1.0]))
    )
    dependence = random_dependence(count, draw(st.integers(0, 2**32)))
    entropies = draw(st.lists(st.floats(0, 20), min_size=count, max_size=count))
    return dependence, np.array(entropies), parameters


@MAINS
def test_clusters_of_an_order_and_their_quality_are_the_ports(solver, case, main):
    problem = as_problem(np.array(solver["matrix"]), np.array(solver["entropy"]), DefaultClustering(main))
    clusters, quality = clusters_in_order(problem, order_without(main, 8))
    assert clusters == as_clusters(solver[case]["identity_clusters"])
    assert quality == pytest.approx(solver[case]["identity_quality"], abs=1e-12)


@MAINS
def test_solved_clusters_are_as_good_as_the_ports(solver, case, main):
    dependence, entropies = np.array(solver["matrix"]), np.array(solver["entropy"])
    for seed in range(10):
        solved = solve(dependence, entropies, DefaultClustering(main), np.random.default_rng(seed))
        assert quality_of(dependence, solved) <= solver[case]["solved_quality"] + 1e-3


def quality_of(dependence, clusters):
    found = [oracle.Found(list(clusters.initial))]
    found += [oracle.Found(list(cluster.derived), list(cluster.stitch)) for cluster in clusters.derived]
    return oracle.energy(dependence, found)


def test_weights_are_the_ports(solver):
    assert column_weights(np.array(solver["entropy"])).tolist() == solver["weights"]


@settings(deadline=None)  # the first call compiles
@given(problems(), st.randoms(use_true_random=False))
def test_clusters_of_any_order_are_the_oracles(problem, random):
    dependence, entropies, parameters = problem
    main = parameters.main_column
    order = order_without(main, len(entropies))
    random.shuffle(order)
    clusters, energy = clusters_in_order(as_problem(dependence, entropies, parameters), order)
    weights = [oracle.weight(entropy) for entropy in entropies]
    limits = parameters.max_weight, parameters.merge_threshold
    found = oracle.clusters_of(dependence.tolist(), weights, order.tolist(), main, *limits)
    assert set(clusters.initial) == set(found[0].columns)
    assert [(set(c.stitch), set(c.derived)) for c in clusters.derived] == [
        (set(c.stitch), set(c.columns)) for c in found[1:]
    ]
    assert energy == pytest.approx(oracle.energy(dependence, found), abs=1e-9)


@settings(deadline=None, max_examples=50)
@given(problems(), st.integers(0, 2**32))
def test_every_column_is_in_a_cluster_and_the_main_one_in_all(problem, seed):
    dependence, entropies, parameters = problem
    clusters = solve(dependence, entropies, parameters, np.random.default_rng(seed)).require_all(
        len(entropies)
    )
    if parameters.main_column is not None:
        assert parameters.main_column in clusters.initial
        assert all(parameters.main_column in cluster.stitch for cluster in clusters.derived)


@pytest.mark.parametrize("count", [1, 4, 5])
def test_few_columns_are_one_cluster_and_a_weight_of_one_keeps_every_column_alone(count):
    generator, entropies = np.random.default_rng(0), np.full(count, 100.0)
    if count < 5:  # nothing need be measured
        assert solve(np.empty((0, 0)), entropies, DefaultClustering(), generator) == one_cluster(count)
    alone = solve(np.ones((count, count)), entropies, DefaultClustering(max_weight=1.0), generator)
    assert alone == separate_clusters(count)


def test_groups_of_dependent_columns_are_brought_together_wherever_they_stand():
    """Only a search does: of 20,000 random orders the best has an energy of 1.56, not 1.43."""
    random = np.random.default_rng(1)
    noise = np.triu(0.1 + 0.2 * random.random((24, 24)), 1)
    dependence = noise + noise.T
    group = random.permutation(24) % 8
    dependence[group[:, None] == group] = 0.9
    clusters = solve(dependence, np.full(24, 4.0), DefaultClustering(), np.random.default_rng(0))
    together = [{*clusters.initial}, *({*cluster.columns} for cluster in clusters.derived)]
    for first, second in combinations(range(24), 2):
        assert group[first] != group[second] or any({first, second} <= columns for columns in together)


pytestmark = pytest.mark.filterwarnings("error")
NAN = float("nan")
NUMBERS = (False,) * 6


def planted(seed=0, rows=2000):
    """Columns: target 3 (0 to 8) follows from 4 (most) and 1; 0 and 2 are noise, 5 is constant."""
    random = np.random.default_rng(seed)
    table = random.integers(0, 10, (rows, 6)).astype(float)
    table[:, 0] = random.normal(size=rows)
    table[:, 3] = 2 * (table[:, 4] // 2) * (table[:, 1] > 4)
    table[:, 5] = 7.0
    return table


def test_features_share_the_targets_clusters_as_in_the_port(solver):
    clusters = solve_with_features((1, 2, 3, 4, 5), np.ones(8), MlClustering(0, max_weight=6.0))
    assert clusters == as_clusters(solver["features"])


@pytest.mark.parametrize(
    ("features", "entropies", "parameters", "expected"),
    [
        (
            (1, 2, 3),
            np.ones(8),
            MlClustering(0, drop_non_features=True, max_weight=6.0),
            Clusters((0, 1, 2), (DerivedCluster("shared", (0,), (3,)),)),
        ),
        (  # a heavy feature is alone with the target
            (1, 3, 2),
            np.array([0.0, 400.0, 400.0, 0.0]),
            MlClustering(0),
            Clusters((0, 1), (DerivedCluster("shared", (0,), (3,)), DerivedCluster("shared", (0,), (2,)))),
        ),
        (
            (),
            np.ones(3),
            MlClustering(1),
            Clusters((1,), (DerivedCluster("left", (1,), (0,)), DerivedCluster("left", (1,), (2,)))),
        ),
    ],
)
def test_clusters_of_features(features, entropies, parameters, expected):
    assert solve_with_features(features, entropies, parameters) == expected


@given(
    st.lists(st.floats(0, 200), min_size=2, max_size=8),
    st.randoms(use_true_random=False),
    st.booleans(),
    st.floats(0, 30),
)
def test_clusters_of_features_have_every_column_and_fit(entropies, random, drop, max_weight):
    columns = list(range(len(entropies)))
    random.shuffle(columns)
    target, features = columns[0], columns[1 : random.randint(1, len(columns))]
    parameters = MlClustering(target, drop_non_features=drop, max_weight=max_weight)
    clusters = solve_with_features(features, np.array(entropies), parameters)
    assert clusters.columns == tuple(sorted([target, *features])) if drop else tuple(sorted(columns))
    for cluster in (clusters.initial, *(c.columns for c in clusters.derived)):
        weight = sum(1 + max(entropies[column], 1) ** 0.5 for column in cluster)
        assert target in cluster
        assert len(cluster) <= 2 or weight <= max_weight + 1e-9


def with_column(place, values, rows=2000):
    table = planted(rows=rows)
    table[:, place] = values(table) if callable(values) else values
    return table


def of_two_kinds_of_rows():
    """Rows without column 2 say the opposite of the others."""
    table = np.vstack([planted(), planted(1)])
    table[2000:, 3] = table[2000:, 0] > 0
    table[2000:, 2] = NAN
    return table


def without_whole_rows():
    table = planted(rows=100)
    table[:50, 0] = table[50:, 1] = NAN
    return table


@pytest.mark.parametrize(
    ("table", "target", "features"),
    [
        (planted(), 3, (4, 1)),  # the most important first
        (with_column(3, lambda t: np.exp(t[:, 1]) + 1000 * t[:, 4] + np.linspace(0, 1, 2000)), 3, (4, 1)),
        (with_column(2, NAN), 3, (4, 1)),
        (of_two_kinds_of_rows(), 3, (4, 1)),
        (with_column(3, NAN), 3, ()),
        (without_whole_rows(), 3, ()),
        (with_column([0, 1, 2], 3.0), 3, (4,)),
        (np.ones((50, 6)), 0, ()),
    ],
)
def test_features_are_those_that_tell_something_of_whole_rows(table, target, features):
    assert select_features(table, NUMBERS, MlClustering(target))[:2] == features


def test_a_constant_target_has_features_without_a_complaint_and_given_ones_are_kept_in_their_order():
    assert set(select_features(planted(rows=200), NUMBERS, MlClustering(5))) <= {0, 1, 2, 3, 4}
    assert select_features(np.empty((0, 6)), NUMBERS, MlClustering(3, main_features=(5, 0))) == (5, 0)


def test_columns_that_tell_nothing_are_no_features():
    """Some of them seem to help a tree that overfits; column 1 does help, in one row of 200."""
    for seed in range(8):
        random = np.random.default_rng(seed)
        table = random.integers(0, 4, (2000, 6)).astype(float)
        table[:, 1] = np.arange(2000) % 200 == 0
        table[:, 3] = ((table[:, 4] > 1) != table[:, 1]) != (random.random(2000) < 0.1)
        assert select_features(table, NUMBERS, MlClustering(3)) in ((4,), (4, 1)), seed


@pytest.mark.parametrize(("error", "fewest"), [(0.0, 3), (0.0009, 3), (0.0011, 2), (0.2, 1)])
def test_the_fewest_features_within_an_error_of_the_best_score_are_enough(error, fewest):
    scores = np.array([0.7607, 0.8202, 0.8212, 0.7958])
    assert _fewest_features(np.arange(1, 5), scores, np.full(4, error)) == fewest


def test_features_of_a_target_of_texts_are_found():
    """130 texts, whose ranks are in no order: they are classes, of which the rarest 30 are joined."""
    random = np.random.default_rng(0)
    table = random.integers(0, 130, (4000, 3)).astype(float)
    shuffled = random.permutation(130)
    table[:, 2] = shuffled[table[:, 1].astype(int)]
    assert select_features(table, (False, False, True), MlClustering(2)) == (1,)


def test_features_do_not_depend_on_the_order_of_rows():
    """Few rows and a weak dependence: other folds would select others."""
    table = np.random.default_rng(0).integers(0, 4, (80, 6)).astype(float)
    selected = {
        select_features(np.random.default_rng(seed).permutation(table), NUMBERS, MlClustering(3))
        for seed in range(5)
    }
    assert len(selected) == 1


def test_features_of_a_long_table_are_selected_by_rows_of_all_outcomes():
    table = (np.arange(120_000) % 1000 == 0).astype(float)[:, None]
    looked_at = thin_rows(np.sort(table, axis=0))
    assert (len(looked_at), looked_at.sum()) == (50_000, 50)


def test_features_neither_use_nor_move_the_global_random_numbers():
    table = planted(rows=300)
    np.random.seed(1)
    before = np.random.get_state()[1].copy()
    first = select_features(table, NUMBERS, MlClustering(3))
    assert (np.random.get_state()[1] == before).all()
    np.random.seed(2)
    assert select_features(table, NUMBERS, MlClustering(3)) == first


@pytest.mark.parametrize("rows", range(12))
@pytest.mark.parametrize("is_text", [True, False])
def test_tables_of_few_rows_have_features_or_none(rows, is_text):
    table = np.random.default_rng(rows).random((rows, 3))
    features = select_features(table, (is_text,) * 3, MlClustering(0))
    assert set(features) <= {1, 2}
    assert features == () if rows < 4 else features


@settings(deadline=None, max_examples=30, phases=[Phase.explicit, Phase.generate])  # shrinking takes minutes
@given(st.integers(1, 40), st.integers(0, 2**32))
def test_numbers_of_any_size_are_ranked(rows, seed):
    random = np.random.default_rng(seed)
    table = random.choice([-1.0, 1.0], (rows, 3)) * 2.0 ** random.uniform(-1074, 1020, (rows, 3))
    table[random.random((rows, 3)) < 0.1] = random.choice([NAN, 0.0, 2.0**1020])
    assert set(select_features(table, (False,) * 3, MlClustering(1))) <= {0, 2}


def test_what_needs_no_features_does_not_import_scikit_learn():
    code = "import sys, tasks.core.syndiffix.solver; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
