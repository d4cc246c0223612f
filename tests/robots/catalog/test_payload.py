"""Payloads: nothing for a mass of zero, a body fixed to platform or last link otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robots import catalog
from robots.catalog.payload import PARAMETERS
from robots.geometry import diagonal, joined
from robots.model import Family, Inertia, Mechanism
from tasks import inverse_dynamics
from tests.tasks.bits import bits

LOAD = {"payload_mass": 3.0, "payload_centre_x": 0.05, "payload_centre_z": -0.1, "payload_inertia_yy": 0.02}
BODY = Inertia(3.0, (0.05, 0.0, -0.1), diagonal(0.0, 0.02, 0.0))


def motion(mechanism: Mechanism, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    if mechanism.is_chain:
        n = len(mechanism.freedoms)
        return {name: rng.normal(size=(3, n)) * scale for name, scale in (("q", 0.2), ("qd", 1.0), ("qdd", 3.0))}
    free = np.array([each in mechanism.platform.mobility for each in ("wx", "wy", "wz", "vx", "vy", "vz")])
    return {
        "position": np.array(mechanism.platform.home.position) + rng.normal(size=(3, 3)) * 0.01 * free[3:],
        "twist": rng.normal(size=(3, 6)) * free,
        "acceleration": rng.normal(size=(3, 6)) * free,
    }


def loaded(mechanism: Mechanism) -> Mechanism:
    if not mechanism.is_chain:
        platform = mechanism.platform
        return replace(mechanism, platform=replace(platform, inertia=joined(platform.inertia, BODY)))
    (limb,) = mechanism.limbs
    last = replace(limb.links[-1], inertia=joined(limb.links[-1].inertia, BODY))
    return replace(mechanism, limbs=(replace(limb, links=(*limb.links[:-1], last)),))


def test_every_robot_can_carry_something() -> None:
    for family in catalog.FAMILIES.values():
        assert family.parameters[-len(PARAMETERS) :] == PARAMETERS


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart", "planar_3r", "irb6"])
def test_a_payload_is_a_body_that_is_fixed(name: str) -> None:
    bare = catalog.build(name)
    moving = motion(bare.mechanism)
    family = bare.family

    def with_body(p):
        return loaded(family.assemble(p))

    expected = inverse_dynamics(
        replace(bare, family=Family(f"{name}_loaded", "", "", family.parameters, with_body)), **moving
    ).force
    made = inverse_dynamics(catalog.build(name, **LOAD), **moving).force
    np.testing.assert_allclose(made, expected, rtol=1e-11, atol=1e-10)
    assert np.abs(made - inverse_dynamics(bare, **moving).force).max() > 1e-3


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart", "planar_3r"])
def test_nothing_carried_changes_no_bit(name: str) -> None:
    bare = catalog.build(name)
    moving = motion(bare.mechanism, 1)
    original = bare.family.assemble.family  # type: ignore[attr-defined]
    values = {p.name: bare.values[p.name] for p in original.parameters}
    expected = inverse_dynamics(replace(bare, family=original, values=values), **moving).force
    made = inverse_dynamics(bare, **moving).force
    if bare.mechanism.platform.mobility[:1] == ("vx",):
        np.testing.assert_array_equal(bits(made), bits(expected))
    np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-12)
