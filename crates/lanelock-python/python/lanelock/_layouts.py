"""Layouts of others: ciphertexts that their programs read, and the other way round."""

from __future__ import annotations

import base64
import json
import uuid
from typing import Any

from ._lanelock import Aead


def fernet(key: bytes | str) -> Aead:
    """Tokens of ``cryptography.fernet.Fernet``: ``key`` is what ``Fernet.generate_key`` returns.

    A token says when it was made; ``decrypt`` does not refuse old ones.
    """
    raw = base64.urlsafe_b64decode(key)
    if len(raw) != 32:
        raise ValueError(f"Fernet key of {len(raw)} bytes; allowed: 32 in base64")
    return Aead("aes-128-cbc-hmac-sha256", raw, layout="fernet")


def mongodb(key: bytes, key_id: uuid.UUID | bytes, *, deterministic: bool = False) -> Aead:
    """Fields of MongoDB's client-side field level encryption (BSON binary of subtype 6).

    ``key`` is a data key (96 bytes), ``key_id`` its ``_id``. The type of a column says which BSON
    type its values have: strings, binary, int32, int64, double (float64), and dates
    (``timestamp[ms]``); ``decrypt(column, type="string")`` says it of ciphertexts. ``decrypt`` reads
    both kinds, deterministic and random.
    """
    identifier = key_id.bytes if isinstance(key_id, uuid.UUID) else key_id
    kind = 1 if deterministic else 2
    return Aead(
        "aes-256-cbc-hmac-sha512", key, layout="mongodb", header=bytes([kind]) + identifier
    )


def jwe(key: bytes, header: dict[str, Any] | None = None) -> Aead:
    """Tokens of JSON Web Encryption in the compact serialization: ``dir`` with AES-GCM, the key being
    the content encryption key. ``header`` has fields besides ``alg`` and ``enc``, such as ``kid``.

    ``decrypt`` takes tokens with any header of these two algorithms, but none with ``crit`` or ``zip``.
    """
    fields = {"alg": "dir", "enc": f"A{8 * len(key)}GCM", **(header or {})}
    encoded = json.dumps(fields, separators=(",", ":")).encode()
    return Aead("aes-gcm", key, layout="jwe", header=encoded)


_TINK = {
    "AesGcmKey": "aes-gcm",
    "AesGcmSivKey": "aes-gcm-siv",
    "AesSivKey": "aes-siv",
    "ChaCha20Poly1305Key": "chacha20-poly1305",
    "XChaCha20Poly1305Key": "xchacha20-poly1305",
}


def tink(keyset: str | bytes | dict[str, Any]) -> Aead:
    """A cleartext Tink keyset in JSON, of AEAD keys (AES-GCM, AES-GCM-SIV, ChaCha20-Poly1305,
    XChaCha20-Poly1305) or deterministic AEAD keys (AES-SIV), all of one kind.

    ``encrypt`` uses the primary key, ``decrypt`` the key whose identifier stands before the
    ciphertext.
    """
    document = keyset if isinstance(keyset, dict) else json.loads(keyset)
    keys: dict[int, bytes] = {}
    prefixes: dict[int, bytes] = {}
    algorithms: set[str] = set()
    for entry in document["key"]:
        if entry.get("status", "ENABLED") != "ENABLED":
            continue
        number = int(entry["keyId"])
        data = entry["keyData"]
        kind = data["typeUrl"].rpartition(".")[2]
        if kind not in _TINK:
            raise ValueError(f"Tink key {number} is of the kind {kind}; allowed: {', '.join(_TINK)}")
        algorithms.add(_TINK[kind])
        keys[number] = _key_value(base64.b64decode(data["value"]), number)
        prefixes[number] = _prefix(entry["outputPrefixType"], number)
    if len(algorithms) != 1:
        raise ValueError(f"a Tink keyset of {sorted(algorithms)}; allowed: one kind of key")
    raw = [number for number, prefix in prefixes.items() if not prefix]
    if len(raw) > 1:
        raise ValueError(f"the Tink keys {raw} are all RAW; allowed: one without a prefix")
    primary = int(document["primaryKeyId"])
    if primary not in keys:
        raise ValueError(f"the primary Tink key {primary} is not enabled")
    return Aead(algorithms.pop(), keys, layout="tink", prefixes=prefixes, primary=primary)


def _prefix(kind: str, number: int) -> bytes:
    start = {"TINK": b"\x01", "CRUNCHY": b"\x00", "LEGACY": b"\x00", "RAW": None}.get(kind, b"")
    if start == b"":
        raise ValueError(f"Tink key {number} has the output prefix {kind}; allowed: TINK, CRUNCHY, RAW")
    return b"" if start is None else start + number.to_bytes(4, "big")


def _key_value(message: bytes, number: int) -> bytes:
    """The field `key_value` of a protocol buffer: the only one of bytes that is not a message."""
    at = 0
    found: dict[int, bytes] = {}
    while at < len(message):
        tag, at = _varint(message, at)
        field, wire = tag >> 3, tag & 7
        if wire == 0:
            _, at = _varint(message, at)
        elif wire == 2:
            length, at = _varint(message, at)
            found[field] = message[at : at + length]
            at += length
        else:
            raise ValueError(f"Tink key {number} cannot be read")
    # Field 3 of AesGcmKey and AesGcmSivKey (2 there is the parameters' message), 2 of the others.
    key = found.get(3, found.get(2))
    if not key:
        raise ValueError(f"Tink key {number} has no value")
    return key


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message):
            raise ValueError("a Tink key ends too early")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
