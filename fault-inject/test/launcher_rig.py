"""What the launcher's tests share: starting `ordeal`, waiting for a line or an end instead of sleeping, a C victim.

    with Started(["run", "-q", "--", "cat"], stdin=PIPE) as run:      # a line, an end: asked, not slept for
        ...
    assert run.everyone_is_gone()      # launcher, supervisor, command and all that came of it have closed a pipe
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.orchestrate import paths

WITHIN_S = 30.0  # when this passes, something hangs; nothing is measured by it


def ordeal() -> str:
    return str(paths.program("ordeal"))


def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """`ordeal ARGUMENTS` to its end, output caught as text."""
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        [ordeal(), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="backslashreplace",
        timeout=WITHIN_S * 3,
        **options,
    )


def status(control: Path) -> dict[str, Any]:
    done = run("ctl", control, "status", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


class Started:
    """`ordeal ARGUMENTS` while it runs. A pipe that only it and its descendants hold tells when the last is gone."""

    def __init__(self, arguments: list[str | Path], prefix: list[str] | None = None, **options: Any) -> None:
        self._held, write_end = os.pipe()
        options.setdefault("stdin", subprocess.PIPE)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("bufsize", 0)  # so that select() knows what readline() would find
        try:
            self.process = subprocess.Popen(
                [*(prefix or []), ordeal(), *map(str, arguments)], pass_fds=(write_end,), **options
            )
        finally:
            os.close(write_end)

    @property
    def pid(self) -> int:
        return self.process.pid

    def line(self) -> str:
        """The next line of standard output."""
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], WITHIN_S)
        assert readable, "no line came"
        return self.process.stdout.readline().decode().rstrip("\n")

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def everyone_is_gone(self) -> bool:
        readable, _, _ = select.select([self._held], [], [], WITHIN_S)
        return bool(readable) and os.read(self._held, 1) == b""

    def wait(self) -> int:
        return self.process.wait(timeout=WITHIN_S)

    def __enter__(self) -> Started:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=WITHIN_S)
        gone = self.everyone_is_gone()
        os.close(self._held)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        assert gone or kind is not None, "a process was left"


def wait_for_file(path: Path) -> None:
    """Bounded; the file appears under its name only when it is complete."""
    deadline = time.monotonic() + WITHIN_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        os.sched_yield()


def compile_c(folder: Path, name: str, source: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(source)
    out = folder / name
    subprocess.run(["cc", "-O1", "-w", "-o", str(out), str(folder / f"{name}.c"), *flags], check=True)
    return out


# Reads a file byte by byte, and behaves as its first argument says when a read fails.
VICTIM = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char c, text[64] = "";
    size_t n = 0;
    int fd = open(argv[2], O_RDONLY);
    for (;;) {
        ssize_t got = read(fd, &c, 1);
        if (got == 0)
            break;
        if (got == 1) {
            text[n++] = c;
            continue;
        }
        if (strcmp(argv[1], "retries") == 0 && errno == EINTR)
            continue;
        if (strcmp(argv[1], "ignores") == 0)
            break;
        if (strcmp(argv[1], "crashes") == 0)
            abort();
        if (strcmp(argv[1], "hangs") == 0)
            for (;;)
                pause();
        if (strcmp(argv[1], "silent") == 0)
            return 1;
        if (strcmp(argv[1], "leaves") == 0 && fork() == 0)
            for (;;)
                pause();
        if (strcmp(argv[1], "leaves") == 0)
            break;
        fprintf(stderr, "victim: cannot read %s\n", argv[2]);
        return 1;
    }
    printf("%s\n", text);
    return strcmp(argv[1], "fails") == 0 ? 4 : 0;
}
"""
