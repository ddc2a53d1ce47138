"""What makes numba compile the kernels of this project with less work; the code that comes out is the same.

Most of the time goes to typing, and writing in Python, what LLVM is given; some of that is for nobody.
"""

from typing import Any

from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target

#: What no function that a kernel calls takes over from it.
_NOT_TAKEN_OVER = frozenset(("inline", "no_cfunc_wrapper", "no_cpython_wrapper", "release_gil"))


class KernelFlags(compiler.Flags):
    """Options of one kernel, equal where what it calls of NumPy is the same.

    By them numba finds what it has compiled. Its own are compared by making dictionaries of all 30, a hundred
    times for a line; and two kernels of which one has no Python wrapper would each compile `np.zeros`.
    """

    def __init__(self, copy_from: Any = None) -> None:
        super().__init__(copy_from)  # type: ignore[no-untyped-call]
        options: dict[str, Any] = self.values()  # type: ignore[no-untyped-call]
        self._taken_over = {name: own for name, own in options.items() if name not in _NOT_TAKEN_OVER}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KernelFlags) and bool(self._taken_over == other._taken_over)

    def __hash__(self) -> int:
        return hash(KernelFlags)


class _LibraryOfBodies(JITCodeLibrary):
    """Compiled code of one kernel, in which LLVM looks at functions that have a body alone."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()  # type: ignore[no-untyped-call]
                passes.run(function, builder)


def use_numba_options() -> None:
    """Leave out what nobody uses: passes over declarations, and wrappers for callers in C."""
    context = cpu_target.target_context
    context.codegen()._library_class = _LibraryOfBodies
    context.create_cfunc_wrapper = lambda *_: None
