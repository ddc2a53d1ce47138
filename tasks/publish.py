"""Publish: what was built from a measurement becomes a release, whole by a rename or not at all.

release/<dataset>/<vintage>-<n>/    the released files, with a MANIFEST of how each was protected
release/<dataset>/latest            link to the newest
"""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from prefect import task

from tasks.configuration import RunConfiguration
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.aggregates.interchange import write_reportable_parquet, write_reportable_tsv
from tasks.core.errors import InternalError
from tasks.core.synthesis.assembly import write_wide_tsv
from tasks.core.synthesis.records import read_synthetic_records
from tasks.handover import ledger_facts
from tasks.leftovers import mark
from tasks.storage import StoredTable, Workspace, file_sha256
from tasks.version import code_version

MANIFEST = "MANIFEST.json"
Json = dict[str, object]


@dataclass
class Built:
    """What a run built from its measurement; None where its stages did not go so far."""

    statement: StoredTable
    aggregates: StoredTable
    records: StoredTable | None = None
    recounted: StoredTable | None = None
    evaluation: StoredTable | None = None
    report: StoredTable | None = None


class Release(StoredTable):
    """Reference to a published release.

    Attributes:
        files: for each file its entry in the manifest.
        is_new: False where the newest release already holds exactly this.
    """

    def __init__(self, table: StoredTable, files: list[Json], is_new: bool) -> None:
        """See the class."""
        super().__init__(table.key, table.sha256, table.zone, table.stage)
        self.files, self.is_new = files, is_new


@task
def publish_release(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable, built: Built
) -> Release:
    """Write the released files and put them in place; a release equal to the newest is not repeated."""
    vintage = ledger_facts(workspace, measurement).vintage
    home = workspace.release / configuration.dataset
    home.mkdir(parents=True, exist_ok=True)
    files: list[Json] = []

    def write(folder: Path) -> None:
        files.extend(_write_files(workspace, configuration, built, folder))
        manifest = {"code_version": code_version(), "dataset": configuration.dataset, "vintage": vintage}
        _write_json(folder / MANIFEST, {**manifest, "files": files})

    candidate = workspace.store(home / f".candidate-{mark()}", "release", write)
    folder = workspace.root / candidate.key
    with _one_at_a_time(home):
        newest = _newest(home, vintage)
        if newest is not None and _same(newest, folder):
            shutil.rmtree(folder)
            place, is_new = newest, False
        else:
            place, is_new = _put_in_place(folder, home, vintage), True
        _point_latest(home, place)
    key = place.relative_to(workspace.root).as_posix()
    return Release(StoredTable(key, candidate.sha256, "release", "release"), files, is_new)


@contextlib.contextmanager
def _one_at_a_time(home: Path) -> Iterator[None]:
    """Hold a lock on the dataset's folder of releases; the kernel releases it when its holder dies."""
    descriptor = os.open(home, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write_files(
    workspace: Workspace, configuration: RunConfiguration, built: Built, folder: Path
) -> list[Json]:
    """Write every released file; return the manifest's entries."""
    prefix = configuration.prefix
    rows: dict[str, int] = {}
    aggregates = read_aggregates(workspace.path(built.aggregates))
    for suffix, writer in (("tsv", write_reportable_tsv), ("parquet", write_reportable_parquet)):
        writer(aggregates, folder / f"{prefix}_reportable_aggregates.{suffix}")
        rows[f"{prefix}_reportable_aggregates.{suffix}"] = sum(len(c) for c in aggregates.counts)
    if built.records is not None:
        records = read_synthetic_records(workspace.path(built.records))
        write_wide_tsv(records, folder / f"{prefix}_synthetic_microdata.tsv")
        rows[f"{prefix}_synthetic_microdata.tsv"] = records.number_of_records
    for table in (built.statement, built.evaluation, built.report):
        if table is not None:
            for path in workspace.path(table).iterdir():
                shutil.copyfile(path, folder / path.name)
    _write_json(folder / "configuration.json", public_configuration(configuration))
    return [_entry(path, rows) for path in sorted(folder.iterdir())]


PUBLIC = "public configuration"

#: File (without prefix) -> what it was made from, and how that is protected.
_PROTECTED_BY = {
    "reportable_aggregates.tsv": "the measurement, normalised (post-processing)",
    "reportable_aggregates.parquet": "the measurement, normalised (post-processing)",
    "synthetic_microdata.tsv": "drawn from the reportable aggregates alone (post-processing)",
    "privacy.json": "public parameters and the measurement",
    "evaluation.json": "synthetic records against the reportable aggregates (post-processing)",
    "contract.json": "the contract's table rules, judged on released numbers (post-processing)",
    "report.html": "the measurement and what was made from it (post-processing)",
    "configuration.json": PUBLIC,
}


def _entry(path: Path, rows: Mapping[str, int]) -> Json:
    for name, origin in _PROTECTED_BY.items():
        if path.name == name or path.name.endswith(f"_{name}"):
            entry: Json = {
                "file": path.name,
                "sha256": file_sha256(path),
                "bytes": path.stat().st_size,
                "protection": "none: public"
                if origin == PUBLIC
                else "differential privacy (see privacy.json)",
                "made_from": origin,
            }
            return entry | ({"rows": rows[path.name]} if path.name in rows else {})
    raise InternalError(f"A release must hold known files only; {path.name} is not one.")


def public_configuration(configuration: RunConfiguration) -> Json:
    """The configuration as released: without the machine's paths."""
    body: Json = configuration.model_dump(mode="json")
    table = dict(configuration.input.model_dump(mode="json"))
    del body["output_dir"], table["path"], table["contract"]
    return body | {"input": table}


def _newest(home: Path, vintage: str) -> Path | None:
    """The newest release of a vintage."""
    number = max(_numbers(home, vintage), default=0)
    return home / f"{vintage}-{number}" if number else None


def _numbers(home: Path, vintage: str) -> list[int]:
    tails = [path.name.removeprefix(f"{vintage}-") for path in home.glob(f"{vintage}-*")]
    return [int(tail) for tail in tails if tail.isdecimal()]


def _same(one: Path, other: Path) -> bool:
    """Whether two release folders hold the same files."""
    names = sorted(path.name for path in one.iterdir())
    return names == sorted(path.name for path in other.iterdir()) and all(
        file_sha256(one / name) == file_sha256(other / name) for name in names
    )


def _put_in_place(folder: Path, home: Path, vintage: str) -> Path:
    """Rename to the next free number; another run may take it first."""
    while True:
        place = home / f"{vintage}-{max(_numbers(home, vintage), default=0) + 1}"
        with contextlib.suppress(OSError):
            folder.rename(place)
            return place
        if not folder.is_dir() or not place.exists():
            raise InternalError(f"The release could not be put in place at {place.name}.")


def _point_latest(home: Path, place: Path) -> None:
    part = home / f".latest-{mark()}"
    part.unlink(missing_ok=True)
    part.symlink_to(place.name)
    part.replace(home / "latest")


def _write_json(path: Path, body: object) -> None:
    path.write_text(json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
