"""What adapters have in common; functions of workers carry a reference to a key, not the key."""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional, Union

import pyarrow as pa

import lanelock

Reference = Union[str, lanelock.KeyRef]


def checked(key: Reference) -> str:
    """The reference as text, refused if it is none or the key itself."""
    if isinstance(key, (bytes, bytearray)):
        raise TypeError(
            "key: a key itself would be pickled with the function; pass a reference (lanelock.KeyRef)"
        )
    return key.reference if isinstance(key, lanelock.KeyRef) else lanelock.KeyRef(key).reference


@functools.lru_cache(maxsize=16)
def resolved(reference: str, algorithm: str, layout: str) -> lanelock.Aead:
    """One for each process of a worker."""
    return lanelock.Aead(algorithm, lanelock.KeyRef(reference).load(), layout=layout)


def on_columns(
    columns: list[str],
    key: Reference,
    algorithm: str,
    layout: str,
    aad: Optional[bytes],
    type: Optional[str],
) -> Callable[[Any], Any]:
    """What workers are sent: :func:`mapped` with all but the batch."""
    return functools.partial(
        mapped, columns=columns, reference=checked(key), algorithm=algorithm, layout=layout, aad=aad,
        type=type,
    )


def mapped(
    batch: Any,
    *,
    columns: list[str],
    reference: str,
    algorithm: str,
    layout: str,
    aad: Optional[bytes],
    type: Optional[str],
) -> Any:
    """A table or record batch with columns encrypted, or decrypted to ``type``. One thread: engines run
    a task on every core."""
    aead = resolved(reference, algorithm, layout)
    made = pa.chunked_array if isinstance(batch, pa.Table) else pa.array
    for name in columns:
        at = batch.schema.get_field_index(name)
        if at < 0:
            raise ValueError(f"there is no column {name!r}, or several; columns: {batch.schema.names}")
        if type is None:
            result = aead.encrypt(batch.column(at), aad=aad, threads=1)
        else:
            result = aead.decrypt(batch.column(at), aad=aad, type=type, threads=1)
        batch = batch.set_column(at, name, made(result))
    return batch


def deterministic(algorithm: str) -> bool:
    """Whether equal values have equal ciphertexts."""
    return "siv" in algorithm and "gcm" not in algorithm
