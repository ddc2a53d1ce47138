"""The user's own cache: compiled kernels and noise tables, which can always be made again.

MARGINALIA_CACHE, else ``marginalia`` in the user's XDG cache folder. Nothing that was read off data.
"""

import os
import stat
from pathlib import Path


def cache_folder(name: str) -> Path | None:
    """A folder of the cache that nobody else can write, or None where there can be none."""
    base = os.environ.get("MARGINALIA_CACHE")
    try:
        root = Path(base) if base else _user_cache() / "marginalia"
        folder = root / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except (OSError, RuntimeError):
        return None
    return folder if stat.S_ISDIR(found.st_mode) and is_ours(found) else None


def is_ours(found: os.stat_result) -> bool:
    """Whether it belongs to this user and nobody else can write it."""
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _user_cache() -> Path:
    configured = os.environ.get("XDG_CACHE_HOME")
    return Path(configured) if configured else Path.home() / ".cache"
