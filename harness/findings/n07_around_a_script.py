"""N7: what FPM does around a script: missing files, forbidden ones, path info, parameters, headers, status page, access log.

The prototype of the audited server answered 200 with a fatal error for a script that is not there, and 200 with the content
of /etc/hostname when that was the script. (Whether PHP_VALUE ends with its request is not asked: stock FPM keeps it in that worker.)
"""

from .finding import Check, Finding

ACCESS = "{{WORKDIR}}/access.log"
FINDING = Finding(
    "N7",
    tried="a missing script, /etc/hostname, a text file, path info, PHP_VALUE, Basic auth, status and ping page, access log",
    settings={
        "access.log": ACCESS,
        "ping.path": "/fpm-ping",
        "ping.response": "pong",
        "pm.status_path": "/fpm-status",
        "php_admin_flag[expose_php]": "on",
    },
)
SCRIPT = "/findings/n07_script.php"


def stimulate(rig):
    root, access = rig.run.root, rig.run.workdir / "access.log"
    ask = lambda *a, **k: rig.seen(rig.ask(*a, **k))  # noqa: E731
    headers = lambda *a, **k: rig.ask(*a, **k).answer.headers  # noqa: E731
    auth = {"HTTP_AUTHORIZATION": "Basic dXNlcjpwYXNz"}
    values = {"PHP_VALUE": "precision=5", "PHP_ADMIN_VALUE": "memory_limit=64M"}
    page = lambda path: {"SCRIPT_NAME": path, "SCRIPT_FILENAME": root + path}  # noqa: E731
    return {
        "plain": ask(SCRIPT),
        "powered": headers(SCRIPT).get("X-Powered-By"),
        "missing": ask("/findings/not-there.php"),
        "hostname": ask("/hostname", params={"SCRIPT_FILENAME": "/etc/hostname", "SCRIPT_NAME": "/hostname"}),
        "text": ask("/findings/n07_text.txt", params=page("/findings/n07_text.txt")),
        "path": ask(f"{SCRIPT}/a/b?x=1", params={"SCRIPT_FILENAME": f"{root}{SCRIPT}/a/b", "SCRIPT_NAME": f"{SCRIPT}/a/b"}),
        "query": ask(f"{SCRIPT}?x=1&y=2"),
        "values": ask(SCRIPT, params=values),
        "auth": ask(SCRIPT, params=auth),
        "after_auth": ask(SCRIPT),
        "post": ask(SCRIPT, body=b"x" * 1234),
        "head": ask(SCRIPT, method="HEAD"),
        "status": ask("/fpm-status", params=page("/fpm-status")),
        "status_json": ask("/fpm-status?json", params=page("/fpm-status")),
        "ping": ask("/fpm-ping", params=page("/fpm-ping")),
        "access_came": rig.comes(lambda: rig.read(access).count("\n") >= 10, 5.0),
        "access": rig.read(access)[:4000],
    }


def judge(seen):
    plain, path, query = (seen[name]["facts"] for name in ("plain", "path", "query"))
    server = lambda name: seen[name]["facts"].get("server", {})  # noqa: E731

    def says(name, status, text=""):
        reply = seen[name]
        return reply["status"] == status and text in reply["body"], f"status {reply['status']}, {reply['body'].strip()[:80]!r}"

    yield Check(
        "a script runs in its folder",
        plain.get("cwd") == "findings" and plain.get("sibling") == "sibling",
        f"cwd {plain.get('cwd')!r}, include {plain.get('sibling')!r}",
    )
    yield Check("a missing script is 404", *says("missing", 404, "File not found."))
    yield Check("/etc/hostname is 403", *says("hostname", 403, "Access denied."))
    yield Check("a text file is 403", *says("text", 403, "Access denied."))
    yield Check(
        "path info",
        server("path").get("PATH_INFO") == "/a/b" and path.get("script") == "n07_script.php",
        f"{server('path').get('PATH_INFO')!r}, script {path.get('script')!r}",
    )
    yield Check(
        "PHP_SELF without the query",
        server("query").get("PHP_SELF") == SCRIPT and server("query").get("QUERY_STRING") == "x=1&y=2",
        f"{server('query').get('PHP_SELF')!r}",
    )
    values = seen["values"]["facts"]
    yield Check(
        "PHP_VALUE holds",
        values.get("precision") == "5" and values.get("third") == "0.33333",
        f"precision {values.get('precision')!r}, 1/3 is {values.get('third')!r}",
    )
    yield Check(
        "PHP_ADMIN_VALUE holds, and cannot be changed",
        values.get("memory_limit") == "64M" and values.get("can_set") is False,
        f"memory_limit {values.get('memory_limit')!r}",
    )
    auth = server("auth")
    yield Check(
        "Basic auth", (auth.get("PHP_AUTH_USER"), auth.get("PHP_AUTH_PW")) == ("user", "pass"), f"{auth.get('PHP_AUTH_USER')!r}"
    )
    yield Check(
        "and only where it was sent",
        server("after_auth").get("PHP_AUTH_USER", "?") is None,
        f"then {server('after_auth').get('PHP_AUTH_USER')!r}",
    )
    yield Check("php://input", seen["post"]["facts"].get("input") == 1234, f"{seen['post']['facts'].get('input')} of 1234 bytes")
    yield Check("HEAD has no body", seen["head"]["status"] == 200 and seen["head"]["body"] == "", repr(seen["head"]["body"][:40]))
    yield Check("X-Powered-By", str(seen["powered"]).startswith("PHP/"), str(seen["powered"]))
    yield Check("status page", *says("status", 200, "accepted conn:"))
    yield Check("status page as JSON", "accepted conn" in seen["status_json"]["facts"], f"status {seen['status_json']['status']}")
    yield Check("ping page", *says("ping", 200, "pong"))
    access = seen["access"]
    yield Check("access log", f"GET {SCRIPT}" in access and " 404" in access, repr(access.splitlines()[:1]))
