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
from robots import geometry
from robots.model import Family, Frame, Link, Mechanism, Robot
from robots.parameter_errors import ParameterError
from robots.types import BASE
from tasks.dynamics.simulate import simulate
from tasks.sources.commanded import moving

MOVE = {"kind": "quintic", "start": 0.0, "end": 0.3, "duration": 0.1}
GAINS = {"force_limit": 30.0, "delay": 0.002}
OF_KIND = {
    "pd": {"kp": 400.0, "kd": 20.0},
    "computed_torque": {"kp": 400.0, "kd": 20.0},
    "p_pi": {"kp": 20.0, "kv": 15.0, "ki": 10.0, "kf": 0.5},
}
FRICTION = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.3, "viscous": 0.02}}


@pytest.mark.parametrize(("kind", "space"), [("pd", "actuator"), ("computed_torque", "joint"), ("p_pi", "joint")])
def test_a_servo_moves_a_chain_as_the_sweep_says(kind: str, space: str) -> None:
    gains = {**OF_KIND[kind], **GAINS}
    simulation = {"controller": {"kind": kind, "space": space, "parameters": gains}}
    sweep = {"robot": "planar_3r", "trajectories": {"move": MOVE}, "friction": FRICTION, "simulation": simulation}
    sweep |= {"time": {"stop": 0.1, "step": 0.001}, "outputs": ["joint_position"]}
    block = block_of(plan(Sweep.from_dict(sweep)), 0)
    robot = ls.robots.build("planar_3r")
    reference = moving(robot.family, block.trajectories[0], block.times, block.origin)
    servo = ls.servo(robot, kind, space=space, reference=reference, step=0.001, **gains)
    law = {"law": FRICTION["law"], **FRICTION["parameters"]}  # type: ignore[dict-item]
    motion: Any = simulate(robot, force=servo, q=np.zeros((2, 3)), friction=law, step=0.001, steps=100)
    swept = work.whole(block)["joint_position"][0, 0, 0, :, 0]
    assert motion.status.tolist() == [0, 0]
    for k in range(2):
        assert np.abs(motion.q[:, k] - swept).max() < 1e-13
    assert np.abs(np.diff(swept, axis=0)).max() > 1e-4


def test_a_cascade_follows_its_difference_equations() -> None:
    """A bar that turns freely: force held over each step, position and rate by closed forms, the integral by sums."""
    bar = Link("pin", "bar", BASE, "revolute", (0.0, 0.0, 1.0), Frame(), geometry.bar(1.0, 3.0, "x", (0.5, 0.0, 0.0)))
    robot = Robot.of(Family("bar", "bar", "", (), lambda _: Mechanism.chain("bar", (bar,), ("pin",))), {})
    step, count, (kp, kv, ki, kf) = 1e-3, 300, (30.0, 30.0, 10.0, 0.9)
    times = step * np.arange(count + 1)
    aim, rate = 0.3 * np.sin(5.0 * times), 1.5 * np.cos(5.0 * times)
    reference = {"q": aim[:, None], "qd": rate[:, None]}
    servo = ls.servo(robot, "p_pi", reference=reference, step=step, kp=kp, kv=kv, ki=ki, kf=kf)
    found = ls.simulate(robot, ls.State(q=[0.1], qd=[0.0]), servo, times, step=step)
    q, qd, total, expected = 0.1, 0.0, 0.0, []
    for k in range(count + 1):
        expected.append(q)
        error = kp * (aim[k] - q) + kf * rate[k] - qd
        total += error * step * (k > 0)
        push = kv * (error + ki * total)  # its moment of inertia is 1 kg m^2
        q, qd = q + qd * step + 0.5 * push * step**2, qd + push * step
    np.testing.assert_allclose(found.q[:, 0], expected, rtol=0.0, atol=1e-12)
    assert np.abs(found.q[-1, 0] - aim[-1]) < 0.05


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
