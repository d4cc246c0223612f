"""Bearing loads of chains: by one solution of statics, and from the loads of unit causes."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from robots.criteria.elasticity import Elasticity
from robots.friction.groups import select
from tasks.dynamics.instant.programs import Constants
from tasks.dynamics.instant.systems import LimbDynamics
from tasks.features.compliance import ElasticSharing
from tasks.features.friction.passive import SharedLoads
from tasks.features.friction.requests import LimbFriction
from tasks.mathematics.algebra import array
from tasks.mechanics.families import structure_of
from tasks.mechanics.solving import arms, solved_limb


@pytest.mark.parametrize("elastic", [False, True])
@pytest.mark.parametrize("name", ["three_loop_leg", "six_bar", "irb6", "panda"])
def test_loads_of_a_chain_are_those_of_shares(name: str, elastic: bool) -> None:
    """Random motions, actuator forces and friction in all joints; free multipliers by norm or by elasticity."""
    robot, rng = catalog.build(name), np.random.default_rng(5)
    family = robot.family
    structure, free = structure_of(family), len(robot.mechanism.freedoms)
    elasticity = Elasticity.of(robot.mechanism, actuators={"all": 1e5}, joints={"all": [1e4] * 6}) if elastic else None
    values = np.array([[robot.values[p.name] for p in family.parameters]])
    constants = Constants.of(family, values, np.array([[0.0, 0.0, -9.81]]), np.zeros((1, 0)), elasticity)
    motion = rng.uniform(-0.3, 0.3, 3 * free)
    mounted, solved, _, _ = solved_limb(structure, 0, values[0], constants.mounts[0][0], motion)
    sharing = None
    if elasticity is not None:
        parts, numbers = constants.elastic[0]
        sharing = ElasticSharing(parts, numbers[0], arms(family, 0))
    dynamics = LimbDynamics(mounted, solved, motion[free : 2 * free], constants.gravity[0], sharing=sharing)
    places = select(robot.mechanism, "all")
    passive = tuple(sorted(place.joint for place in places if place.actuator < 0))
    loaded = [place for place in places if place.joint >= 0]
    wanted = LimbFriction(passive, tuple(sorted(place.joint for place in loaded)), statics=True)
    forces, friction = rng.normal(size=len(structure.mechanism.actuators)), rng.normal(size=len(passive))
    shares = {name: {0: value} for name, value in dynamics.shares(dynamics.statics, dynamics.gravity, wanted).items()}
    robot_loads = SharedLoads(family, [wanted], forces, {**shares, "held": np.zeros(0)}, ())
    rubbing = {joint: float(tau) for joint, tau in zip(passive, friction, strict=True)}
    numbers_of_loaded = [place.joint for place in loaded]
    found = dynamics.bearing_loads(dynamics.statics, forces, rubbing, numbers_of_loaded)
    for place, load in zip(loaded, found, strict=True):
        expected = array(robot_loads.carried(place, friction))
        np.testing.assert_allclose(load, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))
    assert max(np.abs(load).max() for load in found) > 1.0
