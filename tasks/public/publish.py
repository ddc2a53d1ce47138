"""Publish: what was built from a measurement becomes a release, whole by a rename or not at all.

release/<dataset>/<vintage>-<n>/    the released files, with a MANIFEST of how each was protected
release/<dataset>/latest            link to the newest
"""

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.core.arrays import Json
from tasks.core.errors import InternalError
from tasks.leftovers import process_mark
from tasks.progress import say
from tasks.public.bundles.opening import open_bundle
from tasks.public.release_files import Built, write_json
from tasks.step import step
from tasks.storage import INTERMEDIATE, StoredTable, Workspace, file_sha256
from tasks.version import code_version

MANIFEST = "MANIFEST.json"


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


@step(INTERMEDIATE)
def publish_release(
    workspace: Workspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    built: Built,
) -> Release:
    """Write the released files and put them in place; a release equal to an earlier one is not repeated."""
    bundle = open_bundle(workspace, measurement)
    vintage = bundle.vintage
    home = workspace.release / configuration.dataset
    home.mkdir(parents=True, exist_ok=True)
    files: list[Json] = []

    def write(folder: Path) -> None:
        files.extend(built.write_files(workspace, configuration, bundle, folder))
        manifest = {"code_version": code_version(), "dataset": configuration.dataset, "vintage": vintage}
        write_json(folder / MANIFEST, {**manifest, "files": files})

    candidate = workspace.store(home / f".candidate-{process_mark()}", "release", write)
    folder = workspace.root / candidate.key
    with _one_at_a_time(home):
        equal = next((each for each in _releases(home, vintage) if _same(each, folder)), None)
        if equal is not None:
            shutil.rmtree(folder)
            place, is_new = equal, False
        else:
            place, is_new = _put_in_place(folder, home, vintage), True
        _point_latest(home, place, vintage)
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


def _releases(home: Path, vintage: str) -> list[Path]:
    """The releases of a vintage, newest first."""
    return [home / f"{vintage}-{number}" for number in sorted(_numbers(home, vintage), reverse=True)]


def _numbers(home: Path, vintage: str) -> list[int]:
    tails = [path.name.removeprefix(f"{vintage}-") for path in home.glob(f"{vintage}-*")]
    return [int(tail) for tail in tails if tail.isdecimal()]


def _same(one: Path, other: Path) -> bool:
    """Whether two release folders hold the same files; the manifests, which name all others, come first."""
    if not (one / MANIFEST).is_file() or file_sha256(one / MANIFEST) != file_sha256(other / MANIFEST):
        return False
    names = _files(other)
    is_whole = names == _files(one) and all(
        file_sha256(one / name) == file_sha256(other / name) for name in names
    )
    if not is_whole:
        say(
            f"ATTENTION: the files of release {one.name} were changed: they are no longer what its MANIFEST "
            "says. Withdraw that release. The run puts the right files into a new one."
        )
    return is_whole


def _files(folder: Path) -> list[str]:
    """Every file below a folder, by its relative name."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _is_older(home: Path, vintage: str, other: str) -> bool:
    """Whether a vintage is older than another one.

    Labels that differ in their numbers alone are ordered by these; of others the one is older whose first
    release is.
    """
    words, numbers = _parts(vintage)
    other_words, other_numbers = _parts(other)
    if words == other_words and numbers != other_numbers:
        return numbers < other_numbers
    first, other_first = (_releases(home, each)[-1].stat().st_mtime for each in (vintage, other))
    return first < other_first


def _parts(vintage: str) -> tuple[list[str], list[int]]:
    """What stands between a label's numbers, and the numbers."""
    return re.split(r"[0-9]+", vintage), [int(number) for number in re.findall(r"[0-9]+", vintage)]


def _put_in_place(folder: Path, home: Path, vintage: str) -> Path:
    """Rename to the next free number; another run may take it first."""
    while True:
        place = home / f"{vintage}-{max(_numbers(home, vintage), default=0) + 1}"
        with contextlib.suppress(OSError):
            folder.rename(place)
            return place
        if not folder.is_dir() or not place.exists():
            raise InternalError(f"The run could not put its release in place at {place.name}.")


def _point_latest(home: Path, place: Path, vintage: str) -> None:
    """Link ``latest`` to a release, unless it links to one of a newer vintage."""
    linked = home / "latest"
    newest = linked.resolve().name.rpartition("-")[0] if linked.is_dir() else ""
    if newest and newest != vintage and _is_older(home, vintage, newest):
        say(f"latest still links to vintage {newest!r}, as that is newer than {vintage!r}.")
        return
    part = home / f".latest-{process_mark()}"
    part.unlink(missing_ok=True)
    part.symlink_to(place.name)
    part.replace(home / "latest")
