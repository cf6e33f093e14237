"""Series of pandas: the accessor ``lanelock``.

>>> import pandas as pd, lanelock, lanelock.adapters.pandas
>>> aead = lanelock.Aead("aes-256-gcm-siv", bytes(32))
>>> series = pd.Series(["a@example.org", None], name="email", dtype="string[pyarrow]")
>>> sealed = series.lanelock.encrypt(aead)
>>> sealed.lanelock.decrypt(aead, type="string").tolist()[0]
'a@example.org'
"""

from __future__ import annotations

from typing import Any, Optional, Union

import pandas as pd
import pyarrow as pa

import lanelock


@pd.api.extensions.register_series_accessor("lanelock")
class Accessor:
    """What :class:`lanelock.Aead`, :class:`lanelock.Mac` and :class:`lanelock.Hash` do. Results have
    the series' name and index, and an Arrow type."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def encrypt(self, aead: lanelock.Aead, aad: Optional[bytes] = None) -> Any:
        """The values encrypted; missing values stay missing."""
        return self._made(aead.encrypt(self._column(), aad=aad))

    def decrypt(
        self, aead: lanelock.Aead, aad: Optional[bytes] = None, *, type: Optional[str] = None
    ) -> Any:
        """The values decrypted, as binary or of the type of a name such as ``"string"``."""
        return self._made(aead.decrypt(self._column(), aad=aad, type=type))

    def compute(self, digest: Union[lanelock.Mac, lanelock.Hash]) -> Any:
        """MACs or hashes."""
        return self._made(digest.compute(self._column()))

    def _column(self) -> Any:
        return pa.array(self._series, from_pandas=True)

    def _made(self, column: lanelock.Column) -> Any:
        values = pd.arrays.ArrowExtensionArray(pa.chunked_array(column))
        return pd.Series(values, index=self._series.index, name=self._series.name)
