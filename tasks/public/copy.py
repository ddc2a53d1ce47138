"""A finished release is copied to where its readers look: storage such as S3, or a share.

    <publish_to>/<dataset>/<vintage>-<n>/...          all files but the manifest, then the manifest
    <publish_to>/<dataset>/latest                     a text: the name of the newest release; written last

Storage has no rename, so readers follow ``latest``, or see by the manifest that a release is whole. Copying
again after a failure goes on where it stopped, and nothing is drawn or charged for it.
"""

from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.core.errors import StorageError
from tasks.core.metadata.errata import ERRATA
from tasks.core.tables.storage_urls import Storage
from tasks.messages import tell
from tasks.public.publish import Release
from tasks.public.releases import INDEX, LATEST, MANIFEST
from tasks.step import step
from tasks.storage import INTERMEDIATE, Workspace


@step(INTERMEDIATE)
def copy_release(workspace: Workspace, configuration: RunConfiguration, release: Release) -> None:
    """Copy a release to ``publish_to``.

    Raises:
        StorageError: it could not be copied, or there is another release of that name.
    """
    folder = workspace.root / release.key
    home = f"{str(configuration.publish_to).rstrip('/')}/{configuration.dataset}"
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
        raise StorageError(
            f"A release must never change, but {place} holds another one. Give this workspace a publish_to "
            "of its own, or find out who wrote there."
        )
    for path in (folder / ERRATA, folder.parent / INDEX):  # what is said of a release later, beside its files
        url = f"{home}/{path.relative_to(folder.parent).as_posix()}"
        if path.is_file() and path.read_bytes() != _content(storage, url):
            _write(storage, url, path.read_bytes())
    newest = (folder.parent / LATEST).resolve().name
    told = _content(storage, f"{home}/{LATEST}")
    if told != f"{newest}\n".encode() and _content(storage, f"{home}/{newest}/{MANIFEST}") is not None:
        _write(storage, f"{home}/{LATEST}", f"{newest}\n".encode())
    tell(f"The release is also at {place}.")


def _content(storage: Storage, url: str) -> bytes | None:
    """Of an object; None where there is none."""
    try:
        found: bytes = storage.done("be read", lambda: storage.system.cat_file(storage.key(url)))
    except FileNotFoundError:
        return None
    return found


def _write(storage: Storage, url: str, content: bytes) -> None:
    """An object, which appears whole."""
    try:
        storage.done("be written", lambda: storage.system.pipe_file(storage.key(url), content))
    except FileNotFoundError:
        pass
    else:
        return
    raise StorageError(f"The storage must have a place for {url}, but it has none: make the bucket first.")
