"""Where compiled kernels are kept: published in the checkout, used from the user's own cache.

    make setup ──compiles──▶ own cache ──publish──▶ .kernels/ in the checkout ──copy──▶ other users' caches

Numba's files are pickles: whoever can write one runs code as whoever reads it. So numba is only ever given a
folder that nobody else can write, and a file of the checkout is copied there only if nobody could have
written it who could not change the code itself.
"""

import atexit
import functools
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

_CORE = Path(__file__).resolve().parents[1]
#: The checkout's kernels: readable by all, written by `make setup` and `make kernels` alone.
PUBLISHED = _CORE.parents[1] / ".kernels"
_TEMPORARY = "marginalia-kernels-"


class UntrustedError(Exception):
    """Somebody who can't change the code could have written a published file."""


def cache_folder(name: str) -> Path | None:
    """A folder of the user's cache that nobody else can write, or None where there can be none.

    The cache is MARGINALIA_CACHE, else ``marginalia`` in the user's XDG cache folder. What is in it can
    always be made again, and was never read off data.
    """
    base = os.environ.get("MARGINALIA_CACHE")
    try:
        xdg = os.environ.get("XDG_CACHE_HOME")
        user = Path(xdg) if xdg else Path.home() / ".cache"
        folder = (Path(base) if base else user / "marginalia") / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.lstat()
    except (OSError, RuntimeError):
        return None
    return folder if stat.S_ISDIR(facts.st_mode) and is_ours(facts) else None


def is_ours(facts: os.stat_result) -> bool:
    """Whether it belongs to this user and nobody else can write it."""
    return facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


def use_kernel_cache() -> None:
    """Name numba's folder, before numba is imported; filled from the checkout where that can be trusted."""
    if "NUMBA_CACHE_DIR" in os.environ:  # of the process that started this one, or set by the user
        return
    folder = _copied_to_own_cache() or cache_folder(f"kernels-{_identity_of_place()}")
    os.environ["NUMBA_CACHE_DIR"] = str(folder or _temporary())


def publish_kernels() -> Path | None:
    """Copy this process's kernels to the checkout; None where this user can't write there.

    Raises:
        OSError: the disk is full, or another process publishes at the same time.
    """
    part = PUBLISHED / f".{os.getpid()}.part"
    try:
        PUBLISHED.mkdir(exist_ok=True)
        PUBLISHED.chmod(0o755)
        part.mkdir()
    except PermissionError:
        return None
    own = Path(os.environ["NUMBA_CACHE_DIR"])
    for package in _packages():
        (part / package.name).mkdir()
        for path in (own / _numba_name(package)).glob("*.nb[ic]"):
            shutil.copyfile(path, part / package.name / path.name)
            (part / package.name / path.name).chmod(0o644)
        (part / package.name).chmod(0o755)
    part.chmod(0o755)
    for earlier in PUBLISHED.iterdir():
        if earlier != part:
            shutil.rmtree(earlier)
    return part.rename(PUBLISHED / _identity())


def explanation() -> str:
    """Where kernels that are compiled now are kept, and why they are not those of the checkout."""
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    if folder.parent.name.startswith(_TEMPORARY):
        return f"This user has no cache folder, so they are lost at the end. {_why()}"
    return f"Later runs find them in {folder}. {_why()}"


def _why() -> str:
    try:
        for _ in _files(PUBLISHED / _identity()):
            pass
    except OSError:
        return f"{PUBLISHED} has none of this version: `make setup` compiles them once for all users."
    except UntrustedError:
        return f"Other users could have changed those in {PUBLISHED}, so they are not used: run `make setup`."
    return (
        f"Those in {PUBLISHED} do not fit: this run needs more than `make setup` compiles (`make kernels` "
        "compiles all, once for all users), or they are for another kind of processor. Nothing is wrong."
    )


def _copied_to_own_cache() -> Path | None:
    """A copy of the checkout's kernels in the user's own cache; None where there can be none.

    A copy is made once for each publication, whole or not at all: numba does not look whether the parts of
    a kernel's files belong together.
    """
    parent = cache_folder("kernels")
    if parent is None:
        return None
    published, part = PUBLISHED / _identity(), parent / f".{os.getpid()}.part"
    try:
        name = f"kernels-{_identity_of_place()}-{published.lstat().st_mtime_ns}"
        if not (parent / name).is_dir():
            _copy(published, part)
            with suppress(OSError):  # another process was faster
                part.rename(parent / name)
    except (OSError, UntrustedError):
        return None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return cache_folder(f"kernels/{name}")


def _copy(published: Path, folder: Path) -> None:
    """Copy trusted files to where numba looks for them.

    Raises:
        UntrustedError: one of them can't be trusted; what was copied is to be removed.
        OSError: there are none, or they can't be copied.
    """
    packages = {package.name: package for package in _packages()}
    folder.mkdir(mode=0o700)
    for path in _files(published):
        home = folder / _numba_name(packages[path.parent.name])
        home.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as source:
            _require(stat.S_ISREG, os.fstat(descriptor))
            (home / path.name).write_bytes(source.read())


def _files(published: Path) -> Iterator[Path]:
    for folder in (PUBLISHED, published):
        _require(stat.S_ISDIR, folder.lstat())
    for package in _packages():
        folder = published / package.name
        _require(stat.S_ISDIR, folder.lstat())
        for path in folder.iterdir():
            _require(stat.S_ISREG, path.lstat())
            yield path


def _require(is_kind: Callable[[int], bool], found: os.stat_result) -> None:
    """Only who could also change the code may have written it: root, its owner, this user.

    Raises:
        UntrustedError: somebody else could have.
    """
    owners = {0, os.geteuid(), _CORE.stat().st_uid}
    if not is_kind(found.st_mode) or found.st_uid not in owners or found.st_mode & 0o022:
        raise UntrustedError


def _temporary() -> Path:
    """A folder of this process, for a user without a home; filled from the checkout where possible."""
    parent = Path(tempfile.mkdtemp(prefix=_TEMPORARY))
    atexit.register(shutil.rmtree, parent, ignore_errors=True)
    try:
        _copy(PUBLISHED / _identity(), parent / "kernels")
    except (OSError, UntrustedError):
        shutil.rmtree(parent / "kernels", ignore_errors=True)
        (parent / "kernels").mkdir()
    return parent / "kernels"


@functools.cache
def _identity() -> str:
    """Hash of what compiled kernels follow from, but for the processor: all their sources, Python, numba.

    Numba looks only at the file of the kernel itself: after a change in a kernel that it calls from another
    file, it would go on using the old code.
    """
    digest = hashlib.sha256(f"{sys.version_info[:2]} {version('numba')}".encode())
    for path in sorted([*(_CORE / "compiling").glob("*.py"), *_CORE.rglob("*kernels.py")]):
        digest.update(path.relative_to(_CORE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _identity_of_place() -> str:
    return f"{_identity()}-{hashlib.sha256(str(_CORE).encode()).hexdigest()[:8]}"


def _packages() -> list[Path]:
    """The folders that have kernels; their names differ."""
    return sorted({path.parent for path in _CORE.rglob("*kernels.py")})


def _numba_name(package: Path) -> str:
    """How numba calls the folder of a package's kernels; if that changes, kernels are compiled again."""
    return f"{package.name}_{hashlib.sha1(str(package).encode()).hexdigest()}"
