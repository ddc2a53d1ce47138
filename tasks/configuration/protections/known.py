"""All protections: another one is a file beside these, and a line here."""

from typing import Annotated

from pydantic import Field

from tasks.configuration.protections.differential_privacy import DifferentialPrivacy
from tasks.configuration.protections.k_anonymity import KAnonymity
from tasks.configuration.protections.syndiffix import SynDiffix

Protection = Annotated[DifferentialPrivacy | KAnonymity | SynDiffix, Field(discriminator="regime")]
