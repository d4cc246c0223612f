"""Friction whose normal loads are reactions, against free bodies: another formulation from end to end.

At random states, in motion, at rest and with some joints at rest, the accelerations and friction that are computed have
to meet the law at the reactions that Newton and Euler's equations of free bodies give: friction of joints in motion is
that of its law, at rest within its limits, at them where its joint goes on that way, and accelerations are those of the
bodies. Bristles are bent at random. Of dry friction another method looks for a solution by itself, and says where its
accelerations are others.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from benchmarks.figures import require
from benchmarks.motion import rest
from benchmarks.motion.curves import Curve, memories
from benchmarks.motion.machines import machine
from robots.friction.groups import LOADS, select
from robots.limits import JointPlace, places
from robots.status import Status
from tasks import forward_dynamics
from tasks.dynamics.inverse import inverse_kinematics
from tasks.dynamics.records import Forces, Motion
from tests.reference.free_bodies import FreeBodies, Response
from tests.reference.loaded_friction import Bearing, LoadedFriction

Array = np.ndarray

ROBOTS = ("three_loop_leg", "irb6", "five_bar", "delta_3rr2rrr")

LAWS: Mapping[str, Mapping[str, float]] = {
    "coulomb_viscous": {"coulomb": 1.0},
    "stiction": {"coulomb": 1.0, "kinetic": 1.3, "static": 1.6, "stribeck_velocity": 0.1},
    "lugre": {"coulomb": 1.0, "static": 1.3, "sigma0": 1e3, "sigma1": 1e-2, "stribeck_velocity": 0.1},
}
"""Laws with numbers for a coefficient of one; velocities are not scaled by it."""

DRY = "coulomb_viscous"

COEFFICIENTS: Mapping[str, tuple[float, ...]] = {DRY: (0.01, 0.1, 0.3), "stiction": (0.1,), "lugre": (0.1,)}

MANY = 1000
"""States of each row."""

EXACT = 1e-8
"""Largest relative residual of a condition."""

ALIKE = 1e-6
"""Difference of accelerations, relative, above which a solution is another."""


class Verdict(NamedTuple):
    """Verdict on each state: status, is friction unique, is it wrong; has the other method a solution, the same one."""

    status: Array
    unique: Array
    wrong: Array
    solved: Array
    same: Array


def names_of(mechanism: Any, joints: Any) -> list[str]:
    """Return the names of the chosen joints, in the order of their friction."""
    known: dict[JointPlace, str] = {place: name for name, (place, _) in places(mechanism).items()}
    return [known[place] for place in select(mechanism, joints, "reaction")]


class States(NamedTuple):
    """States of a robot with bearings in `joints`, forces there, and each as free bodies; None where a limb is open."""

    numbers: rest.Setting
    joints: list[str]
    bearing: Bearing
    force: Array
    bodies: list[FreeBodies | None]
    responses: list[Response | None]


@functools.lru_cache(maxsize=1)
def states_of(name: str, count: int, seed: int = 5) -> States:
    """Return the same for all laws and coefficients."""
    robot = machine(name)
    mechanism = robot.mechanism
    joints = [other for other, (place, simple) in places(mechanism).items() if simple and place.joint >= 0]
    numbers = rest.setting(robot, joints, count, seed)
    force, kinematics = rest.forces(numbers, 3.0), inverse_kinematics(robot, Motion(**numbers.state))
    arms = cast(Any, {parameter.name: parameter.default for parameter in LOADS["reaction"]})
    slides = np.array([kind_of(mechanism, other) == "prismatic" for other in joints])
    bearing = Bearing(arms["friction_arm"], arms["pin_radius"], arms["bending_arm"], slides)
    closed = kinematics.status == Status.OK
    bodies = [free_bodies(numbers, kinematics, k) if closed[k] else None for k in range(count)]
    ordered, driven = names_of(mechanism, joints), list(mechanism.actuators)
    responses = [
        body.response(ordered, driven, push) if body is not None else None
        for body, push in zip(bodies, force, strict=True)
    ]
    return States(numbers, joints, bearing, force, bodies, responses)


def verdict(name: str, coefficient: float, count: int, law: str = DRY, seed: int = 5) -> Verdict:
    """Return the states of a robot with friction of a law in all joints that bear loads."""
    states = states_of(name, count, seed)
    numbers, force = states.numbers, states.force
    mechanism, rates = numbers.robot.mechanism, np.where(numbers.still(), 0.0, numbers.velocity)
    values = {key: x if key == "stribeck_velocity" else x * coefficient for key, x in LAWS[law].items()}
    frictions = [
        None if response is None else LoadedFriction(response, states.bearing, coefficient, rate)
        for response, rate in zip(states.responses, rates, strict=True)
    ]
    curve = Curve(law, values, memories(law, values, _without(frictions)))
    given: dict[str, Any] = {**numbers.state, "gravity": rest.GRAVITY, "memory": curve.memory}
    friction = {"law": law, **values, "load": "reaction", "joints": states.joints}
    motion = forward_dynamics(numbers.robot, forces=Forces(actuator=force, friction=friction), **given)
    marks = []
    for k, (loaded, body) in enumerate(zip(frictions, states.bodies, strict=True)):
        if loaded is None or body is None:
            marks.append((False, False, False))
            continue
        size, tau = size_of(numbers, force, k), motion.friction[k]
        own = accelerations(loaded.response, body, mechanism, tau)
        wrong = is_wrong(loaded, curve, numbers, motion, own, size, k)
        solution = loaded.solved(np.zeros(len(tau))) if law == DRY else None
        if solution is not None:
            own = accelerations(loaded.response, body, mechanism, solution)
        marks.append((wrong, solution is not None, solution is not None and _alike(own, motion, k, ALIKE * size)))
    return Verdict(
        np.asarray(motion.status), np.asarray(motion.unique), *(np.array(column) for column in zip(*marks, strict=True))
    )


def _without(frictions: Sequence[LoadedFriction | None]) -> Array:
    """Return the normal loads without friction (sample, joint); zero where a limb is open."""
    none = np.zeros(next(len(loaded.rates) for loaded in frictions if loaded is not None))
    return np.array([none if loaded is None else loaded.loads(none)[0] for loaded in frictions])


def without_friction(numbers: rest.Setting, force: Array) -> Array:
    """Return the accelerations of free bodies, of a platform (sample, 6), of a chain (sample, freedom)."""
    mechanism = numbers.robot.mechanism
    kinematics, first = inverse_kinematics(numbers.robot, Motion(**numbers.state)), mechanism.limbs[0].links
    names = [link.joint for link in first] if mechanism.is_chain else []
    result = []
    for k, push in enumerate(force):
        bodies = free_bodies(numbers, kinematics, k)
        response = bodies.response(names or bodies.names[:1], list(mechanism.actuators), push)
        none = np.zeros(len(response.acceleration.start))
        result.append(accelerations(response, bodies, mechanism, none))
    return np.stack(result)


def kind_of(mechanism: Any, name: str) -> str:
    """Return the kind of a joint, by name."""
    place = places(mechanism)[name][0]
    return mechanism.limbs[mechanism.instances[place.limb].limb].joint_kinds[place.joint].name


def free_bodies(numbers: rest.Setting, kinematics: Any, k: int) -> FreeBodies:
    """Return a state of a robot as free bodies."""
    mechanism, state = numbers.robot.mechanism, numbers.state
    sizes = [len(mechanism.limbs[instance.limb].links) for instance in mechanism.instances]
    q, qd = (
        [values[k, i, :size] for i, size in enumerate(sizes)] for values in (kinematics.position, kinematics.velocity)
    )
    gravity = np.array(rest.GRAVITY)
    if mechanism.is_chain:
        return FreeBodies(mechanism, q, qd, gravity)
    home = np.array(mechanism.platform.home.rotation, dtype=float)
    pose = (state["position"][k], state["rotation"][k] if "rotation" in state else home)
    return FreeBodies(mechanism, q, qd, gravity, pose, state["twist"][k])


def accelerations(response: Any, bodies: FreeBodies, mechanism: Any, friction: Array) -> Array:
    """Return the accelerations of the freedoms, under friction."""
    if not mechanism.is_chain:
        return np.asarray(response.platform(-friction))
    known = [joint.name for joint in bodies.joints]
    own = response.acceleration(-friction)
    return np.array([own[known.index(name)] for name in mechanism.freedoms])


def size_of(numbers: rest.Setting, force: Array, k: int) -> float:
    """Return the size of the accelerations by gravity, velocity and forces, before they cancel."""
    terms = np.stack([numbers.bias[k], numbers.jacobian[k].T @ force[k]], axis=-1)
    return float(np.abs(np.linalg.solve(numbers.mass[k], terms)).max() + np.abs(numbers.drift[k]).max())


def _alike(own: Array, motion: Any, k: int, largest: float) -> bool:
    return bool(np.abs(own - motion.acceleration[k]).max() <= largest)


def is_wrong(
    friction: LoadedFriction, curve: Curve, numbers: rest.Setting, motion: Any, own: Array, size: float, k: int
) -> bool:
    """Return True for a state that is OK but breaks the law or is no motion of bodies with accelerations `own`."""
    if motion.status[k] != Status.OK:
        return False
    tau, loads = motion.friction[k], friction.loads(motion.friction[k])[0]
    still = numbers.still()[k] & (curve.law != "lugre")
    limits, change = curve.limits(loads), friction.response.acceleration(-tau)
    near = EXACT * max(limits.max(), 1e-12)
    sliding = ~still & (np.abs(tau - curve(k, friction.rates, loads)) > near)
    beyond = still & (np.abs(tau) > limits + near)
    slips = still & (np.abs(change) > EXACT * (size + np.abs(numbers.rows[k]).max() * size))
    against = slips & (np.abs(tau - np.sign(change) * limits) > near)
    return not _alike(own, motion, k, EXACT * size) or bool((sliding | beyond | against).any())


HEAD = (
    "robot", "law", "coefficient", "states", "wrong with status OK", "friction not unique", "no motion", "several",
    "not settled", "other method: states", "no solution", "another one", "of these friction unique",
    "one where none is said to be",
)  # fmt: skip


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each robot by law and coefficient."""
    for name in names or ROBOTS:
        for law, coefficients in COEFFICIENTS.items():
            yield from ((name, law, f"{coefficient:g}") for coefficient in coefficients)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Return the counts of states. Raises CheckError if one is wrong."""
    name, law, coefficient = about[0], about[1], float(about[2])
    found = verdict(name, coefficient, MANY, law)
    good, total = found.status == Status.OK, len(found.status)
    require(not found.wrong.any(), f"{name}, {law}, {coefficient}: {found.wrong.sum()} of {total} states are wrong")
    none, several = (found.status == code for code in (Status.FRICTION_NO_SOLUTION, Status.FRICTION_SEVERAL_SOLUTIONS))
    missed = none & found.solved
    require(
        not missed.any(),
        f"{name}, {law}, {coefficient}: {missed.sum()} of {total} states have a motion, said to have none",
    )
    another = good & found.solved & ~found.same
    reported = [good & ~found.unique, none, several, ~(good | none | several)]
    of_other = [~found.solved, another, another & found.unique, none & found.solved]
    counts = (total, 0, *(int(mask.sum()) for mask in reported))
    others = [""] * (1 + len(of_other))
    if law == DRY:
        others = [str(count) for count in (total, *(int(mask.sum()) for mask in of_other))]
    return *(str(count) for count in counts), *others
