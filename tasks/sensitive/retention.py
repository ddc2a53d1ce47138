"""Retention: what was made of the raw table is removed from ``sensitive/`` when it is older than configured.

    sensitive/<dataset>/<run>/<table>     a run's tables, evaluations and listings       removed
    sensitive/<dataset>/trees/, ...       SynDiffix's trees, partitions of a cluster     removed
    shared_storage                        what partitions/ notes of it                   removed
    sensitive/batch-<group>/, logs/       comparisons with the raw table, logs           removed
    sensitive/.results/                   where later runs would find what is gone       removed
    sensitive/<dataset>/*.json, .secret   keyed hashes, and their key                    kept
    measurement/, release/, the ledger    protected, or the account                      never looked at

Counted is the time since a table was made, not since it was last used: what is still needed is made again.
Nothing is removed while a run of the dataset is at work: it may be using any of it.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tasks.configuration.model import BATCHES, LOGS, RunConfiguration
from tasks.core.errors import ParameterError
from tasks.core.figures import count_of
from tasks.core.ledger.salts import require_apart
from tasks.engine import forget_parts
from tasks.ledger_place import user_ledger_place
from tasks.messages import say, tell_log
from tasks.storage import SENSITIVE, Workspace, entries, is_folder, remove

_DAY_SECONDS = 24 * 3600


@dataclass(frozen=True)
class PurgeResult:
    """What a purge removed, or would remove."""

    folders: int = 0
    files: int = 0
    is_busy: bool = False  # a run of the dataset is at work, so that nothing was

    def sentence(self, dataset: str, days: int, *, dry: bool) -> str:
        """What to say of it; numbers of folders and files follow from runs, not from the table."""
        where = f"older than {count_of(days, 'day')} of what was made of the raw table of {dataset!r}"
        if self.is_busy:
            return (
                f"Retention: a run of {dataset!r} is at work, so nothing was removed. The next run of it, or "
                "the next purge, does."
            )
        if not (self.folders or self.files):
            return f"Retention: nothing is {where}."
        done = "would remove" if dry else "removed"
        found = f"{count_of(self.folders, 'folder')} and {count_of(self.files, 'file')}"
        return f"Retention: {done} {found} {where}."


@contextmanager
def apply_retention(workspace: Workspace, configuration: RunConfiguration) -> Iterator[None]:
    """Purge what is too old, then keep other purges from what this run uses."""
    workspace.prepare()
    days = configuration.retention_days
    if days is not None:
        purged = remove_old(workspace, configuration.dataset, days)
        if purged.folders or purged.files or purged.is_busy:
            # How much it was can tell whether the table changed: it is for the terminal alone.
            say(purged.sentence(configuration.dataset, days, dry=False))
    descriptor = _lock(workspace, configuration.dataset)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def purge_configured(configuration: RunConfiguration, *, dry: bool) -> None:
    """Remove what a configuration says is too old, and say how much."""
    days = configuration.retention_days
    if days is None:
        raise ParameterError(
            "A purge needs retention_days, and the configuration has none: say for how many days what is "
            'made of the raw table may be kept, such as "retention_days": 30.'
        )
    dataset = configuration.dataset
    purged = remove_old(Workspace.of(configuration), dataset, days, dry=dry)
    say(purged.sentence(dataset, days, dry=dry))
    # Whether a run is at work is on its own page; how much is old is for the terminal alone.
    if purged.is_busy:
        tell_log("A run of the dataset is at work, so nothing was purged: purge again when it has ended.")
    else:
        tell_log("Nothing was removed: the purge was only tried." if dry else "The purge is done.")


def remove_old(workspace: Workspace, dataset: str, days: int, *, dry: bool = False) -> PurgeResult:
    """Remove, or only count, what is too old of a dataset, and of all logs and comparisons of batches."""
    if not workspace.sensitive.is_dir():
        return PurgeResult()
    require_apart(user_ledger_place(), workspace.sensitive)  # a ledger in there would be purged with the rest
    descriptor = _lock(workspace, dataset)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return PurgeResult(is_busy=True)
        old = list(_old(workspace, dataset, time.time() - days * _DAY_SECONDS))
        found = PurgeResult(sum(map(is_folder, old)), sum(not is_folder(path) for path in old))
        if not dry:
            for path in old:
                forget_parts(path)
                remove(path)
                if path.parent.name != LOGS:
                    with suppress(OSError):  # something else is in it
                        path.parent.rmdir()
            _clear_results(workspace, dataset)
        return found
    finally:
        os.close(descriptor)


def _lock(workspace: Workspace, dataset: str) -> int:
    home = workspace.sensitive / dataset
    home.mkdir(parents=True, exist_ok=True)
    return os.open(home / ".in_use", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)


def _old(workspace: Workspace, dataset: str, oldest: float) -> Iterator[Path]:
    home = workspace.sensitive
    runs = [*entries(home / dataset), *(path for path in entries(home) if path.name.startswith(BATCHES))]
    for folder in filter(is_folder, runs):
        yield from (path for path in entries(folder) if _made(path) < oldest)
    yield from (path for path in entries(home / LOGS) if _made(path) < oldest)


def _made(path: Path) -> float:
    """When the newest file of a table was written: a folder's own time is when it was last of use."""
    files = [each for each in path.rglob("*") if not each.is_dir()] if is_folder(path) else []
    times = []
    for each in files or [path]:
        with suppress(OSError):
            times.append(each.lstat().st_mtime)
    return max(times, default=time.time())


def _clear_results(workspace: Workspace, dataset: str) -> None:
    for path in entries(workspace.results):
        with suppress(OSError, ValueError, KeyError, TypeError):
            table = json.loads(json.loads(path.read_text(encoding="utf-8"))["result"])["key"]
            if table.startswith(f"{SENSITIVE}/{dataset}/") and not (workspace.root / table).exists():
                path.unlink()
