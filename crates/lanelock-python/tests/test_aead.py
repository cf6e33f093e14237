"""AEADs against other implementations, over any column that Arrow can describe."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lanelock
import reference

ALGORITHMS = sorted(reference.KEY_LENGTHS)

values = st.lists(st.one_of(st.none(), st.binary(max_size=300)), max_size=150)


@st.composite
def columns(draw: st.DrawFn) -> tuple[pa.ChunkedArray, list[bytes | None]]:
    """A column of chunks, slices, nulls and any type of bytes, and its values."""
    chunks, expected = [], []
    type_ = draw(st.sampled_from(["binary", "large", "view", "dictionary"]))
    for _ in range(draw(st.integers(0, 3))):
        content = draw(values)
        arrow = {"large": pa.large_binary(), "view": pa.binary_view()}.get(type_, pa.binary())
        array = pa.array(content, type=arrow)
        if type_ == "dictionary":
            array = array.dictionary_encode()
        start = draw(st.integers(0, len(content)))
        length = draw(st.integers(0, len(content) - start))
        chunks.append(array.slice(start, length))
        expected += content[start : start + length]
    arrow_type = chunks[0].type if chunks else pa.binary()
    return pa.chunked_array(chunks, type=arrow_type), expected


def nonces(column: list[bytes | None], length: int) -> list[bytes]:
    if length == 0:
        return [b""] * len(column)
    return [row.to_bytes(length, "little") for row in range(1, len(column) + 1)]


@settings(max_examples=60, deadline=None)
@given(data=st.data(), algorithm=st.sampled_from(ALGORITHMS), column=columns())
def test_any_column_gives_the_reference_s_ciphertexts_and_comes_back(data, algorithm, column):
    chunked, expected = column
    key_length = data.draw(st.sampled_from(reference.KEY_LENGTHS[algorithm]))
    key = data.draw(st.binary(min_size=key_length, max_size=key_length))
    per_row = data.draw(st.booleans())
    aads = [
        data.draw(st.binary(max_size=40)) if per_row else b"table.column" for _ in expected
    ]
    aad = pa.array(aads, type=pa.binary()) if per_row else b"table.column"
    length = reference.nonce_length(algorithm)
    given_nonces = nonces(expected, length)
    nonce = pa.array(given_nonces, type=pa.binary()) if length else None
    aead = lanelock.Aead(algorithm, key)

    sealed = aead.encrypt(chunked, aad=aad, nonce=nonce, threads=data.draw(st.integers(1, 3)))
    if algorithm != "aes-gcm-siv" or reference.has_gcm_siv():
        for ciphertext, value, one_nonce, one_aad in zip(
            sealed.to_pylist(), expected, given_nonces, aads
        ):
            if value is None:
                assert ciphertext is None
            else:
                assert ciphertext == reference.seal(algorithm, key, one_nonce, value, one_aad)
    arrow = pa.chunked_array(sealed)
    arrow.validate(full=True)
    back = pa.chunked_array(aead.decrypt(arrow, aad=aad))
    back.validate(full=True)
    assert back.to_pylist() == expected


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_random_nonces_differ_and_decrypt(algorithm):
    aead = lanelock.Aead(algorithm, bytes(range(reference.KEY_LENGTHS[algorithm][-1])))
    column = pa.array([b"the same value"] * 20_000)
    sealed = pa.array(aead.encrypt(column))
    distinct = len(set(sealed.to_pylist()))
    assert distinct == (1 if algorithm == "aes-siv" else 20_000)
    assert pa.array(aead.decrypt(sealed)).equals(column)


def test_numbers_and_times_are_their_little_endian_bytes():
    aead = lanelock.Aead("aes-siv", bytes(48))
    for array in [
        pa.array([1, None, -2], pa.int64()),
        pa.array([1, None, 7], pa.uint8()),
        pa.array([0, None, 10**15], pa.timestamp("us", tz="UTC")),
        pa.array([0, None, 9], pa.date32()),
        pa.array([0.5, None, -1.0], pa.float64()),
        pa.array([b"abcd", None, b"efgh"], pa.binary(4)),
    ]:
        sealed = pa.array(aead.encrypt(array))
        back = pa.array(aead.decrypt(sealed, type=array.type))
        back.validate(full=True)
        assert back.type == array.type
        assert back.equals(array)
    sealed = aead.encrypt(pa.array([258], pa.int16()))
    assert aead.decrypt(sealed).to_pylist() == [b"\x02\x01"]
    # A value of another width is not the type that was asked for.
    with pytest.raises(lanelock.RowError, match="row 0: the value has 2 bytes; its type has 4"):
        aead.decrypt(sealed, type="int32")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=30)), max_size=100))
def test_text_comes_back_as_text(texts):
    aead = lanelock.Aead("xchacha20-poly1305", bytes(32))
    for type_ in [pa.string(), pa.large_string(), pa.string_view()]:
        array = pa.array(texts, type=type_)
        back = pa.array(aead.decrypt(pa.array(aead.encrypt(array)), type=type_))
        back.validate(full=True)
        assert back.to_pylist() == texts
    assert aead.decrypt(aead.encrypt(texts), type="string").to_pylist() == texts


def test_what_is_not_utf8_is_no_text():
    aead = lanelock.Aead("aes-gcm", bytes(16))
    sealed = aead.encrypt([b"good", b"\xff", "é".encode()[:1], "é".encode()[1:]])
    read = aead.decrypt(sealed, type="string", on_error="null")
    assert read.to_pylist() == ["good", None, None, None]
    assert [row for row, _ in read.failures] == [1, 2, 3]


def test_lists_tuples_and_numpy():
    np = pytest.importorskip("numpy")
    aead = lanelock.Aead("aes-256-gcm-siv", bytes(32))
    assert aead.decrypt(aead.encrypt((b"a", bytearray(b"b"), None))).to_pylist() == [b"a", b"b", None]
    numbers = np.arange(100, dtype=np.int32)[::2]
    sealed = aead.encrypt(numbers)
    assert pa.array(aead.decrypt(sealed, type="int32")).to_numpy().tolist() == numbers.tolist()
    fixed = np.array([b"abc", b"de"], dtype="S3")
    assert aead.decrypt(aead.encrypt(fixed)).to_pylist() == [b"abc", b"de\0"]
    with pytest.raises(TypeError, match="2 dimensions"):
        aead.encrypt(np.zeros((2, 2)))
    with pytest.raises(TypeError, match=">i4"):
        aead.encrypt(numbers.astype(">i4"))


def test_a_column_of_key_numbers():
    keys = {1: bytes(32), 70_000: bytes([7] * 32), -3: bytes([9] * 32)}
    aead = lanelock.Aead("aes-256-gcm", keys)
    column = [b"one", b"two", None, b"three"] * 50
    numbers = pa.array([1, 70_000, None, -3] * 50, pa.int64())
    sealed = aead.encrypt(column, keys=numbers)
    assert aead.decrypt(sealed, keys=numbers).to_pylist() == column
    alone = lanelock.Aead("aes-256-gcm", keys[70_000])
    assert alone.decrypt([sealed.to_pylist()[1]]).to_pylist() == [b"two"]
    with pytest.raises(lanelock.RowError, match="row 3: no key has the number 5"):
        aead.encrypt([None, None, None, b"x"], keys=pa.array([0, 0, 0, 5]))
    with pytest.raises(lanelock.RowError, match="row 1: the key number is null"):
        aead.encrypt([b"x", b"x"], keys=pa.array([1, None]))
    with pytest.raises(ValueError, match="there are several keys"):
        aead.encrypt([b"x"])
    with pytest.raises(ValueError, match="the key has none"):
        alone.encrypt([b"x"], keys=pa.array([1]))
