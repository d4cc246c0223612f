# ruff: noqa: E501 - a row of a table is a line
"""Robots of the table: kinds that differ in the features that they allow, with suitable numbers for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import limbsweep as ls

SHORT = {"stop": 0.06, "step": 0.01}
"""Times of simulations [s]."""

TILTED = (1.0, 2.0, -9.0)
"""Gravity that is not along an axis [m/s^2]."""

ROBOT_FILES = Path(__file__).parents[2] / "examples" / "robots"


@dataclass(frozen=True)
class Machine:
    """Robot of the table: parameters that designs vary, a motion, and the names and sizes that features need.

    varied: two parameters, of which the second can be derived from the first. case: parameter of an operating case, and
    its values. amplitude: of a harmonic motion along the independent coordinates [m, rad]. link, joint: names that a
    load acts on. force: size of friction and loads [N m or N]. gains: kp and kd of a controller of actuators. period:
    of the motion [s]. ended: joint that moves in gravity, and so gets stops; absent: `joint`.
    """

    name: str
    varied: tuple[str, str]
    case: tuple[str, float, float]
    amplitude: tuple[float, ...]
    link: str
    joint: str
    force: float
    gains: tuple[float, float]
    period: float = 1.0
    file: str = ""
    motors: bool = False
    ended: str = ""

    @cached_property
    def robot(self) -> Any:
        """The robot with its default parameters."""
        return ls.robots.read(ROBOT_FILES / self.file) if self.file else ls.robots.build(self.name)

    @property
    def source(self) -> str:
        """The robot as sweeps name it."""
        return str(ROBOT_FILES / self.file) if self.file else self.name

    @property
    def is_chain(self) -> bool:
        """Return whether motions are those of joints."""
        return bool(self.robot.mechanism.is_chain)

    @cached_property
    def defaults(self) -> Mapping[str, float]:
        """Default parameters by name."""
        return dict(self.robot.values)

    @cached_property
    def stop(self) -> tuple[str, float]:
        """A joint, and half of how far it moves from rest in tilted gravity in the time of a simulation."""
        content = {
            "robot": self.source,
            "time": SHORT,
            "gravity": list(TILTED),
            "simulation": {"step": 0.001, "method": "spanning_tree"},
            "outputs": ["joint_position"],
        }
        joint = self.ended or self.joint
        moved = ls.compute(ls.Sweep.from_dict(content), progress=False)["joint_position"].sel(joint=joint)
        return joint, float(f"{0.5 * abs(moved).max():.3g}")

    def near(self, name: str, *factors: float) -> list[float]:
        """Return values of a parameter near its default, by factors."""
        value = self.defaults[name]
        return [round(value * factor, 6) if value else round(factor - 1.0, 6) for factor in factors]

    def spread(self, name: str, count: int) -> list[float]:
        """Return so many values of a parameter within two hundredths of its default."""
        return self.near(name, *(0.98 + 0.04 * k / (count - 1) for k in range(count)))


_MACHINES = (
    Machine("five_bar", ("proximal_length", "distal_length"), ("payload_mass", 0.0, 1.0), (0.05, 0.0, 0.04), "proximal", "1", 0.5, (400.0, 20.0)),
    Machine("delta_3rr2rrr", ("upper_arm", "rod_length"), ("payload_mass", 0.0, 0.5), (0.06, 0.04, 0.03), "arm", "1", 0.3, (800.0, 15.0)),
    Machine("delta_4rr2rrr", ("upper_arm", "rod_length"), ("payload_mass", 0.0, 0.5), (0.06, 0.04, 0.03), "arm", "1", 0.3, (800.0, 15.0)),
    Machine("delta_rl5_1450_motors", ("upper_arm", "rod_length"), ("payload_mass", 0.0, 2.0), (0.06, 0.04, 0.03), "arm", "1", 0.02, (2.0, 0.05), motors=True),
    Machine("gough_stewart", ("base_radius", "platform_radius"), ("payload_mass", 0.0, 100.0), (0.1, 0.05, 0.1), "tube", "3", 50.0, (4e5, 2e4)),
    Machine("irb6", ("upper_arm", "forearm"), ("payload_mass", 0.0, 3.0), (0.2, 0.15, 0.1, 0.1, 0.1), "forearm", "shoulder", 0.02, (2.0, 0.05), motors=True, ended="crank"),
    Machine("ur5e", ("link_3_origin_x", "link_4_origin_x"), ("payload_mass", 0.0, 2.0), (0.2, 0.15, 0.2, 0.1, 0.2, 0.1), "link_3", "joint_2", 1.0, (20.0, 0.1)),
    Machine("three_loop_leg", ("link_1_mass", "link_2_mass"), ("link_3_mass", 0.5, 1.0), (0.3,), "link_2", "joint_1pp", 0.1, (50.0, 5.0)),
    Machine("tripod_on_rail", ("base_radius", "platform_radius"), ("carriage_mass", 30.0, 60.0), (0.1, 0.02, 0.08, 0.05), "carriage", "rail", 5.0, (1e5, 3e3), file="tripod_on_rail.yaml", ended="leg1.slide"),
    Machine("arm_platform", ("upper_arm", "forearm"), ("payload", 0.5, 2.0), (0.05, 0.06, 0.04, 0.05, 0.05, 0.04), "arm.upper", "arm.2", 0.5, (200.0, 2.0), file="arm_platform.yaml"),
    Machine("differential", ("arm", "hand"), ("payload", 0.5, 2.0), (0.3, 0.2, 0.25), "hand", "shoulder", 0.3, (30.0, 0.5), file="differential.yaml"),
)  # fmt: skip

MACHINES: Mapping[str, Machine] = {machine.name: machine for machine in _MACHINES}
