"""Loads at one instant: forces there, accelerations that belong to them, and a part that is picked on the way."""

from __future__ import annotations

import numpy as np
import pytest

import limbsweep as ls
from robots import catalog
from robots.loads.declared import ObjectLoad, WrenchLoad
from robots.loads.family import at_time, with_loads
from robots.loads.motors import with_motor_conditions
from robots.model import Robot
from tasks.dynamics.simulate import simulate

TABLE = np.array([[0.0, 0, 0, 0, 0, 0, 0], [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, -60.0]])


def changing(name: str, body: str) -> Robot:
    loads = {
        "push": WrenchLoad(body, (0.0, 0.0, "-50 * t"), axes="link" if body != "platform" else "platform"),
        "part": ObjectLoad(body, 2.0, (0.02, 0.0, 0.1), start=0.2, stop=0.6),
        "cut": WrenchLoad(body, points=TABLE),
    }
    return with_loads(catalog.build(name), loads)


def states(name: str) -> dict[str, np.ndarray]:
    """One state, with accelerations last."""
    numbers = np.random.default_rng(3).uniform(-0.3, 0.3, (3, 4))
    if name == "scara":
        return dict(zip(("q", "qd", "qdd"), numbers, strict=True))
    home = np.array(catalog.build(name).mechanism.platform.home.position)
    still = np.zeros(3)
    twist, change = (np.concatenate([still, row[:3]]) for row in numbers[1:])
    return {"position": home + 0.2 * numbers[0, :3], "twist": twist, "acceleration": change}


@pytest.mark.parametrize("name", ["scara", "delta_rl5_1450_motors"])
def test_forces_of_an_instant_and_the_accelerations_that_they_give(name: str) -> None:
    plain, motion = catalog.build(name), states(name)
    robot = changing(name, plain.mechanism.limbs[0].links[-1].body if plain.mechanism.is_chain else "platform")
    robot = with_motor_conditions(robot, temperature=40.0) if plain.mechanism.motors else robot
    state = {key: value for key, value in motion.items() if key not in ("qdd", "acceleration")}
    forces = []
    for time in (0.1, 0.2, 0.7):
        there = at_time(robot, time)
        forces.append(ls.inverse_dynamics(there, **motion).force)
        np.testing.assert_array_equal(forces[-1], ls.inverse_dynamics(robot, **motion, time=time).force)
        found, (*_, expected) = (
            ls.forward_dynamics(there, forces=ls.Forces(actuator=forces[-1]), **state).acceleration,
            motion.values(),
        )
        np.testing.assert_allclose(found, expected, atol=1e-10)
    assert np.ptp(forces, axis=0).max() > 0.1
    assert at_time(robot, 0.3).family is at_time(robot, 0.5).family
    with pytest.raises(ls.ParameterError, match="time: got nan; expected a number"):
        at_time(robot, np.nan)
    assert at_time(plain, 1.0) is plain


def test_an_arm_that_picks_a_part_on_its_way_keeps_the_energy_of_both() -> None:
    arm = with_loads(catalog.build("planar_3r"), {"part": ObjectLoad("link_3", 2.0, (0.1, 0.0, 0.0), start=0.1)})
    down = (0.0, -9.81, 0.0)
    q, qd, energies = np.array([0.3, -0.2, 0.5]), np.zeros(3), []
    for start in (0.0, 0.1):
        now = at_time(arm, start)
        moved = simulate(now, force=np.zeros(3), q=q, qd=qd, step=5e-4, steps=200, every=100, gravity=down)
        terms = ls.equations_of_motion(now, q=moved.q, qd=moved.qd, gravity=down)
        energy = terms.kinetic_energy + terms.potential_energy
        assert np.ptp(energy) < 1e-8 * np.ptp(terms.kinetic_energy)
        energies.append(terms.kinetic_energy)
        q, qd = moved.q[-1], moved.qd[-1]
    assert energies[1][0] > 1.3 * energies[0][-1]  # what is picked has the speed of the hand
