"""Layouts of others, each against the program that reads and writes it."""

from __future__ import annotations

import base64
import json
import os
import uuid

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lanelock

VALUES = [b"", b"x", bytes(range(256)), b"sixteen bytes---", None, b"y" * 1000]


def test_fernet_reads_our_tokens_and_we_read_its():
    from cryptography.fernet import Fernet

    key = Fernet.generate_key()
    theirs, ours = Fernet(key), lanelock.fernet(key)
    tokens = pa.array(ours.encrypt(VALUES))
    assert tokens.type == pa.large_string()  # a list has 64-bit offsets
    read = [None if token is None else theirs.decrypt(token) for token in tokens.to_pylist()]
    assert read == VALUES
    written = [None if value is None else theirs.encrypt(value) for value in VALUES]
    assert ours.decrypt(written).to_pylist() == VALUES
    broken = written[2][:-6] + b"AAAAA="
    opened = ours.decrypt([b"", b"?" * 100, broken, base64.urlsafe_b64encode(bytes(73))], on_error="null")
    assert opened.to_pylist() == [None] * 4
    assert "less than" in opened.failures[0][1]
    assert "not in the encoding" in opened.failures[1][1]
    assert "authentication failed" in opened.failures[2][1]
    assert "version" in opened.failures[3][1]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=100))
def test_fernet_of_any_lengths(values):
    from cryptography.fernet import Fernet

    key = Fernet.generate_key()
    ours = lanelock.fernet(key)
    tokens = ours.encrypt(values).to_pylist()
    assert [Fernet(key).decrypt(token) for token in tokens] == values
    assert ours.decrypt(tokens).to_pylist() == values


@pytest.mark.parametrize("deterministic", [False, True])
def test_mongodb_s_library_reads_our_fields_and_we_read_its(deterministic):
    import bson
    from pymongocrypt.binding import libmongocrypt_version  # noqa: F401  the library is there

    key, key_id = os.urandom(96), uuid.uuid4()
    crypt = _MongoCrypt(key, key_id)
    ours = lanelock.mongodb(key, key_id, deterministic=deterministic)
    columns = {
        "string": (pa.array(["", "text", "é" * 100]), None),
        "binary": (pa.array([b"", b"raw", bytes(300)]), bson.Binary),
        "int64": (pa.array([1, -2, 2**40], pa.int64()), bson.Int64),
        "int32": (pa.array([1, -2, 2**30], pa.int32()), int),
    }
    for type_, (column, wrap) in columns.items():
        plain = [wrap(value) if wrap else value for value in column.to_pylist()]
        sealed = ours.encrypt(column).to_pylist()
        assert [crypt.decrypt(field) for field in sealed] == column.to_pylist()
        written = [crypt.encrypt(value, deterministic) for value in plain]
        back = pa.array(ours.decrypt(pa.array(written), type=type_))
        assert back.to_pylist() == column.to_pylist()
        if deterministic:
            assert written == sealed
        else:
            assert not set(written) & set(sealed)
    other = lanelock.mongodb(key, uuid.uuid4())
    with pytest.raises(lanelock.RowError, match="another key identifier"):
        other.decrypt(pa.array(written))
    with pytest.raises(lanelock.RowError, match="another BSON type"):
        ours.decrypt(pa.array(written), type="string")


class _MongoCrypt:
    """Explicit encryption by libmongocrypt with a local master key and no server."""

    def __init__(self, key: bytes, key_id: uuid.UUID) -> None:
        import bson
        from bson.codec_options import CodecOptions
        from pymongocrypt.explicit_encrypter import ExplicitEncrypter
        from pymongocrypt.mongocrypt import MongoCryptOptions, MongoCrypt
        from pymongocrypt.synchronous.state_machine import MongoCryptCallback

        self.bson = bson
        master = os.urandom(96)
        codec = CodecOptions(uuid_representation=bson.binary.UuidRepresentation.STANDARD)
        self.codec = codec
        wrapped = _wrap(master, key)
        document = bson.encode(
            {
                "_id": bson.Binary(key_id.bytes, 4),
                "keyMaterial": bson.Binary(wrapped),
                "creationDate": bson.DatetimeMS(0),
                "updateDate": bson.DatetimeMS(0),
                "status": bson.Int64(0),
                "masterKey": {"provider": "local"},
            },
            codec_options=codec,
        )

        class Callback(MongoCryptCallback):
            def fetch_keys(self, filter):
                return [document]

            def close(self):
                pass

            kms_request = collection_info = mark_command = insert_data_key = None

            def bson_encode(self, doc):
                return bson.encode(doc, codec_options=codec)

        Callback.__abstractmethods__ = frozenset()
        options = MongoCryptOptions({"local": {"key": master}})
        self.encrypter = ExplicitEncrypter(Callback(), options)
        self.key_id = bson.Binary(key_id.bytes, 4)

    def encrypt(self, value, deterministic: bool) -> bytes:
        name = "AEAD_AES_256_CBC_HMAC_SHA_512-" + ("Deterministic" if deterministic else "Random")
        wrapped = self.bson.encode({"v": value}, codec_options=self.codec)
        result = self.encrypter.encrypt(wrapped, name, key_id=self.key_id.__bytes__())
        return bytes(self.bson.decode(result, codec_options=self.codec)["v"])

    def decrypt(self, field: bytes):
        wrapped = self.bson.encode({"v": self.bson.Binary(field, 6)})
        return self.bson.decode(self.encrypter.decrypt(wrapped), codec_options=self.codec)["v"]


def _wrap(master: bytes, key: bytes) -> bytes:
    """A data key under a local master key: the same algorithm without additional data."""
    sealed = lanelock.Aead("aes-256-cbc-hmac-sha512", master[:64]).encrypt([key])
    return sealed.to_pylist()[0]


def _tink_keyset(url: str, fields: list[tuple[int, int, bytes]], prefix: str = "TINK") -> dict:
    keys = []
    for number, field, key in fields:
        value = bytes([8 * field + 2, len(key)]) + key
        data = {
            "typeUrl": f"type.googleapis.com/google.crypto.tink.{url}",
            "value": base64.b64encode(value).decode(),
            "keyMaterialType": "SYMMETRIC",
        }
        keys.append(
            {"keyData": data, "status": "ENABLED", "keyId": number, "outputPrefixType": prefix}
        )
    return {"primaryKeyId": fields[-1][0], "key": keys}


@pytest.mark.parametrize(
    ("url", "field", "length"),
    [
        ("AesGcmKey", 3, 32),
        ("AesGcmSivKey", 3, 32),
        ("ChaCha20Poly1305Key", 2, 32),
        ("XChaCha20Poly1305Key", 3, 32),
        ("AesSivKey", 2, 64),
    ],
)
def test_tink_reads_ours_and_we_read_its(url, field, length):
    keyset = _tink_keyset(url, [(7, field, bytes(length)), (2**31 + 5, field, bytes([1] * length))])
    ours = lanelock.tink(json.dumps(keyset))
    values = [value for value in VALUES if value is not None]
    sealed = ours.encrypt(values, aad=b"aad").to_pylist()
    assert all(value[:5] == b"\x01\x80\x00\x00\x05" for value in sealed)
    assert ours.decrypt(sealed, aad=b"aad").to_pylist() == values
    # A ciphertext of the older key, and one of no key.
    older = lanelock.tink(dict(keyset, primaryKeyId=7)).encrypt([b"older"], aad=b"aad").to_pylist()
    assert ours.decrypt(older, aad=b"aad").to_pylist() == [b"older"]
    with pytest.raises(lanelock.RowError, match="no key has the prefix"):
        ours.decrypt([b"\x01\0\0\0\0" + bytes(40)])

    tink = pytest.importorskip("tink", reason="Tink has no wheel for this Python")
    from tink import aead, cleartext_keyset_handle, daead

    aead.register()
    daead.register()
    reader = tink.JsonKeysetReader(json.dumps(keyset))
    handle = cleartext_keyset_handle.read(reader)
    if url == "AesSivKey":
        theirs = handle.primitive(daead.DeterministicAead)
        assert [theirs.encrypt_deterministically(value, b"aad") for value in values] == sealed
        return
    if url in ("AesGcmSivKey", "ChaCha20Poly1305Key"):
        pytest.skip(f"Tink for Python has no {url}")
    theirs = handle.primitive(aead.Aead)
    assert [theirs.decrypt(value, b"aad") for value in sealed] == values
    written = [theirs.encrypt(value, b"aad") for value in values]
    assert ours.decrypt(written, aad=b"aad").to_pylist() == values


@pytest.mark.parametrize("length", [16, 24, 32])
def test_jwcrypto_reads_our_tokens_and_we_read_its(length):
    jwe, jwk = pytest.importorskip("jwcrypto.jwe"), pytest.importorskip("jwcrypto.jwk")
    key = bytes(range(length))
    theirs = jwk.JWK(kty="oct", k=base64.urlsafe_b64encode(key).rstrip(b"=").decode())
    ours = lanelock.jwe(key, header={"kid": "users.email"})
    tokens = pa.array(ours.encrypt(VALUES))
    assert tokens.type == pa.large_string()
    assert ours.decrypt(tokens).to_pylist() == VALUES
    written = []
    for value, token in zip(VALUES, tokens.to_pylist()):
        if value is None:
            assert token is None
            continue
        if value:  # jwcrypto reads no token of an empty text, its own neither
            read = jwe.JWE()
            read.deserialize(token, key=theirs)
            assert read.payload == value
            names = {"alg": "dir", "enc": f"A{8 * length}GCM", "kid": "users.email"}
            assert read.jose_header == names
        header = {"enc": f"A{8 * length}GCM", "alg": "dir", "typ": "other"}
        token = jwe.JWE(value, protected=json.dumps(header), recipient=theirs)
        written.append(token.serialize(compact=True))
    assert lanelock.jwe(key).decrypt(written).to_pylist() == [v for v in VALUES if v is not None]


def test_tokens_that_are_not_ours_are_named():
    def header(**fields):
        text = json.dumps({"alg": "dir", "enc": "A256GCM", **fields})
        return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()

    ours = lanelock.jwe(bytes(32))
    [token] = ours.encrypt([b"value"]).to_pylist()
    start, key, nonce, text, tag = token.split(".")
    bad = {
        f"{start}.{key}.{nonce}.{text}": "not a JWE",
        f"{token}.": "not a JWE",
        f"{start}..{nonce}.{text}=.{tag}": "not a JWE",
        f"!!!!..{nonce}.{text}.{tag}": "not a JWE",
        f"{start}.AAAA.{nonce}.{text}.{tag}": "encrypted key",
        f"{start}..{nonce[:-4]}.{text}.{tag}": "another length",
        f"{start}..{nonce}.{text}.{tag}AA": "another length",
        f"{header(enc='A128GCM')}..{nonce}.{text}.{tag}": "another algorithm",
        f"{header(zip='DEF')}..{nonce}.{text}.{tag}": "`crit` or `zip`",
        f"{header(kid='1')}..{nonce}.{text}.{tag}": "authentication failed",
        "": "not a JWE",
    }
    opened = ours.decrypt([*bad, token], on_error="null")
    assert opened.to_pylist() == [None] * len(bad) + [b"value"]
    reasons = [reason for _, reason in opened.failures]
    assert len(reasons) == len(bad)
    for reason, expected in zip(reasons, bad.values()):
        assert expected in reason
    with pytest.raises(ValueError, match="the layout jwe has no additional data"):
        ours.encrypt([b"value"], aad=b"aad")
    with pytest.raises(ValueError, match="another algorithm"):
        lanelock.jwe(bytes(32), header={"alg": "A256KW"})
