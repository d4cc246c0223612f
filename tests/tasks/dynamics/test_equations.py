"""Accelerations from forces for every parallel robot: the inverse of inverse dynamics; batches and bad samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import regions
from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import equations_of_motion, forward_dynamics, inverse_dynamics
from tasks.dynamics import equations
from tasks.dynamics.records import Environment, Forces, Motion, State
from tasks.dynamics.simulate import simulate
from tasks.kernels import kernel
from tasks.kernels import kernel as kernels
from tests.arguments import in_records
from tests.catalogue import PARALLEL
from tests.tasks.bits import bits
from tests.tasks.mechanics.test_clusters import extended
from tests.tasks.mechanics.test_every_row import general
from tests.tasks.mechanics.test_scale import at_size
from tests.tasks.regions import close, freedoms, states

GRAVITY = (0.5, -0.3, -9.8)


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


def test_forces_of_an_acceleration_make_it(robot: Robot) -> None:
    """Check FD(ID(x)) = x at a thousand random states."""
    motion = states(robot, 1000)
    given = {"gravity": GRAVITY, "load": 20.0 * np.random.default_rng(2).normal(size=(1000, 6))}
    force = inverse_dynamics(robot, **in_records(**motion._asdict(), **given)).force
    moved = forward_dynamics(robot, **in_records(forces=Forces(actuator=force), **motion.moving, **given))
    found, status = moved.acceleration, moved.status
    assert (status == Status.OK).all()
    close(found, motion.acceleration, 1e-9)


@pytest.mark.parametrize("size", [2.0**-10, 1.0, 2.0**10])
def test_accelerations_keep_their_digits_at_all_sizes(size: float) -> None:
    """Elements of a mass matrix are kg and kg m^2: reflections of its columns lost five digits in millimetres."""
    usual = catalog.build("hexa")
    states, units = regions.states(usual, 64), np.repeat([1.0, size], 3)
    moving = {"position": size * states["position"], "rotation": states["rotation"], "twist": units * states["twist"]}
    motion = Motion(**moving, acceleration=units * states["acceleration"])
    robot, free = at_size(usual, size), Environment(gravity=(0.0, 0.0, 0.0))
    forces = Forces(actuator=inverse_dynamics(robot, motion, environment=free).force)
    found = forward_dynamics(robot, State(**moving), forces, free).acceleration / units
    assert np.abs(found - states["acceleration"]).max() < 3e-14 * np.abs(found).max()


@pytest.mark.parametrize(
    ("robot", "like"),
    [(general("irsbot2"), "irsbot2"), (extended("both"), "delta_3rr2rrr")],
    ids=["every row kept", "cluster of loops"],
)
def test_other_ways_to_solve_limbs(robot: Robot, like: str) -> None:
    """Check FD(ID(x)) = x and equal motion in all forms, for limbs by a pseudo-inverse and loops solved together."""
    motion = states(catalog.build(like), 50)
    force = inverse_dynamics(robot, **motion._asdict()).force
    close(
        forward_dynamics(robot, forces=Forces(actuator=force), **motion.moving).acceleration, motion.acceleration, 1e-9
    )
    start = {"force": force[:2], "position": motion.position[:2], "twist": 0.1 * motion.twist[:2]}
    ends = [
        simulate(robot, **start, step=1e-3, steps=20, form=form).position[-1]
        for form in ("task_space", "joint", "actuator")
    ]
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], rtol=0, atol=1e-10)


def test_an_acceleration_of_forces_takes_them(robot: Robot) -> None:
    """Check ID(FD(u)) = u; forces of redundant actuators lose their preload."""
    motion = states(robot, 200)
    size = np.abs(inverse_dynamics(robot, **motion.at_rest).force).max()
    force = size * np.random.default_rng(4).normal(size=(200, len(robot.mechanism.actuators)))
    found = forward_dynamics(robot, gravity=GRAVITY, forces=Forces(actuator=force), **motion.moving).acceleration
    solved = inverse_dynamics(robot, acceleration=found, gravity=GRAVITY, **motion.moving)
    if force.shape[1] == len(freedoms(robot)):
        close(solved.force, force, 1e-9)
        return
    work, expected = (np.einsum("nai,na->ni", solved.jacobian, u) for u in (solved.force, force))
    close(work, expected, 1e-9)
    assert (np.linalg.norm(solved.force, axis=1) <= np.linalg.norm(force, axis=1) + 1e-9).all()


def test_there_is_no_acceleration_along_what_is_held(robot: Robot) -> None:
    motion = states(robot, 5)
    load = np.ones((5, 6))
    found = forward_dynamics(
        robot, forces=Forces(load=load, actuator=np.ones(len(robot.mechanism.actuators))), **motion.at_rest
    ).acceleration
    held = [k for k in range(6) if k not in freedoms(robot)]
    assert (found[:, held] == 0.0).all()
    assert (found[:, freedoms(robot)] != 0.0).all()


def test_without_forces_a_robot_falls(robot: Robot) -> None:
    """The rate of kinetic energy at rest is nothing, its second rate the power of gravity: a falls along -gradient."""
    motion = states(robot, 20)
    made = equations_of_motion(robot, **motion.at_rest)
    found = forward_dynamics(
        robot, forces=Forces(actuator=np.zeros(len(robot.mechanism.actuators))), **motion.at_rest
    ).acceleration
    assert (np.einsum("ni,ni->n", made.gravity, found[:, freedoms(robot)]) < 0.0).all()


def test_a_robot_whose_actuators_are_singular_still_accelerates() -> None:
    """Check six legs that cannot hold a turn: inverse dynamics has no solution, forward dynamics has one."""
    robot = catalog.build("gough_stewart", base_half_angle=20.0, platform_half_angle=40.0)
    home = robot.mechanism.platform.home.position
    assert inverse_dynamics(robot, position=home).status == Status.PLATFORM_SINGULAR
    moved = forward_dynamics(robot, position=home, forces=Forces(load=[0, 0, 1.0, 0, 0, 0], actuator=np.zeros(6)))
    found, status = moved.acceleration, moved.status
    assert status == Status.OK
    assert found[2] > 0.0


def test_batch_dims_are_kept_and_bad_samples_are_nan() -> None:
    robot = catalog.build("delta_3rr2rrr")
    motion = states(robot, 6)
    position, force = motion.position.reshape(2, 3, 3).copy(), np.ones((2, 3, 3))
    clean = forward_dynamics(robot, position=position, forces=Forces(actuator=force)).acceleration
    position[1, 2], force[0, 1, 0] = (0.0, 0.0, -9.0), np.nan
    moved = forward_dynamics(robot, position=position, forces=Forces(actuator=force))
    found, status = moved.acceleration, moved.status
    assert status.tolist() == [[0, Status.NONFINITE, 0], [0, 0, Status.NOT_REACHABLE]]
    good = status == Status.OK
    np.testing.assert_array_equal(bits(found[good]), bits(clean[good]))
    assert np.isnan(found[~good]).all()
    assert found.shape == (2, 3, 6)


def test_equations_keep_batch_dims_and_bad_samples_are_nan() -> None:
    robot = catalog.build("delta_3rr2rrr")
    motion = states(robot, 6)
    position, twist = motion.position.reshape(2, 3, 3).copy(), motion.twist.reshape(2, 3, 6).copy()
    clean = equations_of_motion(robot, position=position, twist=twist)
    position[1, 2], twist[0, 1, 4] = (0.0, 0.0, -9.0), np.nan
    made = equations_of_motion(robot, position=position, twist=twist)
    assert made.status.tolist() == [[0, Status.NONFINITE, 0], [0, 0, Status.NOT_REACHABLE]]
    good = made.status == Status.OK
    for found, expected in zip(made[:-1], clean[:-1], strict=True):
        np.testing.assert_array_equal(bits(found[good]), bits(expected[good]))
        assert np.isnan(found[~good]).all()
    assert (made.mass.shape, made.gravity.shape, made.kinetic_energy.shape) == ((2, 3, 3, 3), (2, 3, 3), (2, 3))


def test_a_singular_jacobian_has_a_status() -> None:
    robot = catalog.build("gough_stewart", base_half_angle=20.0, platform_half_angle=40.0)
    made = equations_of_motion(robot, position=robot.mechanism.platform.home.position)
    assert made.status == Status.PLATFORM_SINGULAR
    assert np.isnan(made.mass).all()


def test_forces_and_loads_may_widen_the_batch() -> None:
    robot = catalog.build("five_bar")
    home = np.array(robot.mechanism.platform.home.position)
    forces, loads = np.arange(6.0).reshape(3, 2), np.zeros((4, 1, 6))
    loads[:, 0, 5] = np.arange(4.0)
    found = forward_dynamics(robot, position=home, forces=Forces(load=loads, actuator=forces)).acceleration
    assert found.shape == (4, 3, 6)
    one = forward_dynamics(robot, position=home, forces=Forces(load=loads[3, 0], actuator=forces[2])).acceleration
    np.testing.assert_array_equal(bits(found[3, 2]), bits(one))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"force": np.zeros(3)}, r"actuator: got an array of shape \(3,\); expected \(\*batch, 2\), not empty"),
        ({"load": np.zeros(3)}, r"load: got an array of shape \(3,\); expected \(\*batch, 6\), not empty"),
        ({"gravity": 9.81}, r"gravity: got an array of shape \(\); expected \(3,\)"),
        (
            {"force": np.zeros((3, 2)), "load": np.zeros((4, 6))},
            r"batch dims .* fit together: .*actuator \(3,\), load",
        ),
        ({"twist": [0, 0, 0, 0, 1.0, 0]}, "twist: the platform of five_bar cannot move along y; expected 0 there"),
    ],
)
def test_misuse_is_told(change: dict[str, Any], text: str) -> None:
    robot = catalog.build("five_bar")
    with pytest.raises(ValueError, match=text):
        forward_dynamics(robot, **in_records(**{"force": [0.0, 0.0], "position": (0.0, 0.0, -0.6), **change}))


@pytest.mark.skipif(kernels.llvm is None, reason="llvmlite is missing")
def test_compiled_programs_give_the_bits_of_the_interpreter(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    motion, force = states(robot, 11), np.ones(len(robot.mechanism.actuators))
    fast = forward_dynamics(robot, gravity=GRAVITY, forces=Forces(actuator=force), **motion.moving).acceleration
    monkeypatch.setattr(kernels, "llvm", None)
    monkeypatch.setattr(kernel, "_kernels", {})
    slow = forward_dynamics(robot, gravity=GRAVITY, forces=Forces(actuator=force), **motion.moving).acceleration
    np.testing.assert_array_equal(bits(fast), bits(slow))


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "irb6"])
def test_long_batches_in_strips_have_the_bits_of_short_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = catalog.build(name)
    states = regions.states(robot, 50)
    resting = {key: values for key, values in states.items() if key not in ("acceleration", "qdd")}
    actuator = np.random.default_rng(1).normal(size=(50, len(robot.mechanism.actuators)))
    load = None if robot.mechanism.is_chain else np.random.default_rng(2).normal(size=(50, 6))
    swaying = Environment(base=Motion(twist=np.random.default_rng(3).normal(size=(50, 6))))

    def found() -> list[np.ndarray]:
        forces = Forces(actuator=actuator, load=load)
        moved = forward_dynamics(robot, State(**resting), forces, swaying)
        return [*equations_of_motion(robot, State(**resting)), moved.acceleration, moved.status]

    whole = found()
    monkeypatch.setattr(equations, "NEAR", 1)
    monkeypatch.setattr(equations, "FEWEST", 8)
    for strips, expected in zip(found(), whole, strict=True):
        np.testing.assert_array_equal(strips, expected)
