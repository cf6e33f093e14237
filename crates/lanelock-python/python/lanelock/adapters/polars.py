"""Expressions of polars: ``pl.col("email").lanelock.encrypt(aead)``.

>>> import polars as pl, lanelock, lanelock.adapters.polars
>>> aead = lanelock.Aead("aes-256-gcm-siv", bytes(32))
>>> frame = pl.DataFrame({"email": ["a@example.org", None]})
>>> sealed = frame.with_columns(pl.col("email").lanelock.encrypt(aead))
>>> sealed.with_columns(pl.col("email").lanelock.decrypt(aead, type="string")).equals(frame)
True
"""

from __future__ import annotations

from typing import Any, Optional, Union

import polars as pl

import lanelock


@pl.api.register_expr_namespace("lanelock")
class Expressions:
    """What :class:`lanelock.Aead`, :class:`lanelock.Mac` and :class:`lanelock.Hash` do, as
    expressions. Values are encrypted batch by batch as polars hands them over."""

    def __init__(self, expression: pl.Expr) -> None:
        self._expression = expression

    def encrypt(self, aead: lanelock.Aead, aad: Optional[bytes] = None) -> pl.Expr:
        """The values encrypted, as ``pl.Binary``; tokens (Fernet, JWE) as ``pl.String``."""
        dtype = pl.String() if aead.layout in ("fernet", "jwe") else pl.Binary()
        return self._map(lambda series: aead.encrypt(series, aad=aad), dtype)

    def decrypt(
        self, aead: lanelock.Aead, aad: Optional[bytes] = None, *, type: Optional[str] = None
    ) -> pl.Expr:
        """The values decrypted: ``pl.Binary``, or the type of a name such as ``"string"``."""
        empty = pl.Series(aead.decrypt([], type=type)).dtype
        return self._map(lambda series: aead.decrypt(series, aad=aad, type=type), empty)

    def compute(self, digest: Union[lanelock.Mac, lanelock.Hash]) -> pl.Expr:
        """MACs or hashes: ``pl.Binary``, or ``pl.String`` with an encoding."""
        dtype = pl.Series(digest.compute([])).dtype
        return self._map(digest.compute, dtype)

    def _map(self, function: Any, dtype: Any) -> pl.Expr:
        def batch(series: pl.Series) -> pl.Series:
            return pl.Series(series.name, function(series))

        return self._expression.map_batches(batch, return_dtype=dtype, is_elementwise=True)
