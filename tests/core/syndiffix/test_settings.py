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
    assert DefaultClustering() == DefaultClustering(None, 100_000, 15.0, 0.1, 0.01)
    assert MlClustering("age") == MlClustering("age", False, 15.0, None)


def salted(**changes):
    return AnonymizationParameters(SALT, **changes)


def target_age(**changes):
    return MlClustering("age", **changes)


# What is below the least of each setting is refused alike by core, file and command: see the options' tests.
@pytest.mark.parametrize(
    ("kind", "name", "bad", "complaint"),
    [
        *[
            (BucketizationParameters, name, bad, "at least 2")
            for name in ("singularity_low_threshold", "range_low_threshold")
            for bad in (1, 2.5, True, NAN)
        ],
        *[(BucketizationParameters, "precision_limit_row_fraction", bad, "at least 1") for bad in (0, True)],
        *[(SuppressionParameters, "low_threshold", bad, "choose 2 or more") for bad in (1, 0, -3, 2.5)],
        *[(SuppressionParameters, "layer_sd", bad, "from 0") for bad in (-0.1, NAN, INFINITE, 1e300)],
        *[(SuppressionParameters, "low_mean_gap", bad, "from 0") for bad in (-0.1, NAN, INFINITE, 1e300)],
        *[(salted, "layer_noise_sd", bad, "from 0") for bad in (-0.1, NAN, INFINITE)],
        *[(DefaultClustering, "sample_size", bad, "at least 1") for bad in (0, True, 10.0)],
        *[(DefaultClustering, "max_weight", bad, "at least 0") for bad in (-1, INFINITE, NAN)],
        *[(DefaultClustering, "merge_threshold", bad, "from 0 to 1") for bad in (1.5, NAN)],
        (DefaultClustering, "solver_alpha", 0, "from 1e-05 to 1"),
        (target_age, "max_weight", -1, "at least 0"),
    ],
)
def test_what_is_out_of_range_or_of_another_type_is_refused_by_its_name(kind, name, bad, complaint):
    with pytest.raises(ParameterError, match=f"^{name} must be a .*{complaint}") as raised:
        kind(**{name: bad})
    assert f"not {bad}" in str(raised.value)


@pytest.mark.parametrize("bad", [(-1, 5), (5, 2), (2.0, 5), (2, 5.5)])
def test_an_interval_that_is_negative_reversed_or_broken_is_refused(bad):
    with pytest.raises(ParameterError, match=f"not {bad[0]} and {bad[1]}: give such as 2 and 5"):
        FlatteningInterval(*bad)
    assert FlatteningInterval(0, 0).upper == 0


def test_two_is_the_least_threshold():
    assert SuppressionParameters(low_threshold=2).low_threshold == 2
    assert BucketizationParameters(2, 2).range_low_threshold == 2


def test_every_problem_is_named_at_once():
    with pytest.raises(ParameterError) as raised:
        BucketizationParameters(1, 1, 0, -1)
    assert len(raised.value.problems) == 4


def test_a_salt_is_not_shown_nor_one_that_is_refused_for_being_short():
    with pytest.raises(ParameterError, match="at least 8 bytes, not 6") as raised:
        AnonymizationParameters(b"secret")
    assert "secret" not in str(raised.value)
    assert "nobody knows" not in repr(AnonymizationParameters(SALT))


def test_a_sample_has_lower_thresholds_no_count_noise_and_the_same_salt():
    top = FlatteningInterval(3, 4)
    sample = salted(low_count_params=SuppressionParameters(10), top_count=top).for_sample()
    low = SuppressionParameters(2, 0.5, 1.0)
    assert sample == salted(low_count_params=low, top_count=top, layer_noise_sd=0.0)


COLUMNS = ["age", "sex", "0"]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (DefaultClustering(main_column=0), DefaultClustering(main_column=0)),
        (DefaultClustering(main_column="age"), DefaultClustering(main_column=0)),
        (DefaultClustering(main_column="0"), DefaultClustering(main_column=2)),  # a header of digits
        (MlClustering("sex", main_features=("0", "age")), MlClustering(1, main_features=(2, 0))),
    ],
)
def test_names_become_ids(strategy, expected):
    assert with_ids(strategy, COLUMNS) == expected


@pytest.mark.parametrize("features", [("sex", "sex"), ("sex", "age")])
def test_the_columns_of_a_prediction_are_named_once(features):
    with pytest.raises(ParameterError, match="differ"):
        MlClustering("age", main_features=features)
    with pytest.raises(ParameterError, match="differ"):  # once by name, once by position
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
