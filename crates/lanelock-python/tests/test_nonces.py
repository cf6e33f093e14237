"""Random nonces: never twice, counted, bounded."""

from __future__ import annotations

import os
import warnings

import pyarrow as pa
import pytest

import lanelock


def test_no_nonce_twice_over_columns_threads_and_reseeding():
    aead = lanelock.Aead("aes-256-gcm", bytes(32))
    column = pa.array([b""] * 150_000)  # 1.8 MB of nonces: each thread reseeds
    seen = set()
    for _ in range(2):
        sealed = pa.array(aead.encrypt(column, threads=2))
        seen.update(value[:12] for value in sealed.to_pylist())
    assert len(seen) == 300_000
    assert aead.messages == 300_000


def test_a_child_of_a_fork_draws_other_nonces():
    aead = lanelock.Aead("aes-256-gcm", bytes(32))
    aead.encrypt([b""])
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, aead.encrypt([b""]).to_pylist()[0])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(read, 100) != aead.encrypt([b""]).to_pylist()[0]


def test_bits_of_nonces_are_evenly_set():
    aead = lanelock.Aead("xchacha20-poly1305", bytes(32))
    sealed = aead.encrypt([b""] * 4096).to_pylist()
    for byte in range(24):
        ones = sum(value[byte].bit_count() for value in sealed)
        # Of 32,768 fair bits; 8 standard deviations are 724.
        assert abs(ones - 16_384) < 724


@pytest.mark.parametrize(
    ("algorithm", "length", "bound"),
    [("aes-gcm", 32, 2**32), ("chacha20-poly1305", 32, 2**32), ("aes-gcm-siv", 32, 2**48)],
)
def test_a_warning_comes_early_and_the_bound_holds(algorithm, length, bound):
    key = bytes(length)
    quarter = bound // 4
    aead = lanelock.Aead(algorithm, key, messages=quarter - 2)
    assert aead.bound == bound
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aead.encrypt([b"below"])
    with pytest.warns(lanelock.NonceWarning, match="change the key soon"):
        aead.encrypt([b"at the quarter"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aead.encrypt([b"said once"])
    full = lanelock.Aead(algorithm, key, messages=bound - 1)
    full.encrypt([b"the last"])
    with pytest.raises(ValueError, match="use a new key"):
        full.encrypt([b"one too many"])
    full.encrypt([b"not random"], nonce=[bytes(12)])


def test_each_key_of_a_set_is_counted():
    aead = lanelock.Aead("aes-gcm", {1: bytes(16), 2: bytes([1] * 16)})
    aead.encrypt([b"x"] * 3, keys=pa.array([1, 2, 2]))
    assert aead.messages == 2
