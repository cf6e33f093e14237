"""Progress of a long column: tqdm if it is installed, otherwise a line on standard error."""

from __future__ import annotations

import sys
from typing import Any, Callable


class _Line:
    def __init__(self, total: int) -> None:
        self.total = total

    def __call__(self, rows: int) -> None:
        share = 100 if self.total == 0 else 100 * rows // self.total
        print(f"\r{rows:,} of {self.total:,} rows ({share} %)", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)


class _Bar:
    def __init__(self, bar: Any) -> None:
        self.bar = bar

    def __call__(self, rows: int) -> None:
        self.bar.update(rows - self.bar.n)

    def close(self) -> None:
        self.bar.close()


class _Function:
    def __init__(self, function: Callable[[int, int], object], total: int) -> None:
        self.function = function
        self.total = total

    def __call__(self, rows: int) -> None:
        self.function(rows, self.total)

    def close(self) -> None:
        pass


def reporter(progress: Any, total: int) -> Any:
    """What is called with the rows that are done, for ``progress=True`` or a function of
    (done, total)."""
    if callable(progress):
        return _Function(progress, total)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(total)
    return _Bar(tqdm(total=total, unit=" rows", unit_scale=True))
