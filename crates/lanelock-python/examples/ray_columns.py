"""Ray Data: a column encrypted and decrypted by the workers, which find the key in a file."""

import os
import pathlib
import tempfile

import pyarrow as pa
import ray
import ray.data

import lanelock
from lanelock.adapters.ray import decrypt_columns, encrypt_columns

ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
with tempfile.TemporaryDirectory() as name:
    path = pathlib.Path(name) / "column.key"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(lanelock.random_key())
    key = f"file:{path}"
    emails = [f"user{n}@example.org" for n in range(10_000)]
    users = ray.data.from_arrow(pa.table({"email": emails})).repartition(4)
    sealed = encrypt_columns(users, ["email"], key, aad=b"users.email").materialize()
    opened = decrypt_columns(sealed, ["email"], key, aad=b"users.email", type="string")
    back = [row["email"] for row in opened.iter_rows()]
    print(sealed.schema(), back[0])
    assert sorted(back) == sorted(emails)
ray.shutdown()
