"""Adding runs of numbers eight at a time, written as the compiler's own vectors; and fetching ahead.

Numba leaves it to LLVM to find what can be done for many numbers at once, and in loops of 8 it finds nothing.
The additions and their order are those of plain code, so the sums are the same on any machine.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

#: Numbers that are added at once.
LANES = 8
#: Numbers of four bytes that `fetch` brings near.
FETCHED = 16

_VECTOR = ir.VectorType(ir.FloatType(), LANES)


def _adder(vectors: int) -> Any:
    """The intrinsic that adds `LANES` times some numbers of each run."""

    def add_runs(
        typing: Any, runs: Any, begin: Any, number: Any, first: Any, gradient: Any, sums: Any
    ) -> Any:
        """sums[first + i] = the sum of gradient[run + first + i] over the runs from ``begin`` on.

        Args:
            typing: of numba.
            runs: int64, where each run begins in ``gradient``.
            begin: int64, the first of them.
            number: int64, of runs.
            first: int64.
            gradient: float32. Nothing tests that places lie in it.
            sums: float32, written; i = 0 to LANES * vectors - 1.
        """
        integer = types.int64
        return types.void(runs, integer, integer, integer, gradient, sums), write

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write the loop for LLVM."""
        begin, number, first = arguments[1:4]
        runs, gradient, sums = (_data(context, builder, signature, arguments, place) for place in (0, 4, 5))
        zeros = ir.Constant(_VECTOR, [0.0] * LANES)
        totals = [cgutils.alloca_once_value(builder, zeros) for _ in range(vectors)]  # type: ignore[no-untyped-call]
        for total in totals:
            builder.store(zeros, total)
        with cgutils.for_range(builder, number) as loop:
            run = builder.load(builder.gep(runs, [builder.add(begin, loop.index)]))
            for vector, total in enumerate(totals):
                place = builder.add(builder.add(run, first), ir.Constant(ir.IntType(64), vector * LANES))
                part = builder.load(_lanes(builder, gradient, place), align=4)
                builder.store(builder.fadd(builder.load(total), part), total)
        for vector, total in enumerate(totals):
            place = builder.add(first, ir.Constant(ir.IntType(64), vector * LANES))
            builder.store(builder.load(total), _lanes(builder, sums, place), align=4)
        return context.get_dummy_value()

    return intrinsic(add_runs)


def _data(context: Any, builder: Any, signature: Any, arguments: Any, place: int) -> Any:
    """Where the numbers of an array lie."""
    return context.make_array(signature.args[place])(context, builder, arguments[place]).data


def _lanes(builder: Any, data: Any, place: Any) -> Any:
    """Eight numbers from a place on, as one vector."""
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


#: Of one vector of numbers, and of two: two sums at once take hardly longer than one.
add_runs: Any = _adder(1)
add_long_runs: Any = _adder(2)


def _fetch(typing: Any, array: Any, place: Any) -> Any:
    """Have the processor bring some of an array near while it goes on; nothing is read.

    Args:
        typing: of numba.
        array: without gaps.
        place: int64, in the flat array. It may lie outside.
    """
    return types.void(array, types.int64), _write_fetch


def _write_fetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instruction for LLVM."""
    place = builder.gep(_data(context, builder, signature, arguments, 0), [arguments[1]])
    address = builder.bitcast(place, ir.IntType(8).as_pointer())
    flag = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")  # type: ignore[no-untyped-call]
    # To be read, kept near for long, data and not instructions.
    builder.call(prefetch, [address, *(ir.Constant(flag, value) for value in (0, 3, 1))])
    return context.get_dummy_value()


fetch: Any = intrinsic(_fetch)
