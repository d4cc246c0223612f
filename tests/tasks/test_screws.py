"""Screw joints wherever a revolute one can be: what must hold for any robot, closed forms, and Pinocchio's own."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from applications.report.data.sketch import sketch
from pipeline.robot_files.reader import parse_robot
from robots.formats import checks, mobility, writing
from robots.formats.description import describe
from robots.joint_kinds import JointError
from robots.limits import joints
from robots.model import Closure, Frame, Link, Robot
from robots.status import Status
from robots.types import BASE, TWIST
from tasks import (
    constraint_forces,
    equations_of_motion,
    forward_dynamics,
    forward_kinematics,
    inertia_matrix,
    inverse_dynamics,
    inverse_kinematics,
    joint_reactions,
    lagrange_coefficients,
    regressor,
)
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.dynamics.inverse import actuator_positions, body_motion
from tasks.dynamics.records import Forces
from tasks.dynamics.regressor import standard_parameters
from tasks.dynamics.simulate import simulate
from tasks.kernels import kernel
from tasks.kernels import kernel as kernels
from tasks.mechanics.inertia import METHODS
from tasks.mechanics.recursion import inverse_dynamics as tree_forces
from tests.arguments import in_records
from tests.tasks import screws, trees
from tests.tasks.bits import bits

GRAVITY = (0.5, -0.3, -9.8)
CLOSE = 1e-12
ROBOTS = {
    "tree": screws.ARM,
    "legs": screws.LEGS,
    "wrists": screws.WRISTS,
    "loop, screw cut": screws.loop("screw"),
    "loop, ball cut": screws.loop("ball"),
    "jack": screws.JACK,
}
CHAINS = ("tree", "loop, screw cut", "loop, ball cut")


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return screws.robot(ROBOTS[request.param])


@pytest.fixture(scope="module")
def peer() -> ModuleType:
    """The reference that needs Pinocchio."""
    trees.engine()
    from tests.reference import mechanism_pinocchio

    return mechanism_pinocchio


def states(robot: Robot, count: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Random states near the reference pose; screws of a tree turn more than once."""
    random, mechanism = np.random.default_rng(seed), robot.mechanism
    if mechanism.is_chain:
        q, qd, qdd = random.normal(size=(3, count, len(mechanism.freedoms)))
        return {"q": q * (0.1 if mechanism.limbs[0].loops else 5.0), "qd": qd, "qdd": 5.0 * qdd}
    free = [name in mechanism.platform.mobility for name in ("wx", "wy", "wz", "vx", "vy", "vz")]
    step, twist, acceleration = random.normal(size=(3, count, 6)) * free
    return {
        "position": np.array(mechanism.platform.home.position) + 0.1 * step[:, 3:],
        "rotation": Rotation.from_rotvec(0.1 * step[:, :3]).as_matrix() @ np.array(mechanism.platform.home.rotation),
        "twist": twist,
        "acceleration": 5.0 * acceleration,
    }


def at_rest(moving: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: values for name, values in moving.items() if name in ("q", "position", "rotation")}


def without_acceleration(moving: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: values for name, values in moving.items() if name not in ("qdd", "acceleration")}


def close(found: Any, expected: Any, share: float = CLOSE) -> None:
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=share * np.abs(expected).max())


# --- what must hold -------------------------------------------------------------------------------------------------


def test_forward_dynamics_undoes_inverse_dynamics(robot: Robot) -> None:
    moving = states(robot, 20)
    solved = inverse_dynamics(robot, gravity=GRAVITY, **moving)
    assert (solved.status == Status.OK).all()
    again = forward_dynamics(
        robot, gravity=GRAVITY, forces=Forces(actuator=solved.force), **without_acceleration(moving)
    ).acceleration
    close(again, moving["qdd" if "qdd" in moving else "acceleration"], 1e-11)


def test_power_of_the_actuators_is_the_change_of_energy(robot: Robot) -> None:
    moving, h = states(robot, 10), 1e-3
    solved = inverse_dynamics(robot, gravity=GRAVITY, **moving)
    ahead = [equations_of_motion(robot, **later(moving, k * h), gravity=GRAVITY) for k in (-2, -1, 1, 2)]
    energy = [each.kinetic_energy + each.potential_energy for each in ahead]
    change = (energy[0] - 8 * energy[1] + 8 * energy[2] - energy[3]) / (12 * h)
    close((solved.force * solved.velocity).sum(axis=-1), change, 1e-7)


def later(moving: dict[str, np.ndarray], time: float) -> dict[str, np.ndarray]:
    """The state after a short time, to the second order."""
    if "q" in moving:
        q, qd, qdd = moving.values()
        return {"q": q + qd * time + qdd * (0.5 * time * time), "qd": qd + qdd * time}
    position, rotation, twist, acceleration = moving.values()
    step = twist * time + acceleration * (0.5 * time * time)
    turned = Rotation.from_rotvec(step[:, :3]).as_matrix() @ rotation
    return {"position": position + step[:, 3:], "rotation": turned, "twist": twist + acceleration * time}


def test_joint_motion_is_the_derivative_of_the_positions(robot: Robot) -> None:
    moving, h = states(robot, 10), 1e-3
    ahead = [inverse_kinematics(robot, **later(moving, k * h)).position for k in (-2, -1, 0, 1, 2)]
    found = inverse_kinematics(robot, **moving)
    known = ~np.isnan(found.velocity)
    rates = (ahead[0] - 8 * ahead[1] + 8 * ahead[3] - ahead[4]) / (12 * h)
    changes = (-ahead[0] + 16 * ahead[1] - 30 * ahead[2] + 16 * ahead[3] - ahead[4]) / (12 * h * h)
    close(found.velocity[known], rates[known], 1e-6)
    close(found.acceleration[known], changes[known], 1e-5)
    single = [place for place, kind in enumerate(robot.mechanism.limbs[0].joint_kinds) if kind.one_variable]
    assert known[:, 0, single].all()


def test_reactions_are_those_of_the_newton_euler_system(robot: Robot) -> None:
    moving = states(robot, 6)
    expected = joint_reactions_reference(robot, **moving, gravity=GRAVITY, method="least_norm")
    close(joint_reactions(robot, **moving, gravity=GRAVITY).wrench, expected.wrench, 1e-11)
    close(inverse_dynamics(robot, **moving, gravity=GRAVITY).force, expected.actuator_force, 1e-11)


def test_a_passive_screw_passes_on_no_power(robot: Robot) -> None:
    moving = states(robot, 6)
    wrenches, motion = joint_reactions(robot, **moving, gravity=GRAVITY).wrench, body_motion(robot, **moving)
    for k, instance in enumerate(robot.mechanism.instances):
        limb = robot.mechanism.limbs[instance.limb]
        for i, each in enumerate((*limb.links, *limb.cuts)):
            if each.kind == "screw" and each.joint not in limb.actuated:
                base = np.array(instance.base.rotation)
                frame = each.axis if isinstance(each, Link) else np.array(each.frame_a.rotation)[:, 2]
                body = i if isinstance(each, Link) else each.a
                axis = (motion.limbs[k][body].rotation if body != BASE else base) @ frame
                moment, force = ((axis * wrenches[:, k, i, part]).sum(axis=-1) for part in (slice(3), slice(3, 6)))
                np.testing.assert_allclose(moment, -each.pitch * force, rtol=0, atol=1e-11 * np.abs(wrenches).max())


def test_forces_are_linear_in_the_parameters_of_the_bodies(robot: Robot) -> None:
    moving = states(robot, 6)
    columns = regressor(robot, **moving, gravity=GRAVITY).matrix
    found = columns @ np.array(list(standard_parameters(robot).values()))
    close(found, inverse_dynamics(robot, **moving, gravity=GRAVITY).force)


def test_equations_of_motion_give_the_forces(robot: Robot) -> None:
    moving, places = states(robot, 6), [TWIST.index(name) for name in robot.mechanism.platform.mobility]
    found = equations_of_motion(robot, **without_acceleration(moving), gravity=GRAVITY)
    speed, change = (moving[name] for name in (("qd", "qdd") if not places else ("twist", "acceleration")))
    speed, change = (each[:, places] if places else each for each in (speed, change))
    wrench = (found.mass @ change[..., None] + found.coriolis @ speed[..., None])[..., 0] + found.gravity
    force = inverse_dynamics(robot, **moving, gravity=GRAVITY).force
    close((np.swapaxes(found.jacobian, -1, -2) @ force[..., None])[..., 0], wrench, 1e-11)


@pytest.mark.skipif(kernels.llvm is None, reason="llvmlite is missing")
def test_compiled_kernels_give_the_bits_of_the_interpreter(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    moving = states(robot, 21)
    fast = (*inverse_dynamics(robot, **moving), *inverse_kinematics(robot, **moving))
    monkeypatch.setattr(kernels, "llvm", None)
    monkeypatch.setattr(kernel, "_kernels", {})
    slow = (*inverse_dynamics(robot, **moving), *inverse_kinematics(robot, **moving))
    for got, expected in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(bits(got.astype(float)), bits(expected.astype(float)))


FRICTION: dict[str, Any] = {"law": "coulomb_viscous", "joints": "passive", "load": "reaction", "coulomb": 0.05}


@pytest.mark.parametrize("name", ["wrists", "loop, screw cut", "jack"])
def test_friction_of_a_passive_screw_is_that_of_its_load(name: str) -> None:
    """Friction is a torque, as the variable is an angle: what a nut passes on less what its lead makes of the force."""
    robot = screws.robot(ROBOTS[name])
    moving, (limb, *_) = states(robot, 5), robot.mechanism.limbs
    given = {"gravity": GRAVITY, "friction": FRICTION}
    place = next(i for i, cut in enumerate(limb.cuts, len(limb.links)) if cut.kind == "screw")
    cut = limb.cuts[place - len(limb.links)]
    wrench = joint_reactions(robot, **in_records(**moving, **given)).wrench[:, 0, place]
    motion = body_motion(robot, **moving)
    base = np.broadcast_to(np.array(robot.mechanism.instances[0].base.rotation), (5, 3, 3))
    turned = base if cut.a == BASE else motion.limbs[0][cut.a].rotation
    axis = turned @ np.array(cut.frame_a.rotation)[:, 2]
    torque = (axis * wrench[:, :3]).sum(axis=-1) + cut.pitch * (axis * wrench[:, 3:]).sum(axis=-1)
    load, rate = (
        constraint_forces(robot, **in_records(**moving, **given)).normal[:, 0, place],
        motion.joints.velocity[:, 0, place],
    )
    expected = -(FRICTION["coulomb"] * load * np.sign(rate) + 0.0 * rate)
    np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-9 * np.abs(wrench).max())
    assert np.abs(expected).min() > 0


# --- closed forms and limits ----------------------------------------------------------------------------------------


def test_a_jack_in_closed_form() -> None:
    """Many turns up and down: the shaft turns by height over pitch, and feels its own inertia and the weight lifted."""
    pitch, robot = 0.05, screws.robot(screws.JACK, 0.05)
    random = np.random.default_rng(2)
    height, speed, change = random.normal(size=(3, 20)) * ((2.0,), (1.0,), (5.0,))
    along = np.zeros((3, 20, 6))
    along[:, :, 5] = height, speed, change
    moving = {"position": along[0, :, 3:] + screws.UP, "twist": along[1], "acceleration": along[2]}
    solved, moved = inverse_dynamics(robot, **moving), inverse_kinematics(robot, **moving)
    close(solved.force[:, 0], -(screws.SHAFT_INERTIA * change / pitch + pitch * screws.LIFTED * (change + 9.81)))
    close(moved.position[:, 0, 1], height / pitch)
    close(np.exp(1j * moved.position[:, 0, 0]), np.exp(-1j * height / pitch), 1e-11)
    close(moved.velocity[:, 0], np.stack([-speed / pitch, speed / pitch], axis=1))
    close(moved.position[:, 1, 1], height)  # of the guide, a prismatic joint that is cut as well
    close(moved.acceleration[:, 1, 1], change)


def test_legs_wind_many_turns() -> None:
    """A lead of 10 mm: the legs turn dozens of times, and their length is that of the legs that slide."""
    robot = screws.robot(screws.LEGS, 0.01 / (2.0 * np.pi))
    home = np.array(robot.mechanism.platform.home.position)
    moving = {"position": home + np.array([[0.0, 0.0, 0.3], [0.2, -0.1, -0.2]])}
    solved = inverse_kinematics(robot, **moving)
    assert (solved.status == Status.OK).all()
    slides = inverse_kinematics(screws.sliding_legs(), **moving).position[..., 2]
    close(solved.position[..., 2] * robot.values["pitch"], slides)
    assert np.abs(solved.position[..., 2]).max() > 100.0
    back = forward_kinematics(robot, actuator_position=actuator_positions(robot, **moving).position)
    close(back.position, moving["position"], 1e-9)


def test_a_loop_is_the_same_whichever_joint_is_cut() -> None:
    robots = [screws.robot(screws.loop(cut)) for cut in ("screw", "ball")]
    moving = states(robots[0], 12)
    places = [robot.mechanism.limbs[0].joints.index("nut") for robot in robots]
    force, moved = zip(
        *((inverse_dynamics(r, **moving).force, inverse_kinematics(r, **moving)) for r in robots), strict=True
    )
    close(force[0], force[1])
    for first, second in zip(moved[0][:3], moved[1][:3], strict=True):
        close(first[:, 0, places[0]], second[:, 0, places[1]], 1e-11)


def test_a_loop_follows_its_screw_for_many_turns() -> None:
    robot = screws.robot(screws.WINCH, 0.003)
    q = np.linspace(-60.0, 60.0, 9)[:, None]
    solved = inverse_kinematics(robot, q=q)
    assert (solved.status == Status.OK).all()
    close(solved.position[:, 0, 1], -0.003 * q[:, 0])
    close(solved.position[:, 0, 2], q[:, 0])
    torque = inverse_dynamics(robot, q=q, qdd=np.ones_like(q)).force
    close(torque, np.full_like(q, screws.SHAFT_INERTIA + 0.003 * screws.LIFTED * (0.003 - 9.81)), 1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_a_screw_is_a_turn_and_a_slide_that_are_coupled(seed: int) -> None:
    """Compare with both as joints of their own, projected by q = T s."""
    rng = np.random.default_rng(seed)
    links = trees.random_tree(rng, trees.random_parents(rng, 6), sliding=0.2, winding=0.6)
    split, coupling, index = list[Link](), list[np.ndarray](), dict[int, int]()
    for k, link in enumerate(links):
        parent = link.parent if link.parent == BASE else index[link.parent]
        if link.kind == "screw":
            slide = Link(f"{k}s", f"{k}s", parent, "prismatic", link.axis, link.placement, screws.NOTHING)
            split.append(slide)
            coupling.append(np.eye(6)[k] * link.pitch)
            parent = len(split) - 1
            link = Link(link.joint, link.body, parent, "revolute", link.axis, Frame(), link.inertia)
        split.append(Link(link.joint, link.body, parent, link.kind, link.axis, link.placement, link.inertia))
        coupling.append(np.eye(6)[k])
        index[k] = len(split) - 1
    matrix, gravity = np.array(coupling), np.array(GRAVITY)
    q, qd, qdd = rng.normal(size=(3, 6))
    found = tree_forces(links, trees.joint_states(links, q), qd, qdd, gravity)
    both = tree_forces(split, trees.joint_states(split, matrix @ q), matrix @ qd, matrix @ qdd, gravity)
    close(found, matrix.T @ np.array(both))


def test_a_screw_of_hardly_any_pitch_is_a_revolute_joint() -> None:
    moving = states(screws.robot(screws.ARM), 5)
    fine = inverse_dynamics(screws.robot(screws.ARM, 1e-6), **moving).force
    turning = inverse_dynamics(screws.without_pitch(), **moving).force
    close(fine, turning, 1e-4)
    half = inverse_dynamics(screws.robot(screws.ARM, 2e-6), **moving).force
    close(half - turning, 2.0 * (fine - turning), 1e-4)  # what is left is proportional to the pitch


# --- Pinocchio's helical joints -------------------------------------------------------------------------------------


def test_a_tree_agrees_with_pinocchio(peer: ModuleType) -> None:
    robot = screws.robot(screws.ARM, 0.17)
    (limb,), moving = robot.mechanism.limbs, states(robot, 10)
    tree = trees.in_pinocchio(trees.engine(), limb.links, GRAVITY)
    armature = np.array([link.armature for link in limb.links])
    forces = inverse_dynamics(robot, **moving, gravity=GRAVITY).force
    wrenches = joint_reactions(robot, **moving, gravity=GRAVITY).wrench[:, 0]
    lagrange = lagrange_coefficients(robot, q=moving["q"], gravity=GRAVITY)
    for k, (q, qd, qdd) in enumerate(zip(*moving.values(), strict=True)):
        close(forces[k], tree.rnea(q, qd, qdd) + armature * qdd)
        close(wrenches[k], tree.wrenches(q, qd, qdd))
        matrix = tree.inertia_matrix(q) + np.diag(armature)
        for method in METHODS:
            close(inertia_matrix(robot, q=q, method=method).matrix, matrix)
        close(lagrange.inertia[k], tree.inertia_matrix(q))
        speeds = np.einsum("ijk,j,k", lagrange.velocity[k], qd, qd)
        close(speeds + lagrange.gravity[k], tree.rnea(q, qd, 0.0 * qd))


@pytest.mark.parametrize("name", ["legs", "wrists"])
def test_a_platform_agrees_with_pinocchio(name: str, peer: ModuleType) -> None:
    robot = screws.robot(ROBOTS[name], 0.11)
    moving, engine = states(robot, 8), peer.ClosedMechanism(screws.opened(robot.mechanism))
    solved, moved = inverse_dynamics(robot, **moving), inverse_kinematics(robot, **moving)
    for k in range(8):
        theirs = engine.solve(*(each[k] for each in moving.values()))
        count = theirs.q.shape[1]
        assert theirs.freedoms == 6
        close(solved.force[k], theirs.force)
        close(solved.velocity[k], theirs.velocity)
        for got, expected in zip(moved[:3], (theirs.q, theirs.qd, theirs.qdd), strict=True):
            close(got[k, :, :count], expected, 1e-11)


# --- around the mathematics -----------------------------------------------------------------------------------------


def test_energy_stays_over_time() -> None:
    robot, at = screws.robot(screws.ARM), {"q": [0.3, -0.4, 0.2, 0.1, 0.5], "qd": [1.0, -0.5, 2.0, 0.3, 0.0]}
    motion = simulate(robot, force=np.zeros(5), step=1e-3, steps=200, every=50, **at)
    found = equations_of_motion(robot, q=motion.q, qd=motion.qd)
    energy = found.kinetic_energy + found.potential_energy
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    assert np.ptp(found.kinetic_energy) > 0.1


def test_a_robot_file_says_all_of_a_screw(robot: Robot) -> None:
    description = describe(robot)
    text = writing.text(description)
    assert "kind: screw, pitch: " in text
    assert parse_robot(text, "screws.yaml") == description
    mechanism = description.family.reference
    assert not [*checks.check(mechanism), *checks.check_loops(mechanism), *mobility.check_home(mechanism)]


def test_a_screw_that_is_open_at_the_reference_pose_is_seen() -> None:
    mechanism = screws.robot(screws.loop("screw")).mechanism
    (limb,) = mechanism.limbs
    (nut,) = limb.loops
    turn = tuple(map(tuple, np.array(nut.frame_b.rotation) @ Rotation.from_rotvec([0.0, 0.0, 0.1]).as_matrix()))
    x, y, z = nut.frame_b.position
    shifted, turned = Frame(nut.frame_b.rotation, (x, y, z + 0.01)), Frame(turn, (x, y, z))  # type: ignore[arg-type]
    for frame, text in ((shifted, "a gap of 0.01 m"), (turned, "axes that are 0.1 rad")):
        other = Closure(nut.joint, nut.kind, nut.a, nut.frame_a, nut.b, frame, nut.pitch)
        (finding,) = checks.check_loops(screws.with_loop(mechanism, other))
        assert text in finding.got


def test_pictures_and_limits_have_screws() -> None:
    robot = screws.robot(screws.ARM, 0.25)
    q = np.zeros((1, 5))
    q[0, 0] = 2.0 * np.pi
    (still,), (moved,) = sketch(robot.mechanism, np.zeros((1, 5))), sketch(robot.mechanism, q)
    step = moved.joints[0].point - still.joints[0].point
    close(step, 0.5 * np.pi * np.array(still.joints[0].axis))
    assert joints(robot.mechanism)["lift"].kind == "screw"
    assert joints(screws.robot(screws.JACK).mechanism)["lift.nut"].kind == "screw"


@pytest.mark.parametrize(
    ("kind", "pitch", "text"),
    [
        ("screw", None, r"joint j: got no pitch; expected the pitch \[m/rad\] of a screw joint"),
        (
            "screw",
            0.0,
            "joint j: got a pitch of 0; expected another one of a screw joint; a joint that only turns",
        ),
        ("revolute", 0.1, "joint j: got a pitch of 0.1; expected none of a revolute joint, or another kind"),
        ("spherical", None, "joint j: got kind 'spherical'; expected one of revolute, prismatic, screw"),
    ],
)
def test_a_joint_has_to_fit_its_kind(kind: str, pitch: float | None, text: str) -> None:
    with pytest.raises(JointError, match=text):
        Link("j", "body", BASE, kind, screws.Z, Frame(), screws.NOTHING, 0.0, pitch)
    if kind != "spherical":
        with pytest.raises(JointError, match=text):
            Closure("j", kind, 0, Frame(), 1, Frame(), pitch)


def test_a_cut_joint_of_no_kind_is_refused() -> None:
    with pytest.raises(JointError, match="got kind 'helical'; expected one of revolute, universal, spherical"):
        Closure("j", "helical", 0, Frame(), 1, Frame())
