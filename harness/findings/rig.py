"""What a stimulus works with: one running server, and everything that can be done to it from outside.

    a = rig.start("/findings/n04_session.php?sid=x")      # in flight
    rig.wait_mark("opened")                               # the probe has come to this point, or MarkMissed
    with rig.beacon() as beacon:
        b = rig.start("/findings/n04_session.php?sid=x")
        rig.hold(2.0)                                     # the stimulus lasts so long
    rig.release("go")                                     # a probe that waits for this goes on
    return {"first": rig.seen(a.finish()), **beacon.numbers()}

Probes and rig meet in files of a folder beside the probes: `NAME.mark` says that a probe has come somewhere, `NAME.go` lets it
go on. (It is in the application's copy, which outlives the server: the work folder is gone as soon as the server is.)
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.orchestrate import Running, proc
from harness.orchestrate.client import Endpoint
from harness.orchestrate.waiting import comes

from .beacon import Beacon
from .finding import Finding, MarkMissed, NotApplicable
from .flight import Flight, Reply, message
from .peers import Peer

BODY_SHOWN_MAX = 300
PATIENCE_S = 30.0


class Rig:
    def __init__(self, run: Running, finding: Finding, case: str) -> None:
        self.run, self.finding, self.case = run, finding, case
        self.data = Path(run.root) / "findings" / "rig"
        self.data.mkdir(exist_ok=True)
        self.began = time.monotonic()
        self.history: list[dict[str, Any]] = []
        self._peers: list[Peer] = []
        self._flights: list[Flight] = []
        self._count = 0
        self._endpoint = Endpoint.parse(run.endpoint)

    # ---- requests --------------------------------------------------------------------------------------------------

    def start(self, target: str, *, quiet: bool = False, **request: Any) -> Flight:
        """Sends a request (see message() for what may be given) and returns at once."""
        flight = Flight(self._endpoint, message(target, self.run.root, **request), target)
        self._flights.append(flight)
        if not quiet:
            self.tell(f"sent {target}")
        return flight

    def ask(self, target: str, within_s: float = PATIENCE_S, *, quiet: bool = False, **request: Any) -> Reply:
        reply = self.start(target, quiet=True, **request).finish(within_s)
        if not quiet:
            self.tell(f"asked {target}: {reply.why}")
        return reply

    @contextmanager
    def client(self, data: bytes = b"") -> Iterator[socket.socket]:
        """A raw connection that has sent these bytes, for clients that behave badly. A server may end it at any time."""
        try:
            with self._endpoint.connect(PATIENCE_S) as sock:
                try:
                    sock.sendall(data)
                except OSError as error:
                    self.tell(f"the server ended the connection: {error}")
                yield sock
        except ConnectionError as error:
            raise MarkMissed(f"a connection to the server ({error})") from error

    def message(self, target: str, **request: Any) -> list[bytes]:
        return message(target, self.run.root, **request)

    def beacon(self, patience_s: float = PATIENCE_S) -> Beacon:
        return Beacon(lambda: self.start("/findings/beacon.php", quiet=True), patience_s)

    def seen(self, reply: Reply) -> dict[str, Any]:
        """A reply as facts for a judge and for the story."""
        text = reply.text
        shown = text if len(text) <= BODY_SHOWN_MAX else f"{text[:BODY_SHOWN_MAX]}… ({len(text)} characters)"
        out = {"status": reply.status, "error": reply.error, "app_status": reply.app_status, "seconds": round(reply.seconds, 4)}
        return {**out, "body": shown, "stderr": reply.stderr[:BODY_SHOWN_MAX], "facts": reply.facts}

    # ---- marks -----------------------------------------------------------------------------------------------------

    def marked(self, name: str) -> bool:
        return (self.data / f"{name}.mark").exists()

    def marks(self, pattern: str) -> int:
        return len(list(self.data.glob(f"{pattern}.mark")))

    def wait_mark(self, name: str, within_s: float = 10.0) -> None:
        self.wait(lambda: self.marked(name), name, within_s)
        self.tell(f"mark {name} was reached")

    def wait(self, happened: Callable[[], bool], mark: str, within_s: float = 10.0) -> None:
        """Waits for something that must come; MarkMissed names it when it does not."""
        if not self.comes(happened, within_s):
            raise MarkMissed(mark)

    def comes(self, happened: Callable[[], bool], within_s: float) -> bool:
        """The same for something that may not come."""
        return bool(comes(happened, within_s))

    def release(self, *names: str) -> None:
        for name in names:
            (self.data / f"{name}.go").touch()
            self.tell(f"released {name}")

    def forget(self, *names: str) -> None:
        """Marks and releases of these names are taken back, to use them again."""
        for name in names:
            for suffix in ("mark", "go"):
                (self.data / f"{name}.{suffix}").unlink(missing_ok=True)

    def read(self, name: str | Path) -> str:
        """What probes have written to a file of the meeting place (or to another one); "" when there is none."""
        path = self.data / name
        return path.read_text(errors="replace") if path.exists() else ""

    def hold(self, seconds: float) -> None:
        """The stimulus lasts so long: nothing is waited for."""
        threading.Event().wait(seconds)

    # ---- the server ------------------------------------------------------------------------------------------------

    def workers(self) -> list[int]:
        return self.run.workers()

    def signal(self, name: str) -> None:
        self.tell(f"signal {name} to the main process")
        self.run.signal(name)

    def signal_worker(self, name: str) -> int:
        if not self.workers():
            raise NotApplicable(f"target {self.run.target.name} has no worker process that could be signalled")
        pid = self.workers()[0]
        self.tell(f"signal {name} to the worker {pid}")
        proc.send(pid, proc.signal_number(name))
        return pid

    def arm(self) -> None:
        self.tell(f"armed: {', '.join(self.finding.rules)}")
        self.run.arm()

    def fds(self) -> int:
        """Open descriptors of all workers together."""
        return sum(proc.fds(pid) or 0 for pid in self.workers())

    def log(self) -> str:
        return self.run.log()

    def log_has(self, pattern: str, within_s: float = 3.0) -> bool:
        return self.comes(lambda: re.search(pattern, self.log()) is not None, within_s)

    # ---- peers, and the end ----------------------------------------------------------------------------------------

    def peer(self, name: str, tls: bool = False) -> Peer:
        peer = Peer(name, self.run.workdir, tls)
        self._peers.append(peer)
        self.tell(f"peer {name} listens on port {peer.port}")
        return peer

    def tell(self, text: str) -> None:
        self.history.append({"t_s": round(time.monotonic() - self.began, 4), "text": text})

    def close(self) -> None:
        for flight in self._flights:
            if not flight.done:
                flight.close()
        for peer in self._peers:
            peer.stop()
