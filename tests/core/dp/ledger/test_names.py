"""Rule 1: a release is named by public things only, and by all of those that touch the noise."""

from dataclasses import replace

import pytest

from tasks.core.dp.ledger import ReleaseName, configuration_digest
from tasks.core.dp.parameters import DpParameters, Thresholds
from tasks.core.records.columns import Column, Schema

SCHEMA = Schema((Column("sex", domain=("f", "m")), Column("age", bins=(0.0, 50.0)), Column("job")), "person")
PARAMETERS = DpParameters(epsilon=1.0, delta=1e-6, reporting_length=3)


def test_equal_configurations_have_one_digest_whatever_their_spelling() -> None:
    digest = configuration_digest(SCHEMA, PARAMETERS)
    assert digest == configuration_digest(Schema.from_json(SCHEMA.to_json()), replace(PARAMETERS, epsilon=1))
    assert digest == configuration_digest(SCHEMA, PARAMETERS, {})


@pytest.mark.parametrize(
    "changed",
    [
        replace(PARAMETERS, epsilon=1.0000001),
        replace(PARAMETERS, delta=2e-6),
        replace(PARAMETERS, engine="insecure-seeded"),
        replace(PARAMETERS, record_limit=100),
        replace(PARAMETERS, thresholds=Thresholds(values={2: 0.2})),
        replace(PARAMETERS, sigma_proportions=(1.0, 2.0, 3.0)),
    ],
)
def test_every_parameter_is_in_the_digest(changed: DpParameters) -> None:
    assert configuration_digest(SCHEMA, changed) != configuration_digest(SCHEMA, PARAMETERS)


def test_the_schema_and_the_preparation_are_in_the_digest() -> None:
    digest = configuration_digest(SCHEMA, PARAMETERS)
    wider = replace(SCHEMA, columns=(*SCHEMA.columns, Column("town")))
    assert configuration_digest(wider, PARAMETERS) != digest
    assert configuration_digest(SCHEMA, PARAMETERS, {"dialect": {"delimiter": ";"}}) != digest


def test_the_digest_of_a_published_configuration_never_changes() -> None:
    """A change here would draw and charge again every release that was ever made.

    Where a setting was added, leave it out of the digest where its value means "as before".
    """
    assert (
        configuration_digest(SCHEMA, PARAMETERS)
        == "71b4dcc33fff9ccd31d2161704aaae7e1406edf2de11e2067bdc76f8cf2d539d"
    )


def test_no_two_names_share_a_key() -> None:
    names = [
        ReleaseName("a", "b", "c"),
        ReleaseName("a", "bc", ""),
        ReleaseName("ab", "", "c"),
        ReleaseName("a", "b", "d"),
    ]
    assert len({name.key for name in names}) == len(names)
    assert ReleaseName.of(names[0].as_body()) == names[0]


def test_what_is_not_json_names_nothing() -> None:
    with pytest.raises(TypeError):
        configuration_digest(SCHEMA, PARAMETERS, {"when": object()})
