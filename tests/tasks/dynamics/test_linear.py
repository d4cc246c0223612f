"""Linear equations near a state, against Pinocchio's derivatives of forward dynamics and against differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots import catalog
from robots.loads.declared import SpringLoad
from robots.loads.family import with_loads
from tasks import forward_dynamics, inverse_dynamics
from tasks.dynamics.linear import linearisation
from tasks.dynamics.records import Forces
from tasks.mechanics.families import structure_of
from tasks.mechanics.state_changes import deviations
from tests.tasks.mechanics.test_loads_peers import tree_of
from tests.tasks.regions import states


def test_matrices_of_an_arm_are_the_derivatives_of_pinocchio() -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio is missing")
    import pinocchio as pin

    robot = catalog.build("ur5e")
    tree, joints = tree_of(robot), 6
    tree.model.armature = tree.inner([link.armature for link in robot.mechanism.limbs[0].links])
    rng = np.random.default_rng(5)
    q, qd, force = rng.normal(size=(3, 2, joints)) * np.array([[[1.0]], [[1.0]], [[50.0]]])
    found = linearisation(robot, q=q, qd=qd, forces=Forces(actuator=force))
    assert not found.status.any()
    slots = np.ix_(tree.slot, tree.slot)
    for k in range(2):
        pin.computeABADerivatives(tree.model, tree.data, *(tree.inner(x[k]) for x in (q, qd, force)))
        minv = np.triu(tree.data.Minv)
        minv = minv + np.triu(minv, 1).T
        expected = [tree.data.ddq_dq[slots], tree.data.ddq_dv[slots], minv[slots]]
        ours = [found.state[k, joints:, :joints], found.state[k, joints:, joints:], found.input[k, joints:]]
        for mine, theirs in zip(ours, expected, strict=True):
            assert np.abs(mine - theirs).max() < 1e-9 * np.abs(theirs).max()
        np.testing.assert_array_equal(found.state[k, :joints], np.eye(joints, 2 * joints, joints))
        assert not found.input[k, :joints].any()


def test_matrices_of_a_platform_with_a_spring_are_differences_of_forward_dynamics() -> None:
    robot = with_loads(catalog.build("gough_stewart"), {"s": SpringLoad("platform", 900.0, to=(0.1, 0.2, 0.3))})
    motion = states(robot, 1, seed=3)._asdict()
    force = inverse_dynamics(robot, **motion).force[0]
    state = {key: motion[key][0] for key in ("position", "rotation", "twist")}
    found, step = linearisation(robot, forces=Forces(actuator=force), **state), 1e-5
    np.testing.assert_allclose(found.acceleration, motion["acceleration"][0], rtol=1e-9, atol=1e-9)

    def moved(number: int, size: float) -> np.ndarray:
        part, k = divmod(number, 6)
        here = {key: np.array(value) for key, value in state.items()}
        if part:
            here["twist"][k] += size
        elif k >= 3:
            here["position"][k - 3] += size
        else:
            here["rotation"] = Rotation.from_rotvec(np.eye(3)[k] * size).as_matrix() @ here["rotation"]
        return np.asarray(forward_dynamics(robot, forces=Forces(actuator=force), **here).acceleration)

    expected = np.stack([(moved(k, step) - moved(k, -step)) / (2.0 * step) for k in range(12)], axis=1)
    assert np.abs(found.state[6:] - expected).max() < 1e-7 * np.abs(expected).max()
    # a small turn, told in the world, turns with the platform
    turn, omega = np.array([0.3, -0.2, 0.1]), state["twist"][:3]
    np.testing.assert_allclose(found.state[:3, :3] @ turn, np.cross(omega, turn), atol=1e-14)
    np.testing.assert_array_equal(found.state[:6, 6:], np.eye(6))


def test_each_case_of_a_chain_has_its_deviations() -> None:
    """Motions of redundant robots differ between designs, which have cases of their own."""
    structure = structure_of(catalog.family("planar_3r"))
    changes = list(deviations(structure, np.zeros((2, 9, 4))))
    for column, change in enumerate(changes):
        np.testing.assert_array_equal(change, np.broadcast_to(np.eye(9)[column, :, None], (2, 9, 4)))
    assert len(changes) == 6
