"""Try a sweep where it is most likely to fail: motions at their ends and extremes, designs at the ends of axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.errors import Problem
from pipeline.plan.model import Plan
from robots.model import Robot
from robots.status import ADVICE, Status
from robots.trajectories.kinds import is_grid
from robots.trajectories.trajectory import Trajectory
from tasks.arrays.inputs import Moving
from tasks.arrays.trial import statuses
from tasks.blocks.commanded import moving

DESIGNS, TRAJECTORIES, LOOKED_AT = 6, 12, 10_000
"""How many are tried, and designs among which the ends of axes are looked for."""


@dataclass(frozen=True)
class Tried:
    """What came of one trajectory: statuses of its samples at all designs that were tried."""

    trajectory: str
    statuses: tuple[Status, ...]

    @property
    def failed(self) -> int:
        """Samples that cannot be solved."""
        return sum(status != Status.OK for status in self.statuses)

    def problem(self, name: str) -> Problem:
        """What to say about a trajectory with samples that fail, of the sweep file `name`."""
        worst = Counter(status for status in self.statuses if status != Status.OK).most_common(1)[0][0]
        got = f"{self.failed} of {len(self.statuses)} samples at the ends of motions and designs with {worst.name}"
        rule = "a motion that the robot can make"
        advice = ADVICE[worst]
        hint = f"{advice[:1].upper()}{advice[1:]}".rstrip(".") + "."
        return Problem(name, 0, 0, f"trajectories.{self.trajectory}", got, rule, hint)


def try_corners(plan: Plan) -> Iterator[Tried]:
    """Try the trajectories of a plan, the first of them where there are many; grids of points are there to find out."""
    sweep = plan.sweep
    robots = [Robot(sweep.family, values) for values in _designs(plan)]
    for trajectory in [each for each in sweep.trajectories if not is_grid(each.kind)][:TRAJECTORIES]:
        samples = _ends(plan, trajectory)
        result = np.concatenate([np.ravel(statuses(robot, **samples)) for robot in robots])
        yield Tried(trajectory.name, tuple(Status(int(status)) for status in result))


def _designs(plan: Plan) -> Iterator[dict[str, float]]:
    """Parameters of the first and the last design, and of those at the ends of swept parameters."""
    sweep = plan.sweep
    count = min(sweep.design.size, LOOKED_AT)
    table = sweep.designs(0, count)
    swept = [values for values in table.values() if np.ptp(values)]
    chosen = dict.fromkeys([0, count - 1, *(int(pick(v)) for v in swept for pick in (np.argmin, np.argmax))])
    for design in list(chosen)[:DESIGNS]:
        yield {name: float(values[design]) for name, values in table.items()}


def _ends(plan: Plan, trajectory: Trajectory) -> Moving:
    """Samples of a trajectory at its start, middle and end, and where a coordinate is least or greatest."""
    whole = moving(plan.sweep.family, trajectory, plan.sweep.times, plan.origin)
    path = np.asarray(whole["q"] if "q" in whole else whole["position"])
    times = {0, len(path) // 2, len(path) - 1, *np.argmin(path, axis=0).tolist(), *np.argmax(path, axis=0).tolist()}
    chosen = sorted(times)
    built: Moving = {name: np.asarray(value)[chosen] for name, value in whole.items()}  # type: ignore[assignment]
    return built
