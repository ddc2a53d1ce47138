"""Intervals of the slow trees' nodes: how they are halved, and what lies in them (X2.1)."""

from math import inf, nextafter

from tasks.core.syndiffix.intervals import Interval


def is_single(interval):
    """Whether it is a single value."""
    return interval.lower == interval.upper


def holds(interval, value):
    """Whether a value lies in it: its upper bound does not, unless it is a single value."""
    return interval.lower <= value < interval.upper or interval.lower == value == interval.upper


def middle(interval):
    """Where it is halved; of a single value, the value. Between neighbouring floats it is the upper bound."""
    between = interval.lower + interval.size / 2
    return between if between > interval.lower else interval.upper


def halves(interval):
    """The lower half and the upper half, which begins with the middle.

    Of neighbouring floats each half is one float: the lower half again lies between both.
    """
    between = middle(interval)
    end = nextafter(between, inf) if between == interval.upper else interval.upper
    return Interval(interval.lower, between), Interval(between, end)
