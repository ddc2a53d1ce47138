"""SynDiffix's intervals and keyed hashes as specified, slowly (X2.1, X2.2); parameters of its tests."""

import hashlib
from fractions import Fraction
from math import floor, inf, log, nextafter, pi, sin, sqrt

from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    BucketizationParameters,
    FlatteningInterval,
    SuppressionParameters,
)

SALT = b"syndiffix-bench!"
NAN = float("nan")
TWO = FlatteningInterval(2, 2)
NOISY = AnonymizationParameters(SALT)
NOISELESS = AnonymizationParameters(SALT, SuppressionParameters(3, 0.0, 2.0), TWO, TWO, 0.0)
GAPLESS = AnonymizationParameters(SALT, SuppressionParameters(3, 0.0, 0.0), TWO, TWO, 0.0)
LOUD = AnonymizationParameters(SALT, SuppressionParameters(2, 2.0, 0.5), layer_noise_sd=4.0)
# Small thresholds, so that branches, stubs, nulls and outliers all occur in small tables.
LIMITS = BucketizationParameters(3, 6)


def smallest_size(lower, upper):
    """The smallest 2^i for which some interval [j 2^(i-1), (j + 2) 2^(i-1)] holds lower..upper."""
    lower, upper = Fraction(lower), Fraction(upper)
    size = Fraction(1, 2**1074)
    while (floor(lower / (size / 2)) + 2) * (size / 2) < upper:
        size *= 2
    return size


def bytes_to_seed(content):
    return sum(byte << (8 * i) for i, byte in enumerate(content[:8]))


def text_hash(text):
    return bytes_to_seed(hashlib.blake2b(text.encode(), digest_size=8).digest())


def keyed(step, seed, salt=SALT):
    secret = hashlib.sha256(salt + bytes((seed >> (8 * i)) % 256 for i in range(8))).digest()
    return text_hash(step) ^ bytes_to_seed(secret)


def normal(seed):
    u1 = max((seed % 2**31) / (2**31 - 1), 2.220446049250313e-16)
    u2 = ((seed // 2**32) % 2**31) / (2**31 - 1)
    return sqrt(-2 * log(u1)) * sin(2 * pi * u2)


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
