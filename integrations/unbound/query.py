"""Asks a resolver for the address of a name by DNS over TLS (RFC 7858), and prints it.
usage: query.py VERSION PORT CERTIFICATE NAME        VERSION: 1.2 or 1.3"""

import socket
import ssl
import struct
import sys

version, port, certificate, name = sys.argv[1:]
context = ssl.create_default_context(cafile=certificate)
context.minimum_version = context.maximum_version = ssl.TLSVersion["TLSv" + version.replace(".", "_")]
labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
# One question, recursion desired: type A, class IN.
query = struct.pack(">6H", 0x1234, 0x0100, 1, 0, 0, 0) + labels + struct.pack(">2H", 1, 1)
with socket.create_connection(("127.0.0.1", int(port)), 10) as connection:
    with context.wrap_socket(connection, server_hostname="localhost") as tls:
        tls.sendall(struct.pack(">H", len(query)) + query)
        stream = tls.makefile("rb")
        (length,) = struct.unpack(">H", stream.read(2))
        answer = stream.read(length)
number, flags, _, answers, _, _ = struct.unpack(">6H", answer[:12])
if number != 0x1234 or flags & 0x800F != 0x8000 or answers != 1:
    sys.exit(f"not an answer: {answer.hex()}")
# The only record ends the message, but for records of authority and more, of which there are none.
print(socket.inet_ntoa(answer[-4:]))
