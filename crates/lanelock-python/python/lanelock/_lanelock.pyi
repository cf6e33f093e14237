from typing import Any, Literal, final

from ._types import (
    ArrowType as _ArrowType,
    ColumnLike as _ColumnLike,
    Encoding as _Encoding,
    Key as _Key,
    OnError as _OnError,
    Progress as _Progress,
)

__all__ = ["Aead", "Column", "Hash", "Mac", "NonceWarning", "RowError", "__version__"]

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
        key: _Key,
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
        column: _ColumnLike,
        aad: bytes | _ColumnLike | None = None,
        nonce: Literal["random"] | _ColumnLike | None = None,
        *,
        keys: _ColumnLike | None = None,
        on_error: _OnError = "raise",
        threads: int | None = None,
        progress: _Progress = None,
    ) -> Column: ...
    def decrypt(
        self,
        column: _ColumnLike,
        aad: bytes | _ColumnLike | None = None,
        *,
        keys: _ColumnLike | None = None,
        type: str | _ArrowType | None = None,
        on_error: _OnError = "raise",
        threads: int | None = None,
        progress: _Progress = None,
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
        key: _Key,
        *,
        length: int | None = None,
        encoding: _Encoding | None = None,
        prefix: str = "",
    ) -> Mac: ...
    def compute(
        self,
        column: _ColumnLike,
        *,
        keys: _ColumnLike | None = None,
        on_error: _OnError = "raise",
        threads: int | None = None,
        progress: _Progress = None,
    ) -> Column: ...
    def verify(
        self,
        column: _ColumnLike,
        tags: _ColumnLike,
        *,
        keys: _ColumnLike | None = None,
        on_error: _OnError = "raise",
        threads: int | None = None,
        progress: _Progress = None,
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
        encoding: _Encoding | None = None,
        prefix: str = "",
    ) -> Hash: ...
    def compute(
        self,
        column: _ColumnLike,
        *,
        on_error: _OnError = "raise",
        threads: int | None = None,
        progress: _Progress = None,
    ) -> Column: ...
    @property
    def algorithm(self) -> str: ...
