"""A column of a Parquet file encrypted batch by batch, and read again."""

import pathlib
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq

import lanelock

aead = lanelock.Aead("aes-256-gcm-siv", lanelock.random_key())
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    emails = [f"user{n}@example.org" for n in range(10_000)]
    pq.write_table(pa.table({"email": emails}), folder / "users.parquet", row_group_size=2_500)
    schema = pa.schema({"email": pa.binary()})
    with pq.ParquetWriter(folder / "sealed.parquet", schema) as target:
        for batch in pq.ParquetFile(folder / "users.parquet").iter_batches():
            sealed = pa.array(aead.encrypt(batch.column(0), aad=b"users.email"))
            target.write_batch(pa.record_batch([sealed], schema))
    column = pq.read_table(folder / "sealed.parquet")["email"]
    opened = pa.chunked_array(aead.decrypt(column, aad=b"users.email", type="string"))
print(opened.slice(0, 3).to_pylist())
assert opened.to_pylist() == emails
