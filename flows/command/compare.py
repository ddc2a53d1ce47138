"""``marginalia compare``: folders of runs, or all releases of a dataset, in; a table and a page out."""

import argparse
import contextlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from tasks.batch.group import write_comparison
from tasks.core.errors import ParameterError
from tasks.core.evaluation.over_time import read_released_counts
from tasks.core.hints import show_path
from tasks.core.metadata.errata import read_errata, status_of
from tasks.core.metadata.methods import protection_line
from tasks.core.metadata.release_facts import DescribedRelease, Publication
from tasks.core.navigation.over_time import DatedRelease, History, render_over_time, write_over_time_tsv
from tasks.core.navigation.run_figures import public_settings, read_run
from tasks.core.statement.syndiffix import SYNDIFFIX_REGIME
from tasks.messages import say
from tasks.public.releases import all_releases
from tasks.storage import INTERMEDIATE, MEASUREMENT, RELEASE, vintage_in_name


def compare(options: argparse.Namespace) -> int:
    write = _write_history if options.over_time else _write_side_by_side
    write(options.runs, options.output)
    return 0


def _write_side_by_side(folders: Sequence[Path], output: Path) -> None:
    labelled = _label_folders(folders)
    _require_figures(labelled.values())
    runs = [read_run(folder, label) for label, folder in labelled.items()]
    home, is_sensitive = output.resolve(), any(run.is_raw for run in runs)
    zone = next((zone for zone in (RELEASE, INTERMEDIATE, MEASUREMENT) if zone in home.parts), None)
    if is_sensitive and zone:
        raise ParameterError(
            "A comparison with the raw table must stay on this machine, so --output must not be in "
            f"{zone}/; {output} is. Give another folder."
        )
    home.mkdir(mode=0o700 if is_sensitive else 0o755, parents=True, exist_ok=True)
    write_comparison(runs, home, "Runs side by side")
    say(f"Compared: {home / 'comparison.html'} and comparison.tsv")
    if is_sensitive:
        say("It holds figures of the raw table: it must stay on this machine.")


def _write_history(folders: Sequence[Path], output: Path) -> None:
    if len(folders) != 1:
        raise ParameterError(
            "Comparing over time needs the one folder of a dataset's releases, and was given "
            f"{len(folders)}. Give OUTPUT_DIR/release/DATASET."
        )
    (home,) = folders
    by_vintage: dict[str, Path] = {}
    for place in all_releases(home) if home.is_dir() else []:  # of a vintage the newest that stands
        taken = by_vintage.get(vintage_in_name(place))
        if taken is None or not _is_withdrawn(place) or _is_withdrawn(taken):
            by_vintage[vintage_in_name(place)] = place
    if len(by_vintage) < 2:
        raise ParameterError(
            "Comparing over time needs the folder of a dataset's releases with two or more vintages, such as "
            f"OUTPUT_DIR/release/DATASET; {show_path(home)} holds {len(by_vintage)}. Correct the path, or "
            "release another vintage."
        )
    history = History(home.resolve().name, [_read_dated_release(place) for place in by_vintage.values()])
    output.mkdir(parents=True, exist_ok=True)
    write_over_time_tsv(history, output / "over_time.tsv")
    (output / "over_time.html").write_text(render_over_time(history), encoding="utf-8")
    say(f"Compared over time: {(output / 'over_time.html').resolve()} and over_time.tsv")
    if gone := [release.name for release in history.releases if not release.stands]:
        say(f"Withdrawn, so shown and not compared: {', '.join(gone)}.")


def _is_withdrawn(place: Path) -> bool:
    return status_of(read_errata(place)) == "withdrawn"


def _read_dated_release(place: Path) -> DatedRelease:
    statement = json.loads((place / "privacy.json").read_text(encoding="utf-8"))
    described = DescribedRelease(statement, Publication(), "", "", place, ())
    counts = None
    with contextlib.suppress(ParameterError):
        counts = read_released_counts(place)
    return DatedRelease(
        name=place.name,
        vintage=vintage_in_name(place),
        protection=protection_line(described),
        settings=public_settings(place),
        errata=read_errata(place),
        counts=counts,
    )


def _label_folders(folders: Sequence[Path]) -> dict[str, Path]:
    """What each folder holds, under the folder's shortest name that no other has."""
    places = list(dict.fromkeys(folder.resolve() for folder in folders))
    if len(places) < 2:
        raise ParameterError("Comparing needs the folders of two or more runs; only one was given. Add one.")
    gone = [str(place) for place in places if not place.is_dir()]
    if gone:
        raise ParameterError(
            f"Comparing needs folders that exist; there is none at {', '.join(gone)}. Correct the path."
        )
    for length in range(1, max(len(place.parts) for place in places) + 1):
        labels = ["/".join(place.parts[-length:]) for place in places]
        if len(set(labels)) == len(labels):
            break
    # A batch's run has its release below.
    releases = [(place / RELEASE).resolve() for place in places]
    evaluated = [
        release if (release / "evaluation.json").is_file() else place
        for place, release in zip(places, releases, strict=True)
    ]
    return dict(zip(labels, evaluated, strict=True))


def _require_figures(places: Iterable[Path]) -> None:
    without = [place for place in places if not (place / "evaluation.json").exists()]
    if bare := [str(place) for place in without if _is_syndiffix(place)]:
        raise ParameterError(
            "Comparing needs reported counts, and a release of SynDiffix has none; these are such releases: "
            f"{', '.join(bare)}. Give the runs' evaluations against the raw table instead. The evaluate "
            "stage writes them into OUTPUT_DIR/sensitive/DATASET/RUN/evaluation."
        )


def _is_syndiffix(place: Path) -> bool:
    try:
        statement = json.loads((place / "privacy.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(statement, dict) and statement.get("regime") == SYNDIFFIX_REGIME
