"""Robots that jam: dry friction of large coefficients in rails and pins, beside a search from many places.

Joints bear the loads of their reactions, with friction that makes a part of these itself. Free bodies and Newton's
method for kinks, from several places (`tests/reference/loaded_friction.py`), find the possible motions: a state that is
OK has to meet the law at the reactions of the bodies, and a state with a motion must not get the status of a state
without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from benchmarks.figures import require
from benchmarks.motion import rest
from benchmarks.motion.curves import Curve, memories
from benchmarks.motion.loads import DRY, accelerations, is_wrong, size_of, states_of
from robots.status import Status
from tasks import forward_dynamics
from tasks.dynamics.records import Forces
from tests.reference.loaded_friction import LoadedFriction
from tests.reference.loaded_search import solutions

Array = np.ndarray
T = TypeVar("T")

ROBOTS = (
    "linear_delta", "tripteron", "orthoglide", "hexaglide", "five_bar", "planar_3rrr", "delta_3rr2rrr", "hexa",
    "three_loop_leg", "irb6", "planar_3r", "scara", "five_axis_tree", "agile_eye", "palletiser",
)  # fmt: skip
"""Robots with rails, with pins, and with both."""

COEFFICIENTS = ("0.1", "0.3", "0.5", "1")

STATES, STARTS = 200, 10


class Jam(NamedTuple):
    """Result of each state: status, number of motions of the other method, mask of wrong ones."""

    status: Array
    motions: Array
    wrong: Array


def jammed(name: str, coefficient: float, count: int) -> Jam:
    """Return the states of a robot with dry friction in all joints that bear loads."""
    states = states_of(name, count)
    numbers, mechanism = states.numbers, states.numbers.robot.mechanism
    values = {"coulomb": coefficient}
    friction: dict[str, Any] = {"law": DRY, **values, "load": "reaction", "joints": states.joints}
    forces = Forces(actuator=states.force, friction=friction)
    state: dict[str, Any] = {**numbers.state}
    motion = forward_dynamics(numbers.robot, gravity=rest.GRAVITY, forces=forces, **state)
    rates = np.where(numbers.still(), 0.0, numbers.velocity)
    curve = Curve(DRY, values, memories(DRY, values, np.zeros_like(rates)))
    motions, wrong = np.zeros(count, dtype=int), np.zeros(count, dtype=bool)
    closed = [k for k, response in enumerate(states.responses) if response is not None]
    loaded = [LoadedFriction(_there(states.responses[k]), states.bearing, coefficient, rates[k]) for k in closed]
    motions[closed] = [len(found) for found in solutions(loaded, STARTS)]
    for k, friction_there in zip(closed, loaded, strict=True):
        if motion.status[k] == Status.OK:
            size, body = size_of(numbers, states.force, k), _there(states.bodies[k])
            change = accelerations(friction_there.response, body, mechanism, motion.friction[k])
            wrong[k] = is_wrong(friction_there, curve, numbers, motion, change, size, k)
    return Jam(np.asarray(motion.status), motions, wrong)


def _there(value: T | None) -> T:
    assert value is not None
    return value


HEAD = (
    "robot", "coefficient", "states", "OK", "wrong with status OK", "no motion", "several", "not decided",
    "other method: none", "one", "two or more", "OK with two or more", "no motion with any", "not decided with any",
)  # fmt: skip


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each robot by coefficient."""
    for name in names or ROBOTS:
        yield from ((name, coefficient) for coefficient in COEFFICIENTS)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Return the counts of states. Raises CheckError if one is wrong."""
    jam = jammed(about[0], float(about[1]), STATES)
    codes = (Status.OK, Status.FRICTION_NO_SOLUTION, Status.FRICTION_SEVERAL_SOLUTIONS, Status.FRICTION_NOT_CONVERGED)
    good, none, several, open_ = (jam.status == code for code in codes)
    require(not jam.wrong.any(), f"{', '.join(about)}: {jam.wrong.sum()} of {STATES} states are wrong")
    missed = none & (jam.motions > 0)
    require(not missed.any(), f"{', '.join(about)}: {missed.sum()} of {STATES} states have motions, said to have none")
    masks = [good, jam.wrong, none, several, open_]
    masks += [jam.motions == 0, jam.motions == 1, jam.motions >= 2]
    masks += [good & (jam.motions >= 2), missed, open_ & (jam.motions > 0)]
    return str(STATES), *(str(int(mask.sum())) for mask in masks)
