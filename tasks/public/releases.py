"""The releases of a dataset: which there are, which is older, which were withdrawn, where they are copied to.

release/<dataset>/<vintage>-<n>/             a release; its files never change
release/<dataset>/<vintage>-<n>/ERRATA.md    what was found wrong with it later, beside its files
release/<dataset>/INDEX.json                 all releases in their order, each with its errata
release/<dataset>/latest                     link to the newest that is not withdrawn
release/<dataset>/.copies.json               where each release was copied to, for its errata

A finished release is copied to where its readers look: storage such as S3, or a share.

<publish_to>/<dataset>/<vintage>-<n>/...     all files but the manifest, then the manifest
<publish_to>/<dataset>/latest                a text: the name of the newest release; written last

Storage has no rename, so readers follow ``latest``, or see by the manifest that a release is whole. Copying
again after a failure goes on where it stopped, and nothing is drawn or charged for it.
"""

import contextlib
import fcntl
import functools
import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tasks.core.arrays import Json
from tasks.core.errors import ParameterError, StorageError, StoredTableMismatch
from tasks.core.metadata.errata import (
    ERRATA,
    Erratum,
    errata_markdown,
    latest_withdrawal,
    read_errata,
    status_of,
)
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json
from tasks.core.tables.places import Storage
from tasks.messages import tell
from tasks.storage import (
    Workspace,
    load_json,
    process_mark,
    vintage_in_name,
    write_json,
    write_whole,
)

MANIFEST, INDEX, LATEST = "MANIFEST.json", "INDEX.json", "latest"
#: The page and the Power BI template, without the prefix.
PAGE, TEMPLATE = "data_showcase.html", "data_showcase.pbit"
#: The contract as a suite of Great Expectations, for whoever has the synthetic records.
EXPECTATIONS = "expectations.json"
COPIES = ".copies.json"


def page_file(prefix: str) -> str:
    return f"{prefix}_{PAGE}"


@contextlib.contextmanager
def lock_releases(home: Path) -> Iterator[None]:
    """Hold a lock on the dataset's folder of releases; the kernel releases it when its holder dies."""
    descriptor = os.open(home, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def releases_of(home: Path, vintage: str) -> list[Path]:
    return [home / f"{vintage}-{number}" for number in sorted(release_numbers(home, vintage), reverse=True)]


def release_numbers(home: Path, vintage: str) -> list[int]:
    tails = [path.name.rpartition("-")[2] for path in home.glob("*-*") if vintage_in_name(path) == vintage]
    return [int(tail) for tail in tails if tail.isdecimal()]


def all_releases(home: Path) -> list[Path]:
    found = [path for path in home.glob("[!.]*") if not path.is_symlink() and (path / MANIFEST).is_file()]
    vintages = sorted({vintage_in_name(path) for path in found})

    def compared(one: str, other: str) -> int:
        return -1 if is_older(home, one, other) else int(is_older(home, other, one))

    order = sorted(vintages, key=functools.cmp_to_key(compared))
    return [path for vintage in order for path in reversed(releases_of(home, vintage)) if path in found]


def is_older(home: Path, vintage: str, other: str) -> bool:
    """Whether a vintage is older than another one.

    Labels that differ in their numbers alone are ordered by these; of others the one is older whose first
    release is.
    """
    words, parts = _parts(vintage)
    other_words, other_parts = _parts(other)
    if words == other_words and parts != other_parts:
        return parts < other_parts
    first, other_first = (releases_of(home, each)[-1].stat().st_mtime for each in (vintage, other))
    return first < other_first


def _parts(vintage: str) -> tuple[list[str], list[int]]:
    return re.split(r"[0-9]+", vintage), [int(number) for number in re.findall(r"[0-9]+", vintage)]


def point_latest(home: Path, place: Path, vintage: str) -> None:
    """Link ``latest`` to a release, unless that is withdrawn, or the link is to one of a newer vintage."""
    if status_of(read_errata(place)) == "withdrawn":
        point_latest_to_newest(home)
        return
    linked = home / LATEST
    newest = vintage_in_name(linked.resolve()) if linked.is_dir() else ""
    if newest and newest != vintage and is_older(home, vintage, newest):
        tell(f"latest still links to vintage {newest!r}, as that is newer than {vintage!r}.")
        return
    _link(home, place)


def point_latest_to_newest(home: Path) -> Path | None:
    """Link ``latest`` to the newest release that is not withdrawn and return it; without one it goes."""
    standing = [place for place in all_releases(home) if status_of(read_errata(place)) != "withdrawn"]
    if not standing:
        (home / LATEST).unlink(missing_ok=True)
        return None
    _link(home, standing[-1])
    return standing[-1]


def _link(home: Path, place: Path) -> None:
    part = home / f".{LATEST}-{process_mark()}"
    part.unlink(missing_ok=True)
    part.symlink_to(place.name)
    part.replace(home / LATEST)


def write_index(home: Path) -> None:
    """Write ``INDEX.json`` anew from what is there; no erratum that it names may be gone."""
    _require_kept(home)
    known = _indexed(home)
    index = {"dataset": home.name, "releases": [_entry(place, known) for place in all_releases(home)]}
    check_released_json(index, RELEASED_KEYS["index"])
    write_whole(home / INDEX, lambda part: write_json(part, index))


def _entry(place: Path, indexed: Sequence[Json]) -> Json:
    errata = read_errata(place)
    return {
        "release": place.name,
        "vintage": vintage_in_name(place),
        "released": _release_date(place, indexed),
        "status": status_of(errata),
        "errata": [each.to_json() for each in errata],
    }


def released_on(place: Path) -> str:
    """The date in UTC on which a release was put in place, as the index keeps it.

    Of one that the index does not know it is the date of the manifest's file, which a copy need not keep.
    """
    return _release_date(place, _indexed(place.parent))


def _release_date(place: Path, indexed: Sequence[Json]) -> str:
    known = {each["release"]: each.get("released") for each in indexed}
    filed = time.gmtime((place / MANIFEST).stat().st_mtime)
    return str(known.get(place.name) or time.strftime("%Y-%m-%d", filed))


def _indexed(home: Path) -> list[Json]:
    """What the index says of each release; nothing where there is none, as it can be made anew."""
    try:
        found: list[Json] = load_json(home / INDEX)["releases"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return found


def _require_kept(home: Path) -> None:
    """Refuse to forget an erratum: what was withdrawn must not come back because a file is gone."""
    for entry in _indexed(home):
        place = home / str(entry["release"])
        if place.is_dir() and len(read_errata(place)) < len(entry["errata"]):
            raise StoredTableMismatch(
                f"Errata must never disappear, but {place / ERRATA} lacks some that {INDEX} names. Restore "
                "the file from a backup."
            )


def add_erratum(place: Path, erratum: Erratum) -> Erratum:
    """Put an erratum beside a release's files, name it in the index, and mind ``latest``; once is enough.

    What is returned stands there: that of an earlier day where it was said before.
    """
    home = place.parent
    with lock_releases(home):
        _require_kept(home)
        errata = read_errata(place)
        same = next((each for each in errata if each.said == erratum.said), None)
        if same is None:
            stated = load_json(place / MANIFEST)
            text = errata_markdown(stated["dataset"], stated["vintage"], place.name, [*errata, erratum])
            write_whole(place / ERRATA, lambda part: part.write_text(text, encoding="utf-8"))
        write_index(home)
        linked = home / LATEST
        if erratum.kind == "withdrawn" and (not linked.is_dir() or linked.resolve() == place.resolve()):
            point_latest_to_newest(home)
    return same or erratum


def require_not_withdrawn(workspace: Workspace, dataset: str, vintage: str | None) -> None:
    """Refuse to make more of a vintage all of whose releases were withdrawn.

    What is wrong with them would come back under another number: what was drawn for a vintage is drawn once.
    """
    home = workspace.release / dataset
    found = releases_of(home, vintage) if vintage else []
    errata = {place.name: latest_withdrawal(read_errata(place)) for place in found}
    told = [each.told(name) for name, each in errata.items() if each is not None]
    if found and len(told) == len(found):
        raise ParameterError(
            f"Vintage {vintage!r} of {dataset!r} is withdrawn, and nothing of it is published again: "
            f"{told[0]} Give what is released instead a vintage of its own; under differential privacy it is "
            "a draw of its own, and is charged."
        )


def copy_files(folder: Path, home: str) -> None:
    """Copy a release where no other one of that name may be. Args: home: see `home_of`."""
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


def record_copy(folder: Path, home: str) -> None:
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
    standing = _releases_not_withdrawn(folder.parent)
    newest = next((each for each in standing if _content(storage, f"{home}/{each}/{MANIFEST}")), None)
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
