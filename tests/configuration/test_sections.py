"""SynDiffix in a configuration file: a third regime, its section by the port's names, and what is refused."""

import pytest

from tasks.configuration.flat_file import REFUSED_BY_SYNDIFFIX, from_flat
from tasks.configuration.model import RunConfiguration
from tasks.configuration.protections import SynDiffix
from tasks.configuration.synthesis import ByTrees
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import ListedClusters
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    BucketizationParameters,
    DefaultClustering,
    MlClustering,
    NoClustering,
    SingleClustering,
    SynDiffixParameters,
)
from tasks.plan.syndiffix import questions
from tests.configuration import files
from tests.configuration.files import PLAIN

SMALLEST: dict[str, object] = PLAIN | {"synthesis_mode": "syndiffix"}
SALT = bytes(32)


def settings(section: dict[str, object] | None = None, **flat: object) -> SynDiffix:
    found = from_flat(SMALLEST | flat | ({"syndiffix": section} if section is not None else {})).protection
    assert isinstance(found, SynDiffix)
    return found


def problems(section: object = None, **flat: object) -> str:
    return files.problems(SMALLEST | flat | ({"syndiffix": section} if section is not None else {}))


def test_the_mode_is_a_regime_of_its_own_and_needs_no_section():
    configuration = from_flat(dict(SMALLEST))
    assert isinstance(configuration.protection, SynDiffix)
    assert isinstance(configuration.synthesis, ByTrees)
    assert not configuration.protection.is_drawn_once
    assert from_flat(SMALLEST | {"synthesis_mode": "SynDiffix", "dp_aggregates": False}) == configuration


def test_the_defaults_are_the_core_s():
    found = settings()
    assert found.parameters(SALT) == SynDiffixParameters(AnonymizationParameters(SALT))
    assert found.parameters().bucketization == BucketizationParameters()
    assert found.parameters().clustering == DefaultClustering()


def test_every_option_reaches_the_core():
    protection = {"low_threshold": 4, "layer_sd": 1.5, "low_mean_gap": 3, "layer_noise_sd": 2}
    counts = {"outlier_count": [3, 4], "top_count": [5, 6], "singularity_low_threshold": 6}
    limits = {"precision_limit_row_fraction": 100, "precision_limit_depth_threshold": 7}
    clusters = {"main_column": "age", "sample_size": 50, "max_weight": 9, "merge_threshold": 0.2}
    found = settings(
        protection | counts | limits | clusters | {"range_low_threshold": 16, "solver_alpha": 0.05}
    )
    protected, trees = found.parameters(SALT).anonymization, found.parameters().bucketization
    low = protected.low_count_params
    assert (low.low_threshold, low.layer_sd, low.low_mean_gap) == (4, 1.5, 3)
    assert (protected.outlier_count.upper, protected.top_count.lower, protected.layer_noise_sd) == (4, 5, 2)
    assert trees == BucketizationParameters(6, 16, 100, 7)
    assert found.parameters().clustering == DefaultClustering("age", 50, 9, 0.2, 0.05)


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ({"clustering": "one"}, SingleClustering()),
        ({"clustering": "none"}, NoClustering()),
        ({"clustering": {"target": "x"}, "drop_non_features": True}, MlClustering("x", True)),
        (
            {"clustering": {"target": "x"}, "main_features": ["y"]},
            MlClustering("x", main_features=("y",)),
        ),
        ({"clustering": [["b", "a"], ["a", "c"]]}, ListedClusters((("b", "a"), ("a", "c")))),
    ],
)
def test_clustering_follows_from_what_is_given(section, expected):
    assert settings(section).parameters().clustering == expected


def test_columns_have_types_where_they_are_given():
    configuration = from_flat(SMALLEST | {"syndiffix": {"columns": ["age:i", "town", "a:b:s"]}})
    assert configuration.input.use_columns == ("age", "town", "a:b")
    assert settings({"columns": ["age:i", "town", "a:b:s"]}).types == {"age": "i", "a:b": "s"}
    assert from_flat(SMALLEST | {"use_columns": ["age"]}).input.use_columns == ("age",)
    configuration = from_flat(SMALLEST | {"syndiffix": {"columns": [{"name": "a:i"}, "age:i"]}})
    assert configuration.input.use_columns == ("a:i", "age")
    assert settings({"columns": [{"name": "a:i"}, "age:i"]}).types == {"age": "i"}


def test_one_id_or_several_say_whose_a_row_is():
    assert from_flat(SMALLEST | {"subject_id": "a"}).ids == ("a",)
    assert from_flat(SMALLEST | {"subject_id": ["a", "b"]}).ids == ("a", "b")
    assert from_flat(dict(SMALLEST)).ids == ()


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"colums": []}, "did you mean syndiffix.columns"),
        ([], "syndiffix must be an object"),
        ({"columns": "age"}, "must be a list of texts"),
        ({"columns": [{"name": "age", "type": "i"}]}, "must be a list of texts"),
        ({"columns": ["age:z"]}, "b, i, r, t or s"),
        ({"tables": "all"}, "must be 'pairs' or a list of lists of columns"),
        ({"tables": [["age"], []]}, "syndiffix.tables: each list must have at least 1 item(s)."),
        ({"outlier_count": [1]}, "syndiffix.outlier_count must be a list of more items than it has."),
        ({"outlier_count": [1, 2, 3]}, "syndiffix.outlier_count must be a list of at most 2 item(s)."),
        ({"low_threshold": 1}, "low_threshold must be a whole number of at least 2"),
        ({"outlier_count": [5, 2]}, "the second at least the first"),
        ({"solver_alpha": 0}, "solver_alpha must be"),
        ({"clustering": "best"}, "syndiffix.clustering must be"),
        ({"clustering": [["x"], [1]]}, "syndiffix.clustering must have in list 2 names of columns."),
        ({"clustering": "one", "main_column": "x"}, "syndiffix.main_column has no effect"),
        ({"clustering": [["x"]], "max_weight": 3}, "where syndiffix.clustering is lists"),
        ({"clustering": {"target": "x"}, "main_features": ["x"]}, "must differ"),
        ({"target_column": "x"}, "syndiffix.target_column is not a key"),
        ({"salt": "00"}, "syndiffix.salt is not a key"),
    ],
)
def test_what_is_wrong_in_the_section_is_told_by_its_key(section, told):
    assert told in problems(section)


@pytest.mark.parametrize("key", sorted(REFUSED_BY_SYNDIFFIX))
def test_settings_of_other_regimes_are_refused_and_never_passed_over(key):
    given = {"epsilon": 1.0} if key == "privacy" else ["x"]
    assert f"{key} can't be used where synthesis_mode is syndiffix" in problems(**{key: given})


def test_an_empty_setting_of_another_regime_says_nothing():
    empty = {"multi_value_columns": {}, "sensitive_zeros": [], "record_limit": -1}
    assert isinstance(from_flat(SMALLEST | empty).protection, SynDiffix)


def test_differential_privacy_and_repair_are_refused():
    assert "SynDiffix is not differentially private" in problems(dp_aggregates=True)
    assert "contract_mode must be strict" in problems(contract="c.yaml", contract_mode="repair")
    assert "contract_mode must be strict" in problems(contract={"path": "c.yaml", "mode": "repair"})
    assert from_flat(SMALLEST | {"contract": "c.yaml"}).input.contract_mode == "strict"


def test_all_that_is_wrong_in_the_section_is_told_at_once():
    told = problems({"low_threshold": 1, "clustering": "best", "outlier_count": [5, 2], "tables": "all"})
    for key in ("low_threshold", "clustering", "outlier_count", "tables"):
        assert key in told, told


def test_a_section_without_the_mode_is_refused_and_beside_another_mode_unused():
    flat = PLAIN | {"syndiffix": {}}
    for more in ({}, {"subject_id": ["a", "b"]}):
        with pytest.raises(ParameterError) as refused:
            from_flat(flat | more)
        (problem,) = refused.value.problems
        assert problem.startswith("synthesis_mode must be given")
    assert from_flat(flat | {"synthesis_mode": "unseeded"}).unused_keys == ("syndiffix",)


def test_the_nested_form_is_read_back_and_mixes_no_regimes():
    section = {"tables": [["a", "b"]], "columns": ["a:i", "b"], "clustering": [["a"], ["a", "b"]]}
    configuration = from_flat(SMALLEST | {"syndiffix": section})
    assert RunConfiguration.model_validate(configuration.model_dump(mode="json")) == configuration
    assert not {"reporting_length", "reporting_resolution", "output_forms"} & set(configuration.model_dump())
    body = configuration.model_dump(mode="json") | {"synthesis": {"mode": "unseeded"}}
    with pytest.raises(ValueError, match="regime of its own"):
        RunConfiguration.model_validate(body)


def test_a_batch_of_trees_depends_on_nothing_but_trees():
    one = settings({"columns": ["a:i", "b"], "tables": "pairs", "value_safe_columns": ["b"]})
    other = settings({"columns": ["a", "c"], "clustering": "one"})
    assert one.for_trees(["a"]) == other.for_trees(["a"])
    assert one.for_trees(["a", "b"]) != other.for_trees(["a", "b"]), "b is safe in one of them"
    assert one.for_clusters(["a"]) != other.for_clusters(["a"])
    assert settings({"low_threshold": 5}).for_trees(["a"]) != other.for_trees(["a"])


def test_questions_are_sets_in_the_columns_order_or_all_pairs():
    columns = ("a", "b", "c")
    assert questions(settings({"tables": "pairs"}), columns) == (("a", "b"), ("a", "c"), ("b", "c"))
    assert questions(settings({"tables": [["c", "a"], ["b"]]}), columns) == (("a", "c"), ("b",))
    assert questions(settings(), columns) == ()
    with pytest.raises(ParameterError, match=r"synthesized[^$]*each column once"):
        questions(settings({"tables": [["x"], ["a", "a"]]}), columns)
