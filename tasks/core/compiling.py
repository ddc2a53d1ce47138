"""How kernels are compiled: ``@njit`` of this project, in place of numba's.

One line on standard error tells the first time that a process must compile, as that takes up to two minutes;
nowhere else, as which kernels are missing can follow from the data.
"""

import sys
from typing import TYPE_CHECKING, Any

import numba
from numba.core import event, types

from tasks.core.kernel_cache import explanation

if TYPE_CHECKING:  # decorated functions then have the types that numba gives them: any
    from numba import njit as njit
else:

    def njit(**options):
        """`numba.njit`, without what nobody uses: C callers and, for ``_names``, Python callers.

        A kernel whose name begins with an underscore is called by kernels alone. Its Python wrapper would
        unpack each array of each tuple, and take about as long to compile as the kernel.
        """

        def compiled(function):
            is_inner = function.__name__.startswith("_")
            kernel = numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=is_inner, **options)(function)
            _take_one_integer(kernel)
            return kernel

        return compiled


_NARROW = (types.int8, types.int16, types.int32, types.uint8, types.uint16)


def _take_one_integer(kernel: Any) -> None:
    """Have kernels call this one with 64-bit integers, whatever they hold.

    Else each is compiled anew for an int32, a uint16, and every constant that it is called with. No value
    changes by it; wider unsigned integers stay as they are, since they wrap around.
    """
    chosen = kernel.get_call_template

    def widened(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return chosen(tuple(map(_wide, args)), {name: _wide(own) for name, own in kws.items()})

    kernel.get_call_template = widened


def _wide(own: Any) -> Any:
    """The type that an argument of this type is passed as."""
    plain = own.literal_type if isinstance(own, types.IntegerLiteral) else own
    return types.int64 if plain in _NARROW else plain


class _Announcement(event.Listener):
    """Tells once, when the first kernel is compiled."""

    told = False

    def on_start(self, event: Any) -> None:
        """A kernel is about to be compiled: it is in no cache."""
        if not self.told:
            self.told = True
            sys.stderr.write(f"Compiling kernels: up to two minutes in all. {explanation()}\n")
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        """Nothing to tell."""


_announcement = _Announcement()
event.register("numba:compile", _announcement)  # type: ignore[no-untyped-call]


def keep_quiet() -> None:
    """Tell nothing in this process: the caller says itself what it compiles."""
    _announcement.told = True
