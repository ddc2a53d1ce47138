"""What the documents for readers are made of: a statement, what the operator said, and the released files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.core.arrays import Json
from tasks.core.metadata.publication import Publication


@dataclass(frozen=True)
class Described:
    """One release.

    Attributes:
        statement: the content of its ``privacy.json``.
        said: what only the operator can say.
        title: of the page; empty: the dataset's name is taken.
        prefix: what names of files begin with.
        folder: where the files are, if there are any.
        files: the manifest's entries of those that are written already.
    """

    statement: Json
    said: Publication
    title: str
    prefix: str
    folder: Path = Path()
    files: Sequence[Json] = ()

    @property
    def name(self) -> str:
        """The title, else the dataset's name."""
        return self.title or str(self.statement["dataset"])

    @property
    def vintage(self) -> str:
        """Label of the release."""
        return str(self.statement["vintage"])

    @property
    def slug(self) -> str:
        """Dataset and vintage as a name that is safe in an address: small letters, digits, hyphens."""
        text = f"{self.statement['dataset']}-{self.vintage}".lower()
        return re.sub(r"[^a-z0-9]+", "-", text).strip("-") or "release"

    @property
    def is_private(self) -> bool:
        """Whether it is differentially private."""
        return bool(self.statement["private"])

    @property
    def is_fitted_draw(self) -> bool:
        """Whether a workload's tables were drawn, and not lengths."""
        return self.is_private and "tables" in self.statement

    @property
    def regime(self) -> str:
        """What protects it, as the statement names it."""
        return str(self.statement["regime"])

    @property
    def has_records(self) -> bool:
        """Whether synthetic records are among the files."""
        return any("_synthetic_microdata" in str(entry["file"]) for entry in self.files)
