"""SynDiffix's intervals and counters, written as the specification says it, slowly (X2.1 to X2.6)."""

import hashlib
from collections import Counter
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


def keyed(step, seed):
    secret = hashlib.sha256(SALT + bytes((seed >> (8 * i)) % 256 for i in range(8))).digest()
    return text_hash(step) ^ bytes_to_seed(secret)


def normal(seed):
    u1 = max((seed % 2**31) / (2**31 - 1), 2.220446049250313e-16)
    u2 = ((seed // 2**32) % 2**31) / (2**31 - 1)
    return sqrt(-2 * log(u1)) * sin(2 * pi * u2)


def xor_all(hashes):
    result = 0
    for h in hashes:
        result ^= h
    return result


def is_low(hashes, threshold, sd, gap):
    """The low-count test over rows' hashes, 0 for a missing id."""
    entities = set(hashes) - {0}
    if len(entities) < threshold:
        return True
    noise = sd * normal(keyed("suppress", xor_all(entities)))
    return len(entities) < threshold + gap * sd + noise


def largest_fitting(outlier, top, entities):
    """Upper bounds that fit: one is taken from each in turn, top first, while it has any to give."""
    if entities < outlier[0] + top[0] or entities == 0:
        return None
    a, b = outlier[1], top[1]
    excess = max(a + b - entities, 0)
    give_a, give_b = excess // 2, excess - excess // 2
    while give_a > a - outlier[0]:
        give_a, give_b = give_a - 1, give_b + 1
    while give_b > b - top[0]:
        give_a, give_b = give_a + 1, give_b - 1
    return (outlier[0], a - give_a), (top[0], b - give_b)


def flattened(hashes, bucket_seed, outlier, top, layer_sd):
    """(count, flattening, sd, noise) over rows' hashes, or None."""
    rows = Counter(h for h in hashes if h)
    fitting = largest_fitting(outlier, top, len(rows))
    if fitting is None:
        return None
    (o_low, o_high), (t_low, t_high) = fitting
    ranked = sorted(((amount, h) for h, amount in rows.items()), reverse=True)
    seed = xor_all(h for _, h in ranked[: o_high + t_high])
    o = o_low + keyed("outlier", seed) % (o_high - o_low + 1)
    t = t_low + keyed("top", seed) % (t_high - t_low + 1)
    after = [amount for amount, _ in ranked[o : o + t]]
    average = sum(after) / len(after) if after else 0.0
    flattening = sum(max(amount - average, 0.0) for amount, _ in ranked[:o])
    accounted = sum(rows.values()) - flattening
    unaccounted = max(hashes.count(0) - flattening, 0)
    sd = layer_sd * max(accounted / len(rows), average / 2)
    noise = sum(sd * normal(keyed("noise", s)) for s in (bucket_seed, xor_all(rows)))
    return accounted + unaccounted, flattening, sd, noise
