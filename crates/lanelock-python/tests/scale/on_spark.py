"""PySpark on a cluster of two workers, one core each."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sys
import time

import dataset


def run(folder: pathlib.Path, plain: pathlib.Path, rows: int, files: int) -> None:
    os.environ.update(
        PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_LOCAL_DIRS=str(folder / "shuffle")
    )
    from pyspark.sql import SparkSession

    path = os.pathsep.join(filter(None, sys.path))
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executorEnv.PYTHONPATH", path)
        .config("spark.sql.shuffle.partitions", str(files))
        # One task for each file: what makes a task is the same for one core and for two.
        .config("spark.sql.files.maxPartitionBytes", str(dataset.size(plain) // files + (1 << 20)))
        .config("spark.sql.files.openCostInBytes", str(1 << 20))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    try:
        passes(session, folder, plain, rows, files)
    finally:
        session.stop()


def passes(session, folder: pathlib.Path, plain: pathlib.Path, rows: int, files: int) -> None:
    from pyspark.sql import functions as f

    from lanelock.adapters.spark import decrypt_columns, udf

    print("Spark, local-cluster[2,1,1024]", flush=True)
    keys, speed = dataset.keys(folder), dataset.Speed()
    email = udf("encrypt", keys["email"], algorithm="aes-gcm", layout="spark")
    note = udf("encrypt", keys["note"], algorithm="aes-256-gcm-siv")
    join_key = udf("encrypt", keys["join_key"], algorithm="aes-siv")

    def sealed(frame):
        columns = ["id", email("email").alias("email"), note("note").alias("note")]
        return frame.select(*columns, join_key("email").alias("join_key"))

    def timed(what, frame, values, size, cores):
        out = folder / "timed"
        start = time.monotonic()
        sealed(frame).write.parquet(str(out))
        speed.say(what, size, values, time.monotonic() - start, cores)
        shutil.rmtree(out)

    paths = [str(path) for path in sorted(plain.glob("*.parquet"))]
    quarter, size = paths[: max(1, files // 4)], dataset.size(plain)
    sealed(session.read.parquet(*quarter[:2])).write.parquet(str(folder / "timed"))  # starts all there is
    shutil.rmtree(folder / "timed")
    few = session.read.parquet(*quarter).coalesce(1)
    share = len(quarter) / files
    timed("three columns encrypted, one core", few, int(3 * rows * share), size * share, 1)
    data = session.read.parquet(*paths)
    timed("three columns encrypted, two workers", data, 3 * rows, size, 2)

    out, marker = folder / "sealed", folder / "killed"
    whole = sealed(data)
    start = time.monotonic()
    whole.mapInArrow(killer(marker, out, size // 3), whole.schema).write.parquet(str(out))
    print(f"  the same, a worker killed: {time.monotonic() - start:.1f} s", flush=True)
    assert marker.exists(), "no worker was killed"
    dataset.check_ids(out, rows)
    dataset.check_nonces(out, marker.read_bytes())

    start = time.monotonic()
    other = data.select(
        f.col("id").alias("other"), f.col("email").alias("clear_email"), f.col("note").alias("clear_note"),
        join_key("email").alias("join_key"),
    )
    joined = session.read.parquet(str(out)).join(other, "join_key")
    opened = decrypt_columns(
        joined, ["email"], keys["email"], algorithm="aes-gcm", layout="spark", type="string"
    )
    opened = opened.withColumn("note", udf("decrypt", keys["note"], algorithm="aes-256-gcm-siv")("note"))
    good = opened.filter("id = other AND email = clear_email AND note = clear_note").select("id")
    good.write.parquet(str(folder / "good"))
    seconds = time.monotonic() - start
    print(f"  joined on the encrypted column, decrypted and compared: {seconds:.1f} s", flush=True)
    dataset.check_ids(folder / "good", rows)


def killer(marker: pathlib.Path, output: pathlib.Path, begun: int):
    """Kills the executor of one task that has sealed a batch: the Java process above Python's worker."""

    def batches(iterator):
        for batch in iterator:
            yield batch
            dataset.kill_once(
                batch, marker, output, begun, lambda: os.kill(dataset.ancestor("java"), signal.SIGKILL)
            )

    return batches
