"""Columns encrypted, decrypted, authenticated and hashed in the CPU's SIMD lanes.

Any object with the Arrow PyCapsule interface comes in and goes out: pyarrow, polars, DuckDB, pandas
with Arrow types, nanoarrow. So do lists of ``bytes`` or ``str`` and NumPy arrays of one dimension.

>>> import lanelock
>>> aead = lanelock.Aead("aes-256-gcm-siv", bytes(32))
>>> sealed = aead.encrypt([b"a value", None])
>>> aead.decrypt(sealed).to_pylist()
[b'a value', None]

:class:`Aead` encrypts, :class:`Mac` makes pseudonyms, :class:`Hash` makes fingerprints. Which AEAD?

- ``aes-256-gcm-siv``: the default choice. Random nonces, and one that repeats by accident reveals
  only whether two values are equal.
- ``xchacha20-poly1305``: the same ease without AES; its nonces are long enough to be random for ever.
- ``aes-siv`` (keys of 32, 48 or 64 bytes): deterministic. Equal values have equal ciphertexts, which
  is what a join needs and what it reveals.
- ``aes-256-gcm``, ``chacha20-poly1305``: for what others read or write; 2**32 values under one key.

The GIL is released while a column runs, on all cores (``threads=1`` for one).
"""

from ._keys import KeyRef, random_key, read_key_file
from ._lanelock import (
    Aead,
    Column,
    Hash,
    Mac,
    NonceWarning,
    RowError,
    __version__,
)
from ._layouts import fernet, jwe, mongodb, tink

__all__ = [
    "Aead",
    "Column",
    "Hash",
    "KeyRef",
    "Mac",
    "NonceWarning",
    "RowError",
    "__version__",
    "fernet",
    "jwe",
    "mongodb",
    "random_key",
    "read_key_file",
    "tink",
]
