"""``marginalia compare``: folders of runs in, one table and one page out."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from tasks.batch.group import write_comparison
from tasks.core.errors import ParameterError
from tasks.core.navigation.run_figures import read_run
from tasks.core.statement.syndiffix.statement import SYNDIFFIX_REGIME
from tasks.progress import say
from tasks.storage import INTERMEDIATE, MEASUREMENT, RELEASE


def write_side_by_side(folders: Sequence[Path], output: Path) -> int:
    """Write ``comparison.tsv`` and ``comparison.html``.

    Raises:
        ParameterError: too few folders, one without an evaluation, or a place that it must not go to.
    """
    labelled = _labelled(folders)
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
    return 0


def _labelled(folders: Sequence[Path]) -> dict[str, Path]:
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
    return dict(zip(labels, map(_evaluated, places), strict=True))


def _evaluated(place: Path) -> Path:
    """The release of a batch's run, where that is what was given; otherwise the folder itself."""
    release = (place / RELEASE).resolve()
    return release if (release / "evaluation.json").is_file() else place


def _require_figures(places: Iterable[Path]) -> None:
    """Refuse releases of SynDiffix, which hold none by design. Raises ParameterError."""
    bare = [
        str(place) for place in places if _is_syndiffix(place) and not (place / "evaluation.json").exists()
    ]
    if bare:
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
