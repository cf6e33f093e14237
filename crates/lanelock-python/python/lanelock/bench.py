"""``python -m lanelock.bench``: columns beside what is used now, on this machine.

All contestants of a row do the same work on the same values, in turns; each figure is the median of its
turns, in nanoseconds per value. Their answers are compared first. A contestant that is not installed
is left out.
"""

from __future__ import annotations

import argparse
import csv
import functools
import hashlib
import hmac
import io
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterator, NamedTuple, Optional

import lanelock

KEY = bytes(range(32))
#: Values of a frame of Spark: so many that starting a job does not count, if they fit its memory.
SPARK_ROWS, SPARK_BYTES = 500_000, 64 << 20


class Contestant(NamedTuple):
    name: str
    #: Runs over all values once, or over the first `share` of them.
    run: Callable[[], Any]
    #: What `run` returns as a list of bytes, to compare; `None` where nonces are random.
    answers: Callable[[Any], list[bytes]]
    share: int


class Row(NamedTuple):
    work: str
    size: int
    figures: dict[str, float]


def main(arguments: Optional[list[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lanelock.bench", description=__doc__)
    parser.add_argument("--sizes", default="16,64,256", help="bytes of a value, comma-separated")
    parser.add_argument("--rows", type=int, default=100_000, help="values of a column")
    parser.add_argument("--turns", type=int, default=7, help="turns of each contestant")
    parser.add_argument("--work", default=",".join(WORKS), help=f"of {', '.join(WORKS)}")
    parser.add_argument("--threads", default="1,2", help="numbers of lanelock's threads")
    parser.add_argument("--perf", metavar="PATH", help="the command `lanelock`, for its figures")
    parser.add_argument("--chart", metavar="FILE.svg", help="write a chart")
    options = parser.parse_args(arguments)
    threads = [int(number) for number in options.threads.split(",")]
    print(f"# {processor()}, {platform.python_implementation()} {platform.python_version()}, "
          f"{options.rows:,} values, median of {options.turns} turns, ns per value")
    rows = []
    for work in options.work.split(","):
        if work not in WORKS:
            parser.error(f"--work {work}; allowed: {', '.join(WORKS)}")
        for size in (int(size) for size in options.sizes.split(",")):
            row = measure(work, size, options.rows, options.turns, threads)
            if options.perf:
                # In the cache, and with as many messages in memory as the column has values.
                for name, pool in (("", None), (", as much memory", options.rows)):
                    figure = perf(options.perf, work, size, pool)
                    if figure:
                        row.figures[f"lanelock perf{name}"] = figure
            print(line(row), flush=True)
            rows.append(row)
    if options.chart:
        with open(options.chart, "w", encoding="utf-8") as file:
            file.write(chart(rows))
    return 0


def measure(work: str, size: int, count: int, turns: int, threads: list[int]) -> Row:
    """One row of the table."""
    values = make_values(size, count)
    contestants = list(WORKS[work](values, threads))
    check(work, contestants)
    times: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for _ in range(turns):
        for contestant in contestants:
            start = time.perf_counter_ns()
            result = contestant.run()
            elapsed = time.perf_counter_ns() - start
            del result
            times[contestant.name].append(elapsed / contestant.share)
    return Row(work, size, {name: statistics.median(all_) for name, all_ in times.items()})


def make_values(size: int, count: int) -> list[bytes]:
    content = hashlib.shake_128(size.to_bytes(8, "little")).digest(size * count)
    return [content[at : at + size] for at in range(0, size * count, size)]


def check(work: str, contestants: list[Contestant]) -> None:
    """Ends the program if the contestants do not all give the first one's answers."""
    first: Optional[list[bytes]] = None
    for contestant in contestants:
        answers = contestant.answers(contestant.run())[:200]
        if first is None:
            first = answers
        elif answers != first[: len(answers)]:
            sys.exit(f"{work}: {contestant.name} gives other answers than {contestants[0].name}")


def columns(values: list[bytes]) -> Any:
    """The values as an Arrow array, as a user has them."""
    try:
        import pyarrow
    except ImportError:
        return lanelock.Aead("aes-siv", bytes(32)).decrypt(
            lanelock.Aead("aes-siv", bytes(32)).encrypt(values), type="binary"
        )
    return pyarrow.array(values, type=pyarrow.binary())


def gcm(values: list[bytes], threads: list[int]) -> Iterator[Contestant]:
    """AES-256-GCM, random nonces; what is compared is the decrypted ciphertext."""
    column, aead = columns(values), lanelock.Aead("aes-256-gcm", KEY)

    def opened(ciphertexts: Any) -> list[bytes]:
        return aead.decrypt(ciphertexts).to_pylist()

    yield from ours(threads, lambda n: aead.encrypt(column, threads=n), opened, len(values))
    some = values[: max(1, len(values) // 10)]
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        return
    kept, urandom = AESGCM(KEY), os.urandom

    def kept_object() -> list[bytes]:
        encrypt, result = kept.encrypt, []
        drawn = urandom(12 * len(some))
        for at, value in enumerate(some):
            nonce = drawn[12 * at : 12 * at + 12]
            result.append(nonce + encrypt(nonce, value, None))
        return result

    def new_object() -> list[bytes]:
        result = []
        for value in some:
            nonce = urandom(12)
            result.append(nonce + AESGCM(KEY).encrypt(nonce, value, None))
        return result

    yield Contestant("cryptography, kept", kept_object, opened, len(some))
    yield Contestant("cryptography, per row", new_object, opened, len(some))
    try:
        from Crypto.Cipher import AES
    except ImportError:
        return
    few = values[: max(1, len(values) // 200)]

    def pycryptodome() -> list[bytes]:
        result = []
        for value in few:
            cipher = AES.new(KEY, AES.MODE_GCM, nonce=urandom(12))
            text, tag = cipher.encrypt_and_digest(value)
            result.append(cipher.nonce + text + tag)
        return result

    yield Contestant("PyCryptodome", pycryptodome, opened, len(few))
    yield from spark("aes_encrypt", values, opened)


def gcm_open(values: list[bytes], threads: list[int]) -> Iterator[Contestant]:
    """AES-256-GCM decryption."""
    aead = lanelock.Aead("aes-256-gcm", KEY)
    column = columns(aead.encrypt(values).to_pylist())
    yield from ours(
        threads, lambda n: aead.decrypt(column, threads=n), lambda c: c.to_pylist(), len(values)
    )
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        return
    some = (column.to_pylist())[: max(1, len(values) // 10)]
    decrypt = AESGCM(KEY).decrypt

    def kept_object() -> list[bytes]:
        return [decrypt(value[:12], value[12:], None) for value in some]

    yield Contestant("cryptography, kept", kept_object, lambda answers: answers, len(some))
    yield from spark("aes_decrypt", column.to_pylist(), lambda answers: answers)


def gcm_siv(values: list[bytes], threads: list[int]) -> Iterator[Contestant]:
    """AES-256-GCM-SIV, random nonces."""
    column, aead = columns(values), lanelock.Aead("aes-256-gcm-siv", KEY)

    def opened(ciphertexts: Any) -> list[bytes]:
        return aead.decrypt(ciphertexts).to_pylist()

    yield from ours(threads, lambda n: aead.encrypt(column, threads=n), opened, len(values))
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

        kept = AESGCMSIV(KEY)
    except Exception:  # its OpenSSL may lack it
        return
    some = values[: max(1, len(values) // 10)]

    def kept_object() -> list[bytes]:
        encrypt, result = kept.encrypt, []
        drawn = os.urandom(12 * len(some))
        for at, value in enumerate(some):
            nonce = drawn[12 * at : 12 * at + 12]
            result.append(nonce + encrypt(nonce, value, None))
        return result

    yield Contestant("cryptography, kept", kept_object, opened, len(some))


def siv(values: list[bytes], threads: list[int]) -> Iterator[Contestant]:
    """AES-SIV with a key of 64 bytes: deterministic."""
    key = KEY + bytes(32)
    column, aead = columns(values), lanelock.Aead("aes-siv", key)
    yield from ours(
        threads, lambda n: aead.encrypt(column, threads=n), lambda c: c.to_pylist(), len(values)
    )
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV
    except ImportError:
        return
    some = values[: max(1, len(values) // 10)]
    encrypt = AESSIV(key).encrypt

    def kept_object() -> list[bytes]:
        return [encrypt(value, [b""]) for value in some]

    yield Contestant("cryptography, kept", kept_object, lambda answers: answers, len(some))


def hmac_sha256(values: list[bytes], threads: list[int]) -> Iterator[Contestant]:
    """HMAC-SHA-256."""
    column, mac = columns(values), lanelock.Mac("hmac-sha256", KEY)
    yield from ours(
        threads, lambda n: mac.compute(column, threads=n), lambda c: c.to_pylist(), len(values)
    )
    some = values[: max(1, len(values) // 10)]

    def hmac_digest() -> list[bytes]:
        return [hmac.digest(KEY, value, "sha256") for value in some]

    yield Contestant("hmac.digest", hmac_digest, lambda answers: answers, len(some))
    try:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.hmac import HMAC
    except ImportError:
        return
    keyed = HMAC(KEY, hashes.SHA256())

    def kept_object() -> list[bytes]:
        result = []
        for value in some:
            one = keyed.copy()
            one.update(value)
            result.append(one.finalize())
        return result

    yield Contestant("cryptography, kept", kept_object, lambda answers: answers, len(some))


def sha256(values: list[bytes], threads: list[int]) -> Iterator[Contestant]:
    """SHA-256."""
    column, hash_ = columns(values), lanelock.Hash("sha256")
    yield from ours(
        threads, lambda n: hash_.compute(column, threads=n), lambda c: c.to_pylist(), len(values)
    )
    some = values[: max(1, len(values) // 10)]

    def hashlib_loop() -> list[bytes]:
        digest = hashlib.sha256
        return [digest(value).digest() for value in some]

    yield Contestant("hashlib", hashlib_loop, lambda answers: answers, len(some))
    yield from stringzilla(column, values)


def stringzilla(column: Any, values: list[bytes]) -> Iterator[Contestant]:
    """Its lanes over a batch of values, and its function for one value."""
    try:
        import stringzilla
    except ImportError:
        return
    lanes = 1024
    some = values[: max(1, len(values) // 10)]
    batches = [some[at : at + lanes] for at in range(0, len(some), lanes)]

    def multistate() -> list[bytes]:
        result: list[bytes] = []
        for batch in batches:
            states = stringzilla.Sha256s(len(batch))
            states.update(batch)
            result += states.digest()
        return result

    def loop() -> list[bytes]:
        digest = stringzilla.sha256
        return [digest(value) for value in some]

    def answers(digests: list[bytes]) -> list[bytes]:
        return [bytes(digest) for digest in digests]

    if hasattr(stringzilla, "Sha256s"):
        yield Contestant("StringZilla, lanes", multistate, answers, len(some))
    yield Contestant("StringZilla, loop", loop, answers, len(some))


def spark(
    function: str, values: list[bytes], answers: Callable[[list[bytes]], list[bytes]]
) -> Iterator[Contestant]:
    """Spark's own function on one thread, over a frame that it keeps in memory."""
    session = spark_session()
    if session is None:
        return
    import pyarrow
    import pyarrow.parquet
    from pyspark.sql import functions

    session.catalog.clearCache()
    most = min(SPARK_ROWS, SPARK_BYTES // max(1, len(values[0])))
    repeated = values * max(1, most // len(values))
    table = pyarrow.table({"value": pyarrow.array(repeated, pyarrow.binary())})
    with tempfile.TemporaryDirectory() as folder:
        # Not handed over as it is: that would be a task with all values in it.
        pyarrow.parquet.write_table(table, f"{folder}/values.parquet")
        frame = session.read.parquet(folder).coalesce(1).cache()
        frame.count()
    key, mode = functions.lit(KEY), functions.lit("GCM")
    result = frame.select(getattr(functions, function)("value", key, mode).alias("result"))

    def whole() -> Any:
        result.write.format("noop").mode("overwrite").save()
        return result

    def first(rows: Any) -> list[bytes]:
        return answers([bytes(row.result) for row in rows.limit(200).collect()])

    yield Contestant(f"Spark {function}", whole, first, len(repeated))


@functools.lru_cache(maxsize=1)
def spark_session() -> Any:
    """A session of one thread; ``None`` without PySpark and Java."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        return None
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    try:
        session = builder.config("spark.driver.memory", "2g").getOrCreate()
    except Exception as error:  # PySpark is there, but no Java
        print(f"without Spark: {error}", file=sys.stderr)
        return None
    session.sparkContext.setLogLevel("ERROR")
    return session


def ours(
    threads: list[int],
    run: Callable[[int], Any],
    answers: Callable[[Any], list[bytes]],
    count: int,
) -> Iterator[Contestant]:
    for number in threads:
        name = "lanelock" if number == 1 else f"lanelock, {number} threads"
        yield Contestant(name, functools.partial(run, number), answers, count)


WORKS: dict[str, Callable[[list[bytes], list[int]], Iterator[Contestant]]] = {
    "aes-256-gcm": gcm,
    "aes-256-gcm-open": gcm_open,
    "aes-256-gcm-siv": gcm_siv,
    "aes-256-siv": siv,
    "hmac-sha256": hmac_sha256,
    "sha256": sha256,
}


def perf(command: str, work: str, size: int, pool: Optional[int]) -> Optional[float]:
    """What `lanelock perf throughput` shows for the same work, in nanoseconds."""
    algorithm, _, direction = work.partition("-open")
    algorithm = {"aes-256-siv": "aes-256-siv"}.get(algorithm, algorithm)
    arguments = ["perf", "throughput", "--algorithm", algorithm, "--sizes", str(size), "--engine"]
    arguments += ["native", "--burst", "64", "--csv", "-"]
    if pool:
        arguments += ["--pool", str(pool)]
    if algorithm.startswith("aes"):
        arguments += ["--layout", "separate", "--aad", "0"]
    if work.endswith("-open"):
        arguments += ["--operation", "decrypt"]
    answer = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        print(answer.stderr.strip(), file=sys.stderr)
        return None
    for row in csv.DictReader(io.StringIO(answer.stdout)):
        for name, value in row.items():
            if name and name.startswith("ns"):
                return float(value)
    return None


def line(row: Row) -> str:
    first = row.figures["lanelock"]
    cells = [
        f"{name} {figure:,.1f} ({figure / first:.2f})" for name, figure in row.figures.items()
    ]
    return f"{row.work:18} {row.size:5} B  " + "; ".join(cells)


def chart(rows: list[Row]) -> str:
    """Bars on a logarithmic scale: nanoseconds per value."""
    import math

    height, label, width = 18, 330, 900
    lines = [(f"{row.work} {row.size} B, {name}", figure) for row in rows
             for name, figure in row.figures.items()]
    most = max(figure for _, figure in lines)
    span = math.log10(most) + 0.1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height * len(lines) + 30}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{label}" y="16">nanoseconds per value, logarithmic scale; shorter is better</text>',
    ]
    for at, (name, figure) in enumerate(lines):
        y = 26 + height * at
        length = (width - label - 70) * max(0.02, math.log10(max(figure, 1.1)) / span)
        colour = "#2b6cb0" if ", lanelock" in name else "#a0aec0"
        parts.append(f'<text x="{label - 6}" y="{y + 12}" text-anchor="end">{name}</text>')
        parts.append(
            f'<rect x="{label}" y="{y + 2}" width="{length:.0f}" height="{height - 4}" fill="{colour}"/>'
        )
        parts.append(f'<text x="{label + length + 4:.0f}" y="{y + 12}">{figure:,.1f}</text>')
    return "\n".join([*parts, "</svg>", ""])


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for text in file:
                if text.startswith("model name"):
                    return text.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


if __name__ == "__main__":
    sys.exit(main())
