"""The references agree with each other and with what must hold for any machine: power, statics, symmetry, rates."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from .delta_bodies import AZIMUTHS, PAPER, RL5_1450, Array, Delta, parse_delta
from .delta_motion import extension, joint_motion
from .delta_newton_euler import energy, inverse_dynamics
from .tree_energy import tree_energy

STEP = 1e-100
ROBOTS = {"paper": PAPER, "rl5": RL5_1450}
REST = np.zeros(3)

robots = pytest.mark.parametrize("parameters", ROBOTS.values(), ids=ROBOTS)


@pytest.fixture(scope="module")
def peer() -> ModuleType:
    """The reference that needs Pinocchio."""
    pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")
    from . import delta_pinocchio

    return delta_pinocchio


def states(delta: Delta, count: int, seed: int = 7) -> list[tuple[Array, Array, Array]]:
    """Reachable positions away from stretched arms, velocities up to 5 m/s and accelerations up to 100 m/s^2."""
    rng, home = np.random.default_rng(seed), np.array([0.0, 0.0, -delta.height])
    found: list[tuple[Array, Array, Array]] = []
    while len(found) < count:
        position = home + rng.uniform((-0.5, -0.5, -0.2), (0.5, 0.5, 0.2))
        if np.abs(extension(delta, position)).max() < 0.95:
            found.append((position, _up_to(5.0, rng), _up_to(100.0, rng)))
    return found


def _up_to(length: float, rng: np.random.Generator) -> Array:
    direction = rng.normal(size=3)
    return np.asarray(length * rng.uniform() * direction / np.linalg.norm(direction))


@robots
def test_static_torque_at_the_centre(parameters: dict[str, float]) -> None:
    delta = parse_delta(parameters)
    solids, home = delta.solids, np.array([0.0, 0.0, -delta.height])
    carried = solids["platform"].mass / 3.0 + solids["elbow"].mass + solids["wrist"].mass + 2.0 * solids["rod"].mass
    expected = -9.81 * (delta.upper_arm * carried - solids["arm"].mass * solids["arm"].centre[0])
    result = inverse_dynamics(parameters, home, REST, REST)
    np.testing.assert_allclose(result["torque"], expected, rtol=1e-12)
    np.testing.assert_allclose(result["joint_position"], 0.0, atol=1e-12)


def test_static_torque_of_the_paper_in_numbers() -> None:
    result = inverse_dynamics({}, (0.0, 0.0, -np.sqrt(1.0 - 0.33**2)), REST, REST)
    np.testing.assert_allclose(result["torque"], -3.3622592, rtol=1e-7)


@robots
def test_joint_rates_are_derivatives_of_the_angles(parameters: dict[str, float]) -> None:
    delta = parse_delta(parameters)
    for r, v, a in states(delta, 20):
        motion, ahead = joint_motion(delta, r, v, a), joint_motion(delta, r + 1j * STEP * v, v + 1j * STEP * a, a)
        np.testing.assert_allclose(ahead.q.imag / STEP, motion.qd, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(ahead.qd.imag / STEP, motion.qdd, rtol=1e-10, atol=1e-10)


@robots
def test_motor_power_is_the_rate_of_energy(parameters: dict[str, float]) -> None:
    for r, v, a in states(parse_delta(parameters), 50):
        result = inverse_dynamics(parameters, r, v, a)
        power = result["torque"] * result["joint_velocity"][:, 0]
        rate = sum(energy(parameters, r + 1j * STEP * v, v + 1j * STEP * a)).imag / STEP
        assert abs(power.sum() - rate) <= 1e-11 * np.abs(power).sum()
        np.testing.assert_allclose(energy(parameters, r, v), result["energy"], rtol=1e-14)


@robots
def test_equations_determine_the_motors_and_forces_at_base_and_platform(parameters: dict[str, float]) -> None:
    for r, v, a in states(parse_delta(parameters), 10):
        result = inverse_dynamics(parameters, r, v, a)
        assert result["rank"] == 96
        assert result["torque_unique"]
        assert result["residual"] < 1e-10
        unique = result["reactions_unique"]
        assert unique[:, [0, 5], 3:].all()
        assert not unique[:, 2:5].all()


@robots
def test_turning_the_motion_by_a_third_permutes_the_motors(parameters: dict[str, float]) -> None:
    cos, sin = np.cos(AZIMUTHS[1]), np.sin(AZIMUTHS[1])
    turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    for r, v, a in states(parse_delta(parameters), 10):
        torque = inverse_dynamics(parameters, r, v, a)["torque"]
        turned = inverse_dynamics(parameters, turn @ r, turn @ v, turn @ a)["torque"]
        np.testing.assert_allclose(turned, torque[[2, 0, 1]], rtol=1e-11, atol=1e-11)


def test_load_costs_its_power_and_reactions_carry_it() -> None:
    delta, load = parse_delta({}), np.array([0.3, -0.2, 0.5, 4.0, -7.0, 9.0])
    for r, v, a in states(delta, 10):
        free, loaded = inverse_dynamics(delta, r, v, a), inverse_dynamics(delta, r, v, a, load)
        spent = (loaded["torque"] - free["torque"]) @ free["joint_velocity"][:, 0]
        assert spent == pytest.approx(-load[3:] @ v, rel=1e-9)
        carried = loaded["reactions"][:, 5, 3:].sum(axis=0) + load[3:]
        np.testing.assert_allclose(carried, delta.solids["platform"].mass * (a - delta.gravity), rtol=1e-9, atol=1e-9)


@robots
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_agrees_with_pinocchio(peer: ModuleType, parameters: dict[str, float], seed: int) -> None:
    engine = peer.ClosedDelta(parameters)
    for r, v, a in states(engine.delta, 50, seed):
        ours, theirs = inverse_dynamics(parameters, r, v, a), engine.inverse_dynamics(r, v, a)
        assert (theirs["closure"] < (1e-12, 1e-11, 1e-8)).all()
        for name, tree in (("joint_position", "q"), ("joint_velocity", "qd"), ("joint_acceleration", "qdd")):
            in_tree = np.append(ours[name][:, :5].ravel(), ours[name][0, 5])
            _assert_near(theirs[tree], in_tree)
        _assert_near(theirs["torque"], ours["torque"])
        _assert_near(theirs["tip_force"], ours["reactions"][1:, 5, 3:])
        _assert_near(engine.energy(theirs["q"], theirs["qd"]), ours["energy"])


def test_agrees_with_pinocchio_for_other_geometry(peer: ModuleType) -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        scaled = {name: value * rng.uniform(0.8, 1.25) for name, value in PAPER.items()}
        engine = peer.ClosedDelta({**scaled, "gravity": (1.0, -2.0, -9.0)})
        for r, v, a in states(engine.delta, 3):
            _assert_near(engine.inverse_dynamics(r, v, a)["torque"], inverse_dynamics(engine.delta, r, v, a)["torque"])


def _assert_near(got: Any, expected: Any, relative: float = 1e-9) -> None:
    expected = np.asarray(expected)
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=relative * np.abs(expected).max())


PARENTS_OF_TREE = (-1, 0, 0, 1, 2, 1, 4)
"""Not depth-first on purpose."""


def random_tree(peer: ModuleType, rng: np.random.Generator) -> list[Any]:
    """Bodies with any placement, axis and inertia, on revolute and prismatic joints."""
    bodies = []
    for parent in PARENTS_OF_TREE:
        rotation, spread = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=(3, 3))
        axis, kind = rng.normal(size=3), "prismatic" if rng.uniform() < 0.3 else "revolute"
        moments = spread @ spread.T
        bodies.append(
            peer.TreeBody(
                parent,
                rotation * np.linalg.det(rotation),
                rng.normal(size=3),
                axis / np.linalg.norm(axis),
                kind,
                rng.uniform(0.5, 3.0),
                rng.normal(size=3),
                np.trace(moments) * np.eye(3) - moments,
            )
        )
    return bodies


def test_tree_power_and_gravity(peer: ModuleType) -> None:
    rng = np.random.default_rng(11)
    for _ in range(20):
        bodies = random_tree(peer, rng)
        tree, (q, qd, qdd) = peer.tree_pinocchio(bodies), rng.normal(size=(3, len(bodies)))
        rate = tree_energy(bodies, q + 1j * STEP * qd, qd + 1j * STEP * qdd).imag / STEP
        power = tree.rnea(q, qd, qdd) * qd
        assert abs(power.sum() - rate) <= 1e-12 * np.abs(power).sum()
        slope = [tree_energy(bodies, q + 1j * STEP * unit, 0.0 * q).imag / STEP for unit in np.eye(len(bodies))]
        _assert_near(tree.rnea(q, 0.0 * q, 0.0 * q), slope, 1e-12)


def test_tree_inertia_matrix_is_that_of_its_energy_and_torque(peer: ModuleType) -> None:
    rng = np.random.default_rng(12)
    for _ in range(20):
        bodies = random_tree(peer, rng)
        tree, (q, qd) = peer.tree_pinocchio(bodies), rng.normal(size=(2, len(bodies)))
        matrix, rest = tree.inertia_matrix(q), 0.0 * q
        assert 0.5 * qd @ matrix @ qd == pytest.approx(
            tree_energy(bodies, q, qd) - tree_energy(bodies, q, rest), rel=1e-11
        )
        columns = [tree.rnea(q, rest, unit) - tree.rnea(q, rest, rest) for unit in np.eye(len(bodies))]
        _assert_near(matrix, np.transpose(columns), 1e-12)


def test_tree_of_the_delta_has_its_bodies(peer: ModuleType) -> None:
    engine = peer.ClosedDelta({})
    solids = engine.delta.solids
    limb = solids["arm"].mass + solids["elbow"].mass + 2.0 * solids["rod"].mass + solids["wrist"].mass
    assert sum(each.mass for each in engine.tree.model.inertias) == pytest.approx(3.0 * limb + solids["platform"].mass)


def test_tree_wants_parents_first(peer: ModuleType) -> None:
    body = random_tree(peer, np.random.default_rng(0))[0]
    with pytest.raises(ValueError, match=r"body 0 has parent 0, expected -1 \(base\) or an earlier body: sort them"):
        peer.tree_pinocchio([body._replace(parent=0)])


def test_unknown_parameter_is_named() -> None:
    with pytest.raises(ValueError, match="unknown parameter 'upper_arms' of a reference Delta; expected some of"):
        inverse_dynamics({"upper_arms": 0.3}, (0.0, 0.0, -0.9), REST, REST)


def test_one_sample_at_a_time() -> None:
    with pytest.raises(ValueError, match=r"velocity of .* has shape \(2, 3\), expected \(3,\): pass one sample"):
        inverse_dynamics({}, (0.0, 0.0, -0.9), np.zeros((2, 3)), REST)


def test_out_of_reach_names_the_limb() -> None:
    with pytest.raises(ValueError, match="out of reach of limb 1, choose one nearer home"):
        inverse_dynamics({}, (0.8, 0.0, -0.9), REST, REST)


def test_pinocchio_finds_no_angles_out_of_reach(peer: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"no angles for .*: loops stay open by .*, choose one nearer home"):
        peer.ClosedDelta({}).solve(np.array([1.0, 0.0, -0.9]))
