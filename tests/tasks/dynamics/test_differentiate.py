"""Derivatives of the functions on arrays: both directions agree, and Pinocchio, differences and other samples do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from xarray import DataArray

import limbsweep as ls
from robots import catalog
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.derivatives import EQUATIONS
from tasks.dynamics.differentiate import differentiate
from tasks.dynamics.directions import Derivatives
from tasks.dynamics.implicit import cross_matrix
from tests.tasks.mechanics.test_loads_peers import tree_of
from tests.tasks.regions import REGIONS, states
from tests.tasks.scaled import at_size

STEPS = np.array([-3, -2, -1, 1, 2, 3])
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1]) / 60
"""The first derivative to sixth order."""
FRICTION = {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1, "joints": "all", "width": 0.05}


def _motion(robot: Robot, count: int = 4) -> dict[str, Any]:
    if robot.mechanism.is_chain:
        q, qd, qdd = np.random.default_rng(2).normal(size=(3, count, len(robot.mechanism.freedoms)))
        return {"q": 0.1 * q, "qd": qd, "qdd": qdd}
    if robot.name in REGIONS:
        return {key: np.array(part) for key, part in states(robot, count, seed=3)._asdict().items()}
    platform, rng = robot.mechanism.platform, np.random.default_rng(2)
    free = np.array([name in platform.mobility for name in TWIST], dtype=float)
    shift, twist, acceleration = rng.normal(size=(3, count, 6)) * free
    home = {"position": np.array(platform.home.position) + 0.002 * shift[:, 3:]}
    return {
        **home,
        "rotation": np.array([platform.home.rotation] * count),
        "twist": twist,
        "acceleration": acceleration,
    }


def _cases(robot: Robot) -> list[tuple[Callable[..., Any], dict[str, Any], list[str]]]:
    """Functions, their arguments, and the results that are differentiated."""
    motion, forces = _motion(robot), ls.Forces(friction=FRICTION)
    if {"vx", "vy", "vz"} <= {*robot.mechanism.freedoms}:
        forces = replace(forces, load=np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0]))
    still = {key: part for key, part in motion.items() if key not in ("qdd", "acceleration")}
    pushed = replace(forces, actuator=ls.inverse_dynamics(robot, **motion, forces=forces).force)
    found: list[tuple[Any, dict[str, Any], list[str]]] = [
        (ls.inverse_kinematics, motion, ["position", "velocity", "acceleration"]),
        (ls.actuator_positions, motion, ["position"]),
        (ls.inverse_dynamics, {**motion, "forces": forces}, ["force", "velocity", "jacobian"]),
        (ls.joint_reactions, {**motion, "forces": forces}, ["wrench"]),
        (ls.equations_of_motion, still, [*EQUATIONS]),
        (ls.forward_dynamics, {**still, "forces": pushed}, ["acceleration"]),
    ]
    if not robot.mechanism.is_chain:
        pose = {key: motion[key] for key in ("position", "rotation")}
        target = ls.actuator_positions(robot, **pose).position
        found.append((ls.forward_kinematics, {**pose, "actuator_position": target}, ["position", "rotation"]))
    return found


@pytest.mark.parametrize("name", ["five_bar", "planar_3r"])
def test_both_directions_agree_for_all_functions(name: str) -> None:
    _both_directions_agree(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_both_directions_agree_for_all_robots(name: str) -> None:
    _both_directions_agree(name)


def _both_directions_agree(robot: str) -> None:
    built, rng = catalog.build(robot), np.random.default_rng(1)
    designs = {name: built.values[name] for name in list(built.values)[:3]}
    for function, arguments, outputs in _cases(built):
        at = differentiate(function, built, parameters=designs, **arguments)
        if function in (ls.inverse_kinematics, ls.actuator_positions, ls.inverse_dynamics):
            assert not at.results["status"].any(), function.__name__
        alone = function(built, **arguments)
        seeds = {}
        for name in outputs:
            expected = getattr(alone, name)
            # the matrices alone come from other programs
            room = 1e-12 * np.nanmax(np.abs(expected)) if function is ls.equations_of_motion else 0.0
            np.testing.assert_allclose(at.results[name], expected, rtol=0.0, atol=room)
            there = np.isfinite(at.results[name])
            seeds[name] = np.where(there, rng.normal(size=there.shape), 0.0)
        backward = at.vjp(seeds)
        assert set(backward) == set(at.inputs)
        good = (at.results["status"] == Status.OK).any()
        for name, part in backward.items():
            if not good or not np.isfinite(part).all():
                continue
            along = rng.normal(size=np.shape(part)) * _possible(built, name, np.shape(part))
            rates = at.jvp({name: along})
            left = sum(float(np.sum(seeds[key] * np.nan_to_num(rates[key]))) for key in outputs)
            sizes = sum(float(np.sum(np.abs(seeds[key] * np.nan_to_num(at.results[key])))) for key in outputs)
            sizes += float(np.sum(np.abs(part * along))) + sum(
                float(np.sum(np.abs(seeds[key] * np.nan_to_num(rates[key])))) for key in outputs
            )
            assert abs(left - float(np.sum(part * along))) <= 1e-11 * sizes + 1e-13, (function.__name__, name)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("planar_3r", "inverse_dynamics"),
        ("planar_3r", "forward_dynamics"),
        ("five_bar", "forward_kinematics"),
        ("five_bar", "actuator_positions"),
    ],
)
def test_second_derivatives_as_products(name: str, function: str) -> None:
    _second_derivatives(name, function)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five_bar", "delta_3rr2rrr", "rover_rocker"])
def test_second_derivatives_of_all_functions(name: str) -> None:
    for function, _, _ in _cases(catalog.build(name)):
        _second_derivatives(name, function.__name__)


def _second_derivatives(name: str, wanted: str) -> None:
    """Hold products to their symmetry, u^T H v = v^T H u, and to differences of first derivatives."""
    robot, rng = catalog.build(name), np.random.default_rng(3)
    function, arguments, outputs = next(case for case in _cases(robot) if case[0].__name__ == wanted)
    designs = {key: robot.values[key] for key in list(robot.values)[:2]}

    def at(values: dict[str, float]) -> Derivatives:
        return differentiate(function, robot, parameters=values, **arguments)

    here = at(designs)
    seeds = {
        key: np.where(np.isfinite(here.results[key]), rng.normal(size=here.results[key].shape), 0.0) for key in outputs
    }
    first = here.vjp(seeds)
    moving = {key: part for key, part in first.items() if key != "rotation"}
    one, other = (
        {key: rng.normal(size=np.shape(part)) * _possible(robot, key, np.shape(part)) for key, part in moving.items()}
        for _ in range(2)
    )
    products = [here.hvp(seeds, along) for along in (one, other)]
    left, right = (
        [np.nan_to_num(p[key] * along[key]) for key in moving] for p, along in zip(products, (other, one), strict=True)
    )
    size = sum(float(np.abs(part).sum()) for part in left)
    assert abs(sum(float(part.sum()) for part in left) - sum(float(part.sum()) for part in right)) <= 1e-13 * size
    along = {key: 0.05 * value for key, value in designs.items()}
    product, step = here.hvp(seeds, along), 1e-2
    rows = [at({key: value + step * k * along[key] for key, value in designs.items()}).vjp(seeds) for k in STEPS]
    for key, part in product.items():
        expected = np.tensordot(WEIGHTS, [row[key] for row in rows], axes=1) / step
        np.testing.assert_allclose(part, expected, rtol=1e-8, atol=1e-9 * np.nanmax(np.abs(expected), initial=1.0))


def _possible(robot: Robot, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return ones for components that a motion may have: no turns where the platform cannot turn."""
    result = np.ones(shape)
    if name in ("twist", "acceleration"):
        result[..., [k for k, part in enumerate(["w", "w", "w", "v", "v", "v"]) if part == "w"]] = float(
            any(freedom.startswith("w") for freedom in robot.mechanism.platform.mobility)
        )
    return result


@pytest.mark.parametrize("name", ["five_bar", "delta_3rr2rrr"])
def test_parameters_against_differences(name: str) -> None:
    robot, rng = catalog.build(name), np.random.default_rng(4)
    designs = {key: robot.values[key] for key in list(robot.values)[:3]}
    for function, arguments, outputs in _cases(robot):
        at = differentiate(function, robot, parameters=designs, **arguments)
        seeds = {
            key: np.where(np.isfinite(at.results[key]), rng.normal(size=at.results[key].shape), 0.0) for key in outputs
        }
        backward = at.vjp(seeds)

        def weighed(designs: dict[str, float]) -> float:
            found = function(Robot.of(robot.family, {**robot.values, **designs}), **arguments)  # noqa: B023
            return sum(float(np.sum(seeds[key] * np.nan_to_num(getattr(found, key)))) for key in outputs)  # noqa: B023

        for key, value in designs.items():
            step = 1e-5 * max(abs(value), 0.1)
            ahead, behind = (weighed({**designs, key: value + sign * step}) for sign in (1.0, -1.0))
            size = max(abs(float(backward[key])), abs(ahead) / max(abs(value), 0.1), 1e-12)
            assert abs(backward[key] - (ahead - behind) / (2 * step)) < 1e-5 * size, (function.__name__, key)


def test_an_arm_against_pinocchio() -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio is missing")
    import pinocchio as pin

    robot = catalog.build("ur5e")
    tree, joints = tree_of(robot), 6
    tree.model.armature = tree.inner([link.armature for link in robot.mechanism.limbs[0].links])
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, 3, joints))
    at = differentiate(ls.inverse_dynamics, robot, q=q, qd=qd, qdd=qdd)
    slots = np.ix_(tree.slot, tree.slot)
    expected = []
    for k in range(3):
        pin.computeRNEADerivatives(tree.model, tree.data, *(tree.inner(x[k]) for x in (q, qd, qdd)))
        mass = np.triu(tree.data.M)
        parts = (tree.data.dtau_dq, tree.data.dtau_dv, mass + np.triu(mass, 1).T)
        expected.append([part[slots] for part in parts])
    for row in range(joints):
        found = at.vjp({"force": np.eye(joints)[row]})
        for number, name in enumerate(("q", "qd", "qdd")):
            theirs = np.array([matrices[number][row] for matrices in expected])
            np.testing.assert_allclose(found[name], theirs, rtol=1e-10, atol=1e-10 * np.abs(theirs).max())


def test_a_turning_platform_moves_on_its_rotation() -> None:
    """The derivative by a rotation matrix, along a turn, is the difference of the turned poses."""
    robot, motion, step = catalog.build("gough_stewart"), _motion(catalog.build("gough_stewart")), 1e-6
    axis = np.array([0.3, -0.5, 0.8])
    at = differentiate(ls.inverse_dynamics, robot, **motion)
    turn = cross_matrix(axis) @ motion["rotation"]
    ahead, behind = (
        ls.inverse_dynamics(
            robot, **{**motion, "rotation": Rotation.from_rotvec(sign * step * axis).as_matrix() @ motion["rotation"]}
        ).force
        for sign in (1.0, -1.0)
    )
    found = at.jvp({"rotation": turn})["force"]
    np.testing.assert_allclose(found, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-6 * np.abs(found).max())


def test_designs_of_a_batch_are_those_of_robots_one_by_one() -> None:
    robot = catalog.build("delta_3rr2rrr")
    motion, arms = _motion(robot, 3), np.array([0.27, 0.28, 0.29])
    at = differentiate(ls.inverse_dynamics, robot, parameters={"upper_arm": arms}, **motion)
    seed = np.random.default_rng(6).normal(size=at.results["force"].shape)
    found = at.vjp({"force": seed})
    for k, arm in enumerate(arms):
        alone = differentiate(
            ls.inverse_dynamics, robot, parameters={"upper_arm": arm}, **{key: part[k] for key, part in motion.items()}
        )
        np.testing.assert_allclose(at.results["force"][k], alone.results["force"], rtol=1e-13)
        one = alone.vjp({"force": seed[k]})
        for name in ("upper_arm", "position", "twist", "acceleration"):
            np.testing.assert_allclose(found[name][k], one[name], rtol=1e-9, atol=1e-10 * np.abs(one[name]).max())


def test_failed_samples_give_nan_and_spoil_nothing() -> None:
    robot = catalog.build("delta_3rr2rrr")
    position = np.array([[0.0, 0.1, -0.9], [0.0, 0.1, 5.0]])
    at = differentiate(ls.inverse_dynamics, robot, position=position, parameters={"upper_arm": 0.28})
    assert list(at.results["status"]) == [Status.OK, Status.NOT_REACHABLE]
    alone = differentiate(ls.inverse_dynamics, robot, position=position[:1], parameters={"upper_arm": 0.28})
    seed = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    found, expected = at.vjp({"force": seed}), alone.vjp({"force": seed[:1]})
    np.testing.assert_allclose(found["upper_arm"], expected["upper_arm"], rtol=1e-14)
    np.testing.assert_allclose(found["position"], [*expected["position"], [0.0, 0.0, 0.0]], rtol=1e-14)
    spoiled = at.vjp({"force": np.ones((2, 3))})
    assert np.isnan(spoiled["upper_arm"])
    assert np.isnan(spoiled["position"][1]).all()
    assert np.isfinite(spoiled["position"][0]).all()
    rates = at.jvp({"upper_arm": 1.0})["force"]
    assert np.isfinite(rates[0]).all()
    assert np.isnan(rates[1]).all()


def test_motions_that_friction_holds_have_no_derivative() -> None:
    robot = catalog.build("planar_3r")
    held = ls.Forces(actuator=np.array([0.1, 0.0, 0.0]), friction={"law": "coulomb_viscous", "coulomb": 500.0})
    at = differentiate(ls.forward_dynamics, robot, q=[0.1, 0.2, 0.3], forces=held)
    assert at.results["status"] == Status.OK
    assert np.isnan(at.vjp({"acceleration": np.ones(3)})["actuator"]).all()
    assert np.isnan(at.jvp({"actuator": np.ones(3)})["acceleration"]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"function": ls.simulate},
            "function: got simulate, which is not differentiated: it has a function of its own",
        ),
        ({"parameters": {"upperarm": 0.3}}, "has no parameter 'upperarm'; did you mean 'upper_arm'?"),
        ({"parameters": {"upper_arm": -1.0}}, "upper_arm = "),
        ({"parameters": {"upper_arm": "long"}}, "parameters: got 'long' for 'upper_arm'; expected a mapping"),
        (
            {"parameters": {"upper_arm": [0.2, 0.3, 0.25]}, "position": np.zeros((2, 3))},
            "batch dims do not fit together",
        ),
        ({"forces": ls.Forces(load=np.zeros(6), load_axes="platform")}, "load_axes: got 'platform'"),
        ({"actuator_position": np.zeros(3)}, "actuator_position: got it for inverse_dynamics"),
        ({"forces": ls.Forces(actuator=np.zeros(3))}, "actuator: got forces of actuators, which are the result here"),
        (
            {"function": ls.actuator_positions, "forces": ls.Forces(load=np.zeros(6))},
            "forces: got them for actuator_pos",
        ),
        ({"position": DataArray([0.0, 0.1, -0.9], dims="axis")}, "position: got a DataArray; expected an array in SI"),
    ],
)
def test_what_cannot_be_differentiated_is_told(arguments: dict[str, Any], message: str) -> None:
    given = {"function": ls.inverse_dynamics, "position": [0.0, 0.1, -0.9], **arguments}
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        differentiate(given.pop("function"), catalog.build("delta_3rr2rrr"), **given)


def test_names_and_shapes_of_rates_and_cotangents() -> None:
    at = differentiate(ls.inverse_dynamics, catalog.build("delta_3rr2rrr"), position=[0.0, 0.1, -0.9])
    with pytest.raises(ValueError, match="rates: got positions; did you mean 'position'"):
        at.jvp({"positions": np.zeros(3)})
    with pytest.raises(ValueError, match="cotangents: got forces; did you mean 'force'"):
        at.vjp({"forces": np.zeros(3)})
    with pytest.raises(ValueError, match=r"force: got an array of shape \(2,\); expected \(3,\)"):
        at.vjp({"force": np.zeros(2)})


def test_a_robot_without_forces_has_derivatives_of_its_accelerations() -> None:
    """Forces of zero are no measure of rounding; those of inertia are."""
    robot, rng = catalog.build("planar_3r"), np.random.default_rng(6)
    q, qd = rng.normal(size=(2, 20, 3))
    at = differentiate(ls.forward_dynamics, robot, q=q, qd=qd, forces=ls.Forces(actuator=[0.0, 0.0, 0.0]))
    assert np.isfinite(at.jvp({"qd": [1.0, 0.0, 0.0]})["acceleration"]).all()


@pytest.mark.parametrize("size", [2.0**-10, 2.0**10])
def test_derivatives_of_accelerations_keep_their_digits_at_all_sizes(size: float) -> None:
    """Equations in N m beside N were solved with pivots by size: two digits less in millimetres."""
    usual, rng = catalog.build("gough_stewart"), np.random.default_rng(5)
    motion = _motion(usual)
    rates, push = {key: rng.normal(size=np.shape(motion[key])) for key in ("position", "twist")}, rng.normal(size=6)

    def along(scale: float) -> Any:
        units = {"position": scale, "rotation": 1.0, "twist": np.repeat([1.0, scale], 3)}
        state = ls.State(**{key: unit * motion[key] for key, unit in units.items()})
        forces, falling = ls.Forces(actuator=1e4 * scale**4 * push), ls.Environment(gravity=(0.0, 0.0, -9.81 * scale))
        at = differentiate(ls.forward_dynamics, at_size(usual, scale), state, forces, falling)
        return at.jvp({key: units[key] * rate for key, rate in rates.items()})["acceleration"] / units["twist"]

    found, expected = along(size), along(1.0)
    assert np.abs(found - expected).max() < 3e-14 * np.abs(expected).max()
