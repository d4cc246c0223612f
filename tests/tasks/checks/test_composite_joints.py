"""Composite joints: which joints make one, what they transmit, and robots with massless bodies in odd places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from robots import catalog
from robots.geometry import point
from robots.model import PLATFORM, Closure, Frame, Instance, Limb, Link, Mechanism, Robot
from robots.types import BASE, JointKind, Vector
from tasks import inverse_dynamics
from tasks.checks.composite_joints import (
    JointPart,
    JointSeries,
    MovingJoint,
    Screw,
    bodies,
    chains,
    limb_joints,
    transmission,
)
from tasks.checks.newton_euler_system import Method, assemble, joint_reactions_reference
from tasks.dynamics.body_motions import platform_motion
from tests.tasks.moving import motion

X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
HEAVY, LIGHT = point(1.0), point(0.0)
METHODS: tuple[Method, ...] = get_args(Method)


def _limb(masses: tuple[Any, ...], parents: tuple[int, ...], loops: tuple[Closure, ...] = ()) -> Limb:
    links = tuple(
        Link(str(k), f"body{k}", parent, "revolute", X, Frame(), mass)
        for k, (mass, parent) in enumerate(zip(masses, parents, strict=True))
    )
    tip = Closure("tip", "spherical", len(links) - 1, Frame(), PLATFORM, Frame())
    return Limb("made up", links, loops, (tip,), ("0",))


def test_joints_through_massless_bodies_are_one() -> None:
    limb = _limb((HEAVY, LIGHT, LIGHT, HEAVY, LIGHT), (BASE, 0, 1, 2, 3))
    assert chains(limb) == (
        JointSeries((JointPart(0, 1.0),), BASE, 0),
        JointSeries((JointPart(1, 1.0), JointPart(2, 1.0), JointPart(3, 1.0)), 0, 3),
        JointSeries((JointPart(4, 1.0), JointPart(5, 1.0)), 3, PLATFORM),
    )
    assert bodies(limb) == (0, 3)


def test_a_massless_body_with_three_joints_stays() -> None:
    limb = _limb((HEAVY, LIGHT, HEAVY), (BASE, 0, 1), (Closure("cut", "revolute", 1, Frame(), 2, Frame()),))
    assert [len(chain.parts) for chain in chains(limb)] == [1, 1, 1, 1, 1]
    assert bodies(limb) == (0, 1, 2)


def test_a_chain_runs_against_a_cut_joint_that_ends_at_the_massless_body() -> None:
    limb = _limb((HEAVY, LIGHT, HEAVY), (BASE, 0, BASE), (Closure("cut", "revolute", 2, Frame(), 1, Frame()),))
    assert chains(limb)[1] == JointSeries((JointPart(1, 1.0), JointPart(4, -1.0)), 0, 2)
    assert chains(limb)[1].reversed() == JointSeries((JointPart(4, 1.0), JointPart(1, -1.0)), 2, 0)


def _joint(*screws: Screw) -> MovingJoint:
    return MovingJoint(screws[-1].point, screws)


def _screw(axis: Vector, at: Vector = (0.0, 0.0, 0.0), turns: bool = True, **more: Any) -> Screw:
    return Screw(np.array([axis]), np.array([at]), turns, 0.0 if turns else 1.0, **more)


ONE = JointSeries((JointPart(0, 1.0),), BASE, 0)
TWO = JointSeries((JointPart(0, 1.0), JointPart(1, -1.0)), BASE, 0)


@pytest.mark.parametrize(
    ("chain", "joints", "moments", "forces"),
    [
        (ONE, (_joint(_screw(X)),), 2, 3),
        (ONE, (_joint(_screw(X, turns=False)),), 3, 2),
        (ONE, (_joint(_screw(X, driven=True)),), 3, 3),
        (TWO, (_joint(_screw(X)), _joint(_screw(Y))), 1, 3),
        (TWO, (_joint(_screw(X)), _joint(_screw(X, turns=False))), 2, 2),
        (TWO, (_joint(_screw(X)), _joint(_screw(X, (1.0, 0.0, 0.0), turns=False, driven=True))), 2, 3),
    ],
    ids=["revolute", "prismatic", "driven", "universal", "cylindrical", "screw and feed"],
)
def test_moments_and_forces_stay_apart_at_a_common_point(
    chain: JointSeries, joints: tuple[MovingJoint, ...], moments: int, forces: int
) -> None:
    basis = transmission(chain, joints).basis[0]
    assert basis.shape == (6, moments + forces)
    assert not basis[3:, :moments].any()
    assert not basis[:3, moments:].any()
    np.testing.assert_allclose(basis.T @ basis, np.eye(moments + forces), rtol=0, atol=1e-15)


def test_axes_that_do_not_meet_transmit_what_does_no_work_on_either() -> None:
    first, second = _screw(X, (0.0, 0.0, 0.5)), _screw(Y)
    passed = transmission(TWO, (_joint(first), _joint(second)))
    assert passed.basis.shape == (1, 6, 4)
    for screw in (first, second):
        assert np.abs(screw.twist_at(passed.point) @ passed.basis).max() < 1e-15


def test_a_passive_screw_with_inertia_fixes_part_of_the_wrench() -> None:
    first, second = _screw(X, (0.0, 0.0, 0.5), inertial=2.0), _screw(Y, inertial=-3.0)
    passed = transmission(TWO, (_joint(first), _joint(second)))
    power = [float((screw.twist_at(passed.point) @ passed.fixed.T).item()) for screw in (first, second)]
    np.testing.assert_allclose(power, [-2.0, -3.0], rtol=1e-14)  # the second joint runs against the chain


@pytest.mark.parametrize(
    ("kind", "free"),
    [
        ("revolute", [[0, 0, 1, 0, 0, 0]]),
        ("universal", [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]),
        ("spherical", np.eye(6)[:3]),
        ("prismatic", [[0, 0, 0, 0, 0, 1]]),
        ("cylindrical", [[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]]),
        ("screw", [[0, 0, 1, 0, 0, 0.25]]),
    ],
)
def test_cut_joints_have_the_freedoms_of_their_kind(kind: JointKind, free: Any) -> None:
    limb = _limb((HEAVY,), (BASE,))
    limb = replace(limb, tips=(replace(limb.tips[0], kind=kind, pitch=0.25 if kind == "screw" else None),))
    still = platform_motion((1,), (0.0, 0.0, 0.0), np.eye(3))
    _, tip = limb_joints(limb, Instance("", 0, Frame(), Frame()), [still], still, np.zeros((1, 2)), np.zeros((1, 2)))
    np.testing.assert_array_equal([screw.twist_at(tip.origin)[0] for screw in tip.screws], free)


# --- robots with massless bodies where the catalogue has none -------------------------------------------------------


def _robot(name: str, change: Callable[[Limb], Limb]) -> Robot:
    family = catalog.family(name)

    def assembled(p: Any) -> Mechanism:
        mechanism = family.assemble(p)
        return replace(mechanism, limbs=tuple(map(change, mechanism.limbs)))

    return Robot.of(replace(family, name=f"{name}_changed", assemble=assembled), {})


def _without_mass(limb: Limb) -> Limb:
    """The hexapod's offset link without mass, but with a flywheel on its joint."""
    *links, last = limb.links
    return replace(limb, links=(*links, replace(last, inertia=LIGHT, armature=0.02)))


def _with_pins(limb: Limb) -> Limb:
    """The parallelogram of a Delta closed by a ball: the second rod's joint ends at a massless pin on the wrist."""
    (cut,) = limb.loops
    pin = Link("8", "pin", 3, "revolute", X, Frame(position=cut.frame_b.position), LIGHT)
    about_y: Frame = Frame(((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)), cut.frame_a.position)
    about_z: Frame = Frame(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))
    return replace(
        limb, links=(*limb.links, pin), loops=(Closure("7", "universal", 4, about_y, len(limb.links), about_z),)
    )


def test_offset_axes_about_a_massless_link_are_one_joint_of_four_unknowns() -> None:
    robot = _robot("hexapod_6rrrprr", _without_mass)
    case = motion(robot, 4)
    system = assemble(robot, **{name: value[0] for name, value in case.items()})
    assert system.matrix.shape == (114, 114)
    assert system.unknowns[3].joints == ("leg1.5", "leg1.6")
    expected = inverse_dynamics(robot, **case).force
    solved = [joint_reactions_reference(robot, **case, method=method) for method in METHODS]
    for each in solved:
        np.testing.assert_allclose(each.actuator_force, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        np.testing.assert_allclose(each.wrench, solved[0].wrench, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_chain_against_a_cut_joint_gives_the_forces_of_the_limb_formulation() -> None:
    robot = _robot("delta_3rr2rrr", _with_pins)
    case = motion(robot, 4)
    system = assemble(robot, **{name: value[0] for name, value in case.items()})
    assert ("limb1.8", "limb1.7") in [each.joints for each in system.unknowns]
    solved = joint_reactions_reference(robot, **case, method="least_norm")
    expected = inverse_dynamics(robot, **case).force
    np.testing.assert_allclose(solved.actuator_force, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    # the pin passes on to the rod's joint what it gets: joints 8 and 7 share a point, and act from opposite sides on it
    pin, cut = solved.wrench[:, :, 5], solved.wrench[:, :, 7]
    np.testing.assert_allclose(pin, -cut, rtol=0, atol=1e-9 * np.abs(solved.wrench).max())
