"""Loads many modules at once without the garbage collector, which would walk through all of them many times.

What modules make stays to the end, so nothing is lost by it. A run that finds every step done spends most of
its time on loading, and a sixth of that went into these walks.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Load modules within."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
