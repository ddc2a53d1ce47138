"""Errata of a release: what was found wrong with it after it was published.

A release is never changed. ``ERRATA.md`` is put beside its files and only grows: whoever has the folder has
it, and it is read back from there. Of several errata the release is withdrawn as soon as one withdraws it.
"""

import datetime
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from tasks.core.arrays import Json
from tasks.core.errors import StoredTableMismatch
from tasks.core.sentences import sentences_of

_TEXT = sentences_of("errata")

#: Beside the files of a release.
ERRATA = "ERRATA.md"
Kind = Literal["withdrawn", "corrected"]
_KINDS: dict[str, Kind] = {"withdrawn": "withdrawn", "corrected": "corrected"}
_ENTRY = re.compile(
    r"^## (?P<date>\d{4}-\d\d-\d\d): (?P<kind>withdrawn|corrected)\n\n(?P<text>[^\n]+)\n"
    r"(?:\nReplaced by: (?P<replaced_by>[^\n]+)\n)?",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Erratum:
    """One thing that was found.

    Attributes:
        date: on which it was told (UTC), such as 2026-11-30.
        text: what is wrong, and why; one line.
        replaced_by: a vintage or release to take instead; may be empty.
    """

    date: str
    kind: Kind
    text: str
    replaced_by: str = ""

    @property
    def said(self) -> tuple[str, str, str]:
        """What it says, whenever it was said."""
        return self.kind, self.text, self.replaced_by

    def told(self, release: str) -> str:
        """A sentence or two. Args: release: the name of its folder."""
        told = _TEXT.say(f"told.{self.kind}", release=release, date=self.date, text=self.text)
        replaced = _TEXT.say("instead.told", name=self.replaced_by) if self.replaced_by else ""
        return f"{told.rstrip('.')}. {replaced}".rstrip()

    def to_json(self) -> Json:
        return asdict(self) | {"replaced_by": self.replaced_by or None}


def today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def errata_markdown(dataset: str, vintage: str, release: str, errata: Sequence[Erratum]) -> str:
    title = _TEXT.say("document.title", dataset=dataset, vintage=vintage, release=release)
    parts = [f"# {title}", _TEXT.say(f"document.state.{status_of(errata)}"), _TEXT.say("document.unchanged")]
    for each in errata:
        parts += [f"## {_TEXT.say('document.entry', date=each.date, kind=each.kind)}", each.text]
        if each.replaced_by:
            parts.append(_TEXT.say("document.replaced", name=each.replaced_by))
    return "\n\n".join(parts) + "\n"


def read_errata(folder: Path) -> tuple[Erratum, ...]:
    """The errata of a release's folder, oldest first; none where there is no such file."""
    path = folder / ERRATA
    if not path.is_file():
        return ()
    found = tuple(
        Erratum(each["date"], _KINDS[each["kind"]], each["text"], each["replaced_by"] or "")
        for each in _ENTRY.finditer(path.read_text(encoding="utf-8"))
    )
    if not found:
        raise StoredTableMismatch(
            f"ERRATA.md must say what is wrong with its release, but nothing can be read from {path}. "
            "Restore the file from a backup, or delete it and do marginalia errata again."
        )
    return found


def status_of(errata: Sequence[Erratum]) -> Literal["published", "withdrawn", "corrected"]:
    if any(each.kind == "withdrawn" for each in errata):
        return "withdrawn"
    return "corrected" if errata else "published"


def latest_withdrawal(errata: Sequence[Erratum]) -> Erratum | None:
    return next((each for each in reversed(errata) if each.kind == "withdrawn"), None)
