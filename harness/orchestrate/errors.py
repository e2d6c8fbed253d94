"""Why a target was not started."""

from __future__ import annotations


class LaunchError(Exception):
    """The target did not start, or did not become ready. The message ends with the command line and the log's tail."""


class NotMeasured(Exception):
    """The target's program is not on this machine; the message starts with `not measured:` and says what to install."""
