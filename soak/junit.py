"""The verdict as JUnit XML, one test case a judge, for the pages of CI systems."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from soak.judges import Reason

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, target: str, reasons: list[Reason], duration_s: float, replay: list[str]) -> None:
    failures = [reason for reason in reasons if reason.ok is False]
    errors = [reason for reason in reasons if reason.ok is None]
    suite = ElementTree.Element(
        "testsuite", name=f"soak.{target}", tests=str(len(reasons)), failures=str(len(failures)),
        errors=str(len(errors)), skipped="0", time=f"{duration_s:.1f}",
    )
    for reason in reasons:
        case = ElementTree.SubElement(suite, "testcase", classname=f"soak.{target}", name=reason.judge, time="0")
        if reason.ok is True:
            ElementTree.SubElement(case, "system-out").text = clean(reason.text)
            continue
        kind = ("failure", "broken") if reason.ok is False else ("error", "inconclusive")
        bad = ElementTree.SubElement(case, kind[0], type=kind[1], message=clean(reason.text))
        bad.text = clean("\n".join([reason.text, *(f"{k} = {v}" for k, v in reason.numbers.items()), "again:", *replay]))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def clean(text: str) -> str:
    """XML 1.0 has no place for most control characters, not even escaped."""
    return NOT_XML.sub("\ufffd", text)
