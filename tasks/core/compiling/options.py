"""What makes numba compile the kernels of this project with less work; what they compute is the same.

Most of the time goes to typing, and writing in Python, what LLVM is given; some of that is for nobody. This
is about the inside of one numba: `pyproject.toml` allows no other.
"""

import functools
from typing import Any

from llvmlite.binding import ffi  # type: ignore[import-untyped]
from numba.core import compiler, ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.datamodel.registry import default_manager
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering
from numba.core.types.abstract import _TypeMetaclass

from tasks.core.compiling.lowering import ArrayOfKernel, KernelLowering, KernelReferences

#: What no function that a kernel calls takes over from it.
_NOT_TAKEN_OVER = frozenset(("inline", "no_cfunc_wrapper", "no_cpython_wrapper", "release_gil"))

_WITHOUT_VARIABLES = frozenset((str, int, bool, type(None), type(ir.UNDEFINED), ir.Loc))


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


class _Library(JITCodeLibrary):
    """Compiled code of one kernel.

    LLVM looks at functions that have a body alone, and writes machine code where a function is asked for.
    Most kernels have no wrapper, and are only linked into those that call them.
    """

    _is_written = False

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()  # type: ignore[no-untyped-call]
                passes.run(function, builder)

    def _finalize_final_module(self) -> None:
        if self._shared_module is not None:  # read from a file
            self._write()
        else:
            self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
            self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
            self._finalized = True

    def _write(self) -> None:
        self._is_written = True
        self._dynamic_globals.clear()
        super()._finalize_final_module()  # type: ignore[no-untyped-call]

    def get_pointer_to_function(self, name: str) -> Any:
        """Its address, 0 where this library has none of this name."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        if not self._is_written and any(
            own.name == name and not own.is_declaration for own in self._final_module.functions
        ):
            self._write()
        return super().get_pointer_to_function(name)  # type: ignore[no-untyped-call]


def variables_of(instruction: Any, value: Any) -> list[ir.Var]:
    """The variables in a part of an instruction, in order; numba asks for them all the time."""
    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, ir.Inst):
        return value.list_vars()  # type: ignore[no-any-return, no-untyped-call]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    found = []
    for part in parts:
        if type(part) is ir.Var:
            found.append(part)
        elif type(part) not in _WITHOUT_VARIABLES:
            found.extend(variables_of(instruction, part))
    return found


def use_numba_options() -> None:
    """Leave out what nobody uses, and write less of what LLVM would remove."""
    context = cpu_target.target_context
    codegen = context.codegen()
    codegen._library_class = _Library
    codegen.set_env = functools.partial(_set_environment, codegen)
    context.create_cfunc_wrapper = lambda *_: None
    context.nrt = KernelReferences(context, True)
    NativeLowering.lowering_class = KernelLowering  # type: ignore[assignment, method-assign]
    ir.Inst._rec_list_vars = variables_of  # type: ignore[method-assign]
    default_manager.register(types.Array, ArrayOfKernel)  # type: ignore[no-untyped-call]
    default_manager._cache.clear()
    # Abstract base classes ask for classes that were registered as theirs; none of numba's types was.
    _TypeMetaclass.__instancecheck__ = type.__instancecheck__  # type: ignore[method-assign]
    _TypeMetaclass.__subclasscheck__ = type.__subclasscheck__  # type: ignore[method-assign]
    ffi.lib._lock._cblist.clear()  # timers of each call of LLVM, that nobody reads


def _set_environment(codegen: Any, name: str, environment: Any) -> None:
    """Where the kernel was written as machine code; else it has no place for one."""
    if codegen._engine.is_symbol_defined(name):
        type(codegen).set_env(codegen, name, environment)
