"""Adding runs of numbers eight at a time, written as the compiler's own vectors.

Numba leaves it to LLVM to find what can be done for many numbers at once, and in loops of 8 it finds nothing.
The additions and their order are those of plain code, so the sums are the same on any machine.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

#: Numbers that are added at once.
LANES = 8

_VECTOR = ir.VectorType(ir.FloatType(), LANES)


def _add_runs(typing: Any, runs: Any, number: Any, first: Any, gradient: Any, sums: Any) -> Any:
    """sums[first + i] = the sum over all runs of gradient[run + first + i], i = 0 to 7.

    Args:
        typing: of numba.
        runs: int64, where each run begins in ``gradient``.
        number: int64, of runs.
        first: int64.
        gradient: float32. Nothing tests that places lie in it.
        sums: float32, written.
    """
    return types.void(runs, types.int64, types.int64, gradient, sums), _write_add_runs


def _write_add_runs(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the loop for LLVM."""
    number, first = arguments[1], arguments[2]
    runs, gradient, sums = (_data(context, builder, signature, arguments, place) for place in (0, 3, 4))
    total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))  # type: ignore[no-untyped-call]
    builder.store(ir.Constant(_VECTOR, [0.0] * LANES), total)
    with cgutils.for_range(builder, number) as loop:
        run = builder.load(builder.gep(runs, [loop.index]))
        part = builder.load(_lanes(builder, gradient, builder.add(run, first)), align=4)
        builder.store(builder.fadd(builder.load(total), part), total)
    builder.store(builder.load(total), _lanes(builder, sums, first), align=4)
    return context.get_dummy_value()


def _data(context: Any, builder: Any, signature: Any, arguments: Any, place: int) -> Any:
    """Where the numbers of an array lie."""
    return context.make_array(signature.args[place])(context, builder, arguments[place]).data


def _lanes(builder: Any, data: Any, place: Any) -> Any:
    """Eight numbers from a place on, as one vector."""
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


add_runs: Any = intrinsic(_add_runs)
