"""The form of a deployment: what a person sees, what is refused, what a run is then asked for."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from prefect.utilities.callables import parameter_schema

from flows.release import release
from tasks.configuration.flat_file import PLACES
from tasks.configuration.overrides import ALLOWED, apply_overrides
from tasks.core.errors import ParameterError
from tasks.request import STAGES
from tests.flows import pipeline

FORM = parameter_schema(release).model_dump_for_openapi()


def test_the_form_has_four_fields_each_with_a_description():
    fields = FORM["properties"]
    assert list(fields) == ["configuration", "vintage", "last", "overrides"]
    assert all(len(field["description"]) > 60 and "position" in field for field in fields.values())
    assert FORM["required"] == ["configuration"]
    assert (fields["last"]["enum"], fields["last"]["default"]) == (list(STAGES), "navigate")
    # A choice between a text and none would be drawn as two tabs named "str" and "None".
    assert (fields["vintage"]["type"], fields["vintage"]["default"]) == ("string", "")
    # Both of Prefect's pages draw an anyOf, and neither can be used with a oneOf.
    assert "oneOf" not in json.dumps(FORM)


@pytest.mark.parametrize(
    "filled",
    [
        {"configuration": "people.csv"},
        {"configuration": "people.json", "last": "everything"},
        {"configuration": "people.json", "overrides": {"random_seed": 1}},
        {"configuration": "people.json", "overrides": {"SALT": 1}},
        {"configuration": "people.json", "overrides": {"synthesis": 1, "own_seed": 1}},
        {"configuration": "people.json", "vintage": 2026},
        {"vintage": "2026-11"},
    ],
)
def test_the_server_refuses_what_no_run_could_use(filled):
    validator = jsonschema.Draft202012Validator(FORM)
    assert list(validator.iter_errors(filled))
    for key in ("epsilon", *ALLOWED):
        assert not list(validator.iter_errors({"configuration": "people.json", "overrides": {key: 1}}))


def test_what_may_be_overridden_is_named_as_in_a_file():
    assert set(ALLOWED) <= set(PLACES)
    assert apply_overrides({}, dict.fromkeys(ALLOWED, 1)) == dict.fromkeys(ALLOWED, 1)


def test_overrides_take_the_place_of_keys():
    flat = {"reporting_length": 3, "prefix": "people"}
    assert apply_overrides(flat, {"reporting_length": 2, "parallel_jobs": 1}) == {
        "reporting_length": 2, "prefix": "people", "parallel_jobs": 1
    }  # fmt: skip
    assert flat == {"reporting_length": 3, "prefix": "people"}


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"random_seed": 8_374_652}, "random_seed"),
        ({"privacy": {"Seed": 8_374_652}}, "privacy.Seed"),
        (
            {"sensitive_microdata_path": "s3://me:8374652@host/people.csv"},
            "a password in sensitive_microdata_path",
        ),
        ({"a_token": "8374652"}, "a_token"),
        ({"vintage": "8374652"}, "vintage"),
    ],
)
def test_what_may_be_secret_is_refused_by_its_key_and_not_repeated(overrides, named):
    with pytest.raises(ParameterError) as caught:
        apply_overrides({}, overrides)
    assert f"overrides must not hold {named}" in str(caught.value)
    assert "8374652" not in str(caught.value) and "8_374_652" not in str(caught.value)


FOR_THE_FILE = (
    "dataset sensitive_microdata_path subject_id noise_epsilon privacy dp_aggregates reporting_resolution "
    "contract contract_mode on_unchanged output_dir publish_to"
)


@pytest.mark.parametrize("key", FOR_THE_FILE.split())
def test_whose_data_it_is_and_what_protects_and_charges_it_is_for_the_file_alone(key):
    """From the form, a strict contract would be a free question, and another dataset another budget."""
    with pytest.raises(ParameterError, match=f"overrides must not hold {key}"):
        apply_overrides({}, {key: "anything"})


def write(folder: Path, body: dict[str, Any]) -> str:
    pipeline.write(folder / "people.csv", pipeline.rows(100))
    (folder / "people.json").write_text(json.dumps(body))
    return str(folder / "people.json")


def test_a_run_works_in_the_folder_in_which_its_deployment_was_made(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("MARGINALIA_FOLDER", str(tmp_path))
    (tmp_path / "people.json").write_text("{}")
    with pytest.raises(ParameterError, match="sensitive_microdata_path"):  # so the file was found
        release.fn("people.json")
    monkeypatch.setenv("MARGINALIA_FOLDER", str(tmp_path / "gone"))
    with pytest.raises(ParameterError, match="gone can't be entered"):
        release.fn("people.json")
    monkeypatch.setenv("MARGINALIA_LEDGER", "ledger")
    with pytest.raises(ParameterError, match="MARGINALIA_LEDGER must be an absolute path"):
        release.fn("people.json")


@pytest.mark.server
def test_a_run_by_hand_names_its_vintage_and_what_it_changes(tmp_path):
    """One claim after the other on one file: each flow's first call costs seconds."""
    body = pipeline.flat(tmp_path, dataset="by-hand")
    del body["vintage"]
    path = write(tmp_path, body)
    with pytest.raises(ParameterError, match=r"started by hand .* you must name its vintage"):
        release(path)
    with pytest.raises(
        ParameterError, match=r"must not hold reporting_lenght \(did you mean reporting_length\?\)"
    ):
        release(path, vintage="2026-11", overrides={"reporting_lenght": 1})
    with pytest.raises(ParameterError, match="reporting_length"):
        release(path, vintage="2026-11", overrides={"reporting_length": "two"})
    assert not (tmp_path / "out" / "release").exists()
    places = release(path, vintage="2026-11", last="aggregate", overrides={"reporting_length": 1})
    made = tmp_path / "out" / places["release"]
    assert made.name == "2026-11-1" and (made / "people_reportable_aggregates.tsv").exists()
    assert not (made / "people_data_showcase.html").exists()


@pytest.mark.server
def test_a_batch_is_released_by_the_same_form(tmp_path):
    base = pipeline.anonymous(tmp_path, dataset="batched")
    del base["vintage"]
    runs = {"lengths": [{"name": "one", "reporting_length": 1}, {"name": "two", "vintage": "own"}]}
    path = write(tmp_path, {"base_config": base, "runs": runs})
    places = release(path, vintage="2026-11", last="aggregate", overrides={"reporting_length": 2})
    assert list(places) == ["lengths"]
    made = sorted(each.name for each in (tmp_path / "out" / "release" / "batched").iterdir())
    assert made == ["2026-11-1", "INDEX.json", "latest", "own-1"]
