"""``@njit`` of this project, in place of numba's: kernels call each other without what Python needs.

One line on standard error tells the first time that a process must compile, as that takes up to a minute;
nowhere else, as which kernels are missing can follow from the data.
"""

import sys
from typing import TYPE_CHECKING, Any

import numba
from numba.core import event, types
from numba.core.registry import cpu_target

from tasks.core.compiling.kernel_cache import explanation

if TYPE_CHECKING:  # decorated functions then have the types that numba gives them: any
    from numba import njit as njit
else:

    def njit(**options):
        """`numba.njit`, whose kernels are compiled apart for Python and for other kernels.

        A wrapper for Python unpacks each array of each tuple, and takes about as long to compile as the
        kernel; half of the kernels need none. Those have no files either: their code is in their callers'.
        """

        def compiled(function):
            kernel = numba.njit(**options)(function)
            inner = numba.njit(**options | {"cache": False, "no_cpython_wrapper": True})(function)
            _call_from_kernels(kernel, inner)
            return kernel

        return compiled


_NARROW = (types.int8, types.int16, types.int32, types.uint8, types.uint16)


def _call_from_kernels(kernel: Any, inner: Any) -> None:
    """Have kernels that call ``kernel`` call ``inner``, with 64-bit integers, whatever they hold.

    Else it is compiled anew for an int32, a uint16, and every constant that it is called with. No value
    changes by it; wider unsigned integers stay as they are, since they wrap around.
    """

    def widened(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return inner.get_call_template(
            tuple(map(_wide, args)), {name: _wide(argument) for name, argument in kws.items()}
        )

    kernel.get_call_template = widened
    kernel.get_overload = inner.get_overload


def _wide(argument: Any) -> Any:
    plain = argument.literal_type if isinstance(argument, types.IntegerLiteral) else argument
    return types.int64 if plain in _NARROW else plain


class _Announcement(event.Listener):
    told = False

    def on_start(self, event: Any) -> None:
        if not self.told:
            self.told = True
            said = "Compiling kernels: the inner loops, once for this machine, in about a minute."
            sys.stderr.write(f"{said} {explanation()}\n")
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        pass


_announcement = _Announcement()
event.register("numba:compile", _announcement)  # type: ignore[no-untyped-call]


def keep_quiet() -> None:
    """Tell nothing in this process: the caller says itself what it compiles."""
    _announcement.told = True


def load_declarations() -> None:
    """Load all that numba can compile, as it does before its first kernel: a fork then has it already."""
    cpu_target.target_context.refresh()
