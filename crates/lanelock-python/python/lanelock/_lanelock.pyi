from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias, final

class ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class NumpyArray(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class ArrowType(Protocol):
    def __arrow_c_schema__(self) -> object: ...

ColumnLike: TypeAlias = (
    ArrowArray | ArrowStream | NumpyArray | list[Any] | tuple[Any, ...]
)
Key: TypeAlias = bytes | bytearray | Mapping[int, bytes | bytearray]
OnError: TypeAlias = Literal["raise", "null"]
Progress: TypeAlias = Any
Encoding: TypeAlias = Literal["hex", "base64", "base64url", "base64url-nopad"]

__version__: str

class RowError(ValueError):
    row: int
    reason: str
    failed: int

class NonceWarning(RuntimeWarning): ...

@final
class Column:
    def __len__(self) -> int: ...
    @property
    def null_count(self) -> int: ...
    @property
    def failures(self) -> list[tuple[int, str]]: ...
    @property
    def failed(self) -> Column: ...
    def to_pylist(self) -> list[Any]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Aead:
    def __new__(
        cls,
        algorithm: str,
        key: Key,
        *,
        layout: str = "raw",
        messages: int = 0,
        nonce_length: int | None = None,
        header: bytes | None = None,
        prefixes: dict[int, bytes] | None = None,
        primary: int | None = None,
    ) -> Aead: ...
    def encrypt(
        self,
        column: ColumnLike,
        aad: bytes | ColumnLike | None = None,
        nonce: Literal["random"] | ColumnLike | None = None,
        *,
        keys: ColumnLike | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
        progress: Progress = None,
    ) -> Column: ...
    def decrypt(
        self,
        column: ColumnLike,
        aad: bytes | ColumnLike | None = None,
        *,
        keys: ColumnLike | None = None,
        type: str | ArrowType | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
        progress: Progress = None,
    ) -> Column: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def layout(self) -> str: ...
    @property
    def bound(self) -> int: ...
    @property
    def messages(self) -> int: ...
    def __reduce__(self) -> Any: ...

@final
class Mac:
    def __new__(
        cls,
        algorithm: str,
        key: Key,
        *,
        length: int | None = None,
        encoding: Encoding | None = None,
        prefix: str = "",
    ) -> Mac: ...
    def compute(
        self,
        column: ColumnLike,
        *,
        keys: ColumnLike | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
        progress: Progress = None,
    ) -> Column: ...
    @property
    def algorithm(self) -> str: ...
    def __reduce__(self) -> Any: ...

@final
class Hash:
    def __new__(
        cls,
        algorithm: str,
        *,
        length: int | None = None,
        encoding: Encoding | None = None,
        prefix: str = "",
    ) -> Hash: ...
    def compute(
        self,
        column: ColumnLike,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
        progress: Progress = None,
    ) -> Column: ...
    @property
    def algorithm(self) -> str: ...
