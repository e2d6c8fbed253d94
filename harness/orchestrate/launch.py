"""Starting a target, and everything that can be done with it while it runs.

    with launch(load_target("php-fpm"), rules=["flock:nth=2:errno=EINTR"], seed=7, workers=2) as run:
        assert run.request("/lock.php").status == 200
        run.signal("reload")
        print(run.faults()[0].fired)

`run` is ready when the block is entered: the target has answered its readiness request. When the block is left, in whatever
way, the target is stopped (asked first, then forced), its log, cores and leftovers are looked at (`run.exit`), and the
temporary folder is gone. The launcher (`ordeal run --scratch … --die-with-parent`) sees to the same when this process is killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from . import paths
from .errors import LaunchError, NotMeasured
from .options import Options
from .running import Running
from .target import Target


def launch(
    target: Target,
    app: str | Path | None = None,
    rules: Sequence[str] = (),
    plan: Path | str | None = None,
    seed: int = 1,
    armed: bool = True,
    workers: int | None = None,
    bundle: Path | str | None = None,
    *,
    swarm: float | None = None,
    shim: bool = True,
    trace: bool | None = None,
    trace_calls: str | None = None,
    env: Mapping[str, str] | None = None,
    app_in_place: bool = False,
    replay: Sequence[str] | None = None,
) -> Running:
    """Prepares a run; `with` starts it, from a thread that lives as long as the run does (the launcher ends with it).

    app           folder that becomes the docroot (fixtures/apps); a copy is served unless `app_in_place`
    rules, plan   faults, as `ordeal run -f` and `--plan` take them; armed=False loads them inactive until run.arm()
    bundle        a folder: trace, logs, report and how to run it again are kept there
    shim          False runs the target without libordeal.so, under the same supervision
    trace         whether calls with faults are recorded (default: when there are faults); trace_calls="all" records all
    replay        the command that does this run again, for the bundle's replay.sh (default: this process's own)
    """
    if missing := target.missing():
        raise NotMeasured(missing)
    options = Options(
        app=_app_folder(app),
        rules=tuple(rules),
        plan=_plan_file(plan) if plan is not None else None,
        seed=seed,
        armed=armed,
        workers=workers or target.workers,
        swarm=swarm,
        shim=shim,
        trace=bool(rules or plan or trace_calls) if trace is None else trace,
        trace_calls=trace_calls,
        env=dict(env or {}),
        app_in_place=app_in_place,
        bundle=Path(bundle) if bundle is not None else None,
        replay=tuple(replay) if replay is not None else None,
    )
    if not shim and (rules or plan):
        raise LaunchError("faults need the shim: give either shim=False or rules/plan, not both")
    return Running(target, options)


def _app_folder(app: str | Path | None) -> Path:
    given = Path(app) if app is not None else paths.APPS
    for folder in (given, paths.ROOT / given):
        if folder.is_dir():
            return folder.resolve()
    raise LaunchError(f"app folder {given} does not exist (looked here and in {paths.ROOT})")


def _plan_file(plan: str | Path) -> Path:
    for path in (Path(plan), paths.ROOT / plan):
        if path.is_file():
            return path.resolve()
    raise LaunchError(f"plan file {plan} does not exist (looked here and in {paths.ROOT})")
