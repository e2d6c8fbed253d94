"""A peer that is slow to answer: HTTP on a port of this machine, plain or by TLS, each answer a second after its question."""
from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.bench.measure import Unavailable

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n\r\nwaited"
LATE_S = 1.0


def own_certificate(folder: Path) -> ssl.SSLContext:
    if shutil.which("openssl") is None:
        raise Unavailable("openssl is not installed, which makes the peer's certificate")
    key, certificate = folder / "peer.key", folder / "peer.pem"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    make += ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(make, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(LATE_S)
        writer.write(ANSWER)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


@contextmanager
def late_peer(context: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a peer that lives as long as the block."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(_answer, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"{'https' if context else 'http'}://127.0.0.1:{port}/"
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
