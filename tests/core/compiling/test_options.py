"""Numba does less for kernels, and what they compute stays the same."""

import math
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import event
from numba.core.compiler import Flags
from packaging.requirements import Requirement
from packaging.version import Version

from tasks.core.compiling.decorator import njit
from tasks.core.compiling.options import KernelFlags


class _Compilations(event.Listener):
    """What is compiled, and for which types."""

    def __init__(self) -> None:
        self.of: list[tuple[str, str, str]] = []

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        self.of.append((function.__module__, function.__qualname__, str(event.data["args"])))

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def compilations() -> Iterator[list[tuple[str, str, str]]]:
    listener = _Compilations()
    with event.install_listener("numba:compile", listener):
        yield listener.of


@njit()
def _inner_firsts(size):
    return np.full(size, 2, np.int16)[0]


@njit(nogil=True)
def _inner_firsts_without_lock(size):
    return np.full(size, 3, np.int16)[0]


@njit()
def firsts(size):
    return _inner_firsts(size) + _inner_firsts_without_lock(size) + np.full(size, 5, np.int16)[0]


def test_what_kernels_call_of_numpy_is_compiled_once_for_all_of_them():
    with compilations() as compiled:
        assert firsts(7) == 10
    assert any(module.startswith("numba.np") for module, _, _ in compiled)
    assert max(Counter(compiled).values()) == 1


@njit()
def _inverse(value):
    return np.divide(1.0, value) + 1.0 / value


@njit(error_model="numpy")
def _numpy_inverse(value):
    return np.divide(1.0, value) + 1.0 / value


@njit()
def inverse(value):
    return _inverse(value)


@njit(error_model="numpy")
def numpy_inverse(value):
    return _numpy_inverse(value)


def test_what_a_division_by_zero_is_follows_from_each_kernels_own_options():
    assert numpy_inverse(0.0) == math.inf
    with pytest.raises(ZeroDivisionError):
        inverse(0.0)
    assert inverse(2.0) == numpy_inverse(2.0) == 1.0


@pytest.mark.parametrize(
    ("name", "value", "is_equal"),
    [
        ("release_gil", True, True),
        ("no_cpython_wrapper", True, True),
        ("error_model", "numpy", False),
        ("fastmath", True, False),
        ("boundscheck", True, False),
        ("nrt", True, False),
    ],
)
def test_options_are_equal_where_what_a_kernel_calls_is(name, value, is_equal):
    flags = Flags()
    setattr(flags, name, value)
    one, other = KernelFlags(Flags()), KernelFlags(flags)
    assert (one == other) is is_equal
    assert hash(one) == hash(other)
    assert getattr(other, name) == getattr(flags, name)
    assert one == KernelFlags(Flags()) and one != Flags()


KERNELS = """
from tasks.core.compiling.decorator import njit

@njit(cache=True)
def added(value):
    return value + 1

@njit(cache=True)
def outer(value):
    return added(value)
"""


def test_a_kernel_that_kernels_alone_call_has_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "made_up_kernels.py").write_text(KERNELS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    from made_up_kernels import added, outer  # type: ignore[import-not-found]

    assert outer(1) == 2
    assert _names(tmp_path) == ["made_up_kernels.outer"]
    assert added(1) == 2  # from Python it is called as any other
    assert _names(tmp_path) == ["made_up_kernels.added", "made_up_kernels.outer"]


def _names(folder: Path) -> list[str]:
    return sorted({path.name.split("-")[0] for path in folder.rglob("*.nbi")})


def test_no_other_numba_is_allowed_than_the_one_that_was_tried():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    [numba] = (own for own in map(Requirement, project["project"]["dependencies"]) if own.name == "numba")
    tried = Version(version("numba"))
    assert tried in numba.specifier
    for other in (tried.minor - 1, tried.minor + 1):
        assert Version(f"{tried.major}.{other}.0") not in numba.specifier
