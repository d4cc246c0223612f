"""Rows of cut joints against finite differences, and a loop with a joint that slides against its closed form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots import geometry
from robots.joint_kinds import JOINT_KINDS
from robots.model import Closure, Frame, Limb, Link
from robots.types import BASE, JointKind
from tasks.mechanics.cut_joints import End, Joined, conditions, row_count
from tasks.mechanics.kinematics import JointState, Pose, SpatialMotion, poses
from tasks.mechanics.limb_choice import ClusterChoice, LoopChoice
from tasks.mechanics.loops import SolvedCluster, SolvedLoop
from tasks.mechanics.topology import pivots
from tests.tasks.mechanics.cut_body import embedding, loop_screws

STEP = 1e-3


class Moving(NamedTuple):
    """A body in any motion, with the frame of a joint on it."""

    rotation: np.ndarray
    position: np.ndarray
    motion: SpatialMotion
    frame: Frame

    def pose(self, time: float) -> Pose:
        """The pose that has this motion at time zero."""
        m = self.motion
        turn = Rotation.from_rotvec(m.omega * time + m.alpha * (0.5 * time * time)).as_matrix()
        return Pose(turn @ self.rotation, self.position + m.v * time + m.a * (0.5 * time * time))

    def end(self, time: float) -> End:
        return End.of(self.pose(time), self.frame)


def moving_body(random: np.random.Generator) -> Moving:
    turns = Rotation.random(2, rng=random).as_matrix()
    frame = Frame(tuple(map(tuple, turns[0])), tuple(random.normal(size=3)))
    return Moving(turns[1], random.normal(size=3), SpatialMotion(*random.normal(size=(4, 3))), frame)


@pytest.mark.parametrize("kind", [name for name, row in JOINT_KINDS.items() if not row.coupled])
def test_rates_and_drifts_are_derivatives(kind: JointKind) -> None:
    random = np.random.default_rng(2)
    rows = tuple(range(row_count(kind)))
    for _ in range(10):
        a, b = moving_body(random), moving_body(random)
        ahead = [np.array(Joined(kind, a.end(k * STEP), b.end(k * STEP), rows).residual()) for k in (-2, -1, 0, 1, 2)]
        joined = Joined(kind, a.end(0.0), b.end(0.0), rows)
        offset_a, offset_b = joined.point - a.position, joined.b.origin - b.position
        sides = ((a.motion, offset_a), (b.motion, offset_b))
        of_a, of_b = (np.array(joined.rate(motion.omega, motion.at(arm)[0])) for motion, arm in sides)
        first = (ahead[0] - 8 * ahead[1] + 8 * ahead[3] - ahead[4]) / (12 * STEP)
        second = (-ahead[0] + 16 * ahead[1] - 30 * ahead[2] + 16 * ahead[3] - ahead[4]) / (12 * STEP * STEP)
        np.testing.assert_allclose(of_a - of_b, first, atol=1e-9)
        np.testing.assert_allclose(joined.drift(a.motion, b.motion, offset_a, offset_b), second, atol=1e-6)


@pytest.mark.parametrize("kind", [name for name, row in JOINT_KINDS.items() if not row.coupled])
def test_wrenches_do_the_work_of_the_rates(kind: JointKind) -> None:
    random = np.random.default_rng(3)
    rows = tuple(range(row_count(kind)))
    joined = Joined(kind, moving_body(random).end(0.0), moving_body(random).end(0.0), rows)
    omega, v = random.normal(size=(2, 3))
    work = [omega @ moment + v @ force for moment, force in (joined.wrench(row) for row in rows)]
    np.testing.assert_allclose(joined.rate(omega, v), work, rtol=1e-12)


def test_rate_and_drift_of_a_screw_are_derivatives_where_it_is_on_its_axis() -> None:
    """The last row, for a body that turns about an axis of the other and slides along it, each as it likes."""
    random, pitch = np.random.default_rng(8), 0.3
    a, (angle, turn, spin, way, speed, push) = moving_body(random), random.normal(size=6)
    m, axis, arm = a.motion, a.end(0.0).axes[:, 2], a.end(0.0).origin - a.position + a.end(0.0).axes[:, 2] * way
    swirl = np.cross(m.omega, arm)
    moving_b = SpatialMotion(
        m.omega + axis * turn,
        m.v + swirl + axis * speed,
        m.alpha + axis * spin + np.cross(m.omega, axis * turn),
        m.a + np.cross(m.alpha, arm) + np.cross(m.omega, swirl) + axis * push + 2.0 * np.cross(m.omega, axis * speed),
    )

    def joined(time: float) -> Joined:
        first = a.end(time)
        turned = Rotation.from_rotvec([0.0, 0.0, angle + turn * time + 0.5 * spin * time**2]).as_matrix()
        shift = first.axes[:, 2] * (way + speed * time + 0.5 * push * time**2)
        return Joined("screw", first, End(first.origin + shift, first.axes @ turned), tuple(range(5)), pitch)

    now, offset = joined(0.0), np.zeros(3)
    ahead = [np.array(joined(k * STEP).residual()) for k in (-2, -1, 0, 1, 2)]
    first = (ahead[0] - 8 * ahead[1] + 8 * ahead[3] - ahead[4]) / (12 * STEP)
    second = (-ahead[0] + 16 * ahead[1] - 30 * ahead[2] + 16 * ahead[3] - ahead[4]) / (12 * STEP * STEP)
    relative = m.at(now.point - a.position)[0] - moving_b.v
    np.testing.assert_allclose(now.rate(m.omega - moving_b.omega, relative), first, atol=1e-9)
    np.testing.assert_allclose(now.drift(m, moving_b, now.point - a.position, offset), second, atol=1e-6)
    assert abs(first[4]) > 0.1


@pytest.mark.parametrize("kind", ["revolute", "universal", "spherical"])
def test_residuals_vanish_for_a_closed_joint(kind: JointKind) -> None:
    end = moving_body(np.random.default_rng(6)).end(0.0)
    spin = Rotation.from_rotvec([0.0, 0.0, 0.7]).as_matrix()
    other = End(end.origin, end.axes @ spin) if kind == "revolute" else end
    np.testing.assert_allclose(Joined(kind, end, other, tuple(range(row_count(kind)))).residual(), 0.0, atol=1e-15)


def test_only_chosen_rows_are_given() -> None:
    random = np.random.default_rng(7)
    a, b = moving_body(random).end(0.0), moving_body(random).end(0.0)
    residual = Joined("revolute", a, b, (0, 1, 2, 3, 4)).residual()
    assert Joined("revolute", a, b, (4, 1)).residual() == [residual[4], residual[1]]


def test_a_joint_holds_what_it_does_not_leave_free() -> None:
    freedoms = {"revolute": 1, "universal": 2, "spherical": 3, "prismatic": 1, "cylindrical": 2, "screw": 1, "fixed": 0}
    assert {kind: 6 - len(conditions(kind, 0.1)) for kind in JOINT_KINDS} == freedoms
    assert {kind: 6 - row_count(kind) for kind in JOINT_KINDS} == freedoms


CRANK, DISTANCE = 0.2, 0.5


def swinging_lever(kind: JointKind) -> Limb:
    """A crank about x whose pin carries a block that slides along a lever, which turns about x at a distance in y."""
    nothing, x = geometry.point(0.0), (1.0, 0.0, 0.0)
    links = (
        Link("1", "crank", BASE, "revolute", x, Frame(), nothing),
        Link("2", "block", 0, "revolute", x, Frame(position=(0.0, CRANK, 0.0)), nothing),
        Link("3", "lever", BASE, "revolute", x, Frame(position=(0.0, -DISTANCE, 0.0)), nothing),
    )
    along_y = Frame(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))  # z of the joint is y of the links
    assert np.linalg.det(along_y.rotation) == pytest.approx(1.0)
    return Limb("lever", links, (Closure("4", kind, 1, along_y, 2, along_y),), (), ("1",))


@pytest.mark.parametrize("kind", ["prismatic", "cylindrical"])
def test_a_block_on_a_lever_in_closed_form(kind: JointKind) -> None:
    limb = swinging_lever(kind)
    rate = 0.7
    for crank in np.linspace(-1.5, 1.5, 7):
        pin = CRANK * np.array([np.cos(crank), np.sin(crank)])
        lever = float(np.arctan2(pin[1], pin[0] + DISTANCE))
        angles = (crank, lever - crank, lever)
        states = [JointState(np.cos(q), np.sin(q)) for q in angles]
        at = poses(limb.links, states)
        every = LoopChoice(BASE, (0, 1), (2,), tuple(range(row_count(kind))), (0, 1, 2))
        whole = SolvedLoop(limb, every, limb.loops[0], at)
        np.testing.assert_allclose(whole.joined.residual(), 0.0, atol=1e-15)
        rows = pivots([whole.matrix])
        loop = SolvedLoop(limb, LoopChoice(BASE, (0, 1), (2,), rows, (0, 1, 2)), limb.loops[0], at)
        alone = SolvedCluster(ClusterChoice((0,), (1, 2)), (loop,))
        answers = alone.answer(loop.matrix[:, 0])
        h = 1e-4
        ahead = [np.arctan2(CRANK * np.sin(q), CRANK * np.cos(q) + DISTANCE) for q in crank + h * np.arange(-2, 3)]
        slope = (ahead[0] - 8 * ahead[1] + 8 * ahead[3] - ahead[4]) / (12 * h)
        bend = (-ahead[0] + 16 * ahead[1] - 30 * ahead[2] + 16 * ahead[3] - ahead[4]) / (12 * h * h)
        assert answers[2] == pytest.approx(slope, abs=1e-10)
        assert answers[1] == pytest.approx(slope - 1.0, abs=1e-10)
        rates = np.array([1.0, slope - 1.0, slope]) * rate
        drift = alone.answer(loop.drift(rates))
        assert drift[2] == pytest.approx(bend * rate**2, abs=1e-6)
        np.testing.assert_allclose(embedding(loop_screws(loop), [0])[1:3, 0], [slope - 1.0, slope], atol=1e-10)
