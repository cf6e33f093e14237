"""Ray Data: columns through ``map_batches`` with ``batch_format="pyarrow"``.

>>> from lanelock.adapters.ray import encrypt_columns         # doctest: +SKIP
>>> sealed = encrypt_columns(dataset, ["email"], "env:COLUMN_KEY")  # doctest: +SKIP

Workers get a reference to the key (:class:`lanelock.KeyRef`), never the key, and resolve it once in each
process.
"""

from __future__ import annotations

from typing import Any, Optional

from lanelock.adapters._common import Reference, on_columns


def encrypt_columns(
    dataset: Any,
    columns: list[str],
    key: Reference,
    *,
    algorithm: str = "aes-256-gcm-siv",
    layout: str = "raw",
    aad: Optional[bytes] = None,
    **options: Any,
) -> Any:
    """The data set with columns encrypted. ``options`` are those of ``map_batches``."""
    function = on_columns(columns, key, algorithm, layout, aad, None)
    return dataset.map_batches(function, batch_format="pyarrow", **options)


def decrypt_columns(
    dataset: Any,
    columns: list[str],
    key: Reference,
    *,
    algorithm: str = "aes-256-gcm-siv",
    layout: str = "raw",
    aad: Optional[bytes] = None,
    type: str = "binary",
    **options: Any,
) -> Any:
    """The data set with columns decrypted to the type of a name such as ``"string"``."""
    function = on_columns(columns, key, algorithm, layout, aad, type)
    return dataset.map_batches(function, batch_format="pyarrow", **options)
