"""Friction whose normal loads are reactions, against free bodies: another formulation from end to end.

At random states, in motion, at rest and with some joints at rest, the accelerations and friction that are computed have
to meet the law at the reactions that Newton and Euler's equations of free bodies give: friction of joints in motion is
that of its law, at rest within its limits, at them where its joint goes on that way, and accelerations are those of the
bodies. Another method looks for a solution by itself, and says where its accelerations are others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from benchmarks.figures import require
from benchmarks.motion import rest
from benchmarks.motion.machines import machine
from benchmarks.motion.tables import Row
from robots.friction.groups import LOADS, select
from robots.joint_places import JointPlace, places
from robots.status import Status
from tasks import accelerate
from tasks.arrays.inverse import inverse_kinematics
from tests.reference.free_bodies import FreeBodies
from tests.reference.loaded_friction import Bearing, LoadedFriction

Array = np.ndarray

ROBOTS = ("three_loop_leg", "irb6", "five_bar", "delta_3rr2rrr")

COEFFICIENTS = (0.01, 0.1, 0.3)

STATES: Mapping[str, int] = {"delta_3rr2rrr": 60}
"""How many where a state takes seconds; else MANY."""

MANY = 1000

EXACT = 1e-8
"""What may be missing of a condition, relative."""

ALIKE = 1e-6
"""Difference of accelerations, relative, above which a solution is another."""


class Verdict(NamedTuple):
    """Of each state: status, is friction unique; is it wrong; has the other method a solution, and the same one."""

    status: Array
    unique: Array
    wrong: Array
    solved: Array
    same: Array


def names_of(mechanism: Any, joints: Any) -> list[str]:
    """Names of the chosen joints, in the order of their friction."""
    known: dict[JointPlace, str] = {place: name for name, (place, _) in places(mechanism).items()}
    return [known[place] for place in select(mechanism, joints, "reaction")]


def verdict(name: str, coefficient: float, count: int, seed: int = 5) -> Verdict:
    """States of a robot with friction in all joints that bear loads."""
    robot = machine(name)
    mechanism = robot.mechanism
    joints = [other for other, (place, simple) in places(mechanism).items() if simple and place.joint >= 0]
    numbers = rest.setting(robot, joints, count, seed)
    force = rest.forces(numbers, 3.0)
    law = {"law": "coulomb_viscous", "coulomb": coefficient, "load": "reaction", "joints": joints}
    motion = accelerate(robot, **numbers.state, force=force, friction=law, gravity=rest.GRAVITY)  # type: ignore[arg-type]
    kinematics = inverse_kinematics(robot, **numbers.state)
    arms = cast(Any, {parameter.name: parameter.default for parameter in LOADS["reaction"]})
    slides = np.array([_kind(mechanism, other) == "prismatic" for other in joints])
    bearing = Bearing(arms["friction_arm"], arms["pin_radius"], arms["bending_arm"], slides)
    marks = []
    for k in range(count):
        if not np.isfinite(kinematics.position[k]).all():
            marks.append((False, False, False))
            continue
        bodies = _bodies(numbers, kinematics, k)
        response = bodies.response(names_of(mechanism, joints), list(mechanism.actuators), force[k])
        rates = np.where(numbers.still()[k], 0.0, numbers.velocity[k])
        friction = LoadedFriction(response, bearing, coefficient, rates)
        size, tau = _size(numbers, force, k), motion.friction[k]
        wrong = _wrong(friction, numbers, motion, _accelerations(response, bodies, mechanism, tau), size, k)
        solution = friction.solved(np.zeros(len(joints)))
        own = None if solution is None else _accelerations(response, bodies, mechanism, solution)
        same = own is not None and _alike(own, motion, k, ALIKE * size)
        marks.append((wrong, solution is not None, same))
    return Verdict(
        np.asarray(motion.status), np.asarray(motion.unique), *(np.array(column) for column in zip(*marks, strict=True))
    )


def without_friction(numbers: rest.Setting, force: Array) -> Array:
    """Accelerations of free bodies, of a platform (sample, 6), of a chain (sample, freedom)."""
    mechanism = numbers.robot.mechanism
    kinematics, first = inverse_kinematics(numbers.robot, **numbers.state), mechanism.limbs[0].links
    names = [link.joint for link in first] if mechanism.is_chain else []
    result = []
    for k, push in enumerate(force):
        bodies = _bodies(numbers, kinematics, k)
        response = bodies.response(names or bodies.names[:1], list(mechanism.actuators), push)
        none = np.zeros(len(response.acceleration.start))
        result.append(_accelerations(response, bodies, mechanism, none))
    return np.stack(result)


def _kind(mechanism: Any, name: str) -> str:
    place = places(mechanism)[name][0]
    return mechanism.limbs[mechanism.instances[place.limb].limb].joint_kinds[place.joint].name


def _bodies(numbers: rest.Setting, kinematics: Any, k: int) -> FreeBodies:
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


def _accelerations(response: Any, bodies: FreeBodies, mechanism: Any, friction: Array) -> Array:
    """Of the freedoms, under friction."""
    if not mechanism.is_chain:
        return np.asarray(response.platform(-friction))
    known = [joint.name for joint in bodies.joints]
    own = response.acceleration(-friction)
    return np.array([own[known.index(name)] for name in mechanism.freedoms])


def _size(numbers: rest.Setting, force: Array, k: int) -> float:
    """Size of the accelerations that gravity and velocity give, and those that forces do, before they cancel."""
    terms = np.stack([numbers.bias[k], numbers.jacobian[k].T @ force[k]], axis=-1)
    return float(np.abs(np.linalg.solve(numbers.mass[k], terms)).max() + np.abs(numbers.drift[k]).max())


def _alike(own: Array, motion: Any, k: int, largest: float) -> bool:
    return bool(np.abs(own - motion.acceleration[k]).max() <= largest)


def _wrong(friction: LoadedFriction, numbers: rest.Setting, motion: Any, own: Array, size: float, k: int) -> bool:
    """Whether a state that is OK does not meet the law, or is no motion of bodies; `own` are their accelerations."""
    if motion.status[k] != Status.OK:
        return False
    tau, still = motion.friction[k], numbers.still()[k]
    limits, change = friction.coefficient * friction.loads(tau)[0], friction.response.acceleration(-tau)
    near = EXACT * max(limits.max(), 1e-12)
    sliding = ~still & (np.abs(tau - np.sign(numbers.velocity[k]) * limits) > near)
    beyond = still & (np.abs(tau) > limits + near)
    slips = still & (np.abs(change) > EXACT * (size + np.abs(numbers.rows[k]).max() * size))
    against = slips & (np.abs(tau - np.sign(change) * limits) > near)
    return not _alike(own, motion, k, EXACT * size) or bool((sliding | beyond | against).any())


HEAD = (
    "robot", "coefficient", "states", "wrong with status OK", "not settled", "friction not unique",
    "other method: no solution", "another one", "of these friction unique", "status",
)  # fmt: skip


def rows(names: Iterable[str]) -> Iterator[Row]:
    """Of each robot by coefficient. Raises CheckError where a state is wrong."""
    for name in names or ROBOTS:
        for coefficient in COEFFICIENTS:
            found = verdict(name, coefficient, STATES.get(name, MANY))
            good, total = found.status == Status.OK, len(found.status)
            require(not found.wrong.any(), f"{name}, {coefficient}: {found.wrong.sum()} of {total} states are wrong")
            another = good & found.solved & ~found.same
            reasons = sorted({Status(int(code)).name for code in found.status[~good]})
            several, lost = good & ~found.unique, ~found.solved
            counts = (total, 0, *(mask.sum() for mask in (~good, several, lost, another, another & found.unique)))
            yield Row((name, f"{coefficient:g}"), (*(str(int(count)) for count in counts), " ".join(reasons)))
