"""What a trial has shown. There is no bare "passed".

reproduced       the runtime did the wrong thing; the reasons say what was seen
clean            the stimulus reached its point, and the runtime did the right thing
inconclusive     the stimulus never reached its point: `marks_missed` says which one was not hit
not_applicable   the question makes no sense for this target; the reason says why

    >>> Verdict("reproduced", ["counter is 41 after 50 answers"]).line()
    'reproduced: counter is 41 after 50 answers'
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

Kind = Literal["reproduced", "clean", "inconclusive", "not_applicable"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True)
class Verdict:
    kind: Kind
    reasons: list[str] = field(default_factory=list)
    marks_missed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"verdict {self.kind!r} is none of {', '.join(KINDS)}")
        if self.kind in ("reproduced", "not_applicable") and not self.reasons:
            raise ValueError(f"a verdict `{self.kind}` needs a reason")
        if self.kind == "inconclusive" and not (self.reasons or self.marks_missed):
            raise ValueError("a verdict `inconclusive` needs the mark that was not hit, or a reason")
        if self.kind == "clean" and self.marks_missed:
            raise ValueError(f"a verdict cannot be clean when {', '.join(self.marks_missed)} was never hit")

    def line(self) -> str:
        missed = [f"never reached: {', '.join(self.marks_missed)}"] if self.marks_missed else []
        return ": ".join([self.kind.replace("_", " "), *([("; ".join([*self.reasons, *missed]))] if self.reasons or missed else [])])

    def data(self) -> dict[str, Any]:
        return {"version": 1, **asdict(self)}


def judge(wrong: list[str], marks: dict[str, int]) -> Verdict:
    """The usual rule: what went wrong counts; else every mark must have been hit for a clean verdict.

    >>> judge([], {"flock EINTR fired": 0}).line()
    'inconclusive: never reached: flock EINTR fired'
    """
    missed = [name for name, hits in marks.items() if hits == 0]
    if wrong:
        return Verdict("reproduced", wrong, missed)
    if missed:
        return Verdict("inconclusive", marks_missed=missed)
    return Verdict("clean")
