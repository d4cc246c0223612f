"""Singularities of the platform (type 2) told apart from those of limbs (type 1) and of what limbs hold."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline import Sweep, run
from robots import catalog
from robots.model import Robot
from robots.status import ADVICE, Status
from tasks import inverse_dynamics
from tasks.mechanics import assembly

ROBOT = catalog.build("five_bar")
NEAR, FAR, WIDTH = (ROBOT.values[name] for name in ("proximal_length", "distal_length", "base_half_width"))
FLAT = -np.sqrt(NEAR**2 - (FAR - WIDTH) ** 2)
"""Height at which both distal links of the five-bar robot lie on one line."""


SWEEP = """
limbsweep: 1
robot: five_bar
trajectories: {{up: {{kind: line_sine, amplitude: [0, 0, {height}], period: 4.0}}}}
time: {{stop: 1.0, step: 0.1}}
metrics: [least_regularity, peak_force]
"""


def through(samples: int) -> np.ndarray:
    """Positions up through the singularity, which is halfway between two of them."""
    height = FLAT + 0.1 * np.linspace(-1.0, 1.0, samples)
    return np.stack([np.zeros(samples), np.zeros(samples), height], axis=-1)


@pytest.mark.parametrize("samples", [2, 10, 1000])
def test_a_crossing_shows_however_far_apart_samples_are(samples: int) -> None:
    solved = inverse_dynamics(ROBOT, position=through(samples))
    near = np.isin(solved.status, [Status.ILL_CONDITIONED, Status.PLATFORM_SINGULAR])
    assert near.sum() <= samples / 100
    before = np.arange(samples) < samples / 2
    np.testing.assert_array_equal(solved.status[before & ~near], Status.OK)
    np.testing.assert_array_equal(solved.status[~before & ~near], Status.SINGULARITY_CROSSED)
    assert np.isnan(solved.force[~before]).all()


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2])
def test_size_does_not_matter(scale: float) -> None:
    lengths = [p.name for p in ROBOT.family.parameters if p.unit == "m"]
    robot = Robot(ROBOT.family, {name: x * (scale if name in lengths else 1.0) for name, x in ROBOT.values.items()})
    expected = inverse_dynamics(ROBOT, position=through(300)).status
    found = inverse_dynamics(robot, position=through(300) * scale).status
    np.testing.assert_array_equal(found, expected)


def test_regularity_is_a_ratio_of_determinants() -> None:
    position = through(50)
    solved = inverse_dynamics(ROBOT, position=position)
    home = inverse_dynamics(ROBOT, position=ROBOT.mechanism.platform.home.position).jacobian
    reference = assembly.Reference(home, [False, False])
    for jacobian in solved.jacobian[solved.status == Status.OK]:
        expected = float(np.linalg.det(jacobian) / np.linalg.det(home))
        assert float(assembly.regularity(jacobian, reference)) == pytest.approx(expected, rel=1e-12)
        assert expected > 0.0
    mirrored = home * np.array([[1.0, 1.0], [-1.0, -1.0]])
    assert float(assembly.regularity(mirrored, reference)) == pytest.approx(-1.0)
    assert assembly.platform_status(mirrored, reference) == Status.SINGULARITY_CROSSED


def test_type_one_has_another_status() -> None:
    stretched = -np.sqrt((NEAR + FAR) ** 2 - WIDTH**2)
    found = inverse_dynamics(ROBOT, position=[[0.0, 0.0, stretched], [0.0, 0.0, stretched - 1e-3]])
    assert found.status[0] in (Status.SINGULAR, Status.NOT_REACHABLE)
    assert found.status[1] == Status.NOT_REACHABLE


def test_the_metric_of_a_sweep_goes_below_zero() -> None:
    reach = float(FLAT - ROBOT.mechanism.platform.home.position[2])
    for height, sign in ((reach - 0.02, 1.0), (reach + 0.02, -1.0)):
        results = run(Sweep.from_text(SWEEP.format(height=height)))
        assert np.sign(results["least_regularity"].item()) == sign
        assert results["worst_status"].item() == (Status.OK if sign > 0 else Status.SINGULARITY_CROSSED)


def test_every_status_has_advice() -> None:
    assert set(ADVICE) == set(Status)
