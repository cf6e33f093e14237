"""The command's memory does not grow with its file."""

from __future__ import annotations

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq

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
