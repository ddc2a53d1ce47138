"""Which code made a release: the commit of the checkout, and a hash of its sources."""

import functools
import hashlib
import os
import subprocess
from pathlib import Path

from tasks.core.queries import SQL_ROOT

_TASKS = Path(__file__).resolve().parent
#: What the pages are made of is as much a source as the code.
_SOURCES = frozenset({".py", ".sql", ".toml", ".j2", ".css", ".js", ".tsv"})


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
    found = []
    for folder, below, files in os.walk(root):
        below[:] = [name for name in below if name != "node_modules"]
        found += [Path(folder) / name for name in files if Path(name).suffix in _SOURCES]
    return sorted(found)


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
