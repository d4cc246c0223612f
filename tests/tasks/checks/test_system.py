"""The Newton-Euler system of whole robots: against the limb formulation, the balance of every body, the references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg

from robots import catalog
from robots.loads.declared import DeclaredLoad, JointSpringLoad, SpringLoad, WrenchLoad
from robots.loads.family import with_loads
from robots.model import PLATFORM, Inertia, Mechanism, Robot
from robots.types import BASE
from tasks import inverse_dynamics, joint_reactions
from tasks.checks import newton_euler_system as system_solution
from tasks.checks.newton_euler_system import (
    Method,
    Reactions,
    SparseSystem,
    assemble,
    joint_reactions_reference,
    unique,
)
from tasks.dynamics.body_motions import BodyMotions
from tasks.dynamics.inverse import body_motion
from tasks.mathematics.rotations import roll_pitch_yaw
from tests.arguments import in_records
from tests.catalogue import PARALLEL
from tests.reference import delta_newton_euler
from tests.tasks.moving import motion

SIMPLE = ("delta_3r2us", "gough_stewart", "hexapod_6rrrprr")
"""Robots with as many equations as unknowns."""

COUNT = 8
GRAVITY = (0.5, -0.3, -9.8)


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


def _case(robot: Robot, count: int = COUNT) -> dict[str, Any]:
    load = 10.0 * np.random.default_rng(1).normal(size=(count, 6))
    if robot.name == "five_bar":
        load[:, 1] = 0.0  # its point of a platform can turn about the pins
    return {**motion(robot, count), "gravity": GRAVITY, "load": load}


def _solved(robot: Robot, case: dict[str, Any]) -> Reactions:
    return joint_reactions_reference(robot, **case, method="direct" if robot.name in SIMPLE else "least_norm")


def _at(case: dict[str, Any], k: int) -> dict[str, Any]:
    return {name: value if name == "gravity" else value[k] for name, value in case.items()}


def _close(found: Any, expected: Any, share: float = 1e-9) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=share * np.abs(expected).max())


# --- against the limb formulation -----------------------------------------------------------------------------------


def test_actuator_forces_are_those_of_the_limb_formulation(robot: Robot) -> None:
    case = _case(robot)
    solved = _solved(robot, case)
    _close(solved.actuator_force, inverse_dynamics(robot, **in_records(**case)).force)
    assert solved.residual.max() < 1e-10 * np.abs(solved.wrench).max()


def _spiral(robot: Robot, t: np.ndarray) -> dict[str, np.ndarray]:
    """Eq. (28) of the hexapod paper, counted from the reference position; angles as roll, pitch, yaw."""
    sin, cos, zero = np.sin(t), np.cos(t), np.zeros_like(t)
    share = np.deg2rad([1.0, 2.0, 5.0])
    turning = roll_pitch_yaw(sin[:, None] * share, cos[:, None] * share, -sin[:, None] * share)
    position = np.array(robot.mechanism.platform.home.position) + np.stack(
        [0.005 * sin, 0.005 * cos, 0.002 * t], axis=1
    )
    velocity = np.stack([0.005 * cos, -0.005 * sin, 0.002 + zero], axis=1)
    change = np.stack([-0.005 * sin, -0.005 * cos, zero], axis=1)
    return {
        "position": position,
        "rotation": turning.rotation,
        "twist": np.concatenate([turning.omega, velocity], axis=1),
        "acceleration": np.concatenate([turning.alpha, change], axis=1),
    }


def _outside(rotation: np.ndarray, t: np.ndarray) -> np.ndarray:
    """What acts on the platform in condition 3, world axes; the paper counts it as what the platform exerts."""
    moment = np.stack([np.sin(t), 2.0 * np.cos(t), 3.0 * np.sin(t)], axis=1)
    force = 10.0 * np.stack([np.sin(t), np.cos(t), -np.sin(t)], axis=1)
    return -np.concatenate([(rotation @ x[..., None])[..., 0] for x in (moment, force)], axis=1)


@pytest.mark.parametrize("name", ["hexapod_6rrrprr", "gough_stewart"])
@pytest.mark.parametrize("condition", ["inertia", "gravity", "external wrench"])
def test_three_conditions_of_the_hexapod_paper_on_its_spiral(name: str, condition: str) -> None:
    robot, t = catalog.build(name), np.linspace(0.0, 2.0 * np.pi, 13)
    case: dict[str, Any] = {**_spiral(robot, t), "gravity": (0.0, 0.0, 0.0 if condition == "inertia" else -9.8)}
    if condition == "external wrench":
        case["load"] = _outside(case["rotation"], t)
    expected = inverse_dynamics(robot, **in_records(**case)).force
    direct, gmres = (joint_reactions_reference(robot, **case, method=method) for method in ("direct", "gmres"))
    for force in (direct.actuator_force, gmres.actuator_force):
        np.testing.assert_allclose(force, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    _close(gmres.wrench, direct.wrench)
    assert 0 < gmres.iterations.max() <= 6


# --- the system of the paper ----------------------------------------------------------------------------------------


def _hexapod(moments: str = "body") -> SparseSystem:
    robot = catalog.build("hexapod_6rrrprr")
    return assemble(robot, **_at(motion(robot, 1), 0), moments=moments)  # type: ignore[arg-type]


def test_hexapod_has_150_equations_for_150_unknowns() -> None:
    system = _hexapod()
    assert system.matrix.shape == (150, 150)
    assert len(system.bodies) == 25
    assert system.bodies[:4] == ("leg1.base_link", "leg1.screw", "leg1.feed", "leg1.platform_link")
    assert [each.joints for each in system.unknowns[:3]] == [("leg1.1",), ("leg1.2",), ("leg1.3", "leg1.4")]
    assert {each.columns.stop - each.columns.start for each in system.unknowns} == {5}
    assert np.linalg.matrix_rank(system.matrix.toarray()) == 150


def test_hexapod_has_the_sparsity_of_the_paper() -> None:
    system = _hexapod("base")
    matrix = system.matrix.toarray()
    filled = sum(_filled(matrix[row : row + 6, each.columns]) for row in range(0, 150, 6) for each in system.unknowns)
    assert filled == 972
    assert round(100.0 * (1.0 - filled / 150**2), 2) == 95.68


def _filled(block: np.ndarray) -> int:
    """Numbers of a joint's block on a body as the paper counts them: all 9 of the lever, 6 of two moments, 3 forces."""
    if not block.any():
        return 0
    assert not block[3:, :2].any()
    assert (np.abs(block[3:, 2:]) == np.eye(3)).all()
    return 9 + 6 + 3


def test_the_point_that_moments_are_taken_about_does_not_matter() -> None:
    here, there = (_hexapod(moments).solve() for moments in ("body", "base"))
    _close(here.wrench, there.wrench, 1e-12)


def test_moments_about_the_bodies_make_the_better_conditioned_system() -> None:
    conditions = [np.linalg.cond(_hexapod(moments).matrix.toarray()) for moments in ("body", "base")]
    assert conditions[0] < conditions[1] < 1e4


def test_unknowns_mean_what_they_say() -> None:
    system = _hexapod()
    x = np.random.default_rng(0).normal(size=150)
    wrench = (system.carried @ x + system.carried_fixed).reshape(6, 6, 6)
    for k, each in enumerate(system.unknowns[:5]):
        joint = (0, 1, 3, 4, 5)[k]
        _close(wrench[0, joint], each.fixed + each.basis @ x[each.columns], 1e-14)
        np.testing.assert_allclose(each.basis.T @ each.basis, np.eye(5), rtol=0, atol=1e-14)


# --- balance of every body ------------------------------------------------------------------------------------------


def _loads(robot: Robot, limb: int, moving: BodyMotions, wrench: np.ndarray, links: Any) -> Iterator[Any]:
    """For each joint of a limb: parent, child, where, and (moment, force) there on the child."""
    instance = robot.mechanism.instances[limb]
    model = robot.mechanism.limbs[instance.limb]
    for k, link in enumerate(model.links):
        yield link.parent, k, links[k].position, wrench[:, limb, k]
    for k, closure in enumerate((*model.tips, *model.loops), start=len(model.links)):
        yield closure.a, closure.b, links[closure.a].point(closure.frame_a.position), wrench[:, limb, k]


def _rate_of_momentum(inertia: Inertia, body: BodyMotions) -> tuple[np.ndarray, np.ndarray]:
    centre = body.rotation @ np.array(inertia.centre)
    tensor = body.rotation @ np.array(inertia.tensor) @ np.swapaxes(body.rotation, 1, 2)
    acceleration = body.acceleration + np.cross(body.alpha, centre)
    acceleration = acceleration + np.cross(body.omega, np.cross(body.omega, centre))
    spin = np.einsum("nij,nj->ni", tensor, body.omega)
    moment = np.einsum("nij,nj->ni", tensor, body.alpha) + np.cross(body.omega, spin)
    return moment, inertia.mass * acceleration


def test_every_body_is_in_balance(robot: Robot) -> None:
    case = _case(robot)
    solved, mechanism = _solved(robot, case), robot.mechanism
    moving = body_motion(robot, **{k: v for k, v in case.items() if k not in ("gravity", "load")})
    owned = {PLATFORM: (mechanism.platform.inertia, moving.platform)}
    for limb, links in enumerate(moving.limbs):
        model = mechanism.limbs[mechanism.instances[limb].limb]
        owned |= {(limb, k): (link.inertia, links[k]) for k, link in enumerate(model.links)}
    moments, forces = ({name: np.zeros((COUNT, 3)) for name in owned} for _ in range(2))
    for limb, links in enumerate(moving.limbs):
        for parent, child, point, wrench in _loads(robot, limb, moving.platform, solved.wrench, links):
            for body, sign in ((child, 1.0), (parent, -1.0)):
                if body == BASE:
                    continue
                name = PLATFORM if body == PLATFORM else (limb, body)
                inertia, own = owned[name]
                moments[name] += sign * (wrench[:, :3] + np.cross(point - own.point(inertia.centre), wrench[:, 3:]))
                forces[name] += sign * wrench[:, 3:]
    inertia, own = owned[PLATFORM]
    moments[PLATFORM] += case["load"][:, :3] + np.cross(own.position - own.point(inertia.centre), case["load"][:, 3:])
    forces[PLATFORM] += case["load"][:, 3:]
    scale = np.abs(solved.wrench).max()
    for name, (inertia, own) in owned.items():
        moment, force = _rate_of_momentum(inertia, own)
        np.testing.assert_allclose(moments[name], moment, rtol=0, atol=1e-9 * scale, err_msg=str(name))
        weight = inertia.mass * np.array(GRAVITY)
        np.testing.assert_allclose(forces[name] + weight, force, rtol=0, atol=1e-9 * scale, err_msg=str(name))


def test_passive_joints_do_no_work_and_driven_ones_pass_on_the_actuator_force(robot: Robot) -> None:
    case = _case(robot)
    solved = _solved(robot, case)
    states = {k: v for k, v in case.items() if k not in ("gravity", "load")}
    moving, scale, forces = body_motion(robot, **states), np.abs(solved.wrench).max(), iter(solved.actuator_force.T)
    for limb, instance in enumerate(robot.mechanism.instances):
        model = robot.mechanism.limbs[instance.limb]
        for k, link in enumerate(model.links):
            part = solved.wrench[:, limb, k, :3] if link.kind == "revolute" else solved.wrench[:, limb, k, 3:]
            along = (part * moving.limbs[limb][k].turned(link.axis)).sum(axis=1)
            expected = 0.0
            if link.joint in model.actuated:
                expected = next(forces) - link.armature * moving.joints.acceleration[:, limb, k]
            np.testing.assert_allclose(along, expected, rtol=0, atol=1e-9 * scale)


def _with_flywheels(name: str) -> Robot:
    """A robot with inertia of its own at every joint, driven or not."""
    family = catalog.family(name)

    def assembled(p: Any) -> Mechanism:
        mechanism = family.assemble(p)
        (limb,) = mechanism.limbs
        links = tuple(replace(link, armature=0.02 + 0.01 * k) for k, link in enumerate(limb.links))
        return replace(mechanism, limbs=(replace(limb, links=links),))

    return Robot.of(replace(family, name=f"{name}_with_flywheels", assemble=assembled), {})


@pytest.mark.parametrize(("name", "method"), [("hexapod_6rrrprr", "direct"), ("delta_4rr2rrr", "least_norm")])
def test_inertia_of_passive_joints_is_carried_through_them(name: str, method: Method) -> None:
    robot = _with_flywheels(name)
    case = _case(robot, 3)
    solved = joint_reactions_reference(robot, **case, method=method)
    _close(solved.actuator_force, inverse_dynamics(robot, **in_records(**case)).force)
    states = body_motion(robot, **{k: v for k, v in case.items() if k not in ("gravity", "load")})
    limb, scale = robot.mechanism.limbs[0], np.abs(solved.wrench).max()
    for k, link in enumerate(limb.links):
        if link.kind == "revolute" and link.joint not in limb.actuated:
            along = (solved.wrench[:, 0, k, :3] * states.limbs[0][k].turned(link.axis)).sum(axis=1)
            expected = -link.armature * states.joints.acceleration[:, 0, k]
            np.testing.assert_allclose(along, expected, rtol=0, atol=1e-9 * scale)


# --- where statics leaves a choice ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "delta_rl5_1450"])
def test_delta_has_the_reactions_of_the_reference(name: str) -> None:
    robot = catalog.build(name)
    case = {**motion(robot, COUNT), "load": 5.0 * np.random.default_rng(4).normal(size=(COUNT, 6))}
    solved = joint_reactions_reference(robot, **case, method="least_norm")
    states = body_motion(robot, **{k: v for k, v in case.items() if k != "load"})
    determined = []
    for k in range(COUNT):
        linear = (case["position"][k], case["twist"][k, 3:], case["acceleration"][k, 3:])
        expected = delta_newton_euler.inverse_dynamics(dict(robot.values), *linear, case["load"][k])
        wrench = solved.wrench[k].copy()
        for limb, links in enumerate(states.limbs):  # the reference leaves the motor's torque out
            axis = BodyMotions(*(values[k] for values in links[0])).turned(robot.mechanism.limbs[0].links[0].axis)
            wrench[limb, 0, :3] -= (wrench[limb, 0, :3] @ axis) * axis
        _close(wrench, expected["reactions"])
        _close(solved.actuator_force[k], expected["torque"])
        determined.append(expected["reactions_unique"])
    np.testing.assert_array_equal(unique(robot), np.all(determined, axis=0))


def test_inner_forces_make_the_reactions_longer_and_change_what_is_not_unique(robot: Robot) -> None:
    system = assemble(robot, **_at(_case(robot), 0))
    inner = system.carried @ system_solution.null_space(system.matrix)
    shortest = system.solve("least_norm")
    drives = system.drives @ system_solution.null_space(system.matrix)
    idle = inner @ np.linalg.svd(drives)[2][np.linalg.matrix_rank(drives, tol=1e-9) :].T  # that leaves the drives alone
    assert np.abs(idle.T @ shortest.wrench.ravel()).max(initial=0.0) < 1e-9 * np.linalg.norm(shortest.wrench)
    changed = np.abs(inner).max(axis=1, initial=0.0).reshape(shortest.wrench.shape) > 1e-9
    assert not (changed & unique(robot)).any()
    assert changed.any() == (robot.name not in SIMPLE)
    assert not unique(robot).flags.writeable


def test_redundant_drives_share_by_the_least_norm_of_their_forces() -> None:
    robot = catalog.build("delta_4rr2rrr")
    system = assemble(robot, **_at(_case(robot), 0))
    inner = system.drives @ system_solution.null_space(system.matrix)
    force = system.solve("least_norm").actuator_force
    assert np.linalg.matrix_rank(inner, tol=1e-9) == 1
    assert np.abs(inner.T @ force).max() < 1e-9 * np.abs(force).max()


# --- batches, bad samples, misuse -----------------------------------------------------------------------------------


def test_batch_dims_are_kept_and_bad_samples_are_nan() -> None:
    robot = catalog.build("delta_3r2us")
    case = motion(robot, 6)
    position = case["position"].reshape(2, 3, 3).copy()
    position[1, 2] = (0.0, 0.0, -9.0)
    solved = joint_reactions_reference(robot, position=position, load=np.ones(6))
    assert (solved.actuator_force.shape, solved.wrench.shape) == ((2, 3, 3), (2, 3, 3, 7, 6))
    assert (solved.residual.shape, solved.iterations.shape) == ((2, 3), (2, 3))
    assert np.isnan(solved.wrench[1, 2]).all()
    assert np.isfinite(solved.wrench).sum() == 5 * 3 * 7 * 6
    one = assemble(robot, position=position[0, 1], load=np.ones(6)).solve()
    _close(solved.wrench[0, 1], one.wrench, 1e-12)
    nowhere = joint_reactions_reference(robot, position=(0.0, 0.0, -9.0))
    assert np.isnan(nowhere.actuator_force).all()


def test_a_system_without_a_solution_is_nan() -> None:
    system = _hexapod()
    singular = replace(system, matrix=(system.matrix @ scipy.sparse.diags_array(np.arange(150.0))).tocsr())
    for method in ("direct", "gmres"):
        assert np.isnan(singular.solve(method).wrench).all()  # type: ignore[arg-type]


def test_a_load_that_nothing_holds_is_nan() -> None:
    robot = catalog.build("five_bar")
    load = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])  # about the pins
    system = assemble(robot, position=robot.mechanism.platform.home.position, load=load)
    assert np.isnan(system.solve("least_norm").wrench).all()


def test_gmres_that_does_not_converge_is_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_solution, "TOLERANCE", 0.0)
    solved = _hexapod().solve("gmres")
    assert np.isnan(solved.actuator_force).all()
    assert solved.iterations > 6


def test_without_its_preconditioner_gmres_needs_almost_all_directions() -> None:
    system, counted = _hexapod(), []
    given = {"rtol": 1e-12, "atol": 0.0, "restart": 150, "callback": counted.append, "callback_type": "pr_norm"}
    _, failed = scipy.sparse.linalg.gmres(system.matrix, system.right, **given)
    assert not failed
    assert len(counted) > 130


def test_misuse_is_refused() -> None:
    robot = catalog.build("delta_3rr2rrr")
    home = robot.mechanism.platform.home.position
    with pytest.raises(
        ValueError, match=r"position: got arrays of batch dims \(1,\); expected shape \(3,\), one state"
    ):
        assemble(robot, position=[home])
    with pytest.raises(ValueError, match=r"status NOT_REACHABLE: a limb cannot reach"):
        assemble(robot, position=(0.0, 0.0, -5.0))
    with pytest.raises(ValueError, match=r"got 'direct' for 96 equations with 108 unknowns.*'least_norm'"):
        assemble(robot, position=home).solve()
    with pytest.raises(ValueError, match=r"method: got 'qr'; expected one of direct, gmres, least_norm"):
        assemble(robot, position=home).solve("qr")  # type: ignore[arg-type]


# --- loads and springs ----------------------------------------------------------------------------------------------

SPRING: dict[str, Any] = {
    "stiffness": 300.0, "at": (0.1, 0.02, 0.03), "to": (0.3, 0.2, 0.5), "rest_length": 0.1, "damping": 20.0,
    "preload": 3.0,
}  # fmt: skip
HINGES = JointSpringLoad("all", stiffness=30.0, damping=2.0, rest_position=0.1, backlash=0.05)
LOADS: dict[str, tuple[dict[str, DeclaredLoad], dict[str, Any]]] = {
    "planar_3r": (
        {"hinges": HINGES, "spring": SpringLoad("all", **SPRING)},
        {"q": [0.3, 0.2, -0.4], "qd": [1.0, 2.0, -1.0], "qdd": [3.0, 2.0, 1.0]},
    ),
    "five_bar": (
        {
            "pull": WrenchLoad("platform", force=(5.0, 0.0, -7.0), axes="platform"),
            "side": WrenchLoad("right.distal", force=(1.0, 2.0, 3.0), moment=(0.1, 0.2, 0.3), axes="link"),
            "spring": SpringLoad("proximal", **SPRING),
        },
        {"position": [0.05, 0.0, -0.6], "twist": [0, 0, 0, 0.4, 0, -0.3], "acceleration": [0, 0, 0, 2.0, 0, -1.5]},
    ),
    "three_loop_leg": (
        {"hinges": HINGES, "side": WrenchLoad("all", force=(1.0, 2.0, 3.0), axes="link")},
        {"q": [0.3], "qd": [1.0], "qdd": [3.0]},
    ),
}


@pytest.mark.parametrize("name", ["planar_3r", "five_bar", pytest.param("three_loop_leg", marks=pytest.mark.slow)])
def test_loads_and_springs_are_counted(name: str) -> None:
    loads, moving = LOADS[name]
    loaded = with_loads(catalog.build(name), loads)
    reference = joint_reactions_reference(loaded, gravity=GRAVITY, **moving, method="least_norm")
    force = inverse_dynamics(loaded, gravity=GRAVITY, **moving).force
    _close(reference.actuator_force, force, 1e-12)
    wrench = joint_reactions(loaded, gravity=GRAVITY, **moving).wrench
    assert np.nanmax(np.abs(reference.wrench - wrench)) < 1e-12 * np.nanmax(np.abs(wrench))
    assert np.abs(force - inverse_dynamics(catalog.build(name), gravity=GRAVITY, **moving).force).max() > 1.0


def test_loads_that_change_with_time_are_refused() -> None:
    swinging = with_loads(catalog.build("planar_3r"), {"w": WrenchLoad("all", force=("sin(t)", 0.0, 0.0))})
    for call in (assemble, joint_reactions_reference):
        with pytest.raises(ValueError, match="loads of planar_3r change with time, which is not known here"):
            call(swinging, q=[0.1, 0.2, 0.3])
