"""Tables of joints: points and axes as in the table, rods for bodies, motors, and a sentence for each mistake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot
from robots.model import Robot
from tasks import inverse_dynamics

BARS = """\
joint,kind,parent,child,x,y,z,axis,driven,mass
motor,revolute,base,crank,0,0,0,-y,yes,0.2
# a comment
pin,revolute,crank,coupler,0,0,0.1,-y,,0.6
last_pin,revolute,coupler,rocker,0.3,0,0.15,-y,,
bearing,revolute,base,rocker,0.35,0,0,-y,,
"""
SPATIAL = """\
joint,kind,parent,child,x,y,z,axis,driven
motor,revolute,base,crank,0,0,0,z,yes
ball,spherical,crank,rod,0.1,0,0,,
cross,universal,rod,rocker,0.3,0.3,0.2,x; 0 0.6 0.8,
bearing,revolute,base,rocker,0.3,0.3,0,x,
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "bars.csv"
    path.write_text(text)
    return path


def test_a_four_bar_is_that_of_its_points(tmp_path: Path) -> None:
    """Compare forces at rest with virtual work of the weights of rods for a small turn of the crank."""
    made = import_robot(written(tmp_path, BARS))
    robot = Robot.of(made.description.family, {})
    assert robot.mechanism.actuators == ("motor",)
    assert [each.got for each in made.warnings] == ["no mass of rocker"]
    force = inverse_dynamics(robot, q=[[0.0]]).force[0, 0]

    def height(angle: float) -> float:
        """Return the sum of m g z; angles are about -y, so that the crank turns from z to -x."""
        pin = 0.1 * np.array([-np.sin(angle), np.cos(angle)])
        bearing = np.array([0.35, 0.0])
        rod, rocker = np.hypot(0.3, 0.05), np.hypot(0.05, 0.15)
        gap = bearing - pin
        span = np.hypot(*gap)
        along = (rod**2 - rocker**2 + span**2) / (2 * span)
        across = np.sqrt(rod**2 - along**2)
        last = pin + along * gap / span + across * np.array([-gap[1], gap[0]]) / span
        return float(9.81 * (0.2 * pin[1] / 2 + 0.6 * (pin[1] + last[1]) / 2 + 1.0 * last[1] / 2))

    assert force == pytest.approx((height(1e-5) - height(-1e-5)) / 2e-5, rel=1e-6)
    crank = next(link for link in robot.mechanism.limbs[0].links if link.body == "crank")
    axial, *across = np.linalg.eigvalsh(np.array(crank.inertia.tensor, dtype=float))
    assert across == pytest.approx([0.2 * 0.1**2 / 12] * 2, rel=0.05)  # a thin rod from the motor to the pin
    assert axial < 0.05 * across[0]


def test_balls_and_crosses_are_not_driven_where_a_motor_is_named(tmp_path: Path) -> None:
    made = import_robot(written(tmp_path, SPATIAL))
    robot = Robot.of(made.description.family, {})
    assert robot.mechanism.actuators == ("motor",)
    assert not inverse_dynamics(robot, q=[[0.1]], qd=[[1.0]]).status.any()


BAD = {
    ",driven,": (",drven,", "the column 'drven'; expected columns joint, kind"),
    "joint,kind,": ("joint,", "no column kind"),
    "motor,revolute": ("motor,hinge", "bars.csv:2:1 joint motor: got kind 'hinge'; expected one of revolute"),
    "0,0,0.1,-y": ("0,0,high,-y", "z 'high'; expected a finite number"),
    "0,0,0.1,-y,,0.6": ('0,0,"0,1",-y,,0.6', "z '0,1'; expected a finite number. Use a decimal point"),
    "-y,yes": ("up,yes", "axis 'up'; expected x, y, z"),
    "-y,yes,0.2": (",yes,0.2", "0 axes; expected one of a revolute joint"),
    "0,0,0,-y,yes,0.2": ("0,0,0,-y,maybe,0.2", "driven 'maybe'; expected yes, no or nothing"),
    "base,crank,0,0": ("base,crank,0", "9 cells; expected 10"),
    "base,crank": ("crank,base", "the child base; expected base as a parent"),
    "crank,coupler": ("crank,", "no child; expected a name"),
    "last_pin": ("pin", "got pin again; expected a name for each joint"),
}


@pytest.mark.parametrize("old", BAD)
def test_a_wrong_table_is_refused_at_its_line(old: str, tmp_path: Path) -> None:
    new, message = BAD[old]
    assert old in BARS
    with pytest.raises(InputError) as caught:
        import_robot(written(tmp_path, BARS.replace(old, new, 1)))
    assert message in str(caught.value)


def test_semicolons_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got semicolons between columns; expected commas"):
        import_robot(written(tmp_path, BARS.replace(",", ";")))


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row; expected a row for each joint"):
        import_robot(written(tmp_path, BARS.splitlines()[0]))
