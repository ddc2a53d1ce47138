"""Publish: what was built from a measurement becomes a release, whole by a rename or not at all."""

import contextlib
import shutil
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.core.arrays import Json
from tasks.core.errors import InternalError
from tasks.core.metadata.errata import ERRATA, read_errata
from tasks.core.stored_files import file_sha256
from tasks.leftovers import process_mark
from tasks.messages import tell
from tasks.public.bundles.opening import open_bundle
from tasks.public.release_files import copy_written_files, lineage_entry
from tasks.public.releases import (
    MANIFEST,
    lock_releases,
    point_latest,
    release_numbers,
    releases_of,
    write_index,
)
from tasks.step import step
from tasks.storage import INTERMEDIATE, StoredTable, Workspace, write_json
from tasks.version import code_version


class Release(StoredTable):
    def __init__(self, table: StoredTable, files: list[Json], is_new: bool) -> None:
        """Args: files: the manifest's entries. is_new: False where a release held exactly this already."""
        super().__init__(table.key, table.sha256, table.zone, table.stage)
        self.files, self.is_new = files, is_new


@step(INTERMEDIATE)
def publish_release(
    workspace: Workspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    written: StoredTable,
) -> Release:
    """Put the released files in place with a manifest; a release equal to an earlier one is not repeated."""
    bundle = open_bundle(workspace, measurement)
    vintage = bundle.vintage
    home = workspace.release / configuration.dataset
    home.mkdir(parents=True, exist_ok=True)
    files: list[Json] = []

    def write(folder: Path) -> None:
        files.extend(copy_written_files(workspace.path(written), folder))
        files.append(lineage_entry(configuration, bundle, files, folder))
        files.sort(key=lambda entry: str(entry["file"]))
        manifest = {"code_version": code_version(), "dataset": configuration.dataset, "vintage": vintage}
        write_json(folder / MANIFEST, {**manifest, "files": files})

    candidate = workspace.store(home / f".candidate-{process_mark()}", "release", write)
    folder = workspace.root / candidate.key
    with lock_releases(home):
        equal = next((each for each in releases_of(home, vintage) if _are_equal_releases(each, folder)), None)
        if equal is not None:
            shutil.rmtree(folder)
            place, is_new = equal, False
        else:
            place, is_new = _put_in_place(folder, home, vintage), True
        point_latest(home, place, vintage)
        write_index(home)
    for erratum in read_errata(place):
        tell(f"ATTENTION: {erratum.told(place.name)}")
    key = place.relative_to(workspace.root).as_posix()
    return Release(StoredTable(key, candidate.sha256, "release", "release"), files, is_new)


def _are_equal_releases(one: Path, other: Path) -> bool:
    """Whether two release folders hold the same files; the manifests, which name all others, come first."""
    if not (one / MANIFEST).is_file() or file_sha256(one / MANIFEST) != file_sha256(other / MANIFEST):
        return False
    names = _files(other)
    is_whole = names == _files(one) and all(
        file_sha256(one / name) == file_sha256(other / name) for name in names
    )
    if not is_whole:
        tell(
            f"ATTENTION: the files of release {one.name} were changed: they are no longer what its MANIFEST "
            "says. The run puts the right files into a new release. Withdraw the changed one with "
            "marginalia errata."
        )
    return is_whole


def _files(folder: Path) -> list[str]:
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in names if name != ERRATA)


def _put_in_place(folder: Path, home: Path, vintage: str) -> Path:
    """Rename to the next free number; another run may take it first."""
    while True:
        place = home / f"{vintage}-{max(release_numbers(home, vintage), default=0) + 1}"
        with contextlib.suppress(OSError):
            folder.rename(place)
            return place
        if not folder.is_dir() or not place.exists():
            raise InternalError(f"The run could not put its release in place at {place.name}.")
