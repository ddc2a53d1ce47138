from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from tasks.core.dp.sampling import gaussian_tables
from tasks.core.dp.sampling.gaussian_tables import ExactTable, RoundedGaussianLaw, draw_one, resolve
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.errors import InternalError
from tests.oracles.noise_audit import ALPHA, chi_square_p, fired, noise_audit
from tests.oracles.words import ListedWords, split


class RememberedLaw(RoundedGaussianLaw):
    """Ties of short words are so frequent that the tests would spend their time in mpmath."""

    floor_cdf = lru_cache(maxsize=None)(RoundedGaussianLaw.floor_cdf)


LAW = RememberedLaw(Fraction(3))
TABLE = ExactTable.tabulate(LAW)


class ThreePoints:
    """P(0) = P(2) = 1/8, P(1) = 3/4, with both ends of its support in sight."""

    centre = 1

    def floor_cdf(self, z, bits):
        return int((1 << bits) * {0: Fraction(1, 8), 1: Fraction(7, 8)}.get(z, Fraction(int(z > 1))))


def neighbours_of_every_boundary():
    words = {int(word) + step for word in TABLE.words for step in (-1, 0, 1)}
    words |= {0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1}
    boundaries = {int(word) for word in TABLE.words}
    return sorted(word for word in words if 0 <= word < 2**64 and word not in boundaries)


def test_look_up_is_exact_at_both_sides_of_every_boundary():
    """R19: as doubles, or as signed integers, these words would fall into the wrong cell."""
    words = neighbours_of_every_boundary()
    table = [int(word) for word in TABLE.words]
    expected = [TABLE.first + bisect_right(table, word) for word in words]
    assert TABLE.draw(ListedWords(words), len(words)).tolist() == expected
    assert np.searchsorted(TABLE.words.astype(float), np.array(words, float)).tolist() != expected


@pytest.mark.parametrize("z", [-20, -1, 0, 7, 26])
def test_a_tie_is_decided_by_256_more_bits(z):
    place = LAW.floor_cdf(z, 320)
    for step, holds in ((-1, lambda drawn: drawn <= z), (1, lambda drawn: drawn > z)):
        source = ListedWords(split(place + step, 5))
        drawn = int(TABLE.draw(source, 1)[0])
        assert holds(drawn), (z, step, drawn)
        assert source.left == 0


def test_a_tie_of_320_bits_takes_more():
    place = LAW.floor_cdf(2, 576)
    assert int(TABLE.draw(ListedWords(split(place - 1, 9)), 1)[0]) == 2
    assert int(TABLE.draw(ListedWords(split(place + 1, 9)), 1)[0]) == 3


@pytest.mark.parametrize(("word", "extension"), [(0, 1 << 200), (2**64 - 1, (1 << 256) - (1 << 200))])
def test_both_ends_are_ties_that_are_decided_over_all_integers(word, extension):
    drawn = int(TABLE.draw(ListedWords([word, *split(extension, 4)]), 1)[0])
    whole = (word << 256) + extension
    assert LAW.floor_cdf(drawn - 1, 320) < whole < LAW.floor_cdf(drawn, 320)
    assert not TABLE.first <= drawn < TABLE.first + TABLE.words.size


@pytest.mark.parametrize("bits", [3, 8])
@pytest.mark.parametrize("scale", [Fraction(45, 64), Fraction(3)])
def test_short_words_follow_the_same_law(bits, scale):
    """With 8-bit words every twenty-fifth draw or more is a tie."""
    table = ExactTable.tabulate(RememberedLaw(scale), bits)
    draws = table.draw(SeededStream(bits), 20_000)
    assert not fired(noise_audit(draws, float(scale)))


@pytest.mark.parametrize("wrong", [lambda z: z, lambda z: z + 1], ids=["tie kept", "tie passed on"])
def test_ties_that_are_not_decided_are_caught(wrong, monkeypatch):
    def undecided(law, word, bits, stream):
        return wrong(next((z for z in range(-15, 15) if law.floor_cdf(z, bits) == word), 0))

    monkeypatch.setattr(gaussian_tables, "resolve", undecided)
    table = ExactTable.tabulate(LAW, 8)
    assert fired(noise_audit(table.draw(SeededStream(8), 20_000), 3.0))


@pytest.mark.parametrize("bits", [2, 3, 4, 64])
def test_a_law_with_an_end_is_drawn_exactly(bits):
    table = ExactTable.tabulate(ThreePoints(), bits)
    p = [1 / 8, 3 / 4, 1 / 8]
    assert chi_square_p(table.draw(SeededStream(1), 20_000), p, 0) > ALPHA
    stream = SeededStream(2)
    one_by_one = [
        resolve(ThreePoints(), int(stream.words(1)[0]) >> (64 - bits), bits, stream) for _ in range(3000)
    ]
    assert chi_square_p(np.array(one_by_one), p, 0) > ALPHA


def test_one_draw_without_a_table_is_the_same_draw():
    words = SeededStream(3).words(300)
    one_by_one = [draw_one(LAW, ListedWords([word])) for word in words]
    assert one_by_one == TABLE.draw(ListedWords(words), 300).tolist()


@pytest.mark.parametrize(
    "words",
    [
        np.array([0, 5, 3, 2**64 - 1], np.uint64),
        np.array([1, 5, 2**64 - 1], np.uint64),
        np.array([0, 5, 6], np.uint64),
        np.array([0, 5, 2**63 - 1], np.int64),
    ],
)
def test_what_is_no_table_is_refused(words):
    with pytest.raises(InternalError):
        ExactTable(LAW, 0, words)
