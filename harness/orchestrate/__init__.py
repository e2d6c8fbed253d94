"""Driving a target: start it, ask it, sample it, judge it, keep the evidence. See each module's first lines.

    from harness.orchestrate import launch, load_target

    with launch(load_target("php-fpm"), rules=["read:fd=socket:p=0.01:short=1"], seed=42) as run:
        assert run.request("/hello.php").status == 200
"""

from .aftermath import Aftermath
from .bundle import Bundle
from .client import Answer, Endpoint, ask
from .errors import LaunchError, NotMeasured
from .exit import Exit
from .faults import Control, ControlError, FaultStatus, RuleCount
from .launch import launch
from .paths import NotBuilt
from .running import Running
from .sampler import Sample, Sampler
from .target import Target, TargetError, all_targets, load_target
from .verdict import Verdict, judge

__all__ = [
    "Aftermath", "Answer", "Bundle", "Control", "ControlError", "Endpoint", "Exit", "FaultStatus", "LaunchError", "NotBuilt",
    "NotMeasured", "RuleCount", "Running", "Sample", "Sampler", "Target", "TargetError", "Verdict", "all_targets", "ask",
    "judge", "launch", "load_target",
]  # fmt: skip
