"""PySpark: columns through ``mapInArrow`` and Arrow UDFs, beside or instead of ``aes_encrypt``.

>>> from lanelock.adapters.spark import encrypt_columns       # doctest: +SKIP
>>> sealed = encrypt_columns(frame, ["email"], "file:/etc/keys/email")  # doctest: +SKIP

Executors get a reference to the key (:class:`lanelock.KeyRef`), never the key: nothing secret is in a
closure that Spark pickles, stores and logs. Each task resolves it once.
"""

from __future__ import annotations

import functools
from typing import Any, Iterator, Optional, Union

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, DataType, StringType, StructField, StructType

import lanelock

Reference = Union[str, lanelock.KeyRef]


def encrypt_columns(
    frame: DataFrame,
    columns: list[str],
    key: Reference,
    *,
    algorithm: str = "aes-256-gcm-siv",
    layout: str = "raw",
    aad: Optional[bytes] = None,
) -> DataFrame:
    """The frame with columns encrypted, as binary. With ``algorithm="aes-gcm", layout="spark"``
    ``aes_decrypt`` reads them."""
    return _mapped(frame, columns, _reference(key), algorithm, layout, aad, None)


def decrypt_columns(
    frame: DataFrame,
    columns: list[str],
    key: Reference,
    *,
    algorithm: str = "aes-256-gcm-siv",
    layout: str = "raw",
    aad: Optional[bytes] = None,
    type: str = "binary",
) -> DataFrame:
    """The frame with columns decrypted: ``type`` is ``"binary"`` or ``"string"``. With
    ``algorithm="aes-gcm", layout="spark"`` it reads what ``aes_encrypt`` has written."""
    if type not in ("binary", "string"):
        raise ValueError(f"type {type!r}; allowed: binary, string")
    return _mapped(frame, columns, _reference(key), algorithm, layout, aad, type)


def _reference(key: Reference) -> str:
    if isinstance(key, bytes):
        raise TypeError(
            "key: a key itself would be pickled with the closure; pass a reference (lanelock.KeyRef)"
        )
    return key.reference if isinstance(key, lanelock.KeyRef) else lanelock.KeyRef(key).reference


def _mapped(
    frame: DataFrame,
    columns: list[str],
    reference: str,
    algorithm: str,
    layout: str,
    aad: Optional[bytes],
    type: Optional[str],
) -> DataFrame:
    changed: DataType = StringType() if type == "string" else BinaryType()
    missing = set(columns) - set(frame.columns)
    if missing:
        raise ValueError(f"the frame has no column {', '.join(sorted(missing))}")
    schema = StructType(
        [
            StructField(field.name, changed if field.name in columns else field.dataType, True)
            for field in frame.schema.fields
        ]
    )

    def batches(iterator: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        aead = _resolved(reference, algorithm, layout)
        for batch in iterator:
            for name in columns:
                at = batch.schema.get_field_index(name)
                value: Any = batch.column(at)
                if type is None:
                    value = aead.encrypt(value, aad=aad, threads=1)
                else:
                    value = aead.decrypt(value, aad=aad, type=type, threads=1)
                batch = batch.set_column(at, name, pa.array(value))
            yield batch

    return frame.mapInArrow(batches, schema)


def udf(
    function: str, key: Reference, *, algorithm: str = "aes-256-gcm-siv", layout: str = "raw"
) -> Any:
    """An Arrow UDF from binary to binary: ``function`` is ``"encrypt"`` or ``"decrypt"``."""
    if function not in ("encrypt", "decrypt"):
        raise ValueError(f"function {function!r}; allowed: encrypt, decrypt")
    from pyspark.sql.functions import arrow_udf

    reference = _reference(key)

    def batch(column: pa.Array) -> pa.Array:
        aead = _resolved(reference, algorithm, layout)
        return pa.array(getattr(aead, function)(column, threads=1))

    batch.__annotations__ = {"column": pa.Array, "return": pa.Array}
    made = arrow_udf(batch, "binary")
    return made.asNondeterministic() if function == "encrypt" else made


@functools.lru_cache(maxsize=16)
def _resolved(reference: str, algorithm: str, layout: str) -> lanelock.Aead:
    """One for each process of an executor."""
    return lanelock.Aead(algorithm, lanelock.KeyRef(reference).load(), layout=layout)
