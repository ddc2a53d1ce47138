"""What documents for readers are made of: a statement, released files, and what only the operator can say."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tasks.core.arrays import Json

#: Industries by the words of the public registry of DP deployments.
Sector = Literal["", "Technology", "Healthcare", "Education", "Government", "Energy", "Finance"]


def _no_control_characters(text: str) -> str:
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text):
        raise ValueError("must be a text without control characters")
    return text.strip()


def _web_address(text: str) -> str:
    if text and not re.fullmatch(r"https?://[^\s<>\"]+", text):
        raise ValueError("must be a web address that begins with https:// or http://")
    return text


def _day(text: str) -> str:
    try:
        return text and datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError("must be a day such as 2026-11-01") from None


Text = Annotated[str, Field(max_length=4000), AfterValidator(_no_control_characters)]


class Publication(BaseModel):
    """What a release says of itself that follows from nothing else. All of it is public; empty: not said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    publisher: Text = Field("", description="Who publishes the releases: the organisation's name.")
    contact: Text = Field("", description="Where readers ask: a mail or web address.")
    purpose: Text = Field("", description="What the releases are for.")
    description: Text = Field("", description="What the table is about, in a sentence or two.")
    region: Text = Field("", description="The region that the data describe, or whose law applies.")
    sector: Sector = Field("", description="The industry that the data describe.")
    rationale: Text = Field("", description="How epsilon, delta, the unit and the columns were chosen.")
    data_source: Literal["", "static", "dynamic"] = Field(
        "", description="dynamic: new data come in from release to release; static: they do not."
    )
    first_published: Annotated[str, AfterValidator(_day)] = Field(
        "", description="The day on which the first of these releases was published, such as 2026-11-01."
    )
    license: Text = Field("", description="The releases' licence: an SPDX name or a web address.")
    url: Annotated[Text, AfterValidator(_web_address)] = Field(
        "", description="Where the releases are found on the web."
    )


@dataclass(frozen=True)
class DescribedRelease:
    """One release; ``statement`` is its ``privacy.json``, ``files`` its manifest's entries.

    It is named by the page's title, or else by the dataset.
    """

    statement: Json
    said: Publication
    title: str
    prefix: str
    folder: Path = Path()
    files: Sequence[Json] = ()

    @property
    def name(self) -> str:
        return self.title or str(self.statement["dataset"])

    @property
    def vintage(self) -> str:
        return str(self.statement["vintage"])

    @property
    def slug(self) -> str:
        """Dataset and vintage as a name that is safe in an address: small letters, digits, hyphens."""
        text = f"{self.statement['dataset']}-{self.vintage}".lower()
        return re.sub(r"[^a-z0-9]+", "-", text).strip("-") or "release"

    @property
    def is_private(self) -> bool:
        return bool(self.statement["private"])

    @property
    def is_fitted_draw(self) -> bool:
        return self.is_private and "tables" in self.statement

    @property
    def regime(self) -> str:
        return str(self.statement["regime"])

    @property
    def has_records(self) -> bool:
        return any("_synthetic_microdata" in str(entry["file"]) for entry in self.files)
