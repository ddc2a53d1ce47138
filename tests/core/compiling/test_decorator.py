"""Kernels that kernels call: without files of their own, and once for all widths of integers."""

from pathlib import Path

import numpy as np

from tasks.core.compiling.decorator import njit

KERNELS = """
from tasks.core.compiling.decorator import njit

@njit(cache=True)
def added(value):
    return value + 1

@njit(cache=True)
def outer(value):
    return added(value)
"""


def test_a_kernel_that_kernels_alone_call_has_no_files(tmp_path, monkeypatch):
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


@njit()
def _doubled(value):  # type: ignore[no-untyped-def]
    return value * 2


@njit()
def all_doubled(narrow, unsigned, wide):  # type: ignore[no-untyped-def]
    return _doubled(narrow[0]), _doubled(unsigned[0]), _doubled(7), _doubled(wide[0])


def test_narrow_integers_and_constants_are_passed_as_64_bits_and_wide_unsigned_ones_wrap_around():
    narrow, unsigned = np.array([-(2**31)], np.int32), np.array([2**16 - 1], np.uint16)
    assert all_doubled(narrow, unsigned, np.array([2**63 + 1], np.uint64)) == (-(2**32), 2**17 - 2, 14, 2)
    overloads = _doubled.get_overload.__self__.overloads
    assert sorted(str(arguments) for arguments in overloads) == ["(int64,)", "(uint64,)"]
