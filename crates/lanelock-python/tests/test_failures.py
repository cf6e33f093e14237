"""Errors name the row and the reason; nothing of a failed row gets out."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute
import pytest

import lanelock
import reference

ALGORITHMS = sorted(reference.KEY_LENGTHS)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_changed_row_fails_alone_and_leaves_nothing(algorithm):
    aead = lanelock.Aead(algorithm, bytes(reference.KEY_LENGTHS[algorithm][0]))
    secret = b"a secret that must not be seen"
    column = [secret] * 1000
    sealed = aead.encrypt(column).to_pylist()
    for row in (0, 63, 64, 999):
        sealed[row] = sealed[row][:-1] + bytes([sealed[row][-1] ^ 1])
    sealed[500] = b"short"
    sealed[501] = None
    array = pa.array(sealed)
    with pytest.raises(lanelock.RowError) as caught:
        aead.decrypt(array)
    assert (caught.value.row, caught.value.failed) == (0, 5)
    assert "authentication failed" in caught.value.reason
    assert str(caught.value).startswith("row 0: authentication failed")
    opened = aead.decrypt(array, on_error="null")
    failed = [0, 63, 64, 500, 999]
    assert [row for row, _ in opened.failures] == failed
    assert dict(opened.failures)[500].startswith("the ciphertext has less than")
    assert pa.array(opened.failed).to_pylist() == [row in failed for row in range(1000)]
    arrow = pa.array(opened)
    arrow.validate(full=True)
    assert arrow.null_count == 6
    good = 1000 - 6
    assert arrow.to_pylist().count(secret) == good
    # The buffer itself holds the secret as often as rows are good.
    data = arrow.buffers()[2].to_pybytes()[: arrow.offset + int(pa.compute.sum(pa.compute.binary_length(arrow)).as_py()) + 10_000]
    assert data.count(secret) == good


def test_another_key_or_other_additional_data_fails():
    aead = lanelock.Aead("aes-256-gcm-siv", bytes(32))
    sealed = aead.encrypt([b"x"], aad=b"one")
    for wrong in (
        lambda: aead.decrypt(sealed),
        lambda: aead.decrypt(sealed, aad=b"two"),
        lambda: lanelock.Aead("aes-256-gcm-siv", bytes([1] * 32)).decrypt(sealed, aad=b"one"),
    ):
        with pytest.raises(lanelock.RowError, match="row 0: authentication failed"):
            wrong()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: lanelock.Aead("aes-256-gcm", bytes(16)), ValueError, "key of 16 bytes; allowed: 32"),
        (lambda: lanelock.Aead("aes-gcm", bytes(15)), ValueError, "key of 15 bytes; allowed: 16, 24 or 32"),
        (lambda: lanelock.Aead("aes-256-cbc-hmac-sha512", bytes(32)), ValueError, "key of 32 bytes; allowed: 64"),
        (lambda: lanelock.Aead("aes-256-gcn", bytes(32)), ValueError, "algorithm \"aes-256-gcn\""),
        (lambda: lanelock.Aead("aes-gcm", "text"), TypeError, "allowed are bytes"),
        (lambda: lanelock.Aead("aes-gcm", {}), ValueError, "no key"),
        (lambda: lanelock.Aead("aes-gcm", bytes(16), layout="tin"), ValueError, "layout \"tin\""),
        (lambda: lanelock.Mac("hmac-sha256", bytes(32), length=33), ValueError, "tag of 33 bytes"),
        (lambda: lanelock.Mac("poly1305", bytes(32)), ValueError, "allowed: hmac"),
        (lambda: lanelock.Mac("hmac-sha256", b"k", prefix="p"), ValueError, "set encoding"),
        (lambda: lanelock.Hash("sha257"), ValueError, "allowed: sha1"),
        (lambda: lanelock.Hash("sha256", encoding="base65"), ValueError, "allowed: hex"),
        (lambda: _aead().encrypt(7), TypeError, "column is of type int"),
        (lambda: _aead().encrypt([1]), TypeError, "item of type int in row 0"),
        (lambda: _aead().encrypt([b"", "a"]), TypeError, "mixes bytes and str"),
        (lambda: _aead().encrypt(pa.array([True])), TypeError, "Arrow format \"b\""),
        (lambda: _aead().encrypt(pa.array([[1]])), TypeError, "Arrow format"),
        (lambda: _aead().encrypt(pa.table({"a": [1]})), TypeError, "one of its columns"),
        (lambda: _aead().encrypt([b"a"], aad=[b"b", b"c"]), ValueError, "aad has 2 rows, the column 1"),
        (lambda: _aead().encrypt([b"a"], nonce=[b"b"]), ValueError, "row 0: a nonce of 1 bytes; allowed: 12"),
        (lambda: _aead().encrypt([b"a"], nonce=[None]), ValueError, "row 0: the nonce is null"),
        (lambda: _aead().encrypt([b"a"], aad=pa.array([None], pa.binary())), ValueError, "row 0: the additional data is null"),
        (lambda: _aead().encrypt([b"a"], on_error="ignore"), ValueError, "allowed: \"raise\", \"null\""),
        (lambda: _aead().encrypt([b"a"], threads=0), ValueError, "allowed: 1 or more"),
        (lambda: _aead().decrypt([b"a" * 40], type="int65"), ValueError, "type \"int65\""),
        (lambda: lanelock.Aead("aes-siv", bytes(32)).encrypt([b"a"], nonce=[b"b"]), ValueError, "takes none"),
    ],
)
def test_wrong_arguments_are_named(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def _aead() -> lanelock.Aead:
    return lanelock.Aead("aes-gcm", bytes(16))


def test_a_key_is_not_pickled():
    import pickle

    for holder in (_aead(), lanelock.Mac("hmac-sha256", bytes(32))):
        with pytest.raises(TypeError, match="KeyRef"):
            pickle.dumps(holder)
    assert bytes(16).hex() not in repr(_aead())


def test_a_broken_array_is_refused_and_no_memory_is_read():
    # Offsets that point behind the data: pyarrow builds such an array unless it is validated.
    offsets = pa.array([0, 100, 4], pa.int32()).buffers()[1]
    data = pa.py_buffer(b"abcd")
    array = pa.Array.from_buffers(pa.binary(), 2, [None, offsets, data])
    with pytest.raises(lanelock.RowError, match="row 0: the Arrow array's offsets"):
        _aead().encrypt(array)


def test_an_interrupt_ends_a_long_column():
    def stop(done, total):
        raise KeyboardInterrupt

    column = pa.array([bytes(1000)] * 200_000)
    with pytest.raises(KeyboardInterrupt):
        _aead().encrypt(column, progress=stop)
