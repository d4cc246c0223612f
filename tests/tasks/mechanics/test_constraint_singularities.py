"""Constraint singularities told apart from those of types 1 and 2: a 3-UPU robot for translations, in closed form.

Its legs hold the platform by three moments, each normal to both crosses of a leg. With radii of base and platform that
differ by d these lie in one plane where the platform is 2 |d| beside the axis, and at no height but that of the base.
There neither a leg nor J_IK, the directions of the legs, is singular.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from pipeline import Sweep, run
from pipeline.errors import InputError
from pipeline.execution.trial import trial
from robots import catalog
from robots.criteria.elasticity import Elasticity
from robots.geometry import about, point, shifted
from robots.model import PLATFORM, Closure, Family, Frame, Instance, Limb, Link, Mechanism, Platform, Robot
from robots.status import Status
from robots.types import BASE
from tasks import cartesian_stiffness, forward_dynamics, inverse_dynamics, joint_reactions
from tasks.dynamics.records import Forces, State
from tasks.mechanics import assembly, limb_motion
from tasks.mechanics.families import mount_values, structure_of
from tasks.mechanics.solving import solved_limb

BASE_RADIUS, PLATFORM_RADIUS, HEIGHT = 0.3, 0.2, 0.6
APART = BASE_RADIUS - PLATFORM_RADIUS
ANGLES = np.array([0.0, 2.0, -2.0]) * np.pi / 3.0
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def three_upu(apart: float = APART) -> Robot:
    """Outer axes of crosses are level and tangential at base and platform; inner ones are parallel to each other."""
    length = float(np.hypot(apart, HEIGHT))
    cos, sin = HEIGHT / length, -apart / length  # of the leg's turn about y at the reference pose
    links = (
        Link("1", "cross", BASE, "revolute", Y, shifted((BASE_RADIUS, 0.0, 0.0)), point(0.1)),
        Link("2", "cylinder", 0, "revolute", X, Frame(about("y", cos, sin)), point(0.5)),
        Link("3", "rod", 1, "prismatic", Z, shifted((0.0, 0.0, length)), point(0.3)),
    )
    tip = Closure("4", "universal", 2, Frame(), PLATFORM, shifted((BASE_RADIUS - apart, 0.0, 0.0)))
    upu = Limb("UPU", links, (), (tip,), ("3",))
    mounts = [Frame(about("z", float(np.cos(angle)), float(np.sin(angle)))) for angle in ANGLES]
    instances = tuple(Instance(f"leg{k + 1}", 0, mount, mount) for k, mount in enumerate(mounts))
    body = Platform(point(2.0), ("vx", "vy", "vz"), shifted((0.0, 0.0, HEIGHT)))
    return Robot(Family("three_upu", "3-UPU", "test", (), lambda p: Mechanism((upu,), instances, body)), {})


ROBOT = three_upu()


def moments(position: np.ndarray) -> np.ndarray:
    """Unit moments (limb, 3) by which the legs hold the platform."""
    radial = np.stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(3)], axis=-1)
    along = (radial @ position - APART)[:, None] * radial + [0.0, 0.0, position[2]]
    return along / np.linalg.norm(along, axis=1, keepdims=True)


def held_rows(position: np.ndarray) -> np.ndarray:
    """Return the directions in which legs hold the platform, (row, held direction)."""
    structure, rows = structure_of(ROBOT.family), []
    for mount in mount_values(ROBOT.family, {}):
        motion = np.concatenate([position, np.zeros(6)])
        mounted, solved, *_ = solved_limb(structure, 0, np.zeros(0), mount[0], motion)
        rows += limb_motion.constraint_rows(mounted, solved.tips)
    return np.array(rows, dtype=float)


@pytest.mark.parametrize("x", [0.0, 0.1, 1.9 * APART, 2.1 * APART, -0.5])
def test_what_legs_hold_is_known_in_closed_form(x: float) -> None:
    home, position = np.array([0.0, 0.0, HEIGHT]), np.array([x, 0.05, HEIGHT + 0.1])
    rows, expected = held_rows(position), moments(position)
    np.testing.assert_allclose(np.abs(np.sum(rows * expected, axis=1)), 1.0, atol=1e-12)
    ratio = np.linalg.det(expected) / np.linalg.det(moments(home))
    reference = assembly.Reference(held_rows(home), [True] * 3)
    assert float(assembly.regularity(rows, reference)) == pytest.approx(ratio, rel=1e-9)
    assert assembly.constraints_lost(rows, reference) == (np.hypot(x, 0.05) > 2.0 * APART)


def test_neither_legs_nor_actuators_are_singular_there() -> None:
    """Directions of legs as inverse dynamics has them, which are in no plane."""
    position = np.stack([np.linspace(0.0, 3.0 * APART, 31), np.zeros(31), np.full(31, HEIGHT)], axis=-1)
    np.testing.assert_array_equal(inverse_dynamics(ROBOT, position=position).status, Status.OK)


@pytest.mark.parametrize("samples", [2, 12])
def test_a_crossing_between_two_samples_shows_in_all_beyond(samples: int) -> None:
    place = 2.0 * APART + np.linspace(-0.1, 0.15, samples)
    position = np.stack([place, np.zeros(samples), np.full(samples, HEIGHT)], axis=-1)
    solved = inverse_dynamics(ROBOT, position=position, constraints=True)
    beyond = place > 2.0 * APART
    np.testing.assert_array_equal(solved.status, np.where(beyond, Status.CONSTRAINT_SINGULAR, Status.OK))
    np.testing.assert_array_equal(np.isnan(solved.force).all(axis=1), beyond)
    kept = inverse_dynamics(ROBOT, position=position).force[~beyond]
    np.testing.assert_array_equal(solved.force[~beyond], kept)


def beside(places: np.ndarray) -> np.ndarray:
    return np.stack([places, np.zeros_like(places), np.full_like(places, HEIGHT)], axis=-1)


FRICTION = {
    "law": "coulomb_viscous",
    "joints": "passive",
    "load": "reaction",
    "coulomb": 0.01,
    "viscous": 0.1,
    "friction_arm": 0.01,
}


def test_reactions_and_friction_from_them_are_not_looked_for_where_legs_hold_nothing() -> None:
    places = np.array([0.0, 1.9, 2.0, 2.0 + 1e-9, 2.1, 4.0]) * APART
    lost = places >= 2.0 * APART
    found = joint_reactions(ROBOT, position=beside(places)).wrench
    np.testing.assert_array_equal(np.isnan(found).any(axis=(1, 2, 3)), lost)
    twist = [0.0, 0.0, 0.0, 0.0, 0.0, 0.1]
    with_friction = inverse_dynamics(ROBOT, position=beside(places), twist=twist, forces=Forces(friction=FRICTION))
    np.testing.assert_array_equal(with_friction.status, np.where(lost, Status.CONSTRAINT_SINGULAR, Status.OK))
    elastic = Elasticity.of(ROBOT.mechanism, actuators={"all": 1e5})
    stiff = cartesian_stiffness(ROBOT, elastic, position=beside(places))
    np.testing.assert_array_equal(stiff.status, np.where(lost, Status.CONSTRAINT_SINGULAR, Status.OK))


@pytest.mark.parametrize("friction", [None, FRICTION, {"law": "viscous", "viscous": 0.1}])
def test_forward_dynamics_and_a_simulation_end_there(friction: dict[str, Any] | None) -> None:
    places = np.array([0.0, 1.9, 2.0, 2.1]) * APART
    expected = np.where(places >= 2.0 * APART, Status.CONSTRAINT_SINGULAR, Status.OK)
    moving = {} if friction is None else {"twist": [0.0, 0.0, 0.0, 0.0, 0.0, 0.1]}
    state = State(position=beside(places), **moving)
    found = forward_dynamics(ROBOT, state, forces=Forces(actuator=np.zeros(3), friction=friction))
    np.testing.assert_array_equal(found.status, expected)


@pytest.mark.parametrize("apart", [0.0, 1e-15, 1e-9, 1e-6])
def test_a_reference_pose_that_is_singular_gives_no_forces(apart: float) -> None:
    """Legs of equal radii are parallel everywhere, at the reference pose too: rounding is no rank."""
    robot, random = three_upu(apart), np.random.default_rng(1)
    position = np.array([0.0, 0.0, HEIGHT]) + random.uniform(-0.2, 0.2, (500, 3)) * (np.arange(500) > 0)[:, None]
    solved = inverse_dynamics(robot, position=position)
    assert set(solved.status) <= {Status.ILL_CONDITIONED, Status.PLATFORM_SINGULAR}
    assert np.isnan(solved.force).all()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_regular_reference_is_one_in_any_unit(scale: float) -> None:
    random = np.random.default_rng(4)
    matrix, turning = random.normal(size=(6, 6)), [True] * 3 + [False] * 3
    lengths, gears = np.array([scale] * 3 + [1.0] * 3), scale ** np.array([0.0, 1.0, 0.5, -0.5, 0.0, 1.0])
    home = assembly.Reference(matrix * lengths * gears[:, None], turning)
    assert home.certain
    assert assembly.platform_status(home.matrix, home) == Status.OK
    flat = matrix.copy()
    flat[:, 4] = flat[:, 3] + 1e-10 * flat[:, 4]
    lost = assembly.Reference(flat * lengths * gears[:, None], turning)
    assert not lost.certain
    assert np.isnan(float(assembly.regularity(home.matrix, lost)))
    assert assembly.platform_status(lost.matrix, lost) == Status.ILL_CONDITIONED
    assert assembly.platform_status(home.matrix, lost) == Status.OK


@pytest.mark.parametrize("shape", [(5, 3), (2, 3)])
def test_the_same_with_more_or_fewer_actuators_than_freedoms(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(6).normal(size=shape)
    assert assembly.Reference(matrix, [False] * 3).certain
    flat = matrix.copy()
    if shape[0] > shape[1]:
        flat[:, 2] = flat[:, 1] * (1.0 + 1e-11)
    else:
        flat[1] = flat[0]
    assert not assembly.Reference(flat, [False] * 3).certain


SWEEP = """
limbsweep: 1
robot: {robot}
trajectories: {{side: {{kind: line_sine, amplitude: {amplitude}, period: 4.0}}}}
time: {{stop: 1.0, step: 0.1}}
metrics: [{metrics}]
"""


def sweep(robot: str, amplitude: list[float], metrics: str) -> Sweep:
    return Sweep.from_text(SWEEP.format(robot=robot, amplitude=amplitude, metrics=metrics))


def test_check_looks_for_them_whatever_a_sweep_asks_for() -> None:
    for amplitude, worst in ((0.15, set()), (0.25, {Status.CONSTRAINT_SINGULAR})):
        made = ls.sweep(
            robot=ROBOT,
            trajectories={"side": {"kind": "line_sine", "amplitude": [amplitude, 0.0, 0.0], "period": 4.0}},
            time={"stop": 1.0, "step": 0.1},
            metrics=["peak_force"],
        )
        assert {Status[status.name] for status in trial(made).result.statuses} == worst


PUSH, TURN = [0.0, 0.0, 5.0], [0.0, 3.0, 0.0]


@pytest.mark.parametrize(
    ("load", "status"),
    [
        ({"force": PUSH}, Status.OK),
        ({"force": PUSH, "at": [0.05, 0.0, 0.0]}, Status.CONSTRAINT_SINGULAR),
        ({"moment": TURN}, Status.CONSTRAINT_SINGULAR),
    ],
)
def test_a_sweep_tells_loads_that_no_limb_holds_where_reactions_are_wanted(
    load: dict[str, Any], status: Status
) -> None:
    """The platform of a five-bar is a point: no limb carries a moment about the pins, see `ls.joint_reactions`."""
    motion = {"side": {"kind": "line_sine", "amplitude": [0.05, 0.0, 0.0], "period": 4.0}}
    loads = {"load": {"kind": "wrench", "body": "platform", **load}}

    def computed(outputs: list[str], metrics: list[str]) -> Any:
        time = {"stop": 1.0, "step": 0.5}
        kinds = {"outputs": outputs, "metrics": metrics}
        return ls.compute(ls.sweep(robot="five_bar", loads=loads, trajectories=motion, time=time, **kinds))

    whole, peak = computed(["actuator_force", "joint_reaction"], []), computed([], ["peak_reaction"])
    assert set(whole.status.values.ravel()) == {status}
    assert set(computed(["actuator_force"], []).status.values.ravel()) == {Status.OK}
    failed = status != Status.OK
    assert (bool(np.isnan(whole.joint_reaction).any()), bool(np.isnan(peak.peak_reaction).all())) == (failed, failed)


def test_a_chain_has_no_such_metric() -> None:
    with pytest.raises(ValueError, match="has no platform that limbs hold"):
        inverse_dynamics(catalog.build("planar_3r"), q=np.zeros(3), constraints=True)
    with pytest.raises(InputError, match="least_constraint_regularity"):
        Sweep.from_text(
            "limbsweep: 1\nrobot: planar_3r\ntrajectories: {a: {kind: joint_sine, amplitude: [0.1, 0.1, 0.1], "
            "period: 1.0}}\ntime: {stop: 1.0, step: 0.5}\nmetrics: [least_constraint_regularity]\n"
        )


def test_a_sweep_of_a_delta_tells_that_arms_hold_it_everywhere() -> None:
    """Each arm keeps a level axis of the platform parallel to that of its motor: two moments, everywhere the same."""
    results = run(sweep("delta_3rr2rrr", [0.35, 0.1, 0.05], "least_constraint_regularity"))
    assert results["worst_status"].item() == Status.OK
    assert results["least_constraint_regularity"].item() == pytest.approx(1.0, abs=1e-9)


def test_type_one_of_a_delta() -> None:
    robot = catalog.build("delta_3rr2rrr")
    reach = robot.values["upper_arm"] + robot.values["rod_length"]
    inward = robot.values["base_radius"] - robot.values["platform_radius"]
    lowest = -float(np.sqrt(reach**2 - inward**2))
    status = inverse_dynamics(robot, position=[[0.0, 0.0, lowest + 1e-3], [0.0, 0.0, lowest - 1e-3]]).status
    assert status.tolist() == [Status.OK, Status.NOT_REACHABLE]
    assert inverse_dynamics(robot, position=[0.0, 0.0, lowest]).status in (
        Status.SINGULAR,
        Status.NOT_REACHABLE,
    )
