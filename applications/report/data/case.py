"""Design that a report shows in detail: its series under one friction set, and its moving points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robots.data_classes import dataclass
from robots.model import Mechanism, Robot
from robots.trajectories.kinds import is_grid
from robots.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

MOST_TRAJECTORIES = 8
MOST_TIMES = 401
ACTUATORS = ("actuator_force", "actuator_position", "actuator_velocity", "actuator_power")


@dataclass(frozen=True, eq=False)
class DesignCase:
    """One design under one friction set: `results` (trajectory, time, ...) as in a dataset, and its moving points.

    `frictionless` are the actuator forces without friction, where the sweep has a friction law. `stride` is the number
    of times of the sweep for each time of the case. A case of a sweep that cannot be read again has the stored results,
    and neither a robot nor forces without friction.
    """

    design: int
    results: Dataset
    stride: int
    robot: Robot | None = None
    frictionless: DataArray | None = None
    motions: tuple[Trajectory, ...] = ()

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of the design."""
        assert self.robot is not None, "asked only of a case that has one"
        return self.robot.mechanism

    @property
    def has_reactions(self) -> bool:
        """Return whether the reactions in the joints are known."""
        return "joint_reaction" in self.results

    @property
    def trajectories(self) -> list[str]:
        """Names of the trajectories."""
        return [str(name) for name in self.results["trajectory"].values]

    def has_points(self, trajectory: int) -> bool:
        """Return whether the samples of a trajectory are points at rest: a workspace, of any shape."""
        return trajectory < len(self.motions) and is_grid(self.motions[trajectory].kind)

    def grid(self, trajectory: int) -> tuple[int, ...]:
        """Return the points along z, y, x of a workspace that is a box; empty for others and for a motion."""
        if trajectory >= len(self.motions) or self.motions[trajectory].kind != "workspace":
            return ()
        counts: Any = self.motions[trajectory].values["counts"]
        return tuple(int(count) for count in reversed(counts))
