"""PySpark: Spark's own functions read our ciphertexts and write what we read."""

from __future__ import annotations

import os
import sys

import pyarrow as pa
import pytest

import lanelock

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed (requirements-clusters.txt)")

KEY = bytes(range(32))
VALUES = [None if n % 9 == 0 else bytes([n % 256]) * (n % 50) for n in range(500)]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    path = tmp_path_factory.mktemp("key") / "key"
    path.write_bytes(KEY.hex().encode())
    path.chmod(0o600)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.key_path = path
    yield session
    session.stop()


@pytest.mark.parametrize(("mode", "algorithm"), [("GCM", "aes-gcm"), ("CBC", "aes-cbc")])
def test_spark_s_functions_read_ours_and_we_read_theirs(spark, mode, algorithm):
    from pyspark.sql import functions as f

    aead = lanelock.Aead(algorithm, KEY, layout="spark")
    frame = spark.createDataFrame(
        [(n, value, sealed) for n, (value, sealed) in enumerate(zip(VALUES, aead.encrypt(VALUES).to_pylist()))],
        "n int, value binary, ours binary",
    )
    key, mode = f.lit(KEY), f.lit(mode)
    rows = (
        frame.select(
            "n", f.aes_decrypt("ours", key, mode).alias("read"), f.aes_encrypt("value", key, mode).alias("theirs")
        )
        .orderBy("n")
        .collect()
    )
    assert [row.read and bytes(row.read) if row.read is not None else None for row in rows] == VALUES
    theirs = [None if row.theirs is None else bytes(row.theirs) for row in rows]
    assert aead.decrypt(theirs).to_pylist() == VALUES


def test_map_in_arrow_and_arrow_udf(spark):
    from pyspark.sql import functions as f

    from lanelock.adapters.spark import decrypt_columns, encrypt_columns, udf

    frame = spark.createDataFrame(list(enumerate(VALUES)), "n int, value binary")
    reference = f"file:{spark.key_path}"
    sealed = encrypt_columns(frame, ["value"], reference, algorithm="aes-gcm", layout="spark")
    rows = sealed.select("n", f.aes_decrypt("value", f.lit(KEY)).alias("v")).orderBy("n").collect()
    assert [None if row.v is None else bytes(row.v) for row in rows] == VALUES
    back = decrypt_columns(sealed, ["value"], reference, algorithm="aes-gcm", layout="spark")
    assert [None if r.value is None else bytes(r.value) for r in back.orderBy("n").collect()] == VALUES
    seal, unseal = udf("encrypt", reference), udf("decrypt", reference)
    rows = frame.select("n", unseal(seal("value")).alias("v")).orderBy("n").collect()
    assert [None if row.v is None else bytes(row.v) for row in rows] == VALUES
    with pytest.raises(TypeError, match="reference"):
        encrypt_columns(frame, ["value"], KEY)


@pytest.mark.parametrize(("mode", "aad"), [("GCM", b"users"), ("GCM", None), ("CBC", None)])
def test_instead_of_spark_s_functions(spark, mode, aad):
    from pyspark.sql import functions as f

    from lanelock.adapters.spark import aes_decrypt, aes_encrypt

    frame = spark.createDataFrame(list(enumerate(VALUES)), "n int, value binary")
    reference, key = f"file:{spark.key_path}", f.lit(KEY)
    rest = [f.lit(mode), f.lit("DEFAULT")]
    theirs = [*rest, f.lit(b""), f.lit(aad)] if aad else rest
    reads = [*rest, f.lit(aad)] if aad else rest
    rows = frame.select(
        "n",
        f.aes_decrypt(aes_encrypt("value", reference, mode, aad), key, *reads).alias("ours"),
        aes_decrypt(f.aes_encrypt("value", key, *theirs), reference, mode, aad).alias("theirs"),
    )
    for row in rows.collect():
        for value in (row.ours, row.theirs):
            assert (None if value is None else bytes(value)) == VALUES[row.n]
    with pytest.raises(ValueError, match="allowed: GCM, CBC"):
        aes_encrypt("value", reference, "ECB")


def test_deterministic_functions_join(spark):
    from lanelock.adapters.spark import udf

    frame = spark.createDataFrame([(n, f"user{n % 50}") for n in range(100)], "n int, name string")
    seal = udf("encrypt", f"file:{spark.key_path}", algorithm="aes-siv")
    spark.udf.register("seal", seal)
    frame.createOrReplaceTempView("names")
    query = "SELECT a.n AS n, b.n AS m FROM names a JOIN names b ON seal(a.name) = seal(b.name)"
    pairs = {(row.n, row.m) for row in spark.sql(query).collect()}
    assert pairs == {(n, m) for n in range(100) for m in range(100) if n % 50 == m % 50}
