"""``make scale``: a Parquet data set through PySpark on a cluster of two workers, one of which is killed.

Encrypts a column with random nonces and another deterministically, joins on the second, decrypts, and
compares with the data that was made. The executor of one task is killed while it writes: Spark runs the
task again, and no row is lost, none is there twice, and no nonce is used twice in all output.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import sys
import tempfile
import time


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--partitions", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lanelock-scale-") as folder:
        spark(pathlib.Path(folder), options.rows, options.partitions)
    return 0


def key_file(folder: pathlib.Path, name: str, length: int) -> str:
    path = folder / name
    path.write_bytes(os.urandom(length).hex().encode())
    path.chmod(0o600)
    return f"file:{path}"


def spark(folder: pathlib.Path, rows: int, partitions: int) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    from lanelock.adapters.spark import decrypt_columns, encrypt_columns

    path = os.pathsep.join(filter(None, sys.path))
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executorEnv.PYTHONPATH", path)
        .config("spark.sql.shuffle.partitions", str(partitions))
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    random, fixed = key_file(folder, "random", 32), key_file(folder, "fixed", 64)
    email = f.concat(f.lit("user"), f.col("id").cast("string"), f.lit("@example.org"))
    plain = session.range(rows, numPartitions=partitions).select("id", email.alias("email"))
    plain.write.parquet(str(folder / "plain"))
    plain = session.read.parquet(str(folder / "plain"))

    start = time.monotonic()
    both = plain.select("id", "email", f.col("email").alias("join_key"))
    sealed = encrypt_columns(both, ["email"], random, algorithm="aes-gcm", layout="spark")
    sealed = encrypt_columns(sealed, ["join_key"], fixed, algorithm="aes-siv")
    killing = sealed.mapInArrow(killer(str(folder / "killed")), sealed.schema)
    killing.write.parquet(str(folder / "sealed"))
    seconds = time.monotonic() - start
    assert (folder / "killed").exists(), "no executor was killed"
    print(f"encrypted {rows:,} rows, two columns, one executor killed: {seconds:.1f} s, "
          f"{2 * rows / seconds / 1e6:.2f} million values/s on 2 workers, "
          f"{rows / seconds / 1e6:.2f} per core", flush=True)

    sealed = session.read.parquet(str(folder / "sealed"))
    total, ids, nonces = sealed.agg(
        f.count("*"), f.countDistinct("id"), f.countDistinct(f.substring("email", 1, 12))
    ).first()
    print(f"rows {total:,}, different ids {ids:,}, different nonces {nonces:,}", flush=True)
    assert total == ids == nonces == rows, "a row or a nonce is lost or there twice"

    start = time.monotonic()
    other = encrypt_columns(
        plain.select(f.col("email").alias("join_key"), f.col("id").alias("other")), ["join_key"],
        fixed, algorithm="aes-siv",
    )
    joined = decrypt_columns(
        sealed.join(other, "join_key"), ["email"], random,
        algorithm="aes-gcm", layout="spark", type="string",
    )
    expected = f.concat(f.lit("user"), f.col("other").cast("string"), f.lit("@example.org"))
    good = joined.filter((f.col("email") == expected) & (f.col("id") == f.col("other"))).count()
    seconds = time.monotonic() - start
    print(f"joined on the encrypted column, decrypted and compared {good:,} rows: {seconds:.1f} s")
    assert good == rows, "the join or decryption lost rows"
    session.stop()


def killer(marker: str):
    """Kills the executor of the first task that has written a batch, once."""

    def batches(iterator):
        for number, batch in enumerate(iterator):
            yield batch
            if number == 0 and not os.path.exists(marker):
                try:
                    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                os.kill(executor(), signal.SIGKILL)

    return batches


def executor() -> int:
    """The executor that this Python worker belongs to: the Java process above it."""
    process = os.getpid()
    while True:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            process = int(file.read().rsplit(")", 1)[1].split()[1])
        with open(f"/proc/{process}/comm", encoding="utf-8") as file:
            if file.read().strip() == "java":
                return process


if __name__ == "__main__":
    sys.exit(main())
