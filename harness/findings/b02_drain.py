"""B2: SIGQUIT to the master, SIGQUIT to a worker, SIGUSR2, with requests in flight and new ones coming.

On the audited server clients saw ECONNRESET 0.65 to 0.78 s after the start of their requests; 0 of 20 were completed.
"""

from harness.orchestrate import proc

from .finding import Check, Finding

REQUESTS, LAST_MS = 20, 2500  # longer than FPM's own ticks of a second, which hide shorter ones
UNSTARTED_MAX = 1  # stock FPM closes a connection that it accepts at the very moment of the signal, before a byte of it is read
QUIT, QUIT_WORKER, RELOAD = "SIGQUIT to the master", "SIGQUIT to a worker", "SIGUSR2"

FINDING = Finding(
    "B2",
    tried=f"{REQUESTS} requests of {LAST_MS / 1000:g} s; SIGQUIT to the master, to a worker, SIGUSR2; new requests all along",
    workers_alone=REQUESTS + 4,
    cases=(QUIT, QUIT_WORKER, RELOAD),
    settings={"process_control_timeout": "20s"},
)


def stimulate(rig):
    flights = [rig.start(f"/findings/b02_request.php?n={n}&ms={LAST_MS}") for n in range(REQUESTS)]
    for n in range(REQUESTS):
        rig.wait_mark(f"begun{n}")
    before = rig.workers()
    if rig.case == QUIT:
        rig.signal("quit")
        replies, beacon = [flight.finish(20) for flight in flights], None
        gone = proc.wait_end(rig.run.pid, 10)
    else:
        with rig.beacon() as beacon:
            rig.signal("reload") if rig.case == RELOAD else rig.signal_worker("QUIT")
            replies = [flight.finish(20) for flight in flights]
            gone = rig.comes(lambda: not set(_told(rig, before)) & set(rig.workers()), 10)
            rig.comes(lambda: any(pid not in map(str, before) for pid in beacon.pids), 10)
    lost = [reply.why for reply in replies if not reply.ok]
    seen = {"lost": lost, "destructed": rig.marks("destructed*"), "gone": gone}
    if beacon is not None:
        seen |= {"beacon": beacon.numbers(), "failures": beacon.failures[:3]}
        seen["next"] = any(pid not in map(str, before) for pid in beacon.pids)
    return seen


def _told(rig, before):
    """The workers that were told to go."""
    return before if rig.case == RELOAD else before[:1]


def judge(seen):
    lost = len(seen["lost"])
    yield Check(
        "none in flight is lost", lost == 0, f"{REQUESTS - lost} of {REQUESTS} completed: {seen['lost'][:2]}", {"lost": lost}
    )
    yield Check("their destructors ran", seen["destructed"] == REQUESTS, f"{seen['destructed']} of {REQUESTS}")
    yield Check(
        "the drain ends", seen["gone"], "the processes that were told to go " + ("went" if seen["gone"] else "are still there")
    )
    if "beacon" in seen:
        failures = seen["beacon"]["beacon_failures"]
        yield Check("new ones are answered", failures <= UNSTARTED_MAX, f"{failures} failed: {seen['failures']}", seen["beacon"])
        yield Check(
            "by the next generation", seen["next"], "a new worker " + ("has" if seen["next"] else "has not") + " answered"
        )
