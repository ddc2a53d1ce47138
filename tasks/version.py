"""Which code made a release: the commit of the checkout, and a hash of its sources."""

import functools
import hashlib
import os
import subprocess
from pathlib import Path

from tasks.core.queries import SQL_ROOT

_TASKS = Path(__file__).resolve().parent
#: What pages and templates are made of is as much a source as the code.
_SOURCES = frozenset({".py", ".sql", ".toml", ".j2", ".css", ".js", ".tsv", ".json", ".xml", ".pq", ".dax"})


@functools.cache
def code_hash() -> str:
    """Hash of everything that can change what a step produces: the core, its templates, sentences, SQL."""
    digest = hashlib.sha256()
    for root in (_TASKS / "core", SQL_ROOT):
        for path in _sources(root):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _sources(root: Path) -> list[Path]:
    """Source files; of the explorer's libraries only what is in its bundle counts."""
    return sorted(path for path in _every_file(root) if path.suffix in _SOURCES)


def _every_file(root: Path) -> list[Path]:
    paths = []
    for folder, below, files in os.walk(root):
        below[:] = [name for name in below if name not in ("node_modules", "__pycache__")]
        paths += [Path(folder) / name for name in files]
    return paths


@functools.cache
def code_version() -> str:
    """Commit id, ``+changes`` where the checkout differs from it; outside a checkout a hash of the core."""
    if not (_TASKS.parent / ".git").exists():
        return f"sources-{code_hash()[:16]}"
    try:
        commit = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "flows", "tasks", "sql")
    except (OSError, subprocess.CalledProcessError):
        return f"sources-{code_hash()[:16]}"
    return f"{commit}+changes-{code_hash()[:8]}" if changed else commit


def _git(*arguments: str) -> str:
    # Whoever publishes may not own the checkout, and must see the same version as who measured.
    command = ["git", "-c", "safe.directory=*", "--no-optional-locks", "-C", str(_TASKS.parent), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
