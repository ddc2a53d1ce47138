"""What only the operator can say of a release: who publishes it, for what, under which licence."""

import datetime
import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

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
