"""The catalogue: one row a finding. The table of the audit, its page and its expectations are made from it.

    >>> row("B6").title
    'Data that TLS has already decrypted waits for the descriptor'

A row without a scenario (a file `b07_….py` in this folder) is listed as "not measured".
"""

from __future__ import annotations

from dataclasses import dataclass

HIGH, MEDIUM, LOW = "high", "medium", "low"
FIBER, LAYER = "fiber server", "sessions over the network"
# How a server that has the fault is made: SHARED is by one engine for all requests, which fiber-fpm does not offer yet.
SHARED, DEFECT = "shared", "defect"


@dataclass(frozen=True)
class Row:
    id: str
    title: str  # the fault, as one would report it
    severity: str
    right: str  # what a right server does
    audited: tuple[str, ...] = (DEFECT,)
    needs: tuple[str, ...] = ()  # capabilities of a target (its file says), without which the question makes no sense
    control: str = "clean"  # what a server with one request a worker is expected to show
    control_says: str = "one request a process: nothing is shared"
    family: str = "fiber"
    not_applicable: str = ""  # the reason, where no runtime can be asked


BOTH = (SHARED, DEFECT)

ROWS: tuple[Row, ...] = (
    Row("B1", "A fatal error in one request breaks the others", HIGH,
        "A fatal error costs its own request only: the others keep their destructors, cycles are collected, the memory limit stands.",
        BOTH, control_says="the fatal error is another process's"),
    Row("B2", "SIGQUIT and SIGUSR2 drop the requests in flight", HIGH,
        "Every request in flight ends normally, and new ones are served by the next generation.",
        needs=("reload", "drain"), control_says="with process_control_timeout set, children end their requests"),
    Row("B3", "A request that suspends itself is never heard of again", HIGH,
        "It gets an error answer and a log line; its session lock, file locks, descriptors and memory are released, and a drain ends.",
        control_says="Fiber::suspend() outside a fiber is an uncaught FiberError"),
    Row("B4", "Shutdown functions do not run, and pile up", HIGH,
        "They run once, in order, in their request, after the body, also after exit() and a fatal error; nothing accumulates.",
        BOTH),
    Row("B5", "ssl:// and https:// block the worker while they look up and connect", HIGH,
        "Name lookup, TCP connect and handshake suspend only their request.", control_says="another process answers meanwhile"),
    Row("B6", "Data that TLS has already decrypted waits for the descriptor", HIGH,
        "It is delivered at once: the descriptor has nothing more to say."),
    Row("B7", "A lock outlives its last descriptor", HIGH,
        "A lock goes with its last descriptor, LOCK_UN or not; two locks taken crosswise end."),
    Row("B8", "A lock held by another process freezes the worker", HIGH,
        "Only the waiter is suspended; two workers never freeze each other; file sessions too."),
    Row("B9", "Locks are handed over to freed or overtaken waiters", HIGH,
        "Hand-over is first come, first served, without barging past a woken waiter and without freed memory."),
    Row("B10", "session_reset() waits for the request's own lock", HIGH,
        "session_reset, session_abort and close + start again do not wait for the request's own lock."),
    Row("B11", "A lock is released by a request that does not hold it", MEDIUM,
        "A lock belongs to one live request; a forced release never admits two or blocks all."),
    Row("B12", "A save handler set at run time is not protected", MEDIUM,
        "A save handler set at run time is protected like the configured one."),
    Row("B13", "A request that computes holds up all others, and nothing limits it", MEDIUM,
        "It is preempted; a time limit ends it alone, computing or waiting; pm.max_requests recycles by draining.",
        control_says="other processes go on; a time limit costs one process with one request"),
    Row("B14", "Requests in flight are not bounded", MEDIUM,
        "They are bounded, and the excess waits.", control_says="bounded by the number of processes"),
    Row("B15", "A slow client holds up the worker", MEDIUM,
        "A client that sends or reads slowly costs nobody else.", control_says="holds up its own process only"),
    Row("B16", "Error mode, last error and autoloading leak between requests", MEDIUM,
        "Error mode, exception class, last error and autoload-in-progress belong to their request.", BOTH),
    Row("B17", "ini_set() acts on other requests, or loses its effect", MEDIUM,
        "ini_set acts on its request only, in value and effect; the end of one request touches no other.", BOTH),
    Row("B18", "Statics of classes keep the values of a finished request", MEDIUM,
        "Statics start from their declared values, and a finished request's values die in their own request.", BOTH),
    Row("B19", "Static variables of functions keep the values of a finished request", MEDIUM,
        "A static variable starts from its declared value in each request.", BOTH),
    Row("B20", "Two requests talk on one persistent socket", MEDIUM,
        "Persistent sockets are refused or isolated everywhere, inside a Fiber too."),
    Row("B21", "Whether a connect suspends depends on what was opened first", MEDIUM,
        "It suspends always.", control_says="another process answers meanwhile"),
    Row("B22", "The bookkeeping of locks overflows", MEDIUM,
        "Lock bookkeeping is bounded and freed."),
    Row("B23", "A deploy by symlink goes unnoticed, or mixes releases", MEDIUM,
        "It is noticed, the old generation drains, and no answer mixes releases.", needs=("reload",)),
    Row("B24", "set_time_limit() of one request ends another", LOW,
        "A time limit ends the request that set it, never another.", control_says="a timer a process"),
    Row("B25", "A large write to a peer that does not read blocks the worker", LOW,
        "It suspends only its request, without a time limit too.", control_says="another process answers meanwhile"),
    Row("B26", "Sleeps wake early, late, or block the worker", LOW,
        "sleep, usleep, time_nanosleep and time_sleep_until suspend, never wake early, and are not much late.",
        control_says="the kernel's own sleeps"),
    Row("B27", "The engine's layout is relied on without a check", LOW,
        "It is checked at start, and a mismatch is refused with both values.", needs=("concurrent",),
        control="not_applicable", control_says="relies on no layout"),
    Row("B28", "A wake that comes late ends the next wait", LOW,
        "A wake belongs to one wait; the next one lasts its full time.", control_says="the kernel's own waits"),
    Row("B29", "The session module is found by what it looks like", LOW,
        "It is found by identity.", needs=("concurrent",), control="not_applicable", control_says="is not looked for"),
    Row("U1", "Destructors run by the collector write into another request's answer", MEDIUM,
        "They write to their own request.", BOTH),
    Row("U2", "Session locking over the network blocks the worker", MEDIUM,
        "The handlers of redis and memcached wait without blocking the worker.", family=LAYER),
    Row("U3", "A permission of a source repository", LOW, "Not a property of a runtime.", not_applicable="no runtime has it"),
    Row("N1", "Out of memory once, and every later request is damaged", HIGH,
        "What an out-of-memory leaves behind is reset when its request ends.", BOTH),
    Row("N2", "Deep recursion through C overruns a small stack and kills all requests", HIGH,
        "The C stack is as large as the main one and guarded; an overrun ends one request.",
        control_says="an overrun ends one process with one request"),
    Row("N3", "A request that has waited finds no $_SERVER in a later include", MEDIUM,
        "It finds its own.", BOTH),
    Row("N4", "Two requests with one session id hang the worker", HIGH,
        "The second waits for the first, and the worker goes on.", control_says="the second process waits in flock()"),
    Row("N5", "Process-wide state stays behind, and is seen by others", MEDIUM,
        "Each is isolated, reset or refused; nothing is silent.", BOTH),
    Row("N6", "A script that declares a function cannot be requested twice", HIGH,
        "Each request can run the same plain script for ever.", BOTH),
    Row("N7", "What FPM does around a script is missing: 404, 403, path info, PHP_VALUE …", HIGH,
        "As stock php-fpm.", control_says="is the measure"),
    Row("N8", "A client that goes away leaves its mark on later requests", MEDIUM,
        "Its connection status is its own request's.", BOTH),
    Row("N9", "Cycles that a request leaves behind are never destroyed", MEDIUM,
        "They are collected at the end of their request, there.", BOTH),
)  # fmt: skip

_BY_ID = {one.id: one for one in ROWS}
IDS = tuple(_BY_ID)


def row(id: str) -> Row:
    return _BY_ID[id]
