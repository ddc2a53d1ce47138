"""``marginalia export``: a run's folder in, SDS's listings of all its combinations out; they stay."""

from collections.abc import Sequence
from pathlib import Path

from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.progress import Progress, say
from tasks.sensitive.export import FILES, export


def export_listings(run: Path, only: Sequence[str], output: Path | None) -> int:
    """Write the listings.

    Raises:
        ParameterError: a name that is none, nothing to export, or a place that it must not go to.
    """
    names = [_file_of(name) for name in only]
    progress = Progress("export")
    try:
        written = export(run, names, output, progress)
    finally:
        progress.close()
    for path in written:
        say(f"Exported: {path}")
    say("These files hold true counts. They must stay on this machine; delete them after use.")
    return 0


def _file_of(name: str) -> str:
    """The file that a name stands for, with or without its ending."""
    known = {file.partition(".")[0]: file for files in FILES.values() for file in files}
    found = known.get(name.partition(".")[0])
    if found is None:
        meant = did_you_mean(name, known) or "correct the name."
        raise ParameterError(f"--only takes {', '.join(known)}; {name} is none of them: {meant}")
    return found
