"""PySpark: a column encrypted for Spark's own ``aes_decrypt``, and two frames joined on encrypted columns.

Keys are files that every executor can read; Spark sees their paths only. Needs pyspark and Java 17.
"""

import os
import pathlib
import sys
import tempfile

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import lanelock
from lanelock.adapters.spark import aes_encrypt, decrypt_columns, encrypt_columns

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")


def key_file(path: pathlib.Path, length: int) -> str:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(lanelock.random_key(length))
    return f"file:{path}"


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    random, fixed = key_file(folder / "random.key", 32), key_file(folder / "fixed.key", 64)
    rows = [(n, f"user{n}@example.org") for n in range(10_000)]
    users = spark.createDataFrame(rows, "id long, email string")

    # Instead of f.aes_encrypt("email", key), which has the key in its plan.
    sealed = users.select("id", aes_encrypt("email", random).alias("email"))
    key = f.lit(lanelock.KeyRef(random).load())
    opened = sealed.select(f.aes_decrypt("email", key).cast("string").alias("email"))
    assert sorted(opened.toPandas()["email"]) == sorted(email for _, email in rows)

    # Equal values have equal ciphertexts, which can be joined on.
    left = encrypt_columns(users, ["email"], fixed, algorithm="aes-siv")
    orders = users.filter("id % 2 = 0").select("email", f.col("id").alias("number"))
    right = encrypt_columns(orders, ["email"], fixed, algorithm="aes-siv")
    joined = decrypt_columns(left.join(right, "email"), ["email"], fixed, algorithm="aes-siv", type="string")
    found = joined.filter((f.col("id") == f.col("number")) & f.col("email").startswith("user")).count()
    print(f"{found} orders have their user")
    assert found == 5_000
spark.stop()
