"""A finished release is copied to where its readers look: storage such as S3, or a share.

    <publish_to>/<dataset>/<vintage>-<n>/...          all files but the manifest, then the manifest
    <publish_to>/<dataset>/latest                     a text: the name of the newest release; written last
    release/<dataset>/.copies.json                    where each release was copied to, for its errata

Storage has no rename, so readers follow ``latest``, or see by the manifest that a release is whole. Copying
again after a failure goes on where it stopped, and nothing is drawn or charged for it.
"""

from collections.abc import Iterator
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.core.errors import StorageError
from tasks.core.metadata.errata import ERRATA, read_errata, status_of
from tasks.core.tables.places import Storage
from tasks.messages import tell
from tasks.public.publish import Release
from tasks.public.releases import COPIES, INDEX, LATEST, MANIFEST, all_releases, lock_releases
from tasks.step import step
from tasks.storage import INTERMEDIATE, Workspace, load_json, write_json, write_whole


@step(INTERMEDIATE)
def copy_release(workspace: Workspace, configuration: RunConfiguration, release: Release) -> None:
    """Copy a release to ``publish_to``, where no other one of that name may be."""
    folder = workspace.root / release.key
    home = home_of(str(configuration.publish_to), configuration.dataset)
    _record(folder, home)
    try:
        _copy(folder, home)
    except StorageError as error:
        failure = StorageError(
            f"{error} The release itself is finished, in {folder}: running again copies it, and nothing is "
            "drawn or charged again."
        )
    else:
        return
    raise failure


def _copy(folder: Path, home: str) -> None:
    storage, place = Storage(home), f"{home}/{folder.name}"
    there = _content(storage, f"{place}/{MANIFEST}")
    if there is None:
        names = [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / MANIFEST]
        for path in [*names, folder / MANIFEST]:
            _write(storage, f"{place}/{path.relative_to(folder).as_posix()}", path.read_bytes())
    elif there != (folder / MANIFEST).read_bytes():
        raise _other_release_error(place)
    _write_what_is_said(storage, folder, home)
    tell(f"The release is also at {place}.")


def copy_errata(folder: Path, home: str) -> None:
    """Copy what is said of a release later to where its files were copied, and mind ``latest`` there.

    Args:
        home: of the dataset's releases in storage, see `home_of`.
    """
    storage, place = Storage(home), f"{home}/{folder.name}"
    if _content(storage, f"{place}/{MANIFEST}") not in (None, (folder / MANIFEST).read_bytes()):
        raise _other_release_error(place)
    _write_what_is_said(storage, folder, home)


def home_of(publish_to: str, dataset: str) -> str:
    return f"{publish_to.rstrip('/')}/{dataset}"


def copies_of(folder: Path) -> list[str]:
    return _read_copies(folder.parent).get(folder.name, [])


def _record(folder: Path, home: str) -> None:
    with lock_releases(folder.parent):
        known = _read_copies(folder.parent)
        known[folder.name] = sorted({*known.get(folder.name, []), home})
        write_whole(folder.parent / COPIES, lambda part: write_json(part, known))


def _read_copies(releases: Path) -> dict[str, list[str]]:
    try:
        found: dict[str, list[str]] = load_json(releases / COPIES)
    except FileNotFoundError:
        return {}
    return found


def _write_what_is_said(storage: Storage, folder: Path, home: str) -> None:
    """A release's errata, the index, and ``latest``, which goes where nothing that is there stands."""
    for path in (folder / ERRATA, folder.parent / INDEX):
        url = f"{home}/{path.relative_to(folder.parent).as_posix()}"
        if path.is_file() and path.read_bytes() != _content(storage, url):
            _write(storage, url, path.read_bytes())
    url, told = f"{home}/{LATEST}", _content(storage, f"{home}/{LATEST}")
    newest = next(
        (each for each in _releases_not_withdrawn(folder.parent) if _is_copied(storage, home, each)), None
    )
    if newest is not None and told != f"{newest}\n".encode():
        _write(storage, url, f"{newest}\n".encode())
    elif newest is None and told is not None:
        storage.attempt("be written", lambda: storage.system.rm_file(storage.key(url)))


def _releases_not_withdrawn(releases: Path) -> Iterator[str]:
    """The releases that are not withdrawn: that which ``latest`` links to here, then the newest first."""
    if (releases / LATEST).is_dir():
        yield (releases / LATEST).resolve().name
    for each in reversed(all_releases(releases)):
        if status_of(read_errata(each)) != "withdrawn":
            yield each.name


def _is_copied(storage: Storage, home: str, release: str) -> bool:
    return _content(storage, f"{home}/{release}/{MANIFEST}") is not None


def _other_release_error(place: str) -> StorageError:
    return StorageError(
        f"A release must never change, but {place} holds another one. Give this workspace a publish_to of "
        "its own, or find out who wrote there."
    )


def _content(storage: Storage, url: str) -> bytes | None:
    try:
        found: bytes = storage.attempt("be read", lambda: storage.system.cat_file(storage.key(url)))
    except FileNotFoundError:
        return None
    return found


def _write(storage: Storage, url: str, content: bytes) -> None:
    try:
        storage.attempt("be written", lambda: storage.system.pipe_file(storage.key(url), content))
    except FileNotFoundError:
        pass
    else:
        return
    raise StorageError(f"The storage must have a place for {url}, but it has none: make the bucket first.")
