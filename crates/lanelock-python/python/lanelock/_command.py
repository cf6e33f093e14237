"""``python -m lanelock encrypt|decrypt|rotate|hash FILE --column NAME --key-file FILE``.

A file is read in batches of one row group (Parquet) or of some megabytes (CSV, as text: encrypted values are
base64), and written to a temporary file beside the output, which it replaces when it is complete.

Exit codes: 0 done; 1 rows failed or a file could not be read or written; 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from typing import Any, Callable, Iterator, Optional, TypeVar

import lanelock

from ._progress import reporter


class Failure(Exception):
    """What ends the command with exit code 1."""


def main(arguments: Optional[list[str]] = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except (Failure, lanelock.RowError, OSError) as error:
        print(f"lanelock: {error}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"lanelock: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("lanelock: interrupted; the output was not changed", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lanelock", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in [
        ("encrypt", "encrypt columns"),
        ("decrypt", "decrypt columns"),
        ("rotate", "decrypt columns and encrypt them under another key"),
        ("hash", "replace columns by pseudonyms (HMAC-SHA-256 in hexadecimal digits)"),
    ]:
        command = commands.add_parser(name, help=about)
        command.add_argument("file", help="a .parquet or .csv file")
        command.add_argument("--column", action="append", required=True, help="may be repeated")
        command.add_argument("--key-file", required=True, help="readable by its owner alone (0600)")
        command.add_argument("--output", help="default: the file itself is replaced")
        command.add_argument("--dry-run", action="store_true", help="say what would be done")
        command.add_argument("--threads", type=int, help="default: all cores")
        command.add_argument("--no-progress", action="store_true")
        command.add_argument(
            "--resume", action="store_true", help="go on after an interrupted run (Parquet)"
        )
        if name != "hash":
            command.add_argument("--algorithm", default="aes-256-gcm-siv")
            command.add_argument("--aad", default="", help="additional data; {column} is the name")
        if name == "rotate":
            command.add_argument("--new-key-file", required=True)
            command.add_argument("--new-algorithm", help="default: the old one")
        if name == "decrypt":
            command.add_argument("--type", default="string", help="of the values (default: string)")
        if name == "hash":
            command.add_argument("--length", type=int, default=32, help="bytes of a pseudonym")
    return parser


def _run(options: argparse.Namespace) -> int:
    if not options.file.endswith((".parquet", ".csv")):
        raise ValueError(f"{options.file}: allowed are .parquet and .csv files")
    transform = _transform(options)
    source = _Parquet if options.file.endswith(".parquet") else _Csv
    if options.resume and source is _Csv:
        raise ValueError("--resume: only Parquet files have row groups to go on from")
    with source(options.file) as file:
        missing = [name for name in options.column if name not in file.names]
        if missing:
            raise ValueError(
                f"{options.file} has no column {', '.join(missing)}; it has {', '.join(file.names)}"
            )
        output = options.output or options.file
        print(
            f"{options.command} {', '.join(options.column)} of {options.file} ({file.summary}) to {output}",
            file=sys.stderr,
        )
        if options.dry_run:
            return 0
        progress = None if options.no_progress else reporter(True, file.rows)
        file.convert(output, options, transform, progress)
        if progress is not None:
            progress.close()
    return 0


Source = TypeVar("Source", bound="_Source")

#: From a column's name and values to the new values.
Transform = Callable[[str, Any], Any]


def _transform(options: argparse.Namespace) -> Transform:
    key = lanelock.read_key_file(options.key_file)
    threads = options.threads

    def aad(name: str) -> bytes:
        text: str = options.aad
        return text.replace("{column}", name).encode()

    if options.command == "hash":
        mac = lanelock.Mac("hmac-sha256", key, length=options.length, encoding="hex")
        return lambda name, column: mac.compute(column, threads=threads)
    aead = lanelock.Aead(options.algorithm, key)
    if options.command == "encrypt":
        return lambda name, column: aead.encrypt(column, aad=aad(name), threads=threads)
    if options.command == "decrypt":
        return lambda name, column: aead.decrypt(
            column, aad=aad(name), type=options.type, threads=threads
        )
    new_key = lanelock.read_key_file(options.new_key_file)
    new = lanelock.Aead(options.new_algorithm or options.algorithm, new_key)
    return lambda name, column: new.encrypt(
        aead.decrypt(column, aad=aad(name), threads=threads), aad=aad(name), threads=threads
    )


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise Failure("this command reads files with pyarrow: pip install pyarrow") from None
    return pyarrow


class _Source:
    """A file that is open for the length of a block."""

    file: Any

    def __enter__(self: Source) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()


class _Parquet(_Source):
    """A Parquet file, row group by row group. What is done of it is in a folder beside the output, one
    file for each row group, until all are; `--resume` keeps those."""

    def __init__(self, path: str) -> None:
        self.pyarrow = _pyarrow()
        import pyarrow.parquet

        self.parquet = pyarrow.parquet
        try:
            self.file = self.parquet.ParquetFile(path)
        except self.pyarrow.ArrowInvalid as error:
            raise Failure(f"{path}: {error}") from None
        self.path = path
        self.names: list[str] = self.file.schema_arrow.names
        self.rows: int = self.file.metadata.num_rows
        self.summary = f"{self.rows:,} rows in {self.file.metadata.num_row_groups} row groups"

    def convert(
        self, output: str, options: argparse.Namespace, transform: Transform, progress: Any
    ) -> None:
        parts = f"{output}.lanelock-parts"
        self._prepare(parts, options)
        done = 0
        for group in range(self.file.metadata.num_row_groups):
            part = os.path.join(parts, f"{group:06}.parquet")
            if not os.path.exists(part):
                table = self.file.read_row_group(group)
                for name in options.column:
                    at = table.schema.get_field_index(name)
                    sealed = self.pyarrow.chunked_array(transform(name, table.column(at)))
                    table = table.set_column(at, name, sealed)
                with _Replaced(part) as temporary:
                    self.parquet.write_table(table, temporary)
                del table
            done += self.file.metadata.row_group(group).num_rows
            if progress is not None:
                progress(done)
        with _Replaced(output) as temporary:
            self._join(parts, temporary)
        for name in os.listdir(parts):
            os.unlink(os.path.join(parts, name))
        os.rmdir(parts)

    def _prepare(self, parts: str, options: argparse.Namespace) -> None:
        """The folder of parts, for this very run; what another run left is refused or removed."""
        status = os.stat(self.path)
        job = {
            "file": [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns],
            "command": options.command,
            "columns": options.column,
            "algorithm": getattr(options, "algorithm", None),
            "new_algorithm": getattr(options, "new_algorithm", None),
            "aad": getattr(options, "aad", None),
            "type": getattr(options, "type", None),
            "length": getattr(options, "length", None),
            "key_check": _key_check(options),
        }
        record = os.path.join(parts, "job.json")
        if os.path.isdir(parts):
            if not options.resume:
                raise Failure(f"{parts} is left from an interrupted run: pass --resume, or remove it")
            with open(record, encoding="utf-8") as file:
                if json.load(file) != json.loads(json.dumps(job)):
                    raise Failure(f"{parts} is of another run (file, columns, key or options differ)")
            return
        os.mkdir(parts, 0o700)
        with _Replaced(record) as temporary, open(temporary, "w", encoding="utf-8") as file:
            json.dump(job, file)

    def _join(self, parts: str, target: str) -> None:
        """All row groups in one file, in their order."""
        names = sorted(name for name in os.listdir(parts) if name.endswith(".parquet"))
        first = self.parquet.read_schema(os.path.join(parts, names[0])) if names else None
        with self.parquet.ParquetWriter(target, first or self.file.schema_arrow) as writer:
            for name in names:
                writer.write_table(self.parquet.read_table(os.path.join(parts, name)))


def _key_check(options: argparse.Namespace) -> list[str]:
    """Says whether a run goes on with the same keys, and nothing else of them."""
    files = [options.key_file, getattr(options, "new_key_file", None)]
    checks = []
    for file in files:
        if file is not None:
            mac = lanelock.Mac("hmac-sha256", lanelock.read_key_file(file), length=8, encoding="hex")
            checks.append(mac.compute([b"lanelock resume"]).to_pylist()[0])
    return checks


class _Csv(_Source):
    """A CSV file with a header line. Encrypted values are base64, decrypted ones are text."""

    BATCH = 50_000

    def __init__(self, path: str) -> None:
        import csv

        self.csv = csv
        self.path = path
        self.file = open(path, newline="", encoding="utf-8")
        self.reader = csv.reader(self.file)
        try:
            self.names = next(self.reader)
        except StopIteration:
            raise Failure(f"{path}: the file has no header line") from None
        self.rows = 0
        self.summary = f"{os.stat(path).st_size:,} bytes"

    def convert(
        self, output: str, options: argparse.Namespace, transform: Transform, progress: Any
    ) -> None:
        positions = [(name, self.names.index(name)) for name in options.column]
        done = 0
        with _Replaced(output) as temporary:
            with open(temporary, "w", newline="", encoding="utf-8") as target:
                writer = self.csv.writer(target, lineterminator="\n")
                writer.writerow(self.names)
                for rows in self._batches():
                    for name, at in positions:
                        values: list[Any] = [row[at] for row in rows]
                        if options.command in ("decrypt", "rotate"):
                            values = [_unbase64(value, done + n) for n, value in enumerate(values)]
                        for row, value in zip(rows, transform(name, values).to_pylist()):
                            text = isinstance(value, str)
                            row[at] = value if text else base64.b64encode(value).decode()
                    writer.writerows(rows)
                    done += len(rows)
                    if progress is not None:
                        progress.total = max(done, progress.total) if hasattr(progress, "total") else 0
                        progress(done)

    def _batches(self) -> Iterator[list[list[str]]]:
        rows: list[list[str]] = []
        for number, row in enumerate(self.reader):
            if len(row) != len(self.names):
                raise Failure(
                    f"{self.path}: row {number} has {len(row)} fields, the header {len(self.names)}"
                )
            rows.append(row)
            if len(rows) == self.BATCH:
                yield rows
                rows = []
        if rows:
            yield rows


def _unbase64(text: str, row: int) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise Failure(f"row {row}: the value is not base64") from None


class _Replaced:
    """A temporary file that takes the place of `path` when the block ends well, with the owner and mode of
    what it replaces."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.temporary = f"{path}.lanelock-new"

    def __enter__(self) -> str:
        descriptor = os.open(self.temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.close(descriptor)
        return self.temporary

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            os.unlink(self.temporary)
            return
        descriptor = os.open(self.temporary, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        if os.path.exists(self.path):
            os.chmod(self.temporary, os.stat(self.path).st_mode & 0o777)
        os.replace(self.temporary, self.path)
