"""PySpark: columns through ``mapInArrow`` and Arrow UDFs, beside or instead of ``aes_encrypt``.

>>> from lanelock.adapters.spark import aes_encrypt, encrypt_columns       # doctest: +SKIP
>>> sealed = encrypt_columns(frame, ["email"], "file:/etc/keys/email")     # doctest: +SKIP
>>> sealed = frame.select(aes_encrypt("email", "file:/etc/keys/email"))    # doctest: +SKIP

Executors get a reference to the key (:class:`lanelock.KeyRef`), never the key: nothing secret is in a
closure that Spark pickles, stores and logs. Each process of an executor resolves it once.
"""

from __future__ import annotations

from typing import Any, Iterator, Optional, Union

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import BinaryType, DataType, StringType, StructField, StructType

from lanelock.adapters._common import Reference, checked, deterministic, on_columns, resolved


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
    return _mapped(frame, columns, key, algorithm, layout, aad, None)


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
    return _mapped(frame, columns, key, algorithm, layout, aad, type)


def _mapped(
    frame: DataFrame,
    columns: list[str],
    key: Reference,
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
    batch = on_columns(columns, key, algorithm, layout, aad, type)

    def batches(iterator: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(batch, iterator)

    return frame.mapInArrow(batches, schema)


def aes_encrypt(
    column: Union[str, Column], key: Reference, mode: str = "GCM", aad: Optional[bytes] = None
) -> Column:
    """Instead of Spark's ``aes_encrypt`` with random IVs: what it makes is what ``aes_decrypt`` reads."""
    return _instead("encrypt", column, key, mode, aad)


def aes_decrypt(
    column: Union[str, Column], key: Reference, mode: str = "GCM", aad: Optional[bytes] = None
) -> Column:
    """Instead of Spark's ``aes_decrypt``."""
    return _instead("decrypt", column, key, mode, aad)


def _instead(
    function: str, column: Union[str, Column], key: Reference, mode: str, aad: Optional[bytes]
) -> Column:
    algorithm = {"GCM": "aes-gcm", "CBC": "aes-cbc"}.get(mode.upper())
    if algorithm is None:
        raise ValueError(f"mode {mode!r}; allowed: GCM, CBC")
    return udf(function, key, algorithm=algorithm, layout="spark", aad=aad)(column)


def udf(
    function: str,
    key: Reference,
    *,
    algorithm: str = "aes-256-gcm-siv",
    layout: str = "raw",
    aad: Optional[bytes] = None,
) -> Any:
    """An Arrow UDF to binary: ``function`` is ``"encrypt"`` or ``"decrypt"``. SQL has it under a name
    after ``spark.udf.register(name, udf(...))``."""
    if function not in ("encrypt", "decrypt"):
        raise ValueError(f"function {function!r}; allowed: encrypt, decrypt")
    from pyspark.sql.functions import arrow_udf

    reference = checked(key)

    def batch(column: pa.Array) -> pa.Array:
        aead = resolved(reference, algorithm, layout)
        return pa.array(getattr(aead, function)(column, aad=aad, threads=1))

    batch.__annotations__ = {"column": pa.Array, "return": pa.Array}
    made = arrow_udf(batch, "binary")
    random = function == "encrypt" and not deterministic(algorithm)
    return made.asNondeterministic() if random else made
