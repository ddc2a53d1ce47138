"""Which code made a release: the commit of the checkout, or a hash of its sources."""

import functools
import subprocess

from tasks.caching import CODE_ROOT, code_hash


@functools.cache
def code_version() -> str:
    """Commit id, ``+changes`` where the checkout differs from it; outside a checkout a hash of the core."""
    root = CODE_ROOT.parent
    if not (root / ".git").exists():
        return f"sources-{code_hash()[:16]}"
    try:
        commit = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "flows", "tasks", "sql")
    except (OSError, subprocess.CalledProcessError):
        return f"sources-{code_hash()[:16]}"
    return f"{commit}+changes-{code_hash()[:8]}" if changed else commit


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(CODE_ROOT.parent), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()
