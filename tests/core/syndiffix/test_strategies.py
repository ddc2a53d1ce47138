import math

import pytest

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import one_cluster
from tasks.core.syndiffix.settings import (
    DefaultClustering,
    MlClustering,
    with_ids,
)

COLUMNS = ["age", "sex", "0"]


def test_parameters_default_to_the_references():
    assert DefaultClustering() == DefaultClustering(None, 100_000, 15.0, 0.1, 0.01)
    assert MlClustering("age") == MlClustering("age", False, 15.0, None, None, None)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"sample_size": 0}, "sample_size must be a whole number of at least 1, not 0"),
        ({"sample_size": True}, "sample_size"),
        ({"sample_size": 10.0}, "sample_size"),
        ({"max_weight": -1}, "max_weight must be a number of at least 0, not -1"),
        ({"max_weight": math.inf}, "max_weight"),
        ({"max_weight": math.nan}, "max_weight"),
        ({"merge_threshold": 1.5}, "merge_threshold must be a number from 0 to 1, not 1.5"),
        ({"merge_threshold": math.nan}, "merge_threshold"),
        ({"solver_alpha": 0}, "solver_alpha must be a number from 1e-05 to 1, not 0"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, complaint):
    with pytest.raises(ParameterError, match=complaint):
        DefaultClustering(**parameters)


def test_all_parameters_out_of_range_are_named():
    with pytest.raises(ParameterError) as error:
        DefaultClustering(None, 0, -1, 2, 0)
    assert len(error.value.problems) == 4


def test_the_weight_of_a_prediction_is_checked():
    with pytest.raises(ParameterError, match="max_weight"):
        MlClustering("age", max_weight=-1)


@pytest.mark.parametrize("features", [("sex", "sex"), ("sex", "age")])
def test_the_columns_of_a_prediction_are_named_once(features):
    with pytest.raises(ParameterError, match="differ"):
        MlClustering("age", main_features=features)


def test_the_first_column_is_a_main_column_like_others():
    assert with_ids(DefaultClustering(main_column=0), COLUMNS) == DefaultClustering(main_column=0)
    assert with_ids(DefaultClustering(main_column="age"), COLUMNS) == DefaultClustering(main_column=0)


def test_a_header_of_digits_is_no_position():
    assert with_ids(DefaultClustering(main_column="0"), COLUMNS) == DefaultClustering(main_column=2)


def test_the_columns_of_a_prediction_become_ids():
    strategy = MlClustering("sex", main_features=("0", "age"))
    assert with_ids(strategy, COLUMNS) == MlClustering(1, main_features=(2, 0))


def test_a_column_that_is_named_once_by_name_and_once_by_position_is_refused():
    with pytest.raises(ParameterError, match="differ"):
        with_ids(MlClustering("sex", main_features=(1,)), COLUMNS)


@pytest.mark.parametrize(
    ("strategy", "parameter"),
    [
        (DefaultClustering(main_column="income"), "main_column"),
        (DefaultClustering(main_column=3), "main_column"),
        (DefaultClustering(main_column=-1), "main_column"),
        (DefaultClustering(main_column=True), "main_column"),
        (MlClustering("income"), "target"),
        (MlClustering("age", main_features=("income",)), "main_features"),
    ],
)
def test_columns_that_are_not_selected_are_refused_by_their_parameter(strategy, parameter):
    with pytest.raises(ParameterError, match=f"^{parameter} must be among the selected columns"):
        with_ids(strategy, COLUMNS)


def test_clusters_by_hand_must_be_complete():
    with pytest.raises(ParameterError, match="every selected column"):
        with_ids(one_cluster(2), COLUMNS)
