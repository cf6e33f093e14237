"""Keys by reference: what is sent to other processes instead of the key itself."""

from __future__ import annotations

import base64
import binascii
import importlib
import os
import stat
from typing import Callable


class KeyRef:
    """Where a key is found: a reference that can be pickled, logged and sent to workers.

    - ``env:NAME``: an environment variable with the key in base64 or hexadecimal digits.
    - ``file:PATH``: a file that only its owner may read or write (mode 0600 or stricter), with the
      key in base64, hexadecimal digits, or as raw bytes.
    - ``call:MODULE.FUNCTION`` or ``call:MODULE.FUNCTION(ARGUMENT)``: a function of a module that the
      worker can import, which returns the key, from a key management service for example.

    >>> import os
    >>> from lanelock import KeyRef
    >>> os.environ["COLUMN_KEY"] = "00" * 32
    >>> KeyRef("env:COLUMN_KEY").load() == bytes(32)
    True
    """

    def __init__(self, reference: str) -> None:
        kind, _, rest = reference.partition(":")
        if kind not in ("env", "file", "call") or not rest:
            raise ValueError(
                f"key reference {reference!r}; allowed: env:NAME, file:PATH, call:MODULE.FUNCTION"
            )
        self.reference = reference

    def load(self) -> bytes:
        """The key. Nothing of it is kept here."""
        kind, _, rest = self.reference.partition(":")
        if kind == "file":
            return read_key_file(rest)
        if kind == "env":
            text = os.environ.get(rest)
            if text is None:
                raise ValueError(f"{self.reference}: the environment has no such variable")
            key = _decode(text.strip())
            if key is None:
                raise ValueError(f"{self.reference}: neither base64 nor hexadecimal digits")
            return key
        name, _, argument = rest.partition("(")
        module, _, function = name.rpartition(".")
        load: Callable[..., bytes] = getattr(importlib.import_module(module), function)
        return load(argument.rstrip(")")) if argument else load()

    def __repr__(self) -> str:
        return f"KeyRef({self.reference!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyRef) and other.reference == self.reference

    def __hash__(self) -> int:
        return hash(self.reference)


def random_key(length: int = 32) -> bytes:
    """A new key from the operating system's generator."""
    return os.urandom(length)


def read_key_file(path: str | os.PathLike[str]) -> bytes:
    """The key in a file that only its owner may read or write; any other is refused."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(f"{os.fspath(path)}: the key file is not a regular file")
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o077:
            raise PermissionError(
                f"{os.fspath(path)}: the key file has mode {mode:04o}; allowed: 0600 or 0400 "
                f"(chmod 600 {os.fspath(path)})"
            )
        content = file.read(1 << 16)
    try:
        text = content.decode("ascii").strip()
    except UnicodeDecodeError:
        return content
    return _decode(text) or content


def _decode(text: str) -> bytes | None:
    """Hexadecimal digits or base64 of a key of 16 to 96 bytes."""
    try:
        key = bytes.fromhex(text)
    except ValueError:
        try:
            key = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
        except binascii.Error:
            return None
    return key if 16 <= len(key) <= 96 else None
