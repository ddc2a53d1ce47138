"""A configuration file: SDS's keys keep their meaning, and every problem is reported at once."""

import json

import pytest

from tasks.configuration.flat_file import PLACES, from_flat, read_configuration
from tasks.configuration.model import RunConfiguration
from tasks.configuration.protections import DifferentialPrivacy
from tasks.core.errors import ParameterError
from tests.configuration.files import PLAIN, PRIVATE, problems

#: As SDS's own templates are written, for differential privacy.
SDS_TEMPLATE = {
    **PRIVATE,
    "sensitive_microdata_delimiter": "\t",
    "subject_id": None,
    "use_columns": [],
    "multi_value_columns": {},
    "record_limit": -1,
    "sensitive_zeros": [],
    "reporting_length": 4,
    "reporting_resolution": 10,
    "synthesis_mode": "aggregate_seeded",
    "parallel_jobs": 1,
    "cache_max_size": 10000,
    "use_synthetic_counts": False,
    "weight_selection_percentile": 95,
    "aggregate_seeded_counts_scale_factor": None,
    "percentile_percentage": 99,
    "percentile_epsilon_proportion": 0.01,
    "sigma_proportions": [1.0, 0.5, 0.33, 0.25],
    "number_of_records_epsilon_proportion": 0.005,
    "delta_factor": None,
    "noise_threshold_type": "Adaptive",
    "noise_threshold_values": {"2": 0.1, "3": 0.4, "4": 1},
    "oversampling_ratio": None,
    "oversampling_tries": None,
    "prefix": "my",
    "output_dir": "./my_output",
    "report_title": "",
    "report_visuals": {},
    "report_pages": {},
}


def private(flat: dict[str, object]) -> DifferentialPrivacy:
    protection = from_flat(flat).protection
    assert isinstance(protection, DifferentialPrivacy)
    return protection


def test_sds_template_is_read_unchanged():
    configuration = from_flat(SDS_TEMPLATE)
    protection = private(SDS_TEMPLATE)
    assert configuration.reporting_length == 4
    assert configuration.input.delimiter == "\t"
    assert configuration.input.record_limit is None
    assert protection.sigma_proportions == (1.0, 0.5, 0.33, 0.25)
    assert protection.number_of_records_proportion == 0.005
    assert protection.thresholds.kind == "adaptive"  # type: ignore[union-attr]
    assert protection.thresholds.values == {2: 0.1, 3: 0.4, 4: 1.0}  # type: ignore[union-attr]
    assert configuration.unused_keys == ("cache_max_size",)
    assert from_flat(SDS_TEMPLATE | {"privacy": {"accountant": "zcdp"}}).unused_keys == ("cache_max_size",)
    chosen = from_flat(SDS_TEMPLATE | {"privacy": {"contribution": "schema"}}).unused_keys
    assert set(chosen) == {"cache_max_size", "percentile_percentage", "percentile_epsilon_proportion"}


def test_a_configuration_is_the_same_after_a_way_through_prefect():
    configuration = from_flat(SDS_TEMPLATE)
    assert RunConfiguration.model_validate(configuration.model_dump(mode="json")) == configuration


def test_dataset_is_the_prefix_where_none_is_named():
    assert from_flat(PRIVATE | {"prefix": "survey"}).dataset == "survey"
    assert not from_flat(PRIVATE | {"prefix": "survey"}).dataset_is_named
    assert from_flat(PRIVATE | {"dataset": "people"}).dataset_is_named


def test_defaults_are_those_of_the_documents():
    protection = private(PRIVATE)
    assert (protection.accountant, protection.delta, protection.threshold_delta_share) == ("gdp", 1e-6, 0.1)
    assert (protection.contribution, protection.thresholds.kind) == ("schema", "spurious")  # type: ignore[union-attr]


def test_zcdp_means_the_percentile_as_in_sds():
    by_lengths = PRIVATE | {"synthesis_mode": "aggregate_seeded"}
    assert private(by_lengths | {"privacy": {"accountant": "zcdp"}}).contribution == "percentile"


@pytest.mark.parametrize(
    "named", [{"percentile_percentage": 99}, {"percentile_epsilon_proportion": 0.01}, {}]
)
def test_a_file_that_names_sds_percentile_measures_contributions(named):
    by_lengths = PRIVATE | {"synthesis_mode": "aggregate_seeded"}
    assert private(by_lengths | named).contribution == ("profile" if named else "schema")
    assert private(by_lengths | named | {"privacy": {"accountant": "zcdp"}}).contribution == "percentile"
    assert private(by_lengths | named | {"privacy": {"contribution": "schema"}}).contribution == "schema"
    assert private(PRIVATE | named).contribution == "schema", "fitted records take no percentile"


@pytest.mark.parametrize("where", ["outside", "privacy"])
def test_a_delta_factor_runs_without_a_delta(where):
    key = {"delta_factor": 2.5}
    file = SDS_TEMPLATE | (key if where == "outside" else {"privacy": key, "delta_factor": None})
    assert (private(file).delta_factor, private(file).delta) == (2.5, 1e-6)


@pytest.mark.parametrize("file", [PLAIN, SDS_TEMPLATE | {"sigma_proportions": None}])
def test_a_length_of_0_means_all_lengths_as_in_sds(file):
    values = {"noise_threshold_values": {}} if "noise_threshold_values" in file else {}
    all_lengths = from_flat(file | values | {"reporting_length": -1})
    assert from_flat(file | values | {"reporting_length": 0}) == all_lengths


def test_epsilon_may_stand_in_either_place_but_not_differ():
    only = {"sensitive_microdata_path": "people.csv", "privacy": {"epsilon": 2}}
    assert private(only).epsilon == 2
    assert private(PRIVATE | {"privacy": {"epsilon": 4.0}}).epsilon == 4
    assert "differ" in problems(PRIVATE | {"privacy": {"epsilon": 2}})


@pytest.mark.parametrize("key", sorted(PLACES))
def test_null_is_a_key_left_out(key):
    assert from_flat(
        PLAIN | {"dp_aggregates": None, "privacy": None} | ({key: None} if key not in PLAIN else {})
    )


#: By mode: a key, a value, and what is said of the key.
FAULTS: dict[str, list[tuple[str, object, str]]] = {
    "value_seeded": [
        ("oversampling_ratio", -0.1, "must be at least 0, not -0.1."),
        ("oversampling_ratio", float("nan"), "must be a finite number, not NaN."),
        ("oversampling_tries", 0, "must be at least 1, not 0."),
        ("oversampling_tries", 1.5, "must be a whole number, not 1.5."),
    ],
    "row_seeded": [
        ("reporting_resolution", 0, "must be at least 1, not 0."),
        ("reporting_length", -2, "must be at least 1, or -1 for all lengths; it is -2."),
        ("reporting_length", "four", "must be a whole number, not 'four'."),
        (
            "record_limit",
            9,
            "must be at least the reporting_resolution (10), or no count can be reported; it is 9.",
        ),
        ("parallel_jobs", -1, "must be at least 0, not -1."),
        ("random_seed", -1, "must be at least 0."),
        ("random_seed", 2**63, "must be less than 9223372036854775808."),
        ("synthetic_forms", ["wide"], "must be 'long' or 'condensed', not 'wide'."),
        ("synthetic_forms", "long", "must be a list, not 'long'."),
        ("sensitive_microdata_delimiter", "::", "must be a text of at most 1 character(s), not '::'."),
        ("sensitive_microdata_delimiter", "", "must not be empty."),
        ("multi_value_columns", ["a"], "must be an object, not a list."),
        ("dp_aggregates", 0, "must be true or false."),
    ],
    "aggregate_seeded": [
        ("weight_selection_percentile", 101, "must be at most 100, not 101."),
        ("aggregate_seeded_counts_scale_factor", 0, "must be more than 0."),
        ("aggregate_seeded_target_number_of_records", -1, "must be at least 0."),
        ("use_synthetic_counts", "perhaps", "must be true or false, not 'perhaps'."),
    ],
}


@pytest.mark.parametrize("mode", FAULTS)
def test_each_fault_is_one_sentence(mode):
    for key, value, words in FAULTS[mode]:
        assert problems(PLAIN | {"synthesis_mode": mode, key: value}) == f"{key} {words}"


def test_a_key_of_words_or_a_structure_is_judged_as_what_was_given():
    assert problems(PRIVATE | {"noise_threshold_type": "magic"}).count("\n") == 0
    assert (
        problems(PRIVATE | {"sigma_proportions": [1, 0, 1]})
        == "sigma_proportions must be more than 0, not 0."
    )
    assert problems(PRIVATE | {"sigma_proportions": "magic"}).count("\n") == 0


def test_all_problems_are_reported_at_once():
    text = problems(
        PRIVATE
        | {
            "noise_epsilonn": 1,
            "reporting_length": -2,
            "privacy": {"delta": 2, "epsilom": 1},
            "prefix": "a/b",
        }
    )
    for part in ("did you mean noise_epsilon?", "reporting_length", "delta", "privacy.epsilom", "prefix"):
        assert part in text


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("noise_epsilon", 0, "noise_epsilon"),
        ("noise_epsilon", float("nan"), "noise_epsilon"),
        ("noise_epsilon", float("inf"), "noise_epsilon"),
        ("delta", 0, "delta"),
        ("delta", 1, "delta"),
        ("bins", {"age": [0, float("nan")]}, "bins"),
        ("vintage", "../x", "vintage"),
        ("vintage", "2026-13", "vintage must be a month that there is"),
        # What is older than any dataset's retention is removed from these folders.
        ("dataset", "logs", "dataset must not be 'logs'"),
        ("dataset", "Batch-2", "dataset must not be 'logs' or begin with 'batch-'"),
        ("prefix", "LOGS", "must not be 'logs'"),
    ],
)
def test_values_out_of_range_are_refused_by_their_key(key, value, part):
    assert part in problems(PRIVATE | {key: value})


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("sigma_proportions", [1, 1], "one number for each length (3)"),
        ("noise_threshold_values", {"1": 0.5}, "for lengths from 2"),
        ("noise_threshold_values", {"22": 0.5}, "up to the reporting_length (3); it has 22. Correct the key"),
        ("percentile_percentage", 0, "must be from 1 to 100, not 0: nobody would count for more than one"),
        ("percentile_percentage", 101, "percentile_percentage must be at most 100, not 101."),
    ],
)
def test_values_out_of_range_of_a_draw_by_lengths_are_refused_by_their_key(key, value, part):
    assert part in problems(PRIVATE | {"synthesis_mode": "aggregate_seeded", key: value})


def test_input_values_are_not_repeated_in_a_message():
    assert "canary" not in problems(PRIVATE | {"domains": {"a": "canary"}, "use_columns": [["canary"]]})


def test_of_a_seed_a_message_says_nothing_and_of_a_missing_key_where_it_belongs():
    assert problems({}) == "sensitive_microdata_path is required."
    assert "123456" not in problems(PRIVATE | {"random_seed": -123456})
    assert problems(PRIVATE | {"privacy": {"cap": {"epsilon": 4}}}) == "privacy.cap.delta is required."


def test_missing_and_malformed_files(tmp_path):
    with pytest.raises(ParameterError, match="does not exist"):
        read_configuration(tmp_path / "none.json")
    path = tmp_path / "bad.json"
    twice = '{"prefix": "a", "prefix": "b"}'
    for text, said in (("", "JSON"), ("[1]", "a list"), ("{", "line 1"), (twice, "'prefix' is given twice")):
        path.write_text(text)
        with pytest.raises(ParameterError, match=said):
            read_configuration(path)


@pytest.mark.parametrize("data", [b"person,town\n1,Skagen\n", b"PAR1\xff\xfe", b"1,2\n"])
def test_a_table_in_place_of_a_configuration_is_told_what_drafts_one(data, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(data)
    with pytest.raises(ParameterError, match=f"this is a table: marginalia init {path} drafts"):
        read_configuration(path)
    path.write_text('{"dataset": "people"')
    with pytest.raises(ParameterError, match="must be JSON; line 1"):
        read_configuration(path)


def test_a_byte_order_mark_is_accepted(tmp_path):
    path = tmp_path / "bom.json"
    path.write_text("\ufeff" + json.dumps(PRIVATE), encoding="utf-8")
    assert isinstance(read_configuration(path).protection, DifferentialPrivacy)
