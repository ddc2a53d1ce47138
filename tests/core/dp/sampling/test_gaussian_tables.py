import hashlib
import os
import stat
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tasks.core.dp.sampling import gaussian_tables
from tasks.core.dp.sampling.gaussian_tables import gaussian_words, tail_words

LAST = 2**64 - 1


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MARGINALIA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "noise-tables"


def exact_word(z, scale, threshold=None):
    """floor(2^64 F(z)) by mpmath's own normal distribution at 600 bits."""
    with mpmath.workprec(600):
        s = mpmath.mpf(scale.numerator) / scale.denominator
        beyond = mpmath.ncdf(-(z + mpmath.mpf(1) / 2) / s)
        if threshold is not None:
            beyond /= mpmath.ncdf(-(threshold - mpmath.mpf(1) / 2) / s)
        return min(LAST, int(mpmath.floor(mpmath.ldexp(1 - beyond, 64))))


def places(size, count):
    return sorted(
        {0, 1, 2, size - 3, size - 2, size - 1, *np.linspace(0, size - 1, count).astype(int).tolist()}
    )


@pytest.mark.parametrize(
    "scale", ["1/64", "45/64", "1", "65/64", "3", "1023/64", "16", "1496/64", "50", "500", "131072/64"]
)
def test_every_word_is_the_exact_floor(scale, cache):
    """R19: the table reaches from the last word 0 to the first of the largest."""
    scale = Fraction(scale)
    first, words = gaussian_words(scale)
    assert words[0] == 0 < words[1] and words[-2] < words[-1] == LAST
    checked = places(words.size, 150) if words.size > 150 else range(words.size)
    assert [int(words[i]) for i in checked] == [exact_word(first + i, scale) for i in checked]


@pytest.mark.parametrize(
    ("scale", "threshold"),
    [("3", 1), ("3", 9), ("45/64", 12), ("1496/64", 133), ("50", 1), ("50", 200), ("50", 700), ("16", 1500)],
)
def test_every_word_of_a_tail_is_the_exact_floor(scale, threshold):
    first, words = tail_words(Fraction(scale), threshold)
    assert first == threshold - 1
    assert words[0] == 0
    assert words[-1] == LAST > words[-2]
    checked = places(words.size, 100)[1:]
    assert [int(words[i]) for i in checked] == [
        exact_word(first + i, Fraction(scale), threshold) for i in checked
    ]


@pytest.mark.parametrize("scale", ["1", "65/64", "5/2", "16", "500", "131072"])
def test_the_fixed_point_sums_are_far_better_than_what_decides_a_word(scale):
    """`_word` takes a word from F where 2^-164 more or less does not change it; F is known to 2^-180."""
    scale, bits = Fraction(scale), gaussian_tables._BITS
    with mpmath.workprec(800):
        density = int(mpmath.ldexp(1 / mpmath.sqrt(2 * mpmath.pi), bits))
        s, total, worst = mpmath.mpf(scale.numerator) / scale.denominator, 0, 0
        checked = {int(place) for place in np.geomspace(1, float(9 * scale + 1), 60)}
        last = min(max(checked), 100_000)
        for z, mass in zip(range(last + 1), gaussian_tables._cell_masses(scale, 0, density), strict=False):
            total += mass if z else ((1 << bits) + mass) // 2
            if z in checked or z == last:
                exact = mpmath.ldexp(mpmath.ncdf((z + mpmath.mpf(1) / 2) / s), bits)
                worst = max(worst, abs(total - exact))
        assert worst < mpmath.ldexp(1, bits - 180)


SCALE = Fraction(1600, 64)


def stored(cache):
    (path,) = cache.iterdir()
    return path


def test_a_table_is_kept_for_the_user_alone_and_read_again(cache):
    first, words = gaussian_words(SCALE)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(stored(cache).stat().st_mode) == 0o600
    written = stored(cache).stat().st_mtime_ns
    again, same = gaussian_words(SCALE)
    assert again == first
    assert np.array_equal(same, words)
    assert stored(cache).stat().st_mtime_ns == written


def with_digest(body):
    return hashlib.sha256(body).digest() + body


def flipped(content):
    return content[:100] + bytes([content[100] ^ 1]) + content[101:]


def words_of(content):
    return np.frombuffer(content[32:], "<u8").copy()


def swapped(content):
    words = words_of(content)
    words[[5, 6]] = words[[6, 5]]
    return with_digest(words.tobytes())


def of_another_scale(_):
    return with_digest(gaussian_words(Fraction(1601, 64))[1][-236:].tobytes())


def one_word_nudged(content):
    words = words_of(content)
    words[0] += 1
    return with_digest(words.tobytes())


@pytest.mark.parametrize(
    "damage",
    [
        flipped,
        swapped,
        of_another_scale,
        one_word_nudged,
        lambda content: content[:-8],
        lambda content: with_digest(content[32:-8]),
        lambda content: with_digest(content[32:] + content[-8:]),
        lambda content: with_digest(content[32:-3]),
        lambda content: content[:32],
        lambda content: b"",
    ],
)
def test_a_file_that_is_not_right_in_every_respect_is_built_again(damage, cache):
    _, words = gaussian_words(SCALE)
    path = stored(cache)
    good = path.read_bytes()
    path.write_bytes(damage(good))
    assert np.array_equal(gaussian_words(SCALE)[1], words)
    assert path.read_bytes() == good


def open_to_all(path):
    path.chmod(0o666)


def link(path):
    path.symlink_to(path.rename(path.parents[2] / "elsewhere"))


def of_another_user(path):
    os.chown(path, 65534, -1)


ROOT_ALONE = [
    pytest.mark.needs_root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file to another user"),
]


@pytest.mark.parametrize("change", [open_to_all, link, pytest.param(of_another_user, marks=ROOT_ALONE)])
def test_a_file_that_others_could_change_is_not_trusted(change, cache):
    _, words = gaussian_words(SCALE)
    path = stored(cache)
    change(path)
    assert np.array_equal(gaussian_words(SCALE)[1], words)
    assert (path.is_symlink(), path.stat().st_uid) == (False, os.geteuid())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_that_others_can_write_is_not_used(cache):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    gaussian_words(SCALE)
    assert not list(cache.iterdir())


def test_without_a_place_for_the_cache_tables_are_built(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MARGINALIA_CACHE", str(tmp_path / "file"))
    assert gaussian_words(Fraction(3))[1].size == 56


def test_a_word_that_the_sum_does_not_decide_is_worked_out_anew():
    """Within 2^-164 of a word's edge the fixed-point sum could be on either side: the law itself is asked."""

    class Law:
        centre = 0

        def floor_cdf(self, z, bits):
            return 41

    edge, margin = 42 << (gaussian_tables._BITS - 64), 1 << (gaussian_tables._BITS - 164)
    assert [gaussian_tables._word(edge + off, Law(), 0) for off in (0, margin // 2, -margin // 2)] == [41] * 3
    assert gaussian_tables._word(edge + 2 * margin, Law(), 0) == 42
