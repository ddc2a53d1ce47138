"""The user's cache: compiled kernels and noise tables, which can always be made again.

MARGINALIA_CACHE, else ``marginalia`` in the user's XDG cache folder. Nothing that was read off data.
"""

import hashlib
import os
import stat
from pathlib import Path

_CORE = Path(__file__).resolve().parent


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


def use_kernel_cache() -> None:
    """Have numba keep compiled kernels under a hash of all kernels' sources.

    Numba looks only at the file of the kernel itself: after a change in a kernel that it calls from another
    file, it would go on using the old code.
    """
    digest = hashlib.sha256()
    for path in sorted(_CORE.rglob("*kernels.py")):
        digest.update(path.relative_to(_CORE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    folder = cache_folder(f"kernels-{digest.hexdigest()[:16]}")
    if folder is not None:
        os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))


def _user_cache() -> Path:
    configured = os.environ.get("XDG_CACHE_HOME")
    return Path(configured) if configured else Path.home() / ".cache"
