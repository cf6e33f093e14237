"""`python -m lanelock` on Parquet and CSV files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = 10_000


@pytest.fixture
def files(tmp_path):
    for name in ("key", "other.key"):
        path = tmp_path / name
        path.write_bytes(os.urandom(32).hex().encode())
        path.chmod(0o600)
    emails = [None if n % 7 == 0 else f"user{n}@example.org" for n in range(ROWS)]
    table = pa.table({"id": range(ROWS), "email": pa.array(emails, pa.string())})
    pq.write_table(table, tmp_path / "users.parquet", row_group_size=1500)
    with open(tmp_path / "users.csv", "w") as file:
        file.write("id,email\n" + "".join(f"{n},user{n}@example.org\n" for n in range(ROWS)))
    return tmp_path


def run(files, command, file, *options, code=0, key="key"):
    arguments = [sys.executable, "-m", "lanelock", command, str(files / file), "--column", "email"]
    arguments += ["--key-file", str(files / key), *map(str, options)]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_parquet_there_and_back_and_with_another_key(files):
    path = files / "users.parquet"
    before = pq.read_table(path)
    path.chmod(0o640)
    run(files, "encrypt", "users.parquet", "--aad", "users.{column}")
    sealed = pq.read_table(path)
    assert sealed.column("email").type == pa.binary()
    assert sealed.column("id").equals(before.column("id"))
    assert sealed.column("email").null_count == before.column("email").null_count
    assert pq.ParquetFile(path).metadata.num_row_groups == 7
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    rotated = ("--new-key-file", files / "other.key", "--aad", "users.{column}")
    run(files, "rotate", "users.parquet", *rotated)
    assert not set(pq.read_table(path).column("email").drop_null().to_pylist()) & set(
        sealed.column("email").drop_null().to_pylist()
    )
    run(files, "decrypt", "users.parquet", "--aad", "users.{column}", code=1)
    text = run(files, "decrypt", "users.parquet", "--aad", "users.{column}", "--resume", code=1)
    assert "another run" in text or "authentication failed" in text
    _remove_parts(files)
    run(files, "decrypt", "users.parquet", "--aad", "users.{column}", key="other.key")
    assert pq.read_table(path).equals(before)
    assert sorted(os.listdir(files)) == ["key", "other.key", "users.csv", "users.parquet"]


def _remove_parts(files):
    parts = files / "users.parquet.lanelock-parts"
    for part in parts.iterdir():
        part.unlink()
    parts.rmdir()


def test_csv_there_and_back(files):
    before = (files / "users.csv").read_text()
    run(files, "encrypt", "users.csv")
    sealed = (files / "users.csv").read_text()
    assert "example.org" not in sealed and sealed.count("\n") == before.count("\n")
    run(files, "decrypt", "users.csv")
    assert (files / "users.csv").read_text() == before
    run(files, "hash", "users.csv", "--output", files / "hashed.csv", "--length", 8)
    lines = (files / "hashed.csv").read_text().splitlines()
    assert len(lines) == ROWS + 1 and len(lines[1].split(",")[1]) == 16


def test_an_interrupted_run_goes_on_where_it_was(files):
    """Kills the command while it runs; what is there of its row groups is kept."""
    path = files / "users.parquet"
    before = path.read_bytes()
    parts = files / "users.parquet.lanelock-parts"
    script = (
        "import os, sys, lanelock._command as command\n"
        "replace = os.replace\n"
        "def stopping(a, b):\n"
        "    replace(a, b)\n"
        "    if b.endswith('000002.parquet'):\n"
        "        os.kill(os.getpid(), 9)\n"
        "os.replace = stopping\n"
        "sys.exit(command.main(sys.argv[1:]))\n"
    )
    arguments = ["encrypt", str(path), "--column", "email", "--key-file", str(files / "key")]
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True)
    assert done.returncode == -9
    assert path.read_bytes() == before
    first = {name: (parts / name).read_bytes() for name in os.listdir(parts) if name.endswith("t")}
    assert len(first) == 3
    assert "--resume" in run(files, "encrypt", "users.parquet", code=1)
    assert "another run" in run(
        files, "encrypt", "users.parquet", "--resume", code=1, key="other.key"
    )
    run(files, "encrypt", "users.parquet", "--resume")
    kept = pq.ParquetFile(path).read_row_group(2).column("email").to_pylist()
    part = files / "part.parquet"
    part.write_bytes(first["000002.parquet"])
    assert kept == pq.read_table(part).column("email").to_pylist()
    run(files, "decrypt", "users.parquet")
    assert pq.read_table(path).num_rows == ROWS


def test_what_is_wrong_is_said_and_nothing_changes(files):
    before = (files / "users.parquet").read_bytes()
    assert "no column" in run(files, "encrypt", "users.parquet", "--column", "mail", code=2)
    assert "to" in run(files, "encrypt", "users.parquet", "--dry-run")
    (files / "key").chmod(0o644)
    assert "mode 0644" in run(files, "encrypt", "users.parquet", code=1)
    (files / "key").chmod(0o600)
    (files / "key").write_bytes(b"short")
    assert "key of 5 bytes" in run(files, "encrypt", "users.parquet", code=2)
    (files / "broken.parquet").write_bytes(b"PAR1")
    (files / "key").write_bytes(bytes(32))
    assert "broken.parquet" in run(files, "encrypt", "broken.parquet", code=1)
    assert (files / "users.parquet").read_bytes() == before
    assert subprocess.run([sys.executable, "-m", "lanelock"], capture_output=True).returncode == 2
