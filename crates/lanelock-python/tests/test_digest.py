"""MACs and hashes against other implementations."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.cmac import CMAC
from hypothesis import given, settings
from hypothesis import strategies as st

import lanelock

HASHES = ["sha1", "sha224", "sha256", "sha384", "sha512", "sha3-224", "sha3-256", "sha3-384", "sha3-512"]

values = st.lists(st.one_of(st.none(), st.binary(max_size=400)), max_size=120)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(HASHES), column=values, key=st.binary(min_size=1, max_size=200))
def test_hashes_and_hmacs(name, column, key):
    module = name.replace("-", "_")
    array = pa.array(column, type=pa.binary())
    digests = pa.array(lanelock.Hash(name).compute(array))
    digests.validate(full=True)
    assert digests.to_pylist() == [
        None if value is None else hashlib.new(module, value).digest() for value in column
    ]
    tags = pa.array(lanelock.Mac(f"hmac-{name}", key).compute(array))
    tags.validate(full=True)
    assert tags.to_pylist() == [
        None if value is None else hmac.digest(key, value, module) for value in column
    ]


@settings(max_examples=30, deadline=None)
@given(column=values, key=st.one_of(*[st.binary(min_size=n, max_size=n) for n in (16, 24, 32)]))
def test_cmac(column, key):
    def cmac(value):
        mac = CMAC(algorithms.AES(key))
        mac.update(value)
        return mac.finalize()

    tags = lanelock.Mac("aes-cmac", key).compute(column).to_pylist()
    assert tags == [None if value is None else cmac(value) for value in column]


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("hex", bytes.hex),
        ("base64", lambda raw: base64.b64encode(raw).decode()),
        ("base64url", lambda raw: base64.urlsafe_b64encode(raw).decode()),
        ("base64url-nopad", lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("=")),
    ],
)
def test_pseudonyms_with_prefix_and_length(encoding, encode):
    emails = [f"user{n}@example.org" for n in range(300)] + [None]
    mac = lanelock.Mac("hmac-sha256", b"key", length=10, encoding=encoding, prefix="u_")
    expected = [
        email and "u_" + encode(hmac.digest(b"key", email.encode(), "sha256")[:10])
        for email in emails
    ]
    column = pa.array(mac.compute(pa.array(emails)))
    assert column.type == pa.string()
    assert column.to_pylist() == expected
    assert pa.array(mac.compute(pa.array(emails, pa.large_string()))).type == pa.large_string()


def test_a_mac_under_each_row_s_key():
    mac = lanelock.Mac("hmac-sha256", {1: b"one", 2: b"two"})
    tags = mac.compute([b"v", b"v"], keys=pa.array([1, 2], pa.int8())).to_pylist()
    assert tags == [hmac.digest(key, b"v", "sha256") for key in (b"one", b"two")]


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.one_of(st.none(), st.binary(max_size=90)), st.integers(-1, 20)), max_size=150),
    form=st.sampled_from([{}, {"length": 12}, {"encoding": "hex", "prefix": "u_"}]),
    cut=st.integers(0, 150),
)
def test_verify_says_of_each_row_whether_its_tag_is_right(rows, form, cut):
    """Row by row a tag is right (-1), null (0), cut short (1), or has another byte."""
    mac = lanelock.Mac("hmac-sha256", b"key", **form)
    column = pa.array([value for value, _ in rows], pa.binary())
    tags = pa.array(mac.compute(column))
    changed, expected = [], []
    for (value, change), tag in zip(rows, tags.to_pylist()):
        if change == 0 or tag is None:
            tag = None
        elif change == 1:
            tag = tag[:-1]
        elif change > 1:
            at = change % len(tag)
            tag = tag[:at] + ("~" if isinstance(tag, str) else bytes([tag[at] ^ 1])) + tag[at + 1 :]
        changed.append(tag)
        expected.append(None if tag is None else change == -1)
    given_type = pa.string() if form.get("encoding") else pa.binary()
    cut = min(cut, len(rows))
    chunks = [pa.array(part, given_type) for part in (changed[:cut], changed[cut:])]
    verdicts = pa.array(mac.verify(column, pa.chunked_array(chunks)))
    verdicts.validate(full=True)
    assert verdicts.type == pa.bool_()
    assert verdicts.to_pylist() == expected


def test_verify_under_each_row_s_key():
    mac = lanelock.Mac("hmac-sha256", {1: b"one", 2: b"two"})
    tags = [hmac.digest(key, b"v", "sha256") for key in (b"one", b"two", b"two")]
    numbers = pa.array([1, 2, 1])
    assert mac.verify([b"v"] * 3, tags, keys=numbers).to_pylist() == [True, True, False]
    missing = pa.array([1, 2, 7])
    with pytest.raises(lanelock.RowError, match="row 2: no key has the number 7"):
        mac.verify([b"v"] * 3, tags, keys=missing)
    verdicts = mac.verify([b"v"] * 3, tags, keys=missing, on_error="null")
    assert verdicts.to_pylist() == [True, True, None]
    assert verdicts.failures == [(2, "no key has the number 7")]


def test_verify_refuses_tags_that_do_not_fit():
    mac = lanelock.Mac("hmac-sha256", b"key")
    with pytest.raises(ValueError, match="tags has 1 rows, the column 2"):
        mac.verify([b"a", b"b"], [b"tag"])
    with pytest.raises(ValueError, match='tags has the Arrow format "l"; allowed: binary'):
        mac.verify([b"a"], pa.array([1]))
