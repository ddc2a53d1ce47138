"""A release in a notebook: its folder goes in; records, counts, statement and page come out.

Everything here reads released files alone. What stays in ``sensitive/`` is an `Evaluation`, which shows none
of its figures by itself, as notebooks are saved and sent around.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from marginalia.errors import ParameterError, StoredTableMismatch, guard_call
from marginalia.process import CallDisplay, ask

if TYPE_CHECKING:
    from marginalia.tables import AnyTable


def ask_for_table(request: dict[str, Any], display: CallDisplay, *files: memoryview) -> Any:
    """The Arrow table that answers a request."""
    from marginalia import tables

    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "answer.parquet")
        ask({**request, "output": str(output)}, display, *files)
        return tables.read_released(output)


@dataclass(frozen=True)
class OpenedBlob:
    """Published tables of all few columns of one raw table. It is as public as all of them together.

    Attributes:
        path: of its file.
        columns: their names.
        protects: a sentence on whom it protects.
    """

    path: Path
    columns: tuple[str, ...]
    protects: str

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "OpenedBlob":
        return cls(Path(answer["path"]), tuple(answer["columns"]), answer["protects"])

    @guard_call
    def read(self, columns: str | Sequence[str] | None = None, *, target: str | None = None) -> "AnyTable":
        """The synthetic table of some columns; the same each time.

        Args:
            columns: in this order; None: all. Fewer are more accurate.
            target: one of them that is to be predicted from the others.

        Raises:
            ParameterError: a column that the blob does not have.
            InputError: the file is gone, or no longer what it was.
        """
        from marginalia import tables

        chosen = [columns] if isinstance(columns, str) else list(self.columns if columns is None else columns)
        if not all(isinstance(name, str) for name in (*chosen, target or "")):
            raise ParameterError("columns must be a list of names of columns, and target one: give texts.")
        request = {"do": "read_blob", "path": str(self.path), "columns": chosen, "target": target}
        with CallDisplay() as display:
            return tables.infer_dtypes(ask_for_table(request, display), typed=True)


_MANIFEST, _ERRATA = "MANIFEST.json", "ERRATA.md"
#: What `marginalia errata` writes of a release that nobody should use any more.
_WITHDRAWN = re.compile(
    r"^## (?P<date>\S+): withdrawn\n\n(?P<text>[^\n]+)\n(?:\nReplaced by: (?P<other>[^\n]+)\n)?", re.MULTILINE
)
_REGIMES = {
    "differential_privacy": "differential privacy, epsilon {epsilon:g}, delta {delta:g}",
    "k_anonymity": "k-anonymity, k = {resolution}",
    "syndiffix": "SynDiffix (not differentially private)",
}


@dataclass(frozen=True, repr=False)
class OpenedRelease:
    """One release of a dataset: what may leave.

    Attributes:
        folder: its files.
        records: the synthetic records, with the dtypes of the table that was given. These come from all
            of its rows, so what is handed on is the folder.
        owner_notes: what the run said to the person at the terminal alone; it must stay on this machine.
        contract: the data contract's path, where `protect` was given one.
    """

    folder: Path
    records: "AnyTable"
    owner_notes: tuple[str, ...] = field(default=(), compare=False)
    contract: str | None = field(default=None, compare=False)

    @property
    def dataset(self) -> str:
        """The name under which its budget is kept."""
        return str(self._manifest["dataset"])

    @property
    def vintage(self) -> str:
        """Which release of the dataset it is."""
        return str(self._manifest["vintage"])

    @cached_property
    def statement(self) -> dict[str, Any]:
        """What protects the people in it, as ``privacy.json`` has it."""
        return _json_of(self.folder / "privacy.json")

    @cached_property
    def counts(self) -> "AnyTable":
        """The reported counts of combinations, each with its range; SynDiffix reports none.

        Raises:
            ParameterError: it has none.
        """
        from marginalia import tables

        for name in self.files:
            if name.endswith("_reportable_aggregates.tsv"):
                return tables.infer_dtypes(tables.read_released(self.folder / name))
        raise ParameterError("A release of SynDiffix has no counts: count its records.")

    @property
    def page(self) -> Path | None:
        """The page to begin with; None of a release that was made without one."""
        pages = [name for name in self.files if name.endswith(".html") and "/" not in name]
        return self.folder / pages[0] if pages else None

    @property
    def files(self) -> tuple[str, ...]:
        """The names of its files."""
        return tuple(_hashes_of(self.folder))

    @property
    def errata(self) -> str:
        """What was found wrong with it later; empty where nothing was."""
        return _errata_of(self.folder)

    @property
    def is_withdrawn(self) -> bool:
        """Whether nobody should use it any more; `errata` says why."""
        return _WITHDRAWN.search(self.errata) is not None

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        return _json_of(self.folder / _MANIFEST)

    def _facts(self) -> dict[str, str]:
        regime = str(self.statement["regime"])
        protection = _REGIMES.get(regime, regime).format(**self.statement["guarantee"])
        facts = {
            "Dataset": self.dataset,
            "Vintage": self.vintage,
            "Protection": protection,
            "Synthetic records": f"{len(self.records):,}",
            "Folder": str(self.folder),
        }
        if self.is_withdrawn:
            return {"Withdrawn": "Nobody should use it any more. See .errata."} | facts
        return facts | ({"Errata": "See .errata: something was found wrong with it."} if self.errata else {})

    def __repr__(self) -> str:
        return f"<Release {'; '.join(f'{key}: {value}' for key, value in self._facts().items())}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{key}</th><td>{escape(text)}</td></tr>" for key, text in self._facts().items()
        )
        page, here = self.page, Path.cwd()
        if page is None:
            return f"<table>{rows}</table>"
        # A browser opens no page on disk from Jupyter, but one below the notebook.
        link = quote(str(page.relative_to(here))) if page.is_relative_to(here) else page.as_uri()
        return f'<table>{rows}</table><p><a href="{escape(link)}">The page</a></p>'


@dataclass(frozen=True, repr=False)
class Evaluation:
    """A release against the raw table. Not to be shared: it's made of raw records.

    Attributes:
        place: its folder in ``sensitive/``, with tables and charts.
    """

    place: Path

    @cached_property
    def figures(self) -> dict[str, Any]:
        """All of it, as ``utility.json`` has it. Not to be shared."""
        return _json_of(self.place / "utility.json")

    @cached_property
    def summary(self) -> str:
        """The same in words. Not to be shared."""
        (path,) = self.place.glob("*_utility_summary.txt")
        return path.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return (
            f"<Evaluation against the raw table, not to be shared: {self.place}. Read .summary or .figures, "
            "and don't save what they show.>"
        )


def open_folder(path: Path, *, withdrawn: bool) -> OpenedRelease:
    """A release in a folder, each of whose files is as its manifest says (`marginalia.open_release`)."""
    from marginalia import tables

    folder = path.expanduser().resolve()
    if not (folder / _MANIFEST).is_file() and (folder / "latest" / _MANIFEST).is_file():
        folder = (folder / "latest").resolve()
    if not (folder / _MANIFEST).is_file():
        raise ParameterError(
            f"A release is a folder with a {_MANIFEST}, and {path} is none: give the folder of one, such as "
            "out/release/people/latest."
        )
    _require_whole(folder)
    gone = _WITHDRAWN.search(_errata_of(folder))
    if gone is not None and not withdrawn:
        instead = f" Take {gone['other']} instead." if gone["other"] else ""
        raise ParameterError(
            f"The release {folder.name} was withdrawn on {gone['date']}: {gone['text'].rstrip('.')}.{instead}"
            " To look at it all the same, give withdrawn=True."
        )
    return OpenedRelease(folder, tables.infer_dtypes(tables.read_released(records_file(folder))))


def _errata_of(folder: Path) -> str:
    path = folder / _ERRATA
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _hashes_of(folder: Path) -> dict[str, str]:
    """The hash of each file that a release's manifest lists."""
    try:
        listed = _json_of(folder / _MANIFEST)["files"]
        return {str(entry["file"]): str(entry["sha256"]) for entry in listed}
    except (KeyError, TypeError):
        raise StoredTableMismatch(f"{_MANIFEST} must list the files of the release, and does not.") from None


def _require_whole(folder: Path) -> None:
    problems = []
    for name, sha256 in _hashes_of(folder).items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder) or not path.is_file():
            problems.append(f"{name} is missing.")
            continue
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                problems.append(f"{name} was changed after it was released.")
    if problems:
        raise StoredTableMismatch(
            f"The files of a release must be what its {_MANIFEST} says. {' '.join(problems)} Get the release "
            "again from whoever published it."
        )


def records_file(folder: Path) -> Path:
    """The file of a release's synthetic records: in the form with the table's own columns, where it is."""
    for ending in ("_condensed.tsv", ".parquet", ".tsv"):
        for name in _hashes_of(folder):
            if name.endswith(f"_synthetic_microdata{ending}"):
                return folder / name
    raise ParameterError("The release has no synthetic records: its run stopped before that stage.")


def _json_of(path: Path) -> dict[str, Any]:
    try:
        body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise StoredTableMismatch(f"{path.name} must be JSON of a release, but can't be read.") from None
    return body
