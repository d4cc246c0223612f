"""Inputs and outputs of the programs of a robot's motion with friction, and where their parts are.

Inputs per case: `parameters`, `mount`, `gravity`, `friction` (parameters of all groups). Per sample: `state` and
`modes` in the order of `Layout`, `force` (actuator,), and of a linearly implicit stage `stage`: its scale [s], and what
is subtracted from the rates of speed (freedom,) and of memory (joint,); `signals`, where loads change with time; where
the base moves, `gravity` is as `tasks.mechanics.field` has it. They are few because a call costs by the array. Cases
may lie in the lanes of vectors, each with its own design and friction: see `tasks.kernels.lanes`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.model import Family
from robots.status import Status
from robots.types import TWIST
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, is_zero, sqrt, total, where
from tasks.mechanics.field import MOVING
from tasks.motion.instant.forward import Modes, Pushed, Stage
from tasks.motion.instant.loaded import Moved
from tasks.motion.instant.loads import Loads, SettledMotion

OF_JOINTS = ("braking", "velocity", "limit", "remembered", "breaking", "rates")
"""Of every joint with friction: its friction, velocity, the most that holds it against what it holds now, the memory of
its law once it is here, of one at rest that does not hold the acceleration that begins, relative, and the sum of the
magnitudes of all that its velocity is the sum of."""

POSE = 7
"""Length of the position of a platform: of its reference point, then the unit quaternion of its axes, scalar first."""


@dataclass(frozen=True)
class Layout:
    """Where the parts of a state are: q, q', memory of friction, work that friction takes, work of actuators.

    `free` freedoms, so many of `joints` with friction and of `actuators`. Of a `platform` q is its pose, position and
    unit quaternion (POSE,) in world axes, q' the free components of its twist, and the work of the load follows.
    """

    free: int
    joints: int
    actuators: int
    platform: bool = False
    signals: int = 0

    @property
    def positions(self) -> int:
        """Length of q."""
        return POSE if self.platform else self.free

    @functools.cached_property
    def at(self) -> Mapping[str, slice]:
        """Rows of `q`, `qd`, `memory`, `loss`, `work`, and of a platform `load_work`."""
        sizes = {"q": self.positions, "qd": self.free, "memory": self.joints, "loss": self.joints}
        return _rows({**sizes, "work": self.actuators, **({"load_work": 1} if self.platform else {})})

    @functools.cached_property
    def of_joints(self) -> Mapping[str, slice]:
        """Rows of OF_JOINTS in the output `joints`."""
        return _rows(dict.fromkeys(OF_JOINTS, self.joints))

    @functools.cached_property
    def acting(self) -> Mapping[str, slice]:
        """Rows of what acts from outside.

        `force` of the actuators, `load` on the platform, `signals` of loads over time, and `base`, where it moves.
        """
        load = len(TWIST) if self.platform else 0
        return _rows({"force": self.actuators, "load": load, "signals": self.signals, "base": MOVING})

    @property
    def moving(self) -> int:
        """Length of q and q'."""
        return self.positions + self.free

    @property
    def size(self) -> int:
        """Length of a state."""
        return max(rows.stop for rows in self.at.values())


def _rows(sizes: Mapping[str, int]) -> dict[str, slice]:
    ends = np.cumsum([0, *sizes.values()])
    return {name: slice(int(a), int(b)) for name, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}


def layout(family: Family, groups: tuple[FrictionGroup, ...]) -> Layout:
    """The layout of a robot's states."""
    mechanism, joints = family.reference, sum(len(each.places) for each in groups)
    sizes = len(mechanism.freedoms), joints, len(mechanism.actuators)
    return Layout(*sizes, platform=not mechanism.is_chain, signals=len(family.signals))


def inputs_of_motion(
    parts: Layout, groups: tuple[FrictionGroup, ...], implicit: bool
) -> tuple[dict[Any, tuple[int, ...]], dict[Any, tuple[int, ...]]]:
    """Inputs per case and per sample that programs of chains and of platforms share."""
    case: dict[Any, tuple[int, ...]] = {"friction": (sum(len(group.parameters) for group in groups),)}
    sample: dict[Any, tuple[int, ...]] = {"state": (parts.size,), "force": (parts.actuators,)}
    sample |= {"modes": (2 * parts.joints,)} | ({"stage": (1 + parts.free + parts.joints,)} if implicit else {})
    return case, sample


def program_name(family: Family, groups: tuple[FrictionGroup, ...], implicit: bool) -> str:
    """Name of the program of a motion."""
    kind = "implicit" if implicit else "explicit"
    name = "-".join(f"{group.law}.{group.load}" for group in groups) or "none"
    return f"{family.name}.motion.{kind}.{name}"


def modes_of(parts: Layout, modes: Array, memory: Array) -> Modes:
    """From `tasks.motion.system.Modes` and the memory of all joints."""
    levels, direction = modes[: parts.joints], modes[parts.joints :]
    resting, loose = ([where(level > bound, 1.0, 0.0) for level in levels] for bound in (0.5, 1.5))
    return Modes(array(resting), array(loose), direction, memory)


def stage_of(parts: Layout, numbers: Array | None) -> Stage:
    """A stage from its numbers; an explicit one without."""
    if numbers is None:
        numbers = np.zeros(1 + parts.free + parts.joints)
    return Stage(numbers[0], numbers[1 : 1 + parts.free], numbers[1 + parts.free :])


def outputs_of_motion(
    family: Family, groups: tuple[FrictionGroup, ...], pushed: Pushed, limbs: Scalar,
    going: Sequence[Scalar], driven: Sequence[Scalar] = (),
) -> dict[str, Any]:  # fmt: skip
    """`rate` of the state, `joints`: OF_JOINTS, `kept_speed` (freedom,): what joints at rest allow, and `status`.

    `dependent` is 1 where the friction of joints at rest is not unique. The rate is that of the modes: joints at rest
    stay there also where `breaking` says that they do not hold, so that it is smooth up to that event and past it.

    Where nothing breaks away, rate and friction belong together: `unbalanced` is 1 where they do not balance the
    forces, as happens at a limit of joints that depend on others in all but a trace, and is no motion either.

    `limbs` is their status, `going` the rate of q, `driven` the power of the load.
    """
    settled = Loads(family, groups, pushed).settled()
    breaking = settled.loaded.breaking(settled.moved)
    status = where(settled.status > 0.5, settled.status, limbs)
    staying = settled.loaded.moved([0.0] * len(pushed.sticking))
    return {
        "rate": [*going, *_rate(pushed, staying, settled.moved.friction), *driven],
        "joints": [x for each in _of_joints(pushed, settled, breaking) for x in each],
        "kept_speed": settled.loaded.kept_speed(),
        "dependent": [settled.loaded.dependent(breaking)],
        "status": [where(pushed.massless, float(Status.SINGULAR), status)],
        "unbalanced": [_unbalanced(pushed, staying, settled.moved.friction, breaking)],
    }


FIRST = ("rate", "joints", "kept_speed", "dependent", "status")
"""Outputs whose bits do not depend on others."""

UNBALANCED = 1e-9
"""What may be missing of the balance of forces, relative to all that they are the sum of, in units of sqrt(M_ii)."""


def _unbalanced(pushed: Pushed, moved: Moved, friction: list[Scalar], breaking: list[Scalar]) -> Scalar:
    if not pushed.sticking or not is_zero(pushed.stage.scale):
        return 0.0
    parts = (
        pushed.mass * array(moved.acceleration),
        pushed.rows.T * array(friction),
        -(pushed.jacobian.T * array(pushed.push)),
        pushed.bias[:, None],
    )
    terms = np.concatenate([array(part) for part in parts], axis=1)
    units = [sqrt(abs(m)) for m in np.diagonal(pushed.mass)]
    size = sum((total(row) / unit for row, unit in zip(terms, units, strict=True)), start=0.0)
    result: Scalar = 0.0
    for row, unit in zip(terms, units, strict=True):
        missing: Scalar = sum(row, start=0.0)
        result = where(abs(missing) > size * unit * UNBALANCED, 1.0, result)
    return where(total(breaking) > 0.0, 0.0, result)


def _rate(pushed: Pushed, moved: Moved, friction: list[Scalar]) -> list[Scalar]:
    taken = [tau * v for tau, v in zip(friction, pushed.velocity, strict=True)]
    driven = [u * v for u, v in zip(pushed.push, pushed.jacobian @ array(pushed.speed), strict=True)]
    return [*moved.acceleration, *moved.memory_rate, *taken, *driven]


def _of_joints(pushed: Pushed, settled: SettledMotion, breaking: list[Scalar]) -> tuple[list[Scalar], ...]:
    joints, velocity, moved = pushed.joints, list(pushed.velocity), settled.moved
    limits = [x.limit(load, tau) for x, load, tau in zip(joints, settled.loaded.loads, moved.friction, strict=True)]
    states = zip(joints, velocity, pushed.modes.rest, pushed.modes.memory, strict=True)
    remembered = [each.remembered(v, still, z) for each, v, still, z in states]
    rates = list(abs(pushed.rows) @ abs(array(pushed.speed)))
    return moved.friction, velocity, limits, remembered, breaking, rates
