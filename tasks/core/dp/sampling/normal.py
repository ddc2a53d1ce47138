"""High-precision arithmetic for laws and accounting: the normal distribution beyond double precision.

In and out: numbers of mpmath's own context, made here and used by nobody else. mpmath keeps its
precision and its constants in shared state, so every use holds one lock.
"""

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath

Mpf: TypeAlias = Any
"""A number of mpmath (which has no types)."""

_CONTEXT = mpmath.MPContext()
_LOCK = threading.RLock()


def _unlock_after_fork() -> None:
    """A child must not wait for a thread that only its parent has."""
    global _LOCK
    _LOCK = threading.RLock()


os.register_at_fork(after_in_child=_unlock_after_fork)


@contextmanager
def precision(bits: int) -> Iterator[Any]:
    """The functions of mpmath at ``bits`` bits, for this thread alone while it holds the lock."""
    with _LOCK, _CONTEXT.workprec(bits):
        yield _CONTEXT


def exact_number(value: float | Fraction | Mpf) -> Mpf:
    """The value as an mpf: exact for floats and integers, rounded to the precision for fractions."""
    with _LOCK:
        if isinstance(value, Fraction):
            return _CONTEXT.mpf(value.numerator) / value.denominator
        return _CONTEXT.mpf(value)


def upper_tail(x: Mpf) -> Mpf:
    """Q(x) = P(N(0,1) >= x) with the relative accuracy of the current precision."""
    return _CONTEXT.erfc(x / _CONTEXT.sqrt(2)) / 2


def upper_quantile(tail: Mpf) -> Mpf:
    """The z with Q(z) = tail, for 0 < tail < 1, to the current precision (Newton on log Q).

    log Q is concave and decreasing, so its tangents lie above it: from any start the next iterate is
    right of the solution and the rest descend to it.
    """
    if tail > 0.5:
        return -upper_quantile(1 - tail)
    goal = _CONTEXT.log(tail)
    z = _CONTEXT.sqrt(-2 * goal) if tail < 0.1 else _CONTEXT.mpf(0)
    tolerance = _CONTEXT.ldexp(1, 12 - _CONTEXT.prec)
    for _ in range(200):
        q = upper_tail(z)
        density = _CONTEXT.exp(-z * z / 2) / _CONTEXT.sqrt(2 * _CONTEXT.pi)
        step = (_CONTEXT.log(q) - goal) * q / density
        z += step
        if abs(step) <= tolerance * (1 + abs(z)):
            break
    return z


def float_below(x: Mpf) -> float:
    """The largest float that is <= x."""
    near = float(x)
    while _CONTEXT.mpf(near) > x:
        near = math.nextafter(near, -math.inf)
    return near


def float_above(x: Mpf) -> float:
    """The smallest float that is >= x."""
    near = float(x)
    while _CONTEXT.mpf(near) < x:
        near = math.nextafter(near, math.inf)
    return near
