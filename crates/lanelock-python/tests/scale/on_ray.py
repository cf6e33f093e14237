"""Ray Data on two nodes of Ray's own test cluster, one core each."""

from __future__ import annotations

import functools
import logging
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.compute as pc

import dataset


def run(folder: pathlib.Path, plain: pathlib.Path, rows: int, files: int) -> None:
    # The paths of its sockets have to be short.
    temporary = tempfile.mkdtemp(prefix="ray-")
    # Without clusters of several machines Ray takes the loopback address for its own. Its workers find
    # this module where the driver does.
    os.environ.update(
        PYTHONPATH=os.pathsep.join(filter(None, sys.path)),
        RAY_TMPDIR=temporary,
        RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",
        RAY_USAGE_STATS_ENABLED="0",
    )
    import ray
    import ray.data
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 2 << 30}
    cluster = Cluster(True, head_node_args={**node, "include_dashboard": False})
    cluster.add_node(**node)
    ray.init(address=cluster.address, logging_level=logging.FATAL, log_to_driver=False)
    try:
        passes(ray, functools.partial(cluster.add_node, **node), folder, plain, rows, files)
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(temporary, ignore_errors=True)


def passes(ray, add_node, folder: pathlib.Path, plain: pathlib.Path, rows: int, files: int) -> None:
    from lanelock.adapters.ray import decrypt_columns, encrypt_columns

    print("Ray Data, two nodes of one core", flush=True)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = sys.stderr.isatty()
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    keys, speed = dataset.keys(folder), dataset.Speed()

    def sealed(data):
        data = data.map_batches(with_join_key, batch_format="pyarrow")
        data = encrypt_columns(data, ["email"], keys["email"], algorithm="aes-gcm", layout="spark")
        data = encrypt_columns(data, ["note"], keys["note"], algorithm="aes-256-gcm-siv")
        return encrypt_columns(data, ["join_key"], keys["join_key"], algorithm="aes-siv")

    def timed(what, data, values, size, cores):
        out = folder / "timed"
        context.execution_options.resource_limits = ray.data.ExecutionResources(cpu=cores)
        start = time.monotonic()
        sealed(data).write_parquet(str(out))
        speed.say(what, size, values, time.monotonic() - start, cores)
        shutil.rmtree(out)

    paths = [str(path) for path in sorted(plain.glob("*.parquet"))]
    quarter, size = paths[: max(1, files // 4)], dataset.size(plain)
    # The newer source makes one task of all, unless they are large.
    context.use_datasource_v2 = False

    def read(paths):
        # One task for each file: what makes a task is the same for one core and for two.
        return ray.data.read_parquet(paths, override_num_blocks=len(paths))

    sealed(read(quarter[:2])).write_parquet(str(folder / "timed"))  # starts all there is
    shutil.rmtree(folder / "timed")
    share = len(quarter) / files
    timed("three columns encrypted, one core", read(quarter), int(3 * rows * share), size * share, 1)
    timed("three columns encrypted, two nodes", read(paths), 3 * rows, size, 2)

    out, marker = folder / "sealed", folder / "killed"
    head = ray.get_runtime_context().get_node_id()
    kill = functools.partial(killer, marker=marker, output=out, begun=size // 3, head=head)
    start = time.monotonic()
    sealed(read(paths)).map_batches(kill, batch_format="pyarrow").write_parquet(str(out))
    print(f"  the same, a node killed: {time.monotonic() - start:.1f} s", flush=True)
    assert marker.exists(), "no node was killed"
    add_node()  # in its place, as a cluster's manager would
    dataset.check_ids(out, rows)
    dataset.check_nonces(out, marker.read_bytes())

    start = time.monotonic()
    other = read(paths).map_batches(as_other, batch_format="pyarrow")
    other = encrypt_columns(other, ["join_key"], keys["join_key"], algorithm="aes-siv")
    joined = ray.data.read_parquet(str(out)).join(other, "inner", num_partitions=16, on=("join_key",))
    opened = decrypt_columns(
        joined, ["email"], keys["email"], algorithm="aes-gcm", layout="spark", type="string"
    )
    opened = decrypt_columns(opened, ["note"], keys["note"], algorithm="aes-256-gcm-siv")
    opened.map_batches(good, batch_format="pyarrow").write_parquet(str(folder / "good"))
    seconds = time.monotonic() - start
    print(f"  joined on the encrypted column, decrypted and compared: {seconds:.1f} s", flush=True)
    dataset.check_ids(folder / "good", rows)


def with_join_key(table: pa.Table) -> pa.Table:
    return table.append_column("join_key", table["email"])


def as_other(table: pa.Table) -> pa.Table:
    columns = {"other": table["id"], "clear_email": table["email"], "clear_note": table["note"]}
    return pa.table({**columns, "join_key": table["email"]})


def good(table: pa.Table) -> pa.Table:
    equal = pc.equal(table["id"], table["other"])
    for name in ("email", "note"):
        theirs = table[f"clear_{name}"]
        equal = pc.and_(equal, pc.equal(table[name].cast(theirs.type), theirs))
    return table.filter(equal).select(["id"])


def killer(
    table: pa.Table, *, marker: pathlib.Path, output: pathlib.Path, begun: int, head: str
) -> pa.Table:
    """Kills a node, by its raylet, of one task that has sealed a batch; not the driver's."""
    import ray

    if ray.get_runtime_context().get_node_id() != head:
        dataset.kill_once(
            table, marker, output, begun, lambda: os.kill(dataset.ancestor("raylet"), signal.SIGKILL)
        )
    return table
