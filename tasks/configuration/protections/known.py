"""All protections: another one is a file beside these, and a line here."""

from typing import Annotated, get_args

from pydantic import Field

from tasks.configuration.form import tabs
from tasks.configuration.protections.differential_privacy import DifferentialPrivacy
from tasks.configuration.protections.k_anonymity import KAnonymity
from tasks.configuration.protections.syndiffix import SynDiffix

Protection = Annotated[
    DifferentialPrivacy | KAnonymity | SynDiffix,
    Field(discriminator="regime", json_schema_extra=tabs),
]

#: By the name that each has in a nested configuration, and in a release.
REGIMES: tuple[str, ...] = tuple(
    each.model_fields["regime"].default for each in get_args(get_args(Protection)[0])
)
