"""libmongocrypt's own benchmark, the bulk decryption of its Python binding, in turns: one document of
1,500 deterministic fields. Prints a line for each turn, as tests/speed.c does.
usage: speed.py ROUNDS SECONDS THREADS NAME=[LIBMONGOCRYPT]:MODE...   (MODE: none, hooks, documents)
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

FIELDS = 1500
HERE = os.path.dirname(os.path.abspath(__file__))


def contestant(mode):
    """Takes requests "SECONDS THREADS" from standard input, and answers with documents per second."""
    sys.path.insert(0, os.path.join(HERE, "tests"))
    import bson
    import lanelock_mongocrypt
    from vault import DETERMINISTIC, Crypt, Vault

    if mode != "none":
        lanelock_mongocrypt.install(documents=mode == "documents")
    crypt = Crypt(Vault())
    key = crypt.new_key(bytes(range(96)))
    names = [(f"key{n:04}", f"value {n:04}") for n in range(FIELDS)]
    fields = {name: crypt.encrypt(text, DETERMINISTIC, key) for name, text in names}
    document = bson.encode(fields)
    assert bson.decode(crypt.decrypt(document)) == dict(names)

    def decrypt_until(end):
        count = 0
        while time.monotonic() < end:
            decrypted = crypt.decrypt(document)
            count += 1
        assert bson.decode(decrypted) == dict(names)
        return count

    print("ready", flush=True)
    for request in sys.stdin:
        seconds, threads = request.split()
        start = time.monotonic()
        with ThreadPoolExecutor(int(threads)) as pool:
            ends = [time.monotonic() + float(seconds)] * int(threads)
            count = sum(pool.map(decrypt_until, ends))
            print(count / (time.monotonic() - start), flush=True)


def main(rounds, seconds, threads, *contestants):
    running = []
    for argument in contestants:
        name, how = argument.split("=", 1)
        library, mode = how.rsplit(":", 1)
        environment = dict(os.environ, PYMONGOCRYPT_LIB=library)
        command = [sys.executable, "-B", __file__, "contestant", mode]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        if process.stdout.readline() != "ready\n":
            sys.exit(f"speed: {name} does not start")
        running.append((name, process))
    for count in threads.split(","):
        for _ in range(int(rounds)):
            for name, process in running:
                process.stdin.write(f"{seconds} {count}\n")
                process.stdin.flush()
                print(name, count, process.stdout.readline().strip(), flush=True)
    for _, process in running:
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["contestant"]:
        contestant(sys.argv[2])
    else:
        main(*sys.argv[1:])
