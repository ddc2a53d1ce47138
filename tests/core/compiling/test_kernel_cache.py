"""Compiled kernels: made once for a checkout, read by all its users, never from where others could write."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from numba.core.caching import UserProvidedCacheLocator

from tasks.core.compiling import kernel_cache
from tasks.core.compiling.kernel_cache import PUBLISHED

ROOT = Path(__file__).resolve().parents[3]
NOBODY = 65534
PACKAGE = "synthesis"


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Made-up kernels of this version, as `make setup` leaves them; the folder of one package."""
    monkeypatch.setattr(kernel_cache, "PUBLISHED", tmp_path / ".kernels")
    monkeypatch.setenv("MARGINALIA_CACHE", str(tmp_path / "own"))
    compiled = tmp_path / "numba"
    for package in kernel_cache._packages():
        (compiled / kernel_cache._numba_name(package)).mkdir(parents=True)
    home = kernel_cache._CORE / PACKAGE
    (compiled / kernel_cache._numba_name(home) / "kernel.nbi").write_bytes(b"compiled")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(compiled))
    place = kernel_cache.publish_kernels()
    assert place is not None
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    return place / PACKAGE


def found() -> list[Path]:
    """The kernels of that package that numba is given."""
    kernel_cache.use_kernel_cache()
    return list(Path(os.environ.pop("NUMBA_CACHE_DIR")).glob(f"{PACKAGE}_*/*"))


def test_numba_looks_where_published_kernels_are_copied_to():
    """The one thing that is taken over from inside numba."""
    for package in kernel_cache._packages():
        place = UserProvidedCacheLocator.get_suitable_cache_subpath(str(package / "kernels.py"))
        assert kernel_cache._numba_name(package) == place
    assert len({package.name for package in kernel_cache._packages()}) == len(kernel_cache._packages())


def test_what_was_published_is_in_every_users_own_cache_and_readable_by_all(published):
    (copy,) = found()
    assert copy.read_bytes() == b"compiled"
    assert stat.S_IMODE(copy.parents[1].stat().st_mode) == 0o700
    for folder in (published, published.parent, published.parents[1]):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert stat.S_IMODE((published / "kernel.nbi").stat().st_mode) == 0o644


def test_a_second_publication_leaves_one_version(published, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(published.parents[2] / "numba"))
    (published.parents[1] / "another version").mkdir()
    kernel_cache.publish_kernels()
    assert [path.name for path in published.parents[1].iterdir()] == [published.parent.name]


def test_who_has_a_copy_takes_what_is_published_later(published, monkeypatch):
    assert len(found()) == 1
    compiled = published.parents[2] / "numba"
    (compiled / kernel_cache._numba_name(kernel_cache._CORE / PACKAGE) / "later.nbi").write_bytes(b"compiled")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(compiled))
    kernel_cache.publish_kernels()
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert sorted(path.name for path in found()) == ["kernel.nbi", "later.nbi"]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_nothing_is_read_that_others_could_have_written(level, mode, published):
    path = published / "kernel.nbi"
    at = (path, *path.parents)[level]
    at.chmod(at.stat().st_mode | mode)
    assert found() == []
    assert "Other users could have changed those" in kernel_cache._why()


@pytest.mark.needs_root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file to another user")
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_nothing_is_read_that_belongs_to_another_user(level, published):
    path = published / "kernel.nbi"
    os.chown((path, *path.parents)[level], NOBODY, -1)
    assert found() == []


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_no_link_is_followed(level, published, tmp_path):
    path = published / "kernel.nbi"
    at = (path, *path.parents)[level]
    at.rename(tmp_path / "elsewhere")
    at.symlink_to(tmp_path / "elsewhere")
    assert found() == []


def test_a_user_without_a_cache_folder_has_one_of_the_process(published, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MARGINALIA_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (copy,) = found()
    assert copy.is_relative_to(tmp_path) and copy.read_bytes() == b"compiled"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(copy.parents[1]))
    assert "lost at the end" in kernel_cache.explanation()


@pytest.fixture(scope="module")
def checkout():
    """A copy of the code that other users can read, and the process that published its kernels."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "checkout"
        Path(name).chmod(0o755)
        without = shutil.ignore_patterns("__pycache__", "*.pyc")
        shutil.copytree(ROOT / "tasks", place / "tasks", ignore=without)
        yield place, called(place, os.geteuid(), Path(name) / "home-1", "publish")


#: The interpreter's own files may be closed to the other user: all is done once before rights are given up.
_CALL = """
import os, sys
sys.path.insert(0, os.getcwd())
user, home = int(sys.argv[1]), sys.argv[2]

def call():
    from tasks.core.random_kernels import below, stream
    return below(stream("a", 1), 10), below(stream("a", 2), 10)

if user != os.geteuid():
    from tasks.core.compiling.decorator import keep_quiet
    keep_quiet()
    call()
    import numba
    for name in [name for name in sys.modules if name.partition(".")[0] == "tasks"]:
        del sys.modules[name]
    del os.environ["NUMBA_CACHE_DIR"]
    os.environ["HOME"] = home
    os.setgroups([]); os.setgid(user); os.setuid(user)
    import tasks.core
    numba.config.reload_config()
os.environ["HOME"] = home
print(call())
if sys.argv[3:]:
    from tasks.core.compiling.kernel_cache import publish_kernels
    print(publish_kernels() is not None)
"""


def called(checkout: Path, user: int, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A kernel called by a process of a user with a home of its own; what it printed."""
    home.mkdir(exist_ok=True)
    os.chown(home, user, -1)
    inherited = {name: value for name, value in os.environ.items() if name not in _NAMES}
    command = [sys.executable, "-c", _CALL, str(user), str(home), *arguments]
    first = home if user == os.geteuid() else checkout.with_name("home-of-root")
    environment = inherited | {"HOME": str(first)}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


_NAMES = ("MARGINALIA_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH")


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("Compiling kernels")]


def test_another_home_compiles_nothing_and_one_line_tells_where_something_is_compiled(checkout):
    (place, first), me = checkout, os.geteuid()
    (line,) = lines(first)
    assert str(place.with_name("home-1")) in line
    assert f"{place}/.kernels has none of this version" in line
    assert lines(called(place, me, place.with_name("home-1"))) == []
    second = called(place, me, place.with_name("home-2"))
    assert lines(second) == []
    assert first.stdout == f"{second.stdout}True\n"
    # Nor does a checkout that was moved, or one whose files have new times.
    moved = place.with_name("moved")
    shutil.copytree(place, moved)
    assert lines(called(moved, me, place.with_name("home-3"))) == []
    # A kernel that was changed is another version.
    with (moved / "tasks" / "core" / "dp" / "kernels.py").open("a") as file:
        file.write("\n# changed\n")
    assert len(lines(called(moved, me, place.with_name("home-2")))) == 1


@pytest.mark.needs_root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_a_service_user_compiles_nothing_and_falls_back_to_its_own_cache_if_it_must(checkout):
    place, _ = checkout
    assert lines(called(place, NOBODY, place.with_name("home-of-nobody"))) == []
    assert list(place.with_name("home-of-nobody").rglob("*.nbc"))
    (published,) = (place / ".kernels").iterdir()
    published.chmod(0o777)
    (line,) = lines(called(place, NOBODY, place.with_name("another-home"), "publish"))
    published.chmod(0o755)
    assert str(place.with_name("another-home")) in line and "Other users could have changed those" in line


def test_the_published_kernels_lie_in_the_checkout():
    assert PUBLISHED == ROOT / ".kernels"
