"""Types of arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Literal, Optional, Protocol, Union


class ArrowArray(Protocol):
    """An object with one Arrow array."""

    def __arrow_c_array__(
        self, requested_schema: Optional[object] = None
    ) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """An object with Arrow arrays in a row."""

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...


class NumpyArray(Protocol):
    """A NumPy array, which must have one dimension."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class ArrowType(Protocol):
    """An Arrow type, such as ``pyarrow.int64()``."""

    def __arrow_c_schema__(self) -> object: ...


ColumnLike = Union[ArrowArray, ArrowStream, NumpyArray, list[Any], tuple[Any, ...]]
Key = Union[bytes, bytearray, Mapping[int, Union[bytes, bytearray]]]
OnError = Literal["raise", "null"]
Progress = Union[bool, Callable[[int, int], object], None]
Encoding = Literal["hex", "base64", "base64url", "base64url-nopad"]
