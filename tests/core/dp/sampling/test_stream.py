import copy
import os
import pickle
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tasks.core.dp.sampling.stream import SeededStream, WordStream
from tasks.core.errors import InternalError


def test_seeded_words_are_the_aes_256_keystream_in_order():
    stream = SeededStream(5)
    import hashlib

    key = hashlib.sha256(b"marginalia test stream 5").digest()
    keystream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(8 * 107))
    pieces = np.concatenate([stream.words(count) for count in (0, 1, 2, 100, 4)])
    assert pieces.tobytes() == keystream
    assert pieces.dtype == np.uint64


def test_only_the_stream_with_a_secret_key_is_private():
    assert WordStream().private
    assert not SeededStream(1).private


def test_words_use_all_sixty_four_bits_evenly():
    words = WordStream().words(1 << 17)
    ones = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
    # 64 two-sided tests at 6 standard deviations: a false alarm in 10^7 runs
    assert np.abs(ones - 0.5).max() < 6 * 0.5 / np.sqrt(words.size)


def test_two_streams_never_give_the_same_words():
    assert WordStream().words(4).tolist() != WordStream().words(4).tolist()


def test_a_stream_goes_on_across_blocks_without_repeating():
    words = WordStream().words(3 * (1 << 15) + 7)
    assert np.unique(words).size == words.size


@pytest.mark.parametrize(
    "duplicate", [pickle.dumps, copy.copy, copy.deepcopy, lambda stream: stream.__getstate__()]
)
@pytest.mark.parametrize("used", [False, True])
def test_a_stream_cannot_be_pickled_or_copied(duplicate, used):
    stream = WordStream()
    stream.words(int(used))
    with pytest.raises(InternalError):
        duplicate(stream)


def test_a_forked_process_has_a_key_of_its_own():
    stream = WordStream()
    stream.words(3)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, stream.words(8).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reader, 64)
    os.close(reader), os.close(writer)
    assert len(theirs) == 64
    assert theirs != stream.words(8).tobytes()


def test_each_thread_has_a_key_of_its_own():
    stream, ciphers = WordStream(), []

    def take():
        stream.words(1)
        ciphers.append(stream._own.cipher)

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    take()
    assert len({id(cipher) for cipher in ciphers}) == 4


def test_the_key_changes_every_gibibyte():
    stream = WordStream()
    stream.words(1)
    first = stream._own.cipher
    block = 1 << 20
    for _ in range((1 << 27) // block - 1):
        stream.words(block)
    assert stream._own.cipher is first
    stream.words(block)
    assert stream._own.cipher is not first


def test_no_key_is_kept_in_the_object():
    stream = WordStream()
    stream.words(1)
    assert {type(value) for value in vars(stream._own).values()} <= {tuple, int, type(stream._own.cipher)}
    assert set(vars(stream)) == {"_own"}
