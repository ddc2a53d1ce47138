import math

import pytest

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import one_cluster
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    BucketizationParameters,
    DefaultClustering,
    FlatteningInterval,
    MlClustering,
    SuppressionParameters,
    with_ids,
)

SALT = b"a salt nobody knows"
NAN, INFINITE = float("nan"), float("inf")


def test_the_defaults_are_the_references():
    anonymization, bucketization = AnonymizationParameters(SALT), BucketizationParameters()
    assert anonymization.low_count_params == SuppressionParameters(3, 1.0, 2.0)
    assert anonymization.outlier_count == anonymization.top_count == FlatteningInterval(2, 5)
    assert anonymization.layer_noise_sd == 1.0
    assert bucketization == BucketizationParameters(5, 15, 10_000, 15)


@pytest.mark.parametrize("name", ["singularity_low_threshold", "range_low_threshold"])
@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, True, NAN])
def test_a_threshold_that_would_show_a_single_entity_is_refused(name, bad):
    with pytest.raises(ParameterError, match=rf"{name} must be a whole number of at least 2, not {bad}"):
        BucketizationParameters(**{name: bad})


@pytest.mark.parametrize("bad", [1, 0, -3, 2.5])
def test_a_low_threshold_below_two_is_refused(bad):
    with pytest.raises(ParameterError, match=f"low_threshold must be .* not {bad}: choose 2 or more"):
        SuppressionParameters(low_threshold=bad)


def test_two_is_the_least_threshold():
    assert SuppressionParameters(low_threshold=2).low_threshold == 2
    assert BucketizationParameters(2, 2).range_low_threshold == 2


@pytest.mark.parametrize("name", ["layer_sd", "low_mean_gap"])
@pytest.mark.parametrize("bad", [-0.1, NAN, INFINITE, 1e300])
def test_a_deviation_that_is_no_number_from_zero_on_is_refused(name, bad):
    with pytest.raises(ParameterError, match=f"{name} must be a number from 0"):
        SuppressionParameters(**{name: bad})


@pytest.mark.parametrize("bad", [-0.1, NAN, INFINITE])
def test_count_noise_below_zero_is_refused(bad):
    with pytest.raises(ParameterError, match="layer_noise_sd must be a number from 0"):
        AnonymizationParameters(SALT, layer_noise_sd=bad)


@pytest.mark.parametrize("bad", [(-1, 5), (5, 2), (2.0, 5), (2, 5.5)])
def test_an_interval_that_is_negative_reversed_or_broken_is_refused(bad):
    with pytest.raises(ParameterError, match=f"not {bad[0]} and {bad[1]}: give such as 2 and 5"):
        FlatteningInterval(*bad)


def test_an_interval_may_begin_at_zero_and_be_of_one_number():
    assert FlatteningInterval(0, 0).upper == 0


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("precision_limit_row_fraction", 0),
        ("precision_limit_row_fraction", True),
        ("precision_limit_depth_threshold", -1),
    ],
)
def test_a_precision_limit_out_of_range_is_refused(name, bad):
    with pytest.raises(ParameterError, match=name):
        BucketizationParameters(**{name: bad})


def test_every_problem_is_named_at_once():
    with pytest.raises(ParameterError) as raised:
        BucketizationParameters(1, 1, 0, -1)
    assert len(raised.value.problems) == 4


def test_a_short_salt_is_refused_without_being_shown():
    with pytest.raises(ParameterError, match="at least 8 bytes, not 6") as raised:
        AnonymizationParameters(b"secret")
    assert "secret" not in str(raised.value)


def test_the_salt_is_no_part_of_a_text_of_the_parameters():
    assert "nobody knows" not in repr(AnonymizationParameters(SALT))


def test_a_sample_has_lower_thresholds_no_count_noise_and_the_same_salt():
    sample = AnonymizationParameters(
        SALT, SuppressionParameters(10), top_count=FlatteningInterval(3, 4)
    ).for_sample()
    assert sample == AnonymizationParameters(
        SALT,
        SuppressionParameters(2, 0.5, 1.0),
        top_count=FlatteningInterval(3, 4),
        layer_noise_sd=0.0,
    )


COLUMNS = ["age", "sex", "0"]


def test_parameters_default_to_the_references():
    assert DefaultClustering() == DefaultClustering(None, 100_000, 15.0, 0.1, 0.01)
    assert MlClustering("age") == MlClustering("age", False, 15.0, None)


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
