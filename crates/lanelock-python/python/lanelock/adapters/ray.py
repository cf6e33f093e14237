"""Ray Data: ``dataset.map_batches(Encrypt, fn_constructor_args=[...], batch_format="pyarrow")``.

>>> from lanelock.adapters.ray import encrypt_columns         # doctest: +SKIP
>>> sealed = encrypt_columns(dataset, ["email"], "env:COLUMN_KEY")  # doctest: +SKIP

Workers get a reference to the key (:class:`lanelock.KeyRef`), never the key.
"""

from __future__ import annotations

from typing import Any, Optional, Union

import pyarrow as pa

import lanelock

Reference = Union[str, lanelock.KeyRef]


class _Columns:
    """A function of batches that resolves its key once in each process."""

    def __init__(
        self, reference: str, columns: list[str], options: dict[str, Any], type: Optional[str]
    ) -> None:
        self.reference, self.columns, self.options, self.type = reference, columns, options, type
        self.aead: Optional[lanelock.Aead] = None

    def __call__(self, batch: pa.Table) -> pa.Table:
        if self.aead is None:
            key = lanelock.KeyRef(self.reference).load()
            self.aead = lanelock.Aead(self.options["algorithm"], key)
        aad = self.options["aad"]
        for name in self.columns:
            at = batch.schema.get_field_index(name)
            if self.type is None:
                result = self.aead.encrypt(batch.column(at), aad=aad, threads=1)
            else:
                result = self.aead.decrypt(batch.column(at), aad=aad, type=self.type, threads=1)
            batch = batch.set_column(at, name, pa.chunked_array(result))
        return batch

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "aead": None}


def encrypt_columns(
    dataset: Any,
    columns: list[str],
    key: Reference,
    *,
    algorithm: str = "aes-256-gcm-siv",
    aad: Optional[bytes] = None,
) -> Any:
    """The data set with columns encrypted."""
    return _mapped(dataset, columns, key, {"algorithm": algorithm, "aad": aad}, None)


def decrypt_columns(
    dataset: Any,
    columns: list[str],
    key: Reference,
    *,
    algorithm: str = "aes-256-gcm-siv",
    aad: Optional[bytes] = None,
    type: str = "binary",
) -> Any:
    """The data set with columns decrypted to the type of a name such as ``"string"``."""
    return _mapped(dataset, columns, key, {"algorithm": algorithm, "aad": aad}, type)


def _mapped(
    dataset: Any, columns: list[str], key: Reference, options: dict[str, Any], type: Optional[str]
) -> Any:
    if isinstance(key, bytes):
        raise TypeError(
            "key: a key itself would be pickled with the function; pass a reference (lanelock.KeyRef)"
        )
    reference = key.reference if isinstance(key, lanelock.KeyRef) else lanelock.KeyRef(key).reference
    function = _Columns(reference, columns, options, type)
    return dataset.map_batches(function, batch_format="pyarrow")
