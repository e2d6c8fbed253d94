"""The beacon: a tiny request every 20 ms, whose worst answer tells how long the server did nothing for anybody.

    with rig.beacon() as beacon:
        …                          # something else waits
    beacon.worst_s                 # H; an answer that has not come yet counts with the time it has taken so far
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from .finding import MarkMissed
from .flight import Flight

PERIOD_S = 0.02
FIRST_WITHIN_S = 10.0
FAILURES_MAX = 1000


class Beacon:
    def __init__(self, send: Callable[[], Flight], patience_s: float) -> None:
        self._send, self._patience_s = send, patience_s
        self.answered = 0
        self.worst_s = 0.0
        self.failures: list[str] = []  # answers that were wrong or did not come
        self.pids: list[str] = []  # workers that have answered, in order of appearance
        self._first, self._over = threading.Event(), threading.Event()
        self._flight: Flight | None = None
        self._thread = threading.Thread(target=self._live, name="beacon", daemon=True)

    def __enter__(self) -> "Beacon":
        self._thread.start()
        if not self._first.wait(FIRST_WITHIN_S):
            self._over.set()
            raise MarkMissed(f"the beacon's first answer ({self.failures[-1] if self.failures else 'none came'})")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        flight = self._flight
        if flight is not None and not flight.done:
            self.worst_s = max(self.worst_s, time.monotonic() - flight.started)
            flight.close()
        self._thread.join()

    def numbers(self) -> dict[str, float]:
        return {"beacon_worst_s": round(self.worst_s, 4), "beacon_answers": self.answered, "beacon_failures": len(self.failures)}

    def _live(self) -> None:
        while not self._over.is_set():
            flight = self._flight = self._send()
            reply = flight.finish(self._patience_s)
            if self._over.is_set() and reply.error == "closed by the client":
                return
            self.worst_s = max(self.worst_s, reply.seconds)
            if reply.ok and reply.text.strip().isdigit():
                self.answered += 1
                if reply.text.strip() not in self.pids:
                    self.pids.append(reply.text.strip())
                self._first.set()
            elif len(self.failures) < FAILURES_MAX:
                self.failures.append(reply.why)
            self._over.wait(max(0.0, PERIOD_S - reply.seconds))
