"""The releases of a dataset: which there are, which is older, which were withdrawn, where ``latest`` links.

release/<dataset>/<vintage>-<n>/             a release; its files never change
release/<dataset>/<vintage>-<n>/ERRATA.md    what was found wrong with it later, beside its files
release/<dataset>/INDEX.json                 all releases in their order, each with its errata
release/<dataset>/latest                     link to the newest that is not withdrawn
"""

import contextlib
import fcntl
import functools
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tasks.core.arrays import Json
from tasks.core.errors import ParameterError, StoredTableMismatch
from tasks.core.metadata.errata import (
    ERRATA,
    Erratum,
    errata_markdown,
    latest_withdrawal,
    read_errata,
    status_of,
)
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json
from tasks.messages import tell
from tasks.storage import Workspace, load_json, process_mark, vintage_in_name, write_json, write_whole

MANIFEST, INDEX, LATEST = "MANIFEST.json", "INDEX.json", "latest"
#: The page and the Power BI template, without the prefix.
PAGE, TEMPLATE = "data_showcase.html", "data_showcase.pbit"
#: The contract as a suite of Great Expectations, for whoever has the synthetic records.
EXPECTATIONS = "expectations.json"
#: Where the releases of a dataset were copied to (`tasks.public.copy`).
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
    dates = _indexed_dates(home)
    index = {"dataset": home.name, "releases": [_entry(place, dates) for place in all_releases(home)]}
    check_released_json(index, RELEASED_KEYS["index"])
    write_whole(home / INDEX, lambda part: write_json(part, index))


def _entry(place: Path, dates: Mapping[str, str]) -> Json:
    errata = read_errata(place)
    return {
        "release": place.name,
        "vintage": vintage_in_name(place),
        "released": dates.get(place.name) or _filed_on(place),
        "status": status_of(errata),
        "errata": [each.to_json() for each in errata],
    }


def released_on(place: Path) -> str:
    """The date in UTC on which a release was put in place, as the index keeps it.

    Of one that the index does not know it is the date of the manifest's file, which a copy need not keep.
    """
    return _indexed_dates(place.parent).get(place.name) or _filed_on(place)


def _indexed_dates(home: Path) -> dict[str, str]:
    return {str(each["release"]): str(each["released"]) for each in _indexed(home) if "released" in each}


def _filed_on(place: Path) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime((place / MANIFEST).stat().st_mtime))


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
