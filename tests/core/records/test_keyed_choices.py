"""The keyed function against its published values, and identities of records."""

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.errors import InternalError
from tasks.core.records import keyed_choices
from tasks.core.records.kernels import pair_hash, text_hashes
from tasks.core.records.keyed_choices import KeyedChoices
from tests.oracles import loading

KEY = bytes(range(16))
K0, K1 = np.uint64(0x0706050403020100), np.uint64(0x0F0E0D0C0B0A0908)
#: From the appendix of the paper and its reference code: message 00 01 .. (n - 1), key 00 .. 0f.
PUBLISHED = {
    0: "310e0edd47db6f72",
    1: "fd67dc93c539f874",
    2: "5a4fa9d909806c0d",
    3: "2d7efbd796666785",
    7: "37d1018bf50002ab",
    8: "6224939a79f5f593",
    15: "e545be4961ca29a1",
}


def texts_of(messages):
    ends = np.append(0, np.cumsum([len(message) for message in messages])).astype(np.int64)
    return np.frombuffer(b"".join(messages), np.uint8), ends


def test_siphash_gives_its_published_values():
    found = text_hashes(K0, K1, *texts_of([bytes(range(length)) for length in PUBLISHED]))
    assert [int(h).to_bytes(8, "little").hex() for h in found] == list(PUBLISHED.values())
    assert [loading.siphash(KEY, bytes(range(n))).to_bytes(8, "little").hex() for n in PUBLISHED] == list(
        PUBLISHED.values()
    )


def test_texts_and_pairs_agree_with_the_oracle():
    random = np.random.default_rng(1)
    messages = [random.bytes(length) for length in range(70)] + [random.bytes(300)]
    assert text_hashes(K0, K1, *texts_of(messages)).tolist() == [loading.siphash(KEY, m) for m in messages]
    for first, second in random.integers(0, 2**64, (20, 2), np.uint64):
        message = int(first).to_bytes(8, "little") + int(second).to_bytes(8, "little")
        assert pair_hash(K0, K1, first, second) == loading.siphash(KEY, message)


def test_a_slice_of_texts_hashes_as_its_texts():
    choices = KeyedChoices(b"secret")
    texts = pa.array(["a", "bé", "", "c"], pa.large_string())
    whole = choices.of_texts("p", texts)
    assert np.array_equal(choices.of_texts("p", texts.slice(1, 2)), whole[1:3])
    assert whole[1] == loading.keyed(b"secret", "p", "bé")


def test_purposes_and_secrets_give_unrelated_hashes_and_no_secret_is_refused():
    one, other = KeyedChoices(b"one"), KeyedChoices(b"other")
    hashes = {int(c.of_texts(p, ["x"])[0]) for c in (one, other) for p in ("tag", "choice")}
    assert len(hashes) == 4
    with pytest.raises(InternalError):
        KeyedChoices(b"")


def test_equal_contents_are_told_apart_by_their_occurrence():
    codes = np.array([1, 2, 1, 1, 2], np.uint8)
    hashes = KeyedChoices(b"s").of_codes("v", ["x", "y"])
    found = KeyedChoices(b"s").of_contents([(codes, hashes)], 5)
    assert len(set(found.tolist())) == 5
    swapped = KeyedChoices(b"s").of_contents([(codes[::-1].copy(), hashes)], 5)
    assert sorted(found) == sorted(swapped)


def test_a_collision_of_hashes_mixes_no_contents():
    """Occurrences are counted content by content, by the codes themselves: no hash has part in it."""
    random = np.random.default_rng(2)
    contents = [random.integers(0, 3, 200).astype(np.uint8), random.integers(0, 2, 200).astype(np.uint16)]
    contents.append(np.repeat(np.array([7, 0], np.uint32), [50, 150]))
    seen: dict[tuple[int, ...], int] = {}
    expected = []
    for row in range(200):
        content = tuple(int(codes[row]) for codes in contents)
        expected.append(seen.get(content, 0))
        seen[content] = expected[-1] + 1
    assert keyed_choices._occurrences(contents, 200).tolist() == expected
