"""Loops of a limb that share joints: found, closed together, and with the reactions of the whole robot's system.

The limbs are made up: that of a Delta with a third rod, which statics cannot tell from the others, with a dyad between
rod and wrist, whose loop starts at another link than the parallelogram, and with both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.geometry import AXIS_X, diagonal, shifted
from robots.model import Closure, Family, Frame, Inertia, Limb, Link, Mechanism, Robot
from robots.status import Status
from tasks import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.mechanics.families import structure_of
from tasks.mechanics.kinematics import Pose, SpatialMotion, mount_pose
from tasks.mechanics.limb import solve
from tasks.mechanics.limb_motion import Mounted
from tasks.mechanics.topology import TopologyError, choose, clusters_of
from tests.arguments import in_records
from tests.tasks.machines import X
from tests.tasks.moving import motion

DELTA = catalog.family("delta_3rr2rrr")
ROD, WRIST = 2, 3


def _body(mass: float) -> Inertia:
    return Inertia(mass, (0.01, 0.02, -0.03), diagonal(2e-4 * mass, 3e-4 * mass, 4e-4 * mass))


def _third_rod(p: Mapping[str, Any], first: int, mass: float) -> tuple[tuple[Link, ...], Closure]:
    b, end = p["link_length"], (0.0, 0.0, -p["rod_length"])
    rod = Link("8", "rod_c", 1, "revolute", X, shifted((0.0, 0.2 * b, 0.0)), _body(mass))
    return (rod,), Closure("9", "revolute", first, Frame(AXIS_X, end), WRIST, Frame(AXIS_X, (0.0, 0.7 * b, 0.0)))


def _dyad(p: Mapping[str, Any], first: int, mass: float) -> tuple[tuple[Link, ...], Closure]:
    b, c = p["link_length"], p["rod_length"]
    links = (
        Link("10", "lever", ROD, "revolute", X, shifted((0.0, 0.0, -0.8 * c)), _body(mass)),
        Link("11", "bracket", WRIST, "revolute", X, shifted((0.0, 0.4 * b, 0.0)), _body(2.0 * mass)),
    )
    ends = Frame(AXIS_X, (0.0, 0.15 * c, -0.1 * c)), Frame(AXIS_X, (0.0, 0.15 * c - 0.4 * b, 0.1 * c))
    return links, Closure("12", "revolute", first, ends[0], first + 1, ends[1])


PARTS = {"third rod": (_third_rod,), "dyad": (_dyad,), "both": (_third_rod, _dyad)}
KEPT = {"third rod": 3, "dyad": 4, "both": 5}
"""Rows of the loops that are not redundant."""


def extended(name: str, mass: float = 0.3) -> Robot:
    """The paper's Delta with more loops in its limbs."""

    def assembled(p: Mapping[str, Any]) -> Mechanism:
        mechanism = DELTA.assemble(p)
        (limb,) = mechanism.limbs
        for part in PARTS[name]:
            links, closure = part(p, len(limb.links), mass)
            limb = replace(limb, links=(*limb.links, *links), loops=(*limb.loops, closure))
        return replace(mechanism, limbs=(limb,))

    return Robot.of(Family(f"delta with {name}", "made up", "made up", DELTA.parameters, assembled), {})


@pytest.fixture(params=PARTS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def robot(name: str) -> Robot:
    return extended(name)


@pytest.fixture(scope="module")
def peer() -> ModuleType:
    """The reference that needs Pinocchio."""
    pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")
    from tests.reference import mechanism_pinocchio

    return mechanism_pinocchio


def close(found: Any, expected: Any, share: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=share * np.abs(expected).max())


def test_loops_that_share_joints_make_a_cluster() -> None:
    assert clusters_of([]) == []
    assert clusters_of([(1, 2), (3, 4), (5,)]) == [(0,), (1,), (2,)]
    assert clusters_of([(1, 2), (3, 4), (2, 5)]) == [(1,), (0, 2)]
    assert clusters_of([(1, 2), (3, 4), (6,), (4, 2)]) == [(2,), (0, 1, 3)]


def test_clusters_keep_the_rows_that_are_not_redundant(name: str, robot: Robot) -> None:
    choice = choose(robot.mechanism, 0)
    assert sorted(k for cluster in choice.clusters for k in cluster.loops) == list(range(len(choice.loops)))
    dependent = [joint for cluster in choice.clusters for joint in cluster.dependent]
    assert sum(len(loop.rows) for loop in choice.loops) == len(set(dependent)) == len(dependent) == KEPT[name]
    for cluster in choice.clusters:
        assert sum(len(choice.loops[k].rows) for k in cluster.loops) == len(cluster.dependent)
    assert len(choice.independent) == 3


def test_loops_of_a_cluster_may_start_at_different_links() -> None:
    choice = choose(extended("dyad").mechanism, 0)
    assert [loop.root for loop in choice.loops] == [1, ROD]


def test_every_row_closes(robot: Robot) -> None:
    case, mechanism = motion(robot, 6), robot.mechanism
    still, home = SpatialMotion(*np.zeros((4, 3))), mount_pose(mechanism.platform.home)
    for instance in mechanism.instances:
        frames = mount_pose(instance.base), mount_pose(instance.platform)
        mounted = Mounted(mechanism.limbs[0], choose(mechanism, 0), *frames, mechanism.platform.mobility)
        for position in case["position"]:
            solved = solve(mounted, home, Pose(np.eye(3), position), still)
            tips = solved.tips
            assert solved.status == Status.OK
            assert np.abs([*tips.residuals(), *tips.dropped(), *tips.embedding.dropped()]).max() < 1e-12


def test_rates_and_accelerations_are_derivatives(robot: Robot) -> None:
    h = 1e-3
    around = [inverse_kinematics(robot, **motion(robot, 10, time=k * h)) for k in (-2, -1, 0, 1, 2)]
    for values, derivative, share in (("position", "velocity", 1e-7), ("velocity", "acceleration", 1e-6)):
        x = [getattr(each, values) for each in around]
        close((x[0] - 8 * x[1] + 8 * x[3] - x[4]) / (12 * h), getattr(around[2], derivative), share)


def test_agrees_with_pinocchio(robot: Robot, peer: ModuleType) -> None:
    case, engine = motion(robot, 10), peer.ClosedMechanism(robot.mechanism)
    force, joints = inverse_dynamics(robot, **case).force, inverse_kinematics(robot, **case)
    for k in range(10):
        theirs = engine.solve(*(case[name][k] for name in ("position", "rotation", "twist", "acceleration")))
        count = theirs.q.shape[1]
        assert theirs.freedoms == 3
        close(joints.position[k, :, :count], theirs.q, 1e-9)
        close(joints.acceleration[k, :, :count], theirs.qdd, 1e-9)
        close(force[k], theirs.force, 1e-9)


def test_loops_without_mass_change_no_force(name: str) -> None:
    plain = Robot.of(DELTA, {})
    case = motion(plain, 10)
    close(inverse_dynamics(extended(name, mass=0.0), **case).force, inverse_dynamics(plain, **case).force, 1e-12)


def test_reactions_are_those_of_the_whole_system(robot: Robot) -> None:
    case = {**motion(robot, 5), "load": 5.0 * np.random.default_rng(4).normal(size=(5, 6))}
    expected = joint_reactions_reference(robot, **case, method="least_norm")
    close(joint_reactions(robot, **in_records(**case)).wrench, expected.wrench, 1e-9)
    close(inverse_dynamics(robot, **in_records(**case)).force, expected.actuator_force, 1e-9)


def test_the_free_multipliers_of_a_cluster_are_counted(name: str, robot: Robot) -> None:
    limb: Limb = robot.mechanism.limbs[0]
    assert structure_of(robot.family).redundant(0) == 5 * (len(limb.loops) + 1) - KEPT[name] - 3


def test_actuators_that_a_cluster_ties_together_are_refused() -> None:
    mechanism = extended("dyad").mechanism
    tied = replace(mechanism, limbs=(replace(mechanism.limbs[0], actuated=("1", "3", "11")),))
    with pytest.raises(TopologyError, match=r"joint 7, 12: got the driven joints 3, 11 of a loop with 1 freedom; "):
        choose(tied, 0)
