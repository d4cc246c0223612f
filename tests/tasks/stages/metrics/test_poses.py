"""Conditioning, manipulability and effective mass against NumPy on the robots' own J_IK and mass matrices."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from robots.quantities import names, needing, of_criteria
from storage.schema import units
from tasks import equations_of_motion
from tasks.sources.commanded import moving
from tasks.stages.metrics.poses import characteristic_length, weights
from tests.tasks.blocks.test_gradients import block, values_of

PARALLEL = [name for name, family in catalog.FAMILIES.items() if not family.reference.is_chain]


@pytest.mark.parametrize("robot", PARALLEL)
def test_against_numpy(robot: str) -> None:
    mechanism = catalog.family(robot).reference
    square = len(mechanism.actuators) == len(mechanism.freedoms)
    left_out = {*needing("workspace"), *needing("constraints"), *of_criteria(), "failed_samples"}
    left_out |= set() if square else {*needing("as many actuators as freedoms")}
    given = block(robot, tuple(name for name in names("assembly", "metric") if name not in left_out))
    got = {name: value.item() for name, value in values_of(given).items()}
    motion = moving(given.family, given.trajectories[0], given.times, given.origin)
    poses = {name: motion[name] for name in ("position", "rotation") if name in motion}
    found = equations_of_motion(catalog.build(robot), **poses)
    home = equations_of_motion(catalog.build(robot), position=np.array([given.origin])).jacobian[0]
    jacobians, masses = found.jacobian, found.mass
    scale = weights(given.family.reference)
    rates = np.linalg.svd(jacobians / scale, compute_uv=False)
    mass = np.linalg.eigvalsh(masses / np.outer(scale, scale))
    n = len(scale)
    reference = np.sqrt(np.mean(np.linalg.svd(home / scale, compute_uv=False) ** 2))
    platform, limb = (rates[:, -1] / reference).min(), (reference / rates[:, 0]).min()
    expected = {
        "condition": (rates[:, 0] / rates[:, -1]).max(),
        "dexterity": (rates[:, -1] / rates[:, 0]).mean(),
        "usable_share": 1.0,
        "reachable_share": 1.0,
        "limit_margin": 1.0,
        "velocity_margin": 1.0,
        "platform_singularity_margin": platform,
        "limb_singularity_margin": limb,
        "singularity_margin": min(platform, limb),
        "least_regularity": (_volume(jacobians) / _volume(home)).min(),
        "manipulability": (rates.prod(axis=1) ** (-1 / n)).min(),
        "least_effective_mass": mass[:, 0].min(),
        "largest_effective_mass": mass[:, -1].max(),
    }
    if square:
        felt = np.linalg.inv(np.linalg.inv(masses) @ jacobians.swapaxes(-1, -2)) @ np.linalg.inv(jacobians)
        expected["largest_effective_inertia"] = np.diagonal(felt, axis1=-2, axis2=-1).max()
    assert got.keys() == expected.keys()
    for name, value in expected.items():
        assert got[name] == pytest.approx(value, rel=1e-9), name


def _volume(jacobian: np.ndarray) -> np.ndarray:
    """Return the volume that the columns span (...)."""
    if jacobian.shape[-2] == jacobian.shape[-1]:
        return np.asarray(np.linalg.det(jacobian))
    return np.asarray(np.linalg.svd(jacobian, compute_uv=False).prod(axis=-1))


def test_lengths_of_the_catalogue() -> None:
    lengths = {name: characteristic_length(catalog.family(name).reference) for name in PARALLEL}
    assert lengths["gough_stewart"] == pytest.approx(1.0)
    assert lengths["hexapod_6rrrprr"] == pytest.approx(0.2)
    assert lengths["five_bar"] == 1.0  # both joints are at the reference point


@pytest.mark.parametrize("robot", ["gough_stewart", "hexapod_6rrrprr"])
def test_rotations_count_by_the_characteristic_length(robot: str) -> None:
    mechanism = catalog.family(robot).reference
    length = characteristic_length(mechanism)
    assert weights(mechanism).tolist() == [length] * 3 + [1.0] * 3


def test_drives_decide_the_unit_of_manipulability() -> None:
    assert (units({True})["manipulability"], units({False})["manipulability"]) == ("m/rad", "1")
