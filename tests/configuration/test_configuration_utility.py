"""The key ``evaluate_utility``: what it takes, what it refuses, and that it is in no release."""

from pathlib import Path
from typing import Any

import pytest

from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import NEVER_RELEASED, RunConfiguration
from tasks.configuration.sections import UtilityRequest
from tasks.core.errors import ParameterError
from tasks.plan.describe import describe
from tasks.public.bundles import configured_digest
from tests.flows import pipeline


def _with(folder: Path, request: Any) -> RunConfiguration:
    return pipeline.prepared(folder, [["p1", "Aberwick", "20", "m", "pool", ""]], evaluate_utility=request)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, None),
        (False, None),
        (True, UtilityRequest()),
        ({}, UtilityRequest()),
        ({"target": "work", "group": None}, UtilityRequest(target="work")),
    ],
)
def test_it_is_left_out_true_or_an_object_and_survives_being_a_parameter(given, read, tmp_path):
    configuration = _with(tmp_path, given)
    assert configuration.evaluate_utility == read
    again = RunConfiguration.model_validate(configuration.model_dump(mode="json"))
    assert again.evaluate_utility == read


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("yes", "evaluate_utility must be true, false or an object"),
        (1, "evaluate_utility must be true, false or an object"),
        ({"targt": "work"}, "has no key 'targt': did you mean target?$"),
        ({"target": ["work"]}, "must name one column as target"),
    ],
)
def test_what_it_does_not_take_is_refused_by_its_name(given, said, tmp_path):
    with pytest.raises(ParameterError, match=said.replace("?", r"\?")):
        _with(tmp_path, given)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"target": "wrok"}, "evaluate_utility.target must be a column that is used, .* did you mean work?"),
        ({"group": "person"}, "evaluate_utility.group must be a column that is used"),
        ({"group": "services"}, "evaluate_utility.group must be a column of one value a record"),
    ],
)
def test_a_column_that_it_cannot_be_about_is_refused_before_a_row_is_read(request_, said, tmp_path):
    with pytest.raises(ParameterError, match=said.replace("?", r"\?")):
        describe(_with(tmp_path, request_))


def test_a_column_is_found_however_it_is_spelt(tmp_path):
    describe(_with(tmp_path, {"target": " WORK", "group": "Town "}))


def test_the_names_of_releases_and_measurements_do_not_follow_from_it(tmp_path):
    plain, asked = _with(tmp_path, None), _with(tmp_path, {"target": "work"})
    schema = describe(plain).schema
    assert configured_digest(plain, schema) == configured_digest(asked, schema)
    left = [each.model_dump(mode="json", exclude=NEVER_RELEASED) for each in (plain, asked)]
    assert left[0] == left[1]
    assert "evaluate_utility" not in left[0]


def test_it_is_a_key_of_syndiffix_too(tmp_path):
    flat = {"sensitive_microdata_path": str(tmp_path / "a.csv"), "synthesis_mode": "syndiffix"}
    assert from_flat(flat | {"evaluate_utility": True}).evaluate_utility == UtilityRequest()
