"""What Prefect's forms show where a whole configuration is a parameter: the three flows of prefect.yaml."""

import json
from typing import Any

import jsonschema
import pytest
from prefect.utilities.callables import parameter_schema

from flows.measure import measure
from flows.publish import publish
from flows.showcase import showcase
from tasks.configuration.flat_file import from_flat

BASE = {"sensitive_microdata_path": "people.csv"}
FILES: dict[str, dict[str, Any]] = {
    "differential_privacy": BASE | {"dp_aggregates": True, "noise_epsilon": 1},
    "k_anonymity": BASE,
    "syndiffix": BASE | {"synthesis_mode": "syndiffix"},
}


@pytest.fixture(params=[showcase, measure, publish], ids=lambda flow: flow.name)
def form(request):
    return parameter_schema(request.param).model_dump_for_openapi()


def members(form: dict[str, Any], name: str) -> list[dict[str, Any]]:
    choice = form["definitions"]["RunConfiguration"]["properties"][name]
    return [form["definitions"][each["$ref"].rpartition("/")[2]] for each in choice["anyOf"]]


def test_protections_are_tabs_with_names(form):
    assert [each["title"] for each in members(form, "protection")] == [
        "Differential privacy", "k-anonymity", "SynDiffix"
    ]  # fmt: skip
    assert len({each["title"] for each in members(form, "synthesis")}) == 6
    assert "oneOf" not in json.dumps(form) and "discriminator" not in json.dumps(form)


def test_every_field_has_a_title_and_a_description_in_plain_words(form):
    for where, part in [("flow", form), *form["definitions"].items()]:
        for name, field in part.get("properties", {}).items():
            told = field.get("description") or (
                "$ref" in field and form["definitions"][field["$ref"].rpartition("/")[2]]["description"]
            )
            assert told and field["title"], (where, name)
            assert ".md" not in told and (where == "flow" or "_" not in field["title"]), (where, name)


def test_nothing_internal_and_no_seed_is_asked_for(form):
    text = json.dumps(form)
    for name in ("dataset_is_named", "unused_keys", "random_seed"):
        assert f'"{name}"' not in text


@pytest.mark.parametrize("regime", FILES)
def test_the_server_takes_what_a_model_writes_of_itself(form, regime):
    written = from_flat(FILES[regime]).model_dump(mode="json")
    validator = jsonschema.Draft202012Validator(form)
    assert list(validator.iter_errors({"configuration": written})) == []
    wrong = written | {"protection": {"regime": "no protection"}}
    assert list(validator.iter_errors({"configuration": wrong}))


def test_a_key_that_is_not_known_is_still_refused_by_the_model():
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        type(from_flat(BASE)).model_validate(from_flat(BASE).model_dump() | {"unknown": 1})
