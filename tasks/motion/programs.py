"""The program of a chain's motion with friction: all that a step in time asks for at one state.

Inputs: `parameters`, `mount`, `gravity`, `friction` (parameters of all groups) per case; per sample `state` and `modes`
in the order of `Layout`, `force` (actuator,), and of a linearly implicit stage `stage`: its scale [s], and what is
subtracted from the rates of speed (freedom,) and of memory (joint,). They are few because a call costs by the array.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.model import Family
from robots.status import Status
from tasks.friction import joints as joint_friction
from tasks.friction.forward import ForwardFriction
from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, where
from tasks.mechanics.structure import limb_inputs, solved_limb, structure_of
from tasks.motion.forward import Modes, Moved, Pushed, Stage
from tasks.motion.loads import Loads, SettledMotion
from tasks.programs.actuation import joint_kinds

OF_JOINTS = ("braking", "velocity", "limit", "remembered", "breaking", "rates")
"""Of every joint with friction: its friction, velocity, the most that holds it against what it holds now, the memory of
its law once it is here, of one at rest that does not hold the acceleration that begins, relative, and the sum of the
magnitudes of all that its velocity is the sum of."""


@dataclass(frozen=True)
class Layout:
    """Where the parts of a state are: q, q', memory of friction, work that friction takes, work of actuators."""

    free: int
    joints: int
    actuators: int

    @functools.cached_property
    def at(self) -> Mapping[str, slice]:
        """Rows of `q`, `qd`, `memory`, `loss` and `work`."""
        names = ("q", "qd", "memory", "loss", "work")
        return _rows(dict(zip(names, (self.free, self.free, self.joints, self.joints, self.actuators), strict=True)))

    @functools.cached_property
    def of_joints(self) -> Mapping[str, slice]:
        """Rows of OF_JOINTS in the output `joints`."""
        return _rows(dict.fromkeys(OF_JOINTS, self.joints))

    @property
    def size(self) -> int:
        """Length of a state."""
        return 2 * self.free + 2 * self.joints + self.actuators


def _rows(sizes: Mapping[str, int]) -> dict[str, slice]:
    ends = np.cumsum([0, *sizes.values()])
    return {name: slice(int(a), int(b)) for name, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}


def layout(family: Family, groups: tuple[FrictionGroup, ...]) -> Layout:
    """The layout of a chain's states."""
    mechanism = family.reference
    return Layout(len(mechanism.freedoms), sum(len(each.places) for each in groups), len(mechanism.actuators))


@functools.cache
def motion_program(family: Family, groups: tuple[FrictionGroup, ...], implicit: bool = False) -> Program:
    """`rate` of the state, `joints`: OF_JOINTS, `kept_speed` (freedom,): what joints at rest allow, and `status`.

    `dependent` is 1 where the friction of joints at rest is not unique. The rate is that of the modes: joints at rest
    stay there also where `breaking` says that they do not hold, so that it is smooth up to that event and past it.
    """
    structure, parts = structure_of(family), layout(family, groups)

    def one_sample(
        parameters: Array, mount: Array, gravity: Array, friction: Array, state: Array, force: Array, **given: Array
    ) -> dict[str, Any]:
        q, qd, memory = (state[parts.at[name]] for name in ("q", "qd", "memory"))
        motion = np.concatenate([q, qd, np.zeros(parts.free)])
        mounted, solved, _, _ = solved_limb(structure, 0, parameters, mount, motion)
        joints = [ForwardFriction(joint) for joint in joint_friction.of_groups(groups, joint_kinds(family), friction)]
        levels, direction = given["modes"][: parts.joints], given["modes"][parts.joints :]
        modes = Modes(*_rest(levels), direction, memory)
        stage = _stage(parts, given.get("stage"))
        pushed = Pushed(mounted, solved, qd, array(gravity), force, joints, modes, stage)
        settled = Loads(family, groups, pushed).settled()
        breaking = settled.loaded.breaking(settled.moved)
        status = where(settled.unsettled > 0.5, float(Status.FRICTION_NOT_CONVERGED), solved.status)
        staying = settled.loaded.moved([0.0] * len(pushed.sticking))
        return {
            "rate": _rate(pushed, staying, settled.moved.friction),
            "joints": [x for each in _of_joints(pushed, settled, breaking) for x in each],
            "kept_speed": settled.loaded.kept_speed(),
            "dependent": [settled.loaded.dependent(breaking)],
            "status": [where(pushed.massless, float(Status.SINGULAR), status)],
        }

    case = limb_inputs(structure, 0) | {"friction": (sum(len(group.parameters) for group in groups),)}
    sample: dict[str, tuple[int, ...]] = {"state": (parts.size,), "force": (parts.actuators,)}
    sample |= {"modes": (2 * parts.joints,)} | ({"stage": (1 + parts.free + parts.joints,)} if implicit else {})
    kind = "implicit" if implicit else "explicit"
    name = "-".join(f"{group.law}.{group.load}" for group in groups) or "none"
    return trace(f"{family.name}.motion.{kind}.{name}", one_sample, case=case, sample=sample)


def _stage(parts: Layout, given: Array | None) -> Stage:
    numbers = np.zeros(1 + parts.free + parts.joints) if given is None else given
    return Stage(numbers[0], numbers[1 : 1 + parts.free], numbers[1 + parts.free :])


def _rest(levels: Array) -> tuple[Array, Array]:
    """`rest` and `loose` of Modes, from `tasks.motion.system.Modes`."""
    resting, loose = ([where(level > bound, 1.0, 0.0) for level in levels] for bound in (0.5, 1.5))
    return array(resting), array(loose)


def _rate(pushed: Pushed, moved: Moved, friction: list[Scalar]) -> list[Scalar]:
    taken = [tau * v for tau, v in zip(friction, pushed.velocity, strict=True)]
    driven = [u * v for u, v in zip(pushed.push, pushed.jacobian @ array(pushed.speed), strict=True)]
    return [*pushed.speed, *moved.acceleration, *moved.memory_rate, *taken, *driven]


def _of_joints(pushed: Pushed, settled: SettledMotion, breaking: list[Scalar]) -> tuple[list[Scalar], ...]:
    joints, velocity, moved = pushed.joints, list(pushed.velocity), settled.moved
    limits = [x.limit(load, tau) for x, load, tau in zip(joints, settled.loaded.loads, moved.friction, strict=True)]
    states = zip(joints, velocity, pushed.modes.rest, pushed.modes.memory, strict=True)
    remembered = [each.remembered(v, still, z) for each, v, still, z in states]
    rates = list(abs(pushed.rows) @ abs(array(pushed.speed)))
    return moved.friction, velocity, limits, remembered, breaking, rates
