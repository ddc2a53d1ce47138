"""The runs of a batch by group: links to what each made, statistics joined, figures side by side."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.batch.file import Batch, BatchRun
from tasks.configuration.model import BATCHES
from tasks.core.errors import ParameterError
from tasks.core.evaluation.sensitive_files import write_joined_stats
from tasks.core.navigation.comparison import render_comparison, write_comparison_tsv
from tasks.core.navigation.run_figures import RunFigures, read_run
from tasks.core.tables.writing import write_rows
from tasks.step import step
from tasks.storage import INTERMEDIATE, MEASUREMENT, RELEASE, SENSITIVE, Workspace

#: The page of a group's comparison; beside it the same as a table.
COMPARISON, _COMPARISON_TABLE = "comparison.html", "comparison.tsv"
#: In the closed folder of a group: which runs failed, and why.
FAILURES = "failed.tsv"


@dataclass(frozen=True)
class Failed:
    """A run of a batch that ended with an error: its group, its folder's name, and why."""

    group: str
    folder_name: str
    exit_code: int
    why: tuple[str, ...]
    detail: str = ""  # what the operator alone may see, such as a row's position; or nothing

    @property
    def name(self) -> str:
        return f"{self.group}/{self.folder_name}"

    @property
    def kind(self) -> str:
        kinds = {2: "configuration or input", 3: "budget", 4: "contract", 5: "late input"}
        return kinds.get(self.exit_code, "another error")

    @property
    def lines(self) -> list[str]:
        alone = [f"for the operator alone: {self.detail}"] if self.detail else []
        return [f"failed ({self.kind}): {' '.join(self.why)}", *alone]


def require_free_names(batch: Batch) -> None:
    """Refuse a group that would be named as a zone of the workspace is. Raises ParameterError."""
    taken = {SENSITIVE, MEASUREMENT, INTERMEDIATE, RELEASE} & {run.group for run in batch.runs}
    if taken:
        rule = "A group must not be called {!r}, as a folder of output_dir is: rename it."
        raise ParameterError([rule.format(name) for name in taken])


def link_run(workspace: Workspace, run: BatchRun, places: Mapping[str, str]) -> None:
    """Make ``<group>/<index>_<name>/`` with a link to each place of the run."""
    folder = workspace.root / run.group / run.folder_name
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.iterdir():
        if earlier.is_symlink():
            earlier.unlink()
    for name, place in places.items():
        _link(folder / name, workspace.root / place)


def _link(link: Path, target: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        link.unlink()
    link.symlink_to(os.path.relpath(target, link.parent))


def write_failures(workspace: Workspace, group: str, failed: Sequence[Failed]) -> None:
    """List a group's failed runs, and why, in a closed folder; nothing is left of an earlier batch's."""
    place = _closed_folder(workspace, group) / FAILURES
    place.unlink(missing_ok=True)
    if failed:
        place.touch(mode=0o600)
        rows = [(run.folder_name, run.kind, " ".join(run.why), run.detail) for run in failed]
        write_rows(place, [("run", "kind", "why, and what to do", "for the operator alone"), *rows])


def _closed_folder(workspace: Workspace, group: str) -> Path:
    """The group's folder in ``sensitive/``, linked beside its comparison."""
    home, closed = workspace.root / group, workspace.sensitive / f"{BATCHES}{group}"
    home.mkdir(parents=True, exist_ok=True)
    closed.mkdir(mode=0o700, parents=True, exist_ok=True)
    _link(home / "sensitive", closed)
    return closed


@step(SENSITIVE)
def join_group(
    workspace: Workspace,
    group: str,
    places: Mapping[str, Mapping[str, str]],
    prefix: str,
    failed: Sequence[str] = (),
) -> str:
    """Join the statistics of a group's runs and lay their figures side by side; return where.

    What comes from releases alone is in the group's folder, what comes from the raw table in ``sensitive/``.
    ``places`` says, by the name of a run's folder, where the run put what; ``failed`` has the names of the
    other runs' folders.
    """
    home = workspace.root / group
    home.mkdir(parents=True, exist_ok=True)
    released = {name: workspace.root / made["release"] for name, made in places.items()}
    evaluated = {
        name: workspace.root / made["evaluation"] for name, made in places.items() if "evaluation" in made
    }
    comparable = {name: folder for name, folder in released.items() if (folder / "evaluation.json").is_file()}
    _compare(comparable, failed, home, f"{group}: releases side by side")
    if evaluated:
        sensitive = _closed_folder(workspace, group)
        write_joined_stats(evaluated, prefix, sensitive)
        _compare(evaluated, failed, sensitive, f"{group}: runs side by side, against the raw table")
    return home.relative_to(workspace.root).as_posix()


def _compare(folders: dict[str, Path], failed: Sequence[str], home: Path, title: str) -> None:
    """Lay runs side by side; where fewer than two are left, what an earlier batch compared is not theirs."""
    if len(folders) < 2:
        for name in (COMPARISON, _COMPARISON_TABLE):
            (home / name).unlink(missing_ok=True)
        return
    runs = [read_run(folder, label) for label, folder in folders.items()]
    write_comparison(runs + [RunFigures(label, has_failed=True) for label in failed], home, title)


def write_comparison(runs: Sequence[RunFigures], home: Path, title: str) -> None:
    """``comparison.tsv`` and ``comparison.html``; closed to others where figures are of the raw table."""
    table, page = home / _COMPARISON_TABLE, home / COMPARISON
    if any(run.is_raw for run in runs):
        for path in (table, page):
            path.unlink(missing_ok=True)
            path.touch(mode=0o600)
    write_comparison_tsv(runs, table)
    page.write_text(render_comparison(runs, title), encoding="utf-8")
