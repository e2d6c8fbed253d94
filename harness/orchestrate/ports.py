"""TCP ports: a free one, and one that somebody else already has."""

from __future__ import annotations

import socket

from . import proc
from .errors import LaunchError
from .target import Target



def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def refuse_busy_port(host: str, port: int, target: Target) -> None:
    """Binds the port for a moment, as the target will: a server that is there already would answer in its place."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
        except OSError as e:
            who = proc.who_listens(port)
            raise LaunchError(
                f"target {target.name} wants to listen on {host}:{port}, which is not free ({e.strerror}"
                + (f"; {who} listens there" if who else "")
                + '): stop that program, or use listen = "tcp" for a free port'
            ) from e
