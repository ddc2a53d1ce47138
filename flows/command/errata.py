"""``marginalia errata``: a release and what is wrong with it in, ``ERRATA.md`` beside its files out."""

import argparse
import json
import re
from pathlib import Path

from tasks.core.errors import ParameterError, StorageError
from tasks.core.hints import show_path
from tasks.core.metadata.errata import ERRATA, Erratum, Kind, read_errata, status_of, today
from tasks.messages import say
from tasks.public.releases import (
    COPIES,
    LATEST,
    MANIFEST,
    add_erratum,
    copies_of,
    copy_errata,
    releases_of,
)
from tasks.storage import vintage_in_name

_LONGEST = 4000


def write_erratum(options: argparse.Namespace) -> int:
    place = options.release.resolve()
    _require_release(place)
    kind: Kind = "corrected" if options.withdraw is None else "withdrawn"
    text = options.correct if options.withdraw is None else options.withdraw
    asked = Erratum(today(), kind, _require_sentence(text), _require_replacement(options.replaced_by, place))
    stands = add_erratum(place, asked)
    if stands is not asked:
        say(f"The errata say so since {stands.date}; nothing was added.")
    say(f"{place.name} is {status_of(read_errata(place))}: {place / ERRATA}")
    linked = place.parent / LATEST
    if kind == "withdrawn":
        links = f"links to {linked.resolve().name}" if linked.is_dir() else "is gone: no release is left"
        say(f"latest {links}.")
        _tell_other_releases(place)
    _tell_copies(place)
    return 0


def _tell_copies(place: Path) -> None:
    if not (place.parent / COPIES).exists():
        return

    failed = []
    for home in sorted(copies_of(place)):
        try:
            copy_errata(place, home)
            say(f"The errata are also at {home}/{place.name}/{ERRATA}.")
        except StorageError as error:
            failed.append(str(error))
    if failed:
        raise StorageError(
            f"{' '.join(failed)} The errata stand in {place}, but a copy of the release has not got them. "
            "Run the same command again."
        )


def _require_release(place: Path) -> None:
    try:
        stated = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        is_release = vintage_in_name(place) == stated["vintage"]
    except (OSError, ValueError, KeyError, TypeError):
        is_release = False
    if not is_release:
        raise ParameterError(
            "Errata are of a release: give its folder, such as OUTPUT_DIR/release/DATASET/2026-11-1. "
            f"{show_path(place)} is not one."
        )


def _require_sentence(text: str) -> str:
    line = " ".join(text.split())
    if not line or line.startswith("#") or len(line) > _LONGEST or re.search(r"[\x00-\x1f\x7f]", line):
        raise ParameterError(
            f"An erratum must say what is wrong and why, in at most {_LONGEST} characters that do not begin "
            "with a #. Readers see it as it is, so name nobody in it."
        )
    return line


def _require_replacement(name: str, place: Path) -> str:
    if not name:
        return ""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9 ._-]{0,119}", name):
        raise ParameterError("--replaced-by must be the name of a vintage or of a release: correct it.")
    of_vintage = releases_of(place.parent, name)
    if of_vintage and (place.parent / name).is_dir():
        raise ParameterError(
            f"--replaced-by must be one name, but {name} is a release of vintage "
            f"{vintage_in_name(Path(name))!r} and a vintage, too. Give the vintage of the one, or a release "
            f"of the other, such as {of_vintage[0].name}."
        )
    if name == place.name or (name == vintage_in_name(place) and len(of_vintage) == 1):
        raise ParameterError("A release can't be replaced by itself: name another with --replaced-by.")
    return name


def _tell_other_releases(place: Path) -> None:
    """Other releases of the vintage: they may hold what was withdrawn."""
    standing = [
        release.name
        for release in releases_of(place.parent, vintage_in_name(place))
        if status_of(read_errata(release)) != "withdrawn"
    ]
    if standing:
        stand = "stands" if len(standing) == 1 else "stand"
        say(
            f"ATTENTION: of the same vintage {', '.join(standing)} still {stand}. What is made of one draw "
            "has the same figures: withdraw that too, unless only the files of this one were wrong."
        )
    else:
        say(f"A later run of vintage {vintage_in_name(place)!r} is refused. Publish under another vintage.")
