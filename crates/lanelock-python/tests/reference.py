"""The same algorithms by other implementations, one value at a time."""

from __future__ import annotations

from cryptography.hazmat.primitives import hashes, hmac, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import (
    AESCCM,
    AESGCM,
    AESSIV,
    AESGCMSIV,
    ChaCha20Poly1305,
)
from Crypto.Cipher import ChaCha20_Poly1305

import lanelock

KEY_LENGTHS = {
    "aes-gcm": (16, 24, 32),
    "aes-gcm-siv": (16, 32),
    "aes-siv": (32, 48, 64),
    "aes-ccm": (16, 24, 32),
    "chacha20-poly1305": (32,),
    "xchacha20-poly1305": (32,),
    "aes-128-cbc-hmac-sha256": (32,),
    "aes-192-cbc-hmac-sha384": (48,),
    "aes-256-cbc-hmac-sha512": (64,),
}

HASHES = {
    "aes-128-cbc-hmac-sha256": hashes.SHA256(),
    "aes-192-cbc-hmac-sha384": hashes.SHA384(),
    "aes-256-cbc-hmac-sha512": hashes.SHA512(),
}


def has_gcm_siv() -> bool:
    """Whether the OpenSSL of `cryptography` has AES-GCM-SIV."""
    try:
        AESGCMSIV(bytes(16))
    except Exception:
        return False
    return True


def nonce_length(algorithm: str) -> int:
    return {"aes-siv": 0, "xchacha20-poly1305": 24}.get(
        algorithm, 16 if "cbc" in algorithm else 12
    )


def seal(algorithm: str, key: bytes, nonce: bytes, value: bytes, aad: bytes) -> bytes:
    """The ciphertext in the layout `raw`."""
    if algorithm == "aes-gcm":
        return nonce + AESGCM(key).encrypt(nonce, value, aad)
    if algorithm == "aes-gcm-siv":
        return nonce + AESGCMSIV(key).encrypt(nonce, value, aad)
    if algorithm == "aes-ccm":
        return nonce + AESCCM(key).encrypt(nonce, value, aad)
    if algorithm == "chacha20-poly1305":
        return nonce + ChaCha20Poly1305(key).encrypt(nonce, value, aad)
    if algorithm == "aes-siv":
        return AESSIV(key).encrypt(value, [aad])
    if algorithm == "xchacha20-poly1305":
        cipher = ChaCha20_Poly1305.new(key=key, nonce=nonce)
        cipher.update(aad)
        return nonce + b"".join(cipher.encrypt_and_digest(value))
    half = len(key) // 2
    pad = padding.PKCS7(128).padder()
    cbc = Cipher(algorithms.AES(key[half:]), modes.CBC(nonce)).encryptor()
    text = nonce + cbc.update(pad.update(value) + pad.finalize()) + cbc.finalize()
    mac = hmac.HMAC(key[:half], HASHES[algorithm])
    mac.update(aad + text + (8 * len(aad)).to_bytes(8, "big"))
    return text + mac.finalize()[:half]


def aead(algorithm: str, key: bytes) -> lanelock.Aead:
    return lanelock.Aead(algorithm, key)
