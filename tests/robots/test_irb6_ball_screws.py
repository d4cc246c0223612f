"""The arm with ball screws beside closed forms, the arm of the catalogue with gears, and its balance of power."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import limbsweep as ls

FILE = Path(__file__).parents[2] / "examples/robots/irb6_ball_screws.yaml"
LEVER, REACH, LEAD = 0.14, 0.36, 0.008
BARE = {"screw_mass": 0.0, "rod_mass": 0.0, "screw_rotor": 0.0, "rotor_coupling": 0.0}

pytestmark = pytest.mark.repository


def length(angle: np.ndarray) -> np.ndarray:
    """From the pivot of a screw to its pin."""
    return np.asarray(np.sqrt(REACH**2 + LEVER**2 + 2 * REACH * LEVER * np.sin(angle)))


def ratio(angle: np.ndarray) -> np.ndarray:
    """Turns of a screw per turn of its lever."""
    return np.asarray(2 * np.pi / LEAD * REACH * LEVER * np.cos(angle) / length(angle))


def test_screws_turn_as_the_triangles_of_their_levers_say() -> None:
    robot = ls.robots.read(FILE)
    q = np.array([[0.1, 0.3, -0.2, 0.1, 0.2], [0.0, -0.5, 0.4, 0.0, 0.0]])
    motors = np.asarray(ls.actuator_positions(robot, q=q).position)
    for motor, joint in ((1, 1), (2, 2)):
        turned = 2 * np.pi / LEAD * (length(q[:, joint]) - length(np.zeros(2)))
        np.testing.assert_allclose(motors[:, motor], turned, rtol=1e-9)
    back, middle, forward = ratio(np.array([-0.5, 0.0, 0.5]))
    assert back > middle > forward


def test_without_its_screws_masses_it_is_the_arm_with_gears_of_their_ratios() -> None:
    geared = ls.robots.build("irb6", rotor_2=0.0, rotor_3=0.0, rotor_coupling=0.0)
    bare = ls.robots.read(FILE, **BARE)
    state = {"q": [0.1, 0.3, -0.2, 0.1, 0.2], "qd": [0.5, -0.4, 0.3, 0.2, -0.1], "qdd": [1.0, 2.0, -1.0, 0.5, 1.0]}
    expected = np.asarray(ls.inverse_dynamics(geared, **state).force).copy()
    expected[1:3] *= 100.0 / ratio(np.array(state["q"][1:3]))
    np.testing.assert_allclose(
        ls.inverse_dynamics(bare, **state).force, expected, rtol=1e-6
    )  # masses are rounded in the file


def test_motors_give_what_the_energy_of_arm_screws_and_rotors_takes() -> None:
    robot, at, step = ls.robots.read(FILE), 0.3, 1e-4

    def motion(time: np.ndarray) -> dict[str, Any]:
        w = np.array([2.0, 3.0, 2.5, 4.0, 3.5])
        s = np.sin(w * time[:, None])
        return {"q": 0.3 * s, "qd": 0.3 * w * np.cos(w * time[:, None]), "qdd": -0.3 * w**2 * s}

    around = motion(at + step * np.array([-2.0, -1.0, 0.0, 1.0, 2.0]))
    form = ls.equations_of_motion(robot, q=around["q"], qd=around["qd"])
    energy = form.kinetic_energy + form.potential_energy
    change = (energy[0] - 8 * energy[1] + 8 * energy[3] - energy[4]) / (12 * step)
    inverse: Any = ls.inverse_dynamics(robot, **{name: values[2] for name, values in around.items()})
    assert inverse.force @ inverse.velocity == pytest.approx(change, rel=1e-7)
    still = ls.robots.read(FILE, rotor_coupling=0.0)
    apart = inverse.force - ls.inverse_dynamics(still, **{name: values[2] for name, values in around.items()}).force
    assert np.abs(apart).max() > 1e-4  # screws turn with the column, other than rotors across its axis
