"""Connections to a MariaDB server over TLS, so many at a time: each logs in and leaves. A share of them is
abandoned during the handshake, a share of the others is slow: what they send leaves in pieces.
usage: clients.py PORT CERTIFICATE [--connections N] [--parallel N] [--tls 1.2,1.3] [--abort SHARE]
           [--slow SHARE] [--user NAME] [--identity CERTIFICATE KEY]
SIGTERM ends it early: no more are begun. Prints what became of them; ends with 1 if one that was not
abandoned did not get in."""

import argparse
import random
import signal
import socket
import ssl
import struct
import sys
import threading
import time

# Of the protocol's capabilities: 4.1's, TLS, the 4.1 way to authenticate, plugins by name.
PROTOCOL_41, SSL, SECURE_CONNECTION, PLUGIN_AUTH = 0x200, 0x800, 0x8000, 0x80000
CAPABILITIES = PROTOCOL_41 | SSL | SECURE_CONNECTION | PLUGIN_AUTH


def packet(number, payload):
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


def read_packet(receive):
    header = receive(4)
    return receive(header[0] | header[1] << 8 | header[2] << 16)


def reader(read):
    def receive(count):
        data = b""
        while len(data) < count:
            more = read(count - len(data))
            if not more:
                raise ConnectionError("the server closed the connection")
            data += more
        return data

    return receive


def connect(arguments, context, abandoned, slow):
    with socket.create_connection(("127.0.0.1", arguments.port), 20) as connection:
        read_packet(reader(connection.recv))
        # The largest packet, the character set (utf8mb4), and 23 bytes of nothing.
        start = struct.pack("<IIB", CAPABILITIES, 1 << 24, 45) + bytes(23)
        connection.sendall(packet(1, start))
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")

        def send():
            data = outgoing.read()
            step = 40 if slow else max(len(data), 1)
            for at in range(0, len(data), step):
                connection.sendall(data[at : at + step])
                if slow:
                    time.sleep(random.uniform(0.01, 0.04))

        def hear():
            data = connection.recv(16384)
            if not data:
                raise ConnectionError("the server closed the connection")
            incoming.write(data)

        def finish(step, *values):
            while True:
                try:
                    result = step(*values)
                    send()
                    return result
                except ssl.SSLWantReadError:
                    send()
                    if abandoned:
                        return None
                    hear()

        if finish(tls.do_handshake) is None and abandoned:
            time.sleep(random.uniform(0, 0.01))
            return
        # No password, and the plugin that has none.
        user = arguments.user.encode() + b"\0\0mysql_native_password\0"
        finish(tls.write, packet(2, start + user))
        answer = read_packet(reader(lambda count: finish(tls.read, count)))
        if answer[0] != 0:
            raise PermissionError(answer[9:].decode(errors="replace"))
        # COM_QUIT
        finish(tls.write, packet(0, b"\1"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("certificate")
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--tls", default="1.3")
    parser.add_argument("--abort", type=float, default=0)
    parser.add_argument("--slow", type=float, default=0)
    parser.add_argument("--user", default="anyone")
    parser.add_argument("--identity", nargs=2)
    arguments = parser.parse_args()
    contexts = []
    for version in arguments.tls.split(","):
        context = ssl.create_default_context(cafile=arguments.certificate)
        number = ssl.TLSVersion["TLSv" + version.replace(".", "_")]
        context.minimum_version = context.maximum_version = number
        if arguments.identity:
            context.load_cert_chain(*arguments.identity)
        contexts.append(context)
    counts = {"in": 0, "slow": 0, "abandoned": 0}
    failures = []
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    left = iter(range(arguments.connections))
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                number = next(left, None)
            if number is None or ended.is_set():
                return
            abandoned = random.random() < arguments.abort
            slow = not abandoned and random.random() < arguments.slow
            try:
                connect(arguments, contexts[number % len(contexts)], abandoned, slow)
                become = "abandoned" if abandoned else "slow" if slow else "in"
                with lock:
                    counts[become] += 1
            except OSError as error:
                if not abandoned:
                    failures.append(f"{type(error).__name__}: {error}")

    began = time.monotonic()
    threads = [threading.Thread(target=work) for _ in range(arguments.parallel)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(
        f"{counts['in'] + counts['slow']} connections ({counts['slow']} of them slow), {counts['abandoned']} "
        f"abandoned, {len(failures)} failed in {time.monotonic() - began:.1f} s{failures[:1] or ''}"
    )
    return 1 if failures else 0


sys.exit(main())
