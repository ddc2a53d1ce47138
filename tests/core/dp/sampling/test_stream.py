import copy
import hashlib
import os
import pickle
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tasks.core.dp.sampling import stream as stream_module
from tasks.core.dp.sampling.stream import SeededStream, WordStream
from tasks.core.errors import InternalError


def test_words_are_the_aes_256_keystream_of_the_key_in_order(monkeypatch):
    """Also across the blocks that the cipher is asked for."""
    counts = (0, 1, 2, 100, 4, 3 * (1 << 15) + 7, 1)
    key = hashlib.sha256(b"marginalia test stream 5").digest()
    keystream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(8 * sum(counts)))
    monkeypatch.setattr(os, "urandom", lambda size: key[:size])
    for stream in (SeededStream(5), WordStream()):
        pieces = np.concatenate([stream.words(count) for count in counts])
        assert pieces.tobytes() == keystream
        assert pieces.dtype == np.uint64


def test_only_the_stream_with_a_secret_key_is_private():
    assert WordStream().private
    assert not SeededStream(1).private


def test_two_streams_never_give_the_same_words():
    assert WordStream().words(4).tolist() != WordStream().words(4).tolist()


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


def test_the_key_changes_every_gibibyte(monkeypatch):
    assert stream_module._REKEY_BYTES == 2**30
    monkeypatch.setattr(stream_module, "_REKEY_BYTES", 2**13)
    stream = WordStream()
    stream.words(1)
    first = stream._own.cipher
    stream.words(2**10 - 1)
    assert stream._own.cipher is first
    stream.words(1)
    assert stream._own.cipher is not first


def test_no_key_is_kept_in_the_object():
    stream = WordStream()
    stream.words(1)
    assert {type(value) for value in vars(stream._own).values()} <= {tuple, int, type(stream._own.cipher)}
    assert set(vars(stream)) == {"_own"}
