"""Ray Data, on two workers of one machine."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest

ray = pytest.importorskip("ray", reason="ray is not installed (requirements-clusters.txt)")

VALUES = [f"user{n}@example.org" if n % 5 else None for n in range(2000)]


def test_map_batches_there_and_back(tmp_path):
    import ray.data

    from lanelock.adapters.ray import decrypt_columns, encrypt_columns

    path = tmp_path / "key"
    path.write_bytes(os.urandom(32).hex().encode())
    path.chmod(0o600)
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
    try:
        table = pa.table({"n": range(2000), "email": pa.array(VALUES)})
        data = ray.data.from_arrow(table).repartition(4)
        sealed = encrypt_columns(data, ["email"], f"file:{path}", aad=b"users")
        back = decrypt_columns(sealed, ["email"], f"file:{path}", aad=b"users", type="string")
        rows = sorted(back.take_all(), key=lambda row: row["n"])
        assert [row["email"] for row in rows] == VALUES
        with pytest.raises(TypeError, match="reference"):
            encrypt_columns(data, ["email"], bytes(32))
        with pytest.raises(Exception, match="no column 'e-mail'"):
            encrypt_columns(data, ["e-mail"], f"file:{path}").materialize()
    finally:
        ray.shutdown()
