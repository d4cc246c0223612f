"""Axes that are directions of expressions: as exact for every direction as an axis that the file has in numbers."""

from __future__ import annotations

import numpy as np
import pytest

import limbsweep as ls
from pipeline.robot_files.reader import parse_robot
from robots.model import Robot
from robots.status import Status
from tasks import inverse_dynamics

ROBOT = """\
limbsweep: 1
name: oblique
parameters: {lean: {default: DEFAULT, unit: deg, lower: -360, upper: 360}, size: {default: 1.0, unit: "1"}}
limbs:
  arm:
    links:
      - {joint: turn, body: column, parent: base, kind: revolute, axis: z, inertia: {mass: 3, centre: [0.1, 0, 0.2], moments: [0.3, 0.31, 0.05]}}
      - {joint: swing, body: arm, parent: column, kind: revolute, placement: {position: [0.1, 0.2, 0]}, inertia: {mass: 2, centre: [0.3, 0.1, 0.2], moments: [0.1, 0.2, 0.25]},
         axis: [size * sin(lean * pi / 180), 0, size * cos(lean * pi / 180)]}
    actuated: [turn, swing]
"""  # noqa: E501
LEANS = (30.0, 90.0, 135.0, 179.0, 179.999, 179.999999, 180.0, 181.0, -90.0)


def forces(default: float, lean: float) -> np.ndarray:
    rng = np.random.default_rng(3)
    motion = {name: rng.normal(size=(20, 2)) for name in ("q", "qd", "qdd")}
    robot = Robot.of(parse_robot(ROBOT.replace("DEFAULT", repr(default)), "f").family, {"lean": lean})
    return inverse_dynamics(robot, **motion).force


@pytest.mark.parametrize("lean", LEANS)
def test_a_swept_direction_gives_the_forces_of_one_in_the_file(lean: float) -> None:
    direct = forces(lean, lean)
    np.testing.assert_allclose(forces(10.0, lean), direct, rtol=0, atol=1e-14 * np.abs(direct).max())


def test_designs_of_a_sweep_have_the_same_forces_and_no_direction_is_a_status() -> None:
    robot = parse_robot(ROBOT.replace("DEFAULT", "10.0"), "f")
    swing = {"kind": "harmonic", "amplitude": 0.3, "period": 1.0}
    design = {"lean": [*LEANS, 30.0], "size": [1.0] * len(LEANS) + [0.0]}
    sweep = ls.sweep(robot.family, design=design, trajectories={"s": swing}, time=(1.0, 0.1), outputs="actuator_force")
    found = ls.compute(sweep).squeeze()
    assert found["worst_status"].values.tolist() == [0] * len(LEANS) + [Status.NONFINITE]
    names = [f"joint_{name}" for name in ("position", "velocity", "acceleration")]
    given = ls.compute(ls.sweep(robot.family, trajectories={"s": swing}, time=(1.0, 0.1), outputs=names)).squeeze()
    q, qd, qdd = (given[name].values for name in names)
    for k, lean in enumerate(LEANS):
        one = Robot.of(parse_robot(ROBOT.replace("DEFAULT", repr(lean)), "f").family, {})
        direct = inverse_dynamics(one, q=q, qd=qd, qdd=qdd).force
        scale = np.abs(direct).max()
        np.testing.assert_allclose(found["actuator_force"][k].values, direct, rtol=0, atol=1e-14 * scale)
