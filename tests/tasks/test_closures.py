"""Closure rows: residual, rate, drift and wrench belong together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.model import ClosureKind, Frame
from tasks.closures import PERPENDICULAR, End, Joined, row_count
from tasks.kinematics import Motion, Pose

KINDS: tuple[ClosureKind, ...] = ("revolute", "universal", "spherical")
RNG = np.random.default_rng(6)
A, B = (Frame(tuple(map(tuple, Rotation.random(rng=RNG).as_matrix())), tuple(RNG.normal(size=3))) for _ in "ab")  # type: ignore[arg-type]
POSES = [Pose(Rotation.random(rng=RNG).as_matrix(), RNG.normal(size=3)) for _ in "ab"]
MOTIONS = [Motion(*RNG.normal(size=(4, 3))) for _ in "ab"]


def pose_at(pose: Pose, motion: Motion, t: float) -> Pose:
    """The body after a time t, to second order."""
    turn = Rotation.from_rotvec(motion.omega * t + motion.alpha * t * t / 2.0).as_matrix()
    return Pose(turn @ pose.rotation, pose.position + motion.v * t + motion.a * t * t / 2.0)


def joined(kind: ClosureKind, t: float = 0.0) -> Joined:
    a, b = (pose_at(pose, motion, t) for pose, motion in zip(POSES, MOTIONS, strict=True))
    return Joined(kind, End.of(a, A), End.of(b, B), tuple(range(row_count(kind))))


def offsets(kind: ClosureKind) -> list[np.ndarray]:
    now = joined(kind)
    return [end.origin - pose.position for end, pose in zip((now.a, now.b), POSES, strict=True)]


@pytest.mark.parametrize(("kind", "count"), [("revolute", 5), ("universal", 4), ("spherical", 3)])
def test_rows_are_what_the_joint_takes_away(kind: ClosureKind, count: int) -> None:
    assert row_count(kind) == count == 3 + len(PERPENDICULAR[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_residuals_vanish_for_a_closed_joint(kind: ClosureKind) -> None:
    end = End.of(POSES[0], A)
    spin = Rotation.from_rotvec([0.0, 0.0, 0.7]).as_matrix()
    other = End(end.origin, end.axes @ spin) if kind == "revolute" else end
    np.testing.assert_allclose(Joined(kind, end, other, tuple(range(row_count(kind)))).residual(), 0.0, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_rate_and_drift_are_derivatives_of_the_residual(kind: ClosureKind) -> None:
    h = 1e-4
    behind, now, ahead = (np.array(joined(kind, t).residual()) for t in (-h, 0.0, h))
    at = [motion.at(offset) for motion, offset in zip(MOTIONS, offsets(kind), strict=True)]
    # the velocity of each end at its own origin
    relative = at[0][0] - at[1][0]
    rate = joined(kind).rate(MOTIONS[0].omega - MOTIONS[1].omega, relative)
    np.testing.assert_allclose(rate, (ahead - behind) / (2 * h), atol=1e-6)
    drift = joined(kind).drift(*MOTIONS, *offsets(kind))
    np.testing.assert_allclose(drift, (ahead - 2 * now + behind) / h**2, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_wrench_of_a_row_has_the_power_of_its_rate(kind: ClosureKind) -> None:
    omega, v = np.random.default_rng(7).normal(size=(2, 3))
    now = joined(kind)
    for row, rate in enumerate(now.rate(omega, v)):
        moment, force = now.wrench(row)
        assert moment @ omega + force @ v == pytest.approx(rate, abs=1e-14)


def test_only_chosen_rows_are_given() -> None:
    whole = joined("revolute")
    some = Joined("revolute", whole.a, whole.b, (4, 1))
    residual = whole.residual()
    assert some.residual() == [residual[4], residual[1]]
