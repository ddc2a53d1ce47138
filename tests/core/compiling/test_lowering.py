"""References that are borrowed are not counted, none is lost or kept; arrays arrive as they were passed."""

import gc
import sys
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import typeof, types
from numba.core import ir
from numba.core.compiler import run_frontend
from numba.core.datamodel import default_manager
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

from tasks.core.compiling.decorator import njit
from tasks.core.compiling.lowering import borrowed_names
from tasks.core.compiling.options import variables_of


class Parts(NamedTuple):
    low: np.ndarray
    high: np.ndarray
    flags: tuple[np.ndarray, int]


@njit()
def _swapped(parts, other):
    """Takes members out, gives some back, in a new tuple."""
    return Parts(parts.high, other, parts.flags), parts.low


@njit()
def _member(parts, wanted):
    low = parts.low
    if wanted == 0:
        return low
    if wanted == 1:
        return parts.flags[0]
    return np.full(3, 7)


@njit()
def _grown(parts, times):
    """A variable that begins as an argument's and ends as its own."""
    numbers = parts.low
    total = 0
    for turn in range(times):
        wider = np.zeros(len(numbers) + 1, np.int64)
        wider[: len(numbers)] = numbers
        wider[-1] = turn
        numbers = wider
        changed, first = _swapped(parts, numbers)
        parts_of_turn = changed.high
        total += parts_of_turn.sum() + first[0] + changed.low[1]
    return numbers, total


@njit()
def gathered(parts, times):
    alias = parts
    numbers, total = _grown(alias, times)
    for wanted in range(3):
        alias_of_member = _member(parts, wanted)
        total += alias_of_member[0]
    kept = parts.flags
    return _member(parts, 0), numbers, total, kept


def _parts() -> Parts:
    return Parts(np.arange(1, 4), np.arange(10, 14), (np.arange(20, 25), 3))


@pytest.fixture
def allocations():
    _nrt_python.memsys_enable_stats()
    yield rtsys.get_allocation_stats
    _nrt_python.memsys_disable_stats()


def test_no_reference_is_lost_or_kept(allocations):
    parts = _parts()
    arrays = (parts.low, parts.high, parts.flags[0])
    gathered(parts, 2)  # compiled
    gc.collect()
    counts = [sys.getrefcount(array) for array in arrays]
    before = allocations()
    for _ in range(20):
        low, numbers, total, kept = gathered(parts, 2)
        assert low is parts.low or np.shares_memory(low, parts.low)
        assert numbers.tolist() == [1, 2, 3, 0, 1]
        assert total == (6 + 1 + 11) + (7 + 1 + 11) + (1 + 20 + 7)
        assert kept[0].tolist() == parts.flags[0].tolist() and kept[1] == 3
        del low, numbers, kept
    after = allocations()
    assert [sys.getrefcount(array) for array in arrays] == counts
    assert after.alloc - before.alloc == after.free - before.free
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free > 0


@njit()
def only_taken(parts):
    low = parts.low
    total = 0
    for place in range(len(low)):
        total += low[place] + parts.high[place] + parts.flags[0][place]
    return total


@njit()
def last_of(parts):
    flags = parts[-1]
    return flags[-1] + flags[-2].sum() + parts[-3][0]


def test_members_are_counted_from_the_end_too():
    assert last_of(_parts()) == 3 + np.arange(20, 25).sum() + 1


def _blocks(function: Any) -> Any:
    return run_frontend(function.py_func).blocks


def test_arguments_and_what_is_in_them_are_borrowed():
    blocks = _blocks(only_taken)
    kinds = {"parts": typeof(_parts()), "arg.parts": typeof(_parts())}
    array, flags = typeof(np.arange(1)), typeof(_parts().flags)
    assigned = [own.target.name for block in blocks.values() for own in block.find_insts(ir.Assign)]
    counted = {name: assigned.count(name) for name in assigned}

    def kind_of(name: str) -> Any:
        return kinds.get(name, flags if "flags" in where.get(name, "") else array)

    where = {
        own.target.name: own.value.attr
        for block in blocks.values()
        for own in block.find_insts(ir.Assign)
        if isinstance(own.value, ir.Expr) and own.value.op == "getattr"
    }
    found = borrowed_names(blocks, counted, kind_of)
    assert {"parts", "low"} <= found
    assert set(where) <= found | {name for name in where if where[name] not in Parts._fields}
    assert "total" not in found
    assert not borrowed_names(blocks, dict.fromkeys(counted, 2), kind_of)


def test_kernels_that_kernels_alone_call_are_never_written_as_machine_code():
    only_inside = _member.get_overload.__self__
    gathered(_parts(), 1)
    assert only_inside.overloads
    assert all(own.library._compiled_object is None for own in only_inside.overloads.values())


@njit()
def _shown(array):
    return array.size, array.itemsize, array.nbytes, array.shape, array.strides


@njit()
def shown(pair):
    return _shown(pair[0]), pair[0], _shown(pair[1]), pair[1]


_MATRIX = np.arange(12.0).reshape(3, 4)
_FIXED = np.arange(3, dtype=np.uint16)
_FIXED.flags.writeable = False


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5),
        np.arange(5, dtype=np.int8)[1:4],
        np.arange(6.0)[::2],
        np.arange(6.0)[::-1],
        np.zeros(0, np.float32),
        np.array([True, False, True]),
        np.array([1 + 2j]),
        _MATRIX,
        _MATRIX.T,
        _MATRIX[:, 1],
        _FIXED,
        np.array(3),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}{array.strides}",
)
def test_arrays_arrive_as_they_were_passed(array):
    described, given, beside, other = shown((array, np.arange(2)))
    strides = array.strides if array.size else described[4]
    assert described == (array.size, array.itemsize, array.nbytes, array.shape, strides)
    assert beside == (2, 8, 16, (2,), (8,)) and other.tolist() == [0, 1]
    assert given.dtype == array.dtype and given.tolist() == array.tolist()
    assert given.flags.writeable == array.flags.writeable
    assert array.size == 0 or np.shares_memory(given, array)


def test_of_an_array_with_one_axis_four_values_are_passed():
    passed = {axes: default_manager.lookup(types.Array(types.int32, axes, "C")) for axes in (1, 2)}
    assert len(passed[1].get_argument_type()) == 4
    assert len(passed[2].get_argument_type()) == 7
    assert cpu_target.target_context.data_model_manager is default_manager


def _slow_variables(value: Any) -> list[ir.Var]:
    """As numba documents it: the variables in a part of an instruction, in order."""
    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, ir.Inst):
        return value.list_vars()
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return list(chain.from_iterable(map(_slow_variables, parts)))


@pytest.mark.parametrize("kernel", [gathered, _grown, _swapped, _member, shown], ids=lambda own: own.__name__)
def test_the_variables_of_an_instruction_are_numbas(kernel):
    seen = 0
    for block in _blocks(kernel).values():
        for instruction in block.body:
            for value in (instruction, instruction.__dict__, getattr(instruction, "value", None)):
                expected = _slow_variables(value)
                assert variables_of(instruction, value) == expected
                seen += len(expected)
    assert seen > 4
