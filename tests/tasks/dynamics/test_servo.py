"""A servo as the force of `simulate`: the same motion as the sweep, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots.parameters import ParameterError
from tasks.dynamics.simulate import simulate
from tasks.sources.commanded import moving

MOVE = {"kind": "quintic", "start": 0.0, "end": 0.3, "duration": 0.1}
GAINS = {"kp": 400.0, "kd": 20.0, "force_limit": 30.0, "delay": 0.002}
FRICTION = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.3, "viscous": 0.02}}


@pytest.mark.parametrize(("kind", "space"), [("pd", "actuator"), ("computed_torque", "joint")])
def test_a_servo_moves_a_chain_as_the_sweep_says(kind: str, space: str) -> None:
    simulation = {"controller": {"kind": kind, "space": space, "parameters": GAINS}}
    sweep = {"robot": "planar_3r", "trajectories": {"move": MOVE}, "friction": FRICTION, "simulation": simulation}
    sweep |= {"time": {"stop": 0.1, "step": 0.001}, "outputs": ["joint_position"]}
    block = block_of(plan(Sweep.from_dict(sweep)), 0)
    robot = ls.robots.build("planar_3r")
    reference = moving(robot.family, block.trajectories[0], block.times, block.origin)
    servo = ls.servo(robot, kind, space=space, reference=reference, step=0.001, **GAINS)
    law = {"law": FRICTION["law"], **FRICTION["parameters"]}  # type: ignore[dict-item]
    motion: Any = simulate(robot, force=servo, q=np.zeros((2, 3)), friction=law, step=0.001, steps=100)
    swept = work.whole(block)["joint_position"][0, 0, 0, :, 0]
    assert motion.status.tolist() == [0, 0]
    for k in range(2):
        assert np.abs(motion.q[:, k] - swept).max() < 1e-13
    assert np.abs(np.diff(swept, axis=0)).max() > 1e-4


def test_a_servo_holds_a_platform_and_its_reference_holds_its_end() -> None:
    robot = ls.robots.build("five_bar")
    home = np.asarray(robot.mechanism.platform.home.position)
    servo = ls.servo(robot, "pd_gravity", reference={"position": home[None]}, step=0.001, kp=50.0, kd=0.5)
    motion: Any = simulate(robot, force=servo, step=0.001, steps=20)
    assert np.abs(motion.position - home).max() < 1e-12


def test_what_a_servo_refuses() -> None:
    robot = ls.robots.build("planar_3r")
    reference = {"q": np.zeros((2, 3))}
    with pytest.raises(ParameterError, match="pd has no parameter 'kpp'; did you mean 'kp'"):
        ls.servo(robot, "pd", reference=reference, step=0.001, kpp=3.0)
    with pytest.raises(ParameterError, match="space: got 'task'; expected actuator or joint for pd of a chain"):
        ls.servo(robot, "pd", reference=reference, step=0.001, space="task", kp=3.0)
    with pytest.raises(ParameterError, match="kind: got 'pdd'"):
        ls.servo(robot, "pdd", reference=reference, step=0.001)
    with pytest.raises(ValueError, match=r"reference: got batch dims \(\); expected one, of instants"):
        ls.servo(robot, "pd", reference={"q": np.zeros(3)}, step=0.001, kp=3.0)
    late = ls.servo(robot, "pd", reference=reference, step=0.001, kp=3.0, kd=1.0, delay=0.0015)
    with pytest.raises(ValueError, match=r"delay: got 0\.0015; expected a whole number of steps of 0\.001 s"):
        simulate(robot, force=late, q=np.zeros(3), step=0.001, steps=2)
