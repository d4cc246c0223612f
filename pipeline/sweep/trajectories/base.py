"""Motion of the base of a robot in the world: the section `base` of a sweep file, with a trajectory as for platforms.

base: {kind: line_sine, amplitude: [0, 0, 0.5], period: 8, turn: {kind: harmonic, amplitude: [0.1, 0.05, 0]}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pipeline.documents.report import Got, Report
from pipeline.sweep.reading import SectionContent, SweepReading, optional
from pipeline.sweep.side_files import SideFiles
from pipeline.sweep.trajectories import loads
from pipeline.sweep.trajectories.description import describe_trajectory
from pipeline.sweep.trajectories.reader import TrajectoryReader, check_reach
from pipeline.sweep.trajectories.values import Mover
from robots.formats import checks
from robots.model import Mechanism
from robots.quantities import QUANTITIES, Need
from robots.trajectories.kinds import is_grid
from robots.trajectories.trajectory import Trajectory
from robots.types import TWIST

KEY = "base"

STANDING: tuple[Need, ...] = (
    "coriolis matrix",
    "coriolis coefficients",
    "gravity force",
    "potential energy",
    "momentum",
    "elasticity",
    "errors",
    "clearances",
)
"""Needs of quantities that are those of a robot on a base that stands."""
RELATIVE = ("kinetic_energy",)
"""Further quantities that would describe the motion relative to the base alone."""


class BaseContent(SectionContent[Trajectory | None, Mapping[str, Any] | None]):
    """Motion of the base in the world; None where it stands."""

    key = KEY
    is_input = True
    field = optional(
        dict[str, Any], "how the base moves in the world, as a trajectory of a platform; default: it stands"
    )

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the motion of the base; refuse outputs and metrics that need a fixed base."""
        report, file = reading.report, reading.file
        base = read_base(report, reading.said(cls), reading.files, reading.duration)
        if reading.said(cls) is not None:
            check_standing(report, "outputs", file.outputs)
            check_standing(report, "metrics", file.metrics)
        if base is not None and base.turn is not None and reading.mechanism is not None:
            check_moments(report, reading.mechanism)
        return cls(base)

    def describe(self) -> dict[str, Any]:
        """Describe the motion of a base that moves."""
        return {KEY: describe_trajectory(self.value)} if self.value else {}


def read_base(
    report: Report, section: Mapping[str, Any] | None, files: SideFiles, duration: float
) -> Trajectory | None:
    """Read the motion of the base, None for a fixed base. Problems go to `report`."""
    if section is None:
        return None
    if loads.KEY in section:
        report((KEY, loads.KEY), Got("a load on the base"), "none", "Loads on bodies belong under loads.", key=True)
        return None
    trajectory = TrajectoryReader(report, files, Mover((), TWIST, duration)).one(KEY, section, (KEY,))
    if trajectory is None:
        return None
    if is_grid(trajectory.kind):
        report((KEY, "kind"), trajectory.kind, "a motion over time", "A grid of points is no motion.")
    if trajectory.points is not None:
        check_reach(report, trajectory.points, (KEY, "file"), duration)
    return trajectory


def check_moments(report: Report, mechanism: Mechanism) -> None:
    """Refuse moments that no body has, which bodies that turn about one axis may have, where the base turns them."""
    for limb in mechanism.limbs:
        for k, link in enumerate(limb.links):
            if checks.counts_about_one_axis(limb, k):
                hint = "Give it the moments of a body, or the base no turn."
                got = f"a turn, and moments of {link.body} that no body has"
                report((KEY, "turn"), Got(got), "a base that turns bodies alone", hint)


def check_standing(report: Report, section: str, names: Sequence[str]) -> None:
    """Refuse quantities that are not defined for a robot whose base moves."""
    for index, name in enumerate(names):
        if name in QUANTITIES and ({*QUANTITIES[name].needs} & {*STANDING} or name in RELATIVE):
            hint = "Take it from a sweep without the section base, or take actuator_force and joint_reaction."
            report((section, index), name, f"one of the {section} of a robot whose base moves", hint)
