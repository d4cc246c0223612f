"""Pinocchio gets the same robot: its results agree before they are timed, and disagree where they should."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from benchmarks import delta
from benchmarks.figures import QUICK, CheckError
from robots import catalog
from robots.model import Robot


@pytest.fixture(scope="module")
def peers() -> ModuleType:
    pytest.importorskip("pinocchio", reason="no other engine to compare with: Pinocchio (package pin) is missing")
    from benchmarks import peers

    return peers


def test_the_tree_has_all_bodies_and_the_mass_of_the_robot(peers: ModuleType) -> None:
    robot = catalog.build(delta.ROBOT)
    tree = peers.spanning_tree(robot.mechanism)
    assert sorted(tree.slots) == list(range(16))
    mass = sum(
        link.inertia.mass for each in robot.mechanism.instances for link in robot.mechanism.limbs[each.limb].links
    )
    model = tree.pool.getModel(0)
    assert sum(each.mass for each in model.inertias) == pytest.approx(mass + robot.mechanism.platform.inertia.mass)


@pytest.mark.parametrize("parameters", [{}, {"upper_arm": 0.3, "platform_radius": 0.11, "link_length": 0.05}])
def test_forces_agree_for_any_geometry(peers: ModuleType, parameters: dict[str, float]) -> None:
    robot = catalog.build(delta.ROBOT, **parameters)
    motion = delta.work(1, 16).motion[0].T * np.repeat([0.5, 1.0], [2, 7])
    tree = peers.spanning_tree(robot.mechanism)
    samples, ours = peers.prepare(robot, tree, motion)
    np.testing.assert_allclose(peers.assembled(tree, samples), ours, rtol=1e-11, atol=1e-11)


def test_another_robot_is_seen(peers: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    heavier = catalog.build(delta.ROBOT, density=2701.0)
    monkeypatch.setattr(Robot, "of", lambda *_: heavier)
    with pytest.raises(CheckError, match="Pinocchio: forces differ from the known ones"):
        list(peers.rnea(QUICK))


def test_other_forces_of_ours_are_seen(peers: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def off(*arguments: object) -> tuple[object, np.ndarray]:
        samples, ours = honest(*arguments)
        return samples, ours * (1.0 + 1e-8)

    honest = peers.prepare
    monkeypatch.setattr(peers, "prepare", off)
    with pytest.raises(CheckError, match=r"Pinocchio and compiled forces differ by .*; expected below 1e-9"):
        list(peers.rnea(QUICK))
