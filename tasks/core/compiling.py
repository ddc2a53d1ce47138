"""How kernels are compiled: ``@njit`` of this project, in place of numba's.

One line on standard error tells the first time that a process must compile, as that takes up to two minutes;
nowhere else, as which kernels are missing can follow from the data.
"""

import sys
from typing import TYPE_CHECKING, Any

import numba
from numba.core import event

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
            return numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=is_inner, **options)(function)

        return compiled


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
