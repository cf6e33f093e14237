"""The command's memory does not grow with its file; a column takes its output and little more."""

from __future__ import annotations

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

#: Rows of a row group, each of 64 bytes: 16 MiB with their offsets and nonces.
GROUP = 150_000

RUN = """
import sys
from lanelock._command import main
code = main()
with open("/proc/self/status") as file:
    [peak] = [line.split()[1] for line in file if line.startswith("VmHWM")]
print(peak)
sys.exit(code)
"""


def peak(folder, groups):
    """KiB that the command has at most for a file of so many row groups."""
    path = folder / f"{groups}.parquet"
    data = os.urandom(64 * GROUP)
    values = [data[at : at + 64] for at in range(0, len(data), 64)]
    table = pa.table({"value": pa.array(values, pa.binary())})
    with pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=False) as writer:
        for _ in range(groups):
            writer.write_table(table)
    arguments = ["encrypt", str(path), "--column", "value", "--key-file", str(folder / "key")]
    command = [sys.executable, "-c", RUN, *arguments, "--no-progress", "--threads", "2"]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


def test_seven_times_the_rows_take_no_more_memory(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    small, large = peak(tmp_path, 2), peak(tmp_path, 14)
    assert large < small + 64 * 1024, (small, large)


#: Bytes that a call may take besides its output.
MOST = 64 << 20

CALL = """
import numpy as np
import pyarrow as pa
import lanelock

def status(name):
    with open("/proc/self/status") as file:
        [kib] = [line.split()[1] for line in file if line.startswith(name)]
    return 1024 * int(kib)

def values(count, size, nulls=False):
    data = bytes(count * size)  # pages that nobody writes take no memory
    ends = pa.py_buffer(np.arange(count + 1, dtype=np.int64) * size)
    valid = pa.py_buffer(np.full(count // 8 + 1, 0xfe, np.uint8).tobytes()) if nulls else None
    return pa.Array.from_buffers(pa.large_binary(), count, [valid, ends, pa.py_buffer(data)])

aead, mac = lanelock.Aead("aes-256-gcm", bytes(32)), lanelock.Mac("hmac-sha256", bytes(32))
column = {COLUMN}
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak starts anew
result = {CALL}
peak = status("VmHWM")
size = pa.chunked_array(result).get_total_buffer_size()
print(peak - before, size, len(column))
"""

GIB = 1 << 30
#: The number of rows N, the bytes that are copied, what makes the column, and the call.
CALLS = {
    "large values": (GIB // 256, 0, "values(N, 256)", "aead.encrypt(column)"),
    "small values": (GIB // 32, 0, "values(N, 16)", "aead.encrypt(column)"),
    "decrypted": (GIB // 292, 0, "pa.array(aead.encrypt(values(N, 256)))", "aead.decrypt(column)"),
    "MACs, some rows null": (GIB // 64, 0, "values(N, 32, nulls=True)", "mac.compute(column)"),
    "NumPy": (GIB // 64, GIB, "np.zeros(N, 'S64')", "aead.encrypt(column)"),
    "integers decrypted, some rows null": (
        GIB // 64,
        0,
        "pa.array(aead.encrypt(pa.array(np.arange(N), mask=np.arange(N) % 8 == 0)))",
        'aead.decrypt(column, type="int64")',
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_column_takes_its_output_and_little_more(name):
    rows, copied, column, call = CALLS[name]
    program = CALL.replace("{COLUMN}", column.replace("N", str(rows))).replace("{CALL}", call)
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    taken, output, count = map(int, answer.stdout.split())
    assert count == rows and taken < output + copied + MOST, (taken >> 20, output >> 20)
