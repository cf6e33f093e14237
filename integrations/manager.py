"""Starts a service as systemd does a unit of Type=notify (sd_notify(3)), and prints what it hears:
the number of the service's main process first, then a line for each message that comes from there.
A message of another process, which systemd would drop, ends this with an error.
usage: manager.py SOCKET COMMAND..."""

import os
import socket
import struct
import subprocess
import sys

path, command = sys.argv[1], sys.argv[2:]
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
manager.bind(path)
manager.settimeout(0.1)
service = subprocess.Popen(command, env=dict(os.environ, NOTIFY_SOCKET=path))
print(service.pid, flush=True)
while service.poll() is None:
    try:
        message, ancillary, _, _ = manager.recvmsg(4096, 64)
    except socket.timeout:
        continue
    sender, _, _ = struct.unpack("iII", ancillary[0][2])
    text = message.decode().replace("\n", " ")
    if sender != service.pid:
        service.terminate()
        sys.exit(f"process {sender} said {text}, and the main process is {service.pid}")
    print(text, flush=True)
