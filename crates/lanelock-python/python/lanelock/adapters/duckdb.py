"""Functions of DuckDB over Arrow vectors: ``SELECT seal(email) FROM users``.

>>> import duckdb, lanelock, lanelock.adapters.duckdb
>>> aead = lanelock.Aead("aes-256-gcm-siv", bytes(32))
>>> connection = duckdb.connect()
>>> lanelock.adapters.duckdb.register(connection, aead, encrypt="seal", decrypt="unseal")
>>> connection.sql("SELECT decode(unseal(seal('a value'::BLOB)))").fetchall()
[('a value',)]
"""

from __future__ import annotations

from functools import partial
from typing import Any, Optional, Union

import duckdb
import pyarrow as pa

import lanelock
from lanelock.adapters._common import deterministic


def register(
    connection: duckdb.DuckDBPyConnection,
    aead: lanelock.Aead,
    *,
    encrypt: Optional[str] = None,
    decrypt: Optional[str] = None,
    aad: Optional[bytes] = None,
) -> None:
    """Adds functions from BLOB to BLOB under the names given; with a layout of text (Fernet, JWE), to and
    from VARCHAR. A value that cannot be decrypted ends the query."""
    sealed = _type(aead.encrypt([], aad=aad))
    if encrypt is not None:
        # With random nonces the same value has another ciphertext each time.
        effects = not deterministic(aead.algorithm)
        _add(connection, encrypt, partial(aead.encrypt, aad=aad), "BLOB", sealed, effects)
    if decrypt is not None:
        _add(connection, decrypt, partial(aead.decrypt, aad=aad), sealed, "BLOB", False)


def register_digest(
    connection: duckdb.DuckDBPyConnection, name: str, digest: Union[lanelock.Mac, lanelock.Hash]
) -> None:
    """Adds a function from BLOB to what ``digest`` computes: BLOB, or VARCHAR with an encoding."""
    _add(connection, name, digest.compute, "BLOB", _type(digest.compute([])), False)


def _type(column: Any) -> str:
    """What DuckDB calls the type of a column's values."""
    return "VARCHAR" if pa.types.is_large_string(pa.array(column).type) else "BLOB"


def _add(
    connection: Any, name: str, function: Any, takes: str, returns: str, side_effects: bool
) -> None:
    def vector(column: Any) -> Any:
        array = pa.chunked_array(function(column))
        if pa.types.is_fixed_size_binary(array.type):
            array = array.cast(pa.binary())
        return array.combine_chunks()

    connection.create_function(
        name, vector, [takes], returns, type="arrow", side_effects=side_effects
    )
