"""What the tests of this folder share: a small target that behaves as badly as it is told, and bounded waiting."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.orchestrate import Target, load_target


# A server in Python; the first argument says how it behaves.
SERVER = r'''
import os, signal, socket, subprocess, sys
mode, address = sys.argv[1], sys.argv[2]
print("server starts:", mode, flush=True)
if mode == "exit":
    print("cannot go on: no configuration", flush=True)
    sys.exit(3)
if mode == "mute":
    signal.pause()
if mode == "stubborn":
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
if mode == "orphan":
    subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True)
if mode == "sanitizer":
    path = os.environ["ASAN_OPTIONS"].split("log_path=")[1].split(":")[0]
    open(f"{path}.{os.getpid()}", "w").write("==1==ERROR: AddressSanitizer: heap-use-after-free\n")
if mode == "noisy":
    print("ERROR: something is wrong", flush=True)
    print("ERROR: nothing to worry about", flush=True)
if address.startswith("/"):
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
else:
    host, port = address.rsplit(":", 1)
    server = socket.create_server((host, int(port)))
server.listen(16)
served = 0
while True:
    connection, _ = server.accept()
    connection.recv(65536)
    served += 1
    status = "503 Busy" if mode == "busy" or (mode == "late" and served < 5) else "200 OK"
    body = mode.encode()
    connection.sendall(b"HTTP/1.1 " + status.encode() + b"\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
    connection.close()
    if mode == "crash":
        os.kill(os.getpid(), signal.SIGABRT)
'''

TARGET = """
name = "{mode}"
what = "a server for the tests"
executable = "{python}"
install = "apt-get install python3"
[start]
command = ["{{{{EXECUTABLE}}}}", "-u", "{server}", "{mode}", "{{{{ADDR}}}}"]
workers = 1
[endpoint]
protocol = "http"
listen = "{listen}"
[ready]
request = "/"
within_s = {within_s}
[signals]
stop = "SIGTERM"
[stop]
steps = [["stop", {stop_s}]]
[log]
errors = ["^ERROR:"]
harmless = ["nothing to worry about"]
"""


def server_target(folder: Path, mode: str, listen: str = "unix", within_s: float = 10, stop_s: float = 5) -> Target:
    server = folder / "server.py"
    server.write_text(SERVER)
    path = folder / f"{mode}.toml"
    path.write_text(
        TARGET.format(mode=mode, python=sys.executable, server=server, listen=listen, within_s=within_s, stop_s=stop_s)
    )
    return load_target(path)
