"""SynDiffix's intervals and keyed hashes, written as the specification says it, slowly (X2.1, X2.2)."""

import hashlib
from fractions import Fraction
from math import floor, log, pi, sin, sqrt

SALT = b"syndiffix-bench!"


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
