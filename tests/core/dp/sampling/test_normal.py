import math
import os
import threading
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp.sampling import normal
from tasks.core.dp.sampling.normal import (
    exact_number,
    float_above,
    float_below,
    precision,
    upper_quantile,
    upper_tail,
)


@settings(max_examples=60, deadline=None)
@given(st.floats(-180, -0.001))
def test_the_quantile_inverts_the_tail(exponent):
    with precision(300) as mp:
        for tail in (mp.exp(exponent), 1 - mp.exp(exponent)):
            assert abs(upper_tail(upper_quantile(tail)) / tail - 1) < mp.ldexp(1, -270)


def test_the_quantile_of_one_half_is_zero():
    with precision(200) as mp:
        assert abs(upper_quantile(mp.mpf(1) / 2)) < mp.ldexp(1, -190)


@pytest.mark.parametrize("x", ["0.1", "-0.1", "1", "1e300", "-7.25", "3e-310"])
def test_floats_are_rounded_in_the_direction_that_is_asked(x):
    exact = Fraction(x)
    with precision(1200):
        low, high = float_below(exact_number(exact)), float_above(exact_number(exact))
    assert Fraction(low) <= exact <= Fraction(high)
    assert low == high or math.nextafter(low, math.inf) == high


def test_threads_with_different_precisions_do_not_disturb_each_other():
    with mpmath.workprec(2000):
        expected = {bits: mpmath.ncdf(-mpmath.mpf(7)) for bits in (100, 500, 1500)}
    wrong = []

    def compute(bits):
        for _ in range(200):
            with precision(bits) as mp:
                if abs(upper_tail(mp.mpf(7)) / mp.mpf(expected[bits]) - 1) > mp.ldexp(1, 8 - bits):
                    wrong.append(bits)

    threads = [threading.Thread(target=compute, args=(bits,)) for bits in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_child_does_not_wait_for_a_thread_of_its_parent():
    held, done = threading.Event(), threading.Event()

    def hold():
        with precision(100):
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        free = normal._LOCK.acquire(timeout=5)
        os._exit(0 if free else 1)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
