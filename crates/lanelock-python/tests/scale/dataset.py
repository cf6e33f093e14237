"""The data set of ``make scale``, and what is asked of every engine's output."""

from __future__ import annotations

import os
import pathlib
from typing import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tqdm import tqdm

import lanelock

#: Bytes of a note, and of a row with its offsets on average.
NOTE, ROW = range(16, 145), 124
#: Bytes of the nonces with which the random ciphertexts start.
NONCE = 12
#: Columns with random nonces.
RANDOM = ("email", "note")


def make(folder: pathlib.Path, size: int, files: int) -> int:
    """Writes so many Parquet files of ``size`` bytes together; returns the number of rows."""
    folder.mkdir()
    count = max(1, size // files // ROW)
    with tqdm(total=size, unit="B", unit_scale=True, desc="data set", disable=None) as bar:
        for number in range(files):
            path = folder / f"{number:05}.parquet"
            pq.write_table(rows(number * count, count), path, compression="none", use_dictionary=False)
            bar.update(path.stat().st_size)
    return files * count


def rows(first: int, count: int) -> pa.Table:
    ids = pa.array(np.arange(first, first + count))
    lengths = np.random.default_rng(first).integers(NOTE.start, NOTE.stop, count)
    offsets = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    data = os.urandom(int(offsets[-1]))
    notes = pa.Array.from_buffers(
        pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )
    emails = pc.binary_join_element_wise("user", ids.cast(pa.string()), "@example.org", "")
    return pa.table({"id": ids, "email": emails, "note": notes})


def keys(folder: pathlib.Path) -> dict[str, str]:
    """References to new keys, for each column that is encrypted."""
    references = {}
    for name, length in (("email", 32), ("note", 32), ("join_key", 64)):
        path = folder / f"{name}.key"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(lanelock.random_key(length))
        references[name] = f"file:{path}"
    return references


def size(folder: pathlib.Path) -> int:
    """The bytes of its Parquet files, some of which may be on their way to another name."""
    total = 0
    for path in folder.rglob("*.parquet"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            pass
    return total


def nonces(batch: pa.Table | pa.RecordBatch) -> bytes:
    """The nonces of a batch, side by side."""
    parts = []
    for name in RANDOM:
        column = batch.column(batch.schema.get_field_index(name))
        heads = pc.binary_slice(column.cast(pa.large_binary()), 0, NONCE)
        parts += heads.to_pylist()
    return b"".join(parts)


def check_ids(folder: pathlib.Path, rows: int) -> None:
    """That every row is there once."""
    seen = np.zeros(rows, np.uint8)
    for table in tables(folder, ["id"], "rows"):
        ids = table["id"].to_numpy()
        np.add.at(seen, ids, 1)
    lost, twice = int((seen == 0).sum()), int((seen > 1).sum())
    assert lost == twice == 0, f"{lost} rows are lost, {twice} are there more than once"
    print(f"  {rows:,} rows, none lost, none twice", flush=True)


def check_nonces(folder: pathlib.Path, more: bytes) -> None:
    """That no nonce is there twice, ``more`` included: those of a worker that was killed."""
    words: list[np.ndarray] = [np.frombuffer(more, (np.void, NONCE))]
    for table in tables(folder, list(RANDOM), "nonces"):
        for name in RANDOM:
            for chunk in table[name].chunks:
                heads = pc.binary_slice(chunk.cast(pa.binary()), 0, NONCE).cast(pa.binary(NONCE))
                _, data = heads.buffers()
                words.append(np.frombuffer(data, (np.void, NONCE), len(heads), NONCE * heads.offset))
    every = np.concatenate(words)
    parts = every.view(np.dtype([("high", ">u8"), ("low", ">u4")]))
    high, low = parts["high"].astype(np.uint64), parts["low"].astype(np.uint32)
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    same = int(((high[1:] == high[:-1]) & (low[1:] == low[:-1])).sum())
    assert same == 0, f"{same} nonces are there twice"
    lost = len(more) // NONCE
    print(f"  {len(every):,} nonces, none twice; {lost:,} of them were the killed worker's", flush=True)


def tables(folder: pathlib.Path, columns: list[str], what: str) -> Iterator[pa.Table]:
    paths = sorted(folder.rglob("*.parquet"))
    for path in tqdm(paths, desc=f"checking {what}", unit="file", disable=None, leave=False):
        yield pq.read_table(path, columns=columns, partitioning=None)


class Speed:
    """Says how fast a pass was, and compares with one core."""

    def __init__(self) -> None:
        self.core = 0.0

    def say(self, what: str, size: int, values: int, seconds: float, cores: int) -> None:
        rate = size / seconds
        text = (f"  {what}: {seconds:.1f} s, {rate / 1e6:.0f} MB/s, {values / seconds / 1e6:.2f} million "
                f"values/s")
        if cores == 1:
            self.core = rate
        else:
            text += f"; {rate / cores / 1e6:.0f} MB/s per core, {rate / self.core:.2f} times one core"
        print(text, flush=True)


def kill_once(
    batch: pa.Table | pa.RecordBatch,
    marker: pathlib.Path,
    output: pathlib.Path,
    begun: int,
    kill: Callable[[], None],
) -> None:
    """Calls ``kill`` once, when the output has ``begun`` bytes. The batch's nonces, which
    nobody will see again, stay in the marker."""
    if marker.exists() or size(output) < begun:
        return
    try:
        descriptor = os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        return
    with open(descriptor, "wb") as file:
        file.write(nonces(batch))
        file.flush()
        os.fsync(file.fileno())
    kill()


def ancestor(name: str) -> int:
    """The process above this one that has a name."""
    process = os.getpid()
    while process > 1:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            process = int(file.read().rsplit(")", 1)[1].split()[1])
        with open(f"/proc/{process}/comm", encoding="utf-8") as file:
            if file.read().strip() == name:
                return process
    raise ProcessLookupError(f"no process {name} above this one")
