"""Values of Queryable Encryption as a server stores them, from the formats' definitions."""

import hashlib
import hmac
import os

import bson
from bson.binary import Binary
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

ENCRYPTED = 6
EQUALITY, RANGE, UNINDEXED = 14, 15, 16
STRING = 2
METADATA_LEN = 96


def _authenticated(key, header, value):
    """IV, ciphertext of AES-CBC, tag of HMAC-SHA-256 over all of it after the header."""
    iv = os.urandom(16)
    padding = 16 - len(value) % 16
    encryptor = Cipher(algorithms.AES(key[:32]), modes.CBC(iv)).encryptor()
    body = iv + encryptor.update(value + bytes([padding]) * padding)
    return body + hmac.digest(key[32:64], header + body, hashlib.sha256)


def _value(text):
    """A string as BSON has it, without type and name."""
    return bson.encode({"": text})[6:-1]


def unindexed(key_id, key, text):
    header = bytes([UNINDEXED]) + key_id + bytes([STRING])
    return Binary(header + _authenticated(key, header, _value(text)), ENCRYPTED)


def indexed(key_id, key, text, edges=None):
    """A value that can be searched for: by equality, or by range with so many edges."""
    inner = key_id + _authenticated(key, key_id, _value(text))
    token = hmac.digest(key[64:], (3).to_bytes(8, "little"), hashlib.sha256)
    iv = os.urandom(16)
    outer = iv + Cipher(algorithms.AES(token), modes.CTR(iv)).encryptor().update(inner)
    header = bytes([RANGE if edges else EQUALITY]) + key_id + bytes([STRING])
    if edges:
        header += bytes([edges])
    metadata = os.urandom(METADATA_LEN * (edges or 1))
    return Binary(header + outer + metadata, ENCRYPTED)
