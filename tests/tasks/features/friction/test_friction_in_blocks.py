"""Friction in blocks: any joints, several groups, laws with a state; as single calls and formulas give it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline.execution import work
from robots import catalog
from robots.friction.groups import FrictionGroup, group_parameters, select
from robots.requested import QuantityNames
from robots.trajectories.trajectory import Trajectory
from tasks import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.blocks.block import Block
from tasks.blocks.designs import BlockDesigns
from tasks.dynamics.records import Forces
from tasks.features.friction import history as friction_states

TIMES = np.linspace(0.0, 1.0, 21)
CIRCLE = {"centre": (0.0, 0.0, 0.0), "normal": (0.0, 0.0, 1.0), "radius": 0.1, "period": 1.0, "phase": 0.3}
ROBOT = catalog.build("delta_3rr2rrr")


def group(law: str, joints: Any, load: str = "constant", name: str = "") -> FrictionGroup:
    names = tuple(parameter.name for parameter in group_parameters(law, load))
    return FrictionGroup(name, law, load, select(ROBOT.mechanism, joints), names)


def values(of: FrictionGroup, **given: float) -> list[float]:
    return [float(given.get(p.name, p.scalar)) for p in group_parameters(of.law, of.load)]


def computed(
    groups: tuple[FrictionGroup, ...], sets: list[list[float]], *series: str, designs: int = 2
) -> dict[str, np.ndarray]:
    block = Block(
        index=0,
        robot=ROBOT.name,
        designs=BlockDesigns(np.array([list(ROBOT.values.values())] * designs), np.array([[0.0, 0.0, -9.81]])),
        groups=groups,
        friction=np.array(sets),
        trajectories=(Trajectory("circle", CIRCLE),),
        times=TIMES,
        origin=ROBOT.mechanism.platform.home.position,
        quantities=QuantityNames(
            tuple(name for name in series if name != "peak_reaction"),
            ("peak_force", "unsettled_samples", "friction_residual", "peak_reaction"),
        ),
    )
    return work.whole(block)


def states() -> dict[str, np.ndarray]:
    angle = 2 * np.pi * TIMES + 0.3
    out, along = (np.stack([f(angle), g(angle), 0 * angle], -1) for f, g in ((np.cos, np.sin), (_minus_sin, np.cos)))
    rate = 2 * np.pi
    still = np.zeros((len(TIMES), 3))
    return {
        "position": np.array(ROBOT.mechanism.platform.home.position) + 0.1 * out,
        "twist": np.concatenate([still, 0.1 * rate * along], axis=-1),
        "acceleration": np.concatenate([still, -0.1 * rate**2 * out], axis=-1),
    }


def _minus_sin(angle: np.ndarray) -> np.ndarray:
    return -np.sin(angle)


def test_groups_and_sets_agree_with_single_calls() -> None:
    motors, rest = group("coulomb_viscous", "actuated", name="m"), group("stribeck", "passive", "reaction", "r")
    one = [*values(motors, coulomb=0.2, viscous=0.1), *values(rest, coulomb=0.2, static=0.4, viscous=0.01)]
    two = [*values(motors, coulomb=0.1), *values(rest, coulomb=0.3, static=0.3, preload=2.0)]
    got = computed((motors, rest), [one, two], "actuator_force", "joint_friction", "joint_reaction")
    assert (got["unsettled_samples"] == 0).all()
    assert (got["friction_residual"] < 1e-12).all()
    given: Any = [
        {"law": "coulomb_viscous", "coulomb": 0.1},
        {"law": "stribeck", "joints": "passive", "load": "reaction", "coulomb": 0.3, "static": 0.3, "preload": 2.0},
    ]
    force = inverse_dynamics(ROBOT, forces=Forces(friction=given), **states()).force
    scale = np.abs(force).max()
    np.testing.assert_allclose(got["actuator_force"][1, 1, 0], force, rtol=0, atol=1e-13 * scale)
    wrenches = joint_reactions(ROBOT, forces=Forces(friction=given), **states()).wrench
    np.testing.assert_allclose(got["joint_reaction"][1, 1, 0], wrenches, rtol=0, atol=1e-12 * np.abs(wrenches).max())
    peaks = np.linalg.norm(wrenches[..., 3:], axis=-1).max(axis=0)
    np.testing.assert_allclose(got["peak_reaction"][1, 1, 0], peaks, rtol=1e-12)


def test_sets_of_a_single_design_have_the_bits_of_those_of_several() -> None:
    joints = group("coulomb_viscous", "all", "reaction", "all")
    sets = [[*values(joints, coulomb=size, viscous=0.1)] for size in (0.1, 0.2, 0.3)]
    one, two = (computed((joints,), sets, "actuator_force", "joint_reaction", designs=n) for n in (1, 2))
    for name in ("actuator_force", "joint_reaction", "peak_reaction"):
        np.testing.assert_array_equal(one[name][0], two[name][1])


def test_reactions_without_passive_friction_are_those_of_no_friction() -> None:
    motors = group("viscous", "actuated")
    got = computed((motors,), [[0.3], [0.6]], "joint_reaction")["joint_reaction"]
    plain = joint_reactions(ROBOT, **states()).wrench
    assert got.shape == (2, 1, *plain.shape)
    np.testing.assert_allclose(got[0, 0], plain, rtol=0, atol=1e-12 * np.abs(plain).max())


@pytest.mark.parametrize(
    ("law", "own"),
    [("lugre", {"sigma0": 50.0, "coulomb": 0.2, "static": 0.3}), ("stiction", {"coulomb": 0.2, "static": 0.3})],
)
def test_laws_with_a_state_follow_the_trajectory(law: str, own: dict[str, float]) -> None:
    everywhere = group(law, "all", "preload")
    got = computed((everywhere,), [values(everywhere, preload=2.0, **own)], "actuator_force", "joint_friction")
    rates = inverse_kinematics(ROBOT, **states()).velocity
    tau = friction_states.along(law, velocity=np.moveaxis(rates, 0, -1), times=TIMES, values=own, load=2.0).force
    found = np.moveaxis(got["joint_friction"][0, 0, 0], 0, -1)
    np.testing.assert_allclose(found, tau, rtol=0, atol=1e-9 * np.abs(tau).max())
    frictionless = inverse_dynamics(ROBOT, **states())
    extra = ((got["actuator_force"][0, 0, 0] - frictionless.force) * frictionless.velocity).sum(axis=-1)
    np.testing.assert_allclose(extra, (np.moveaxis(tau, -1, 0) * rates).sum(axis=(1, 2)), rtol=0, atol=1e-9)
