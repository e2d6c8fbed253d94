"""Differences that have been understood, by the case's name, each with its cause. They count as differences all the same;
the listing says the cause beside them."""

CAUSES: dict[str, str] = {}
