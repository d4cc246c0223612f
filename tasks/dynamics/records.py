"""Records of a call: the state or motion of a robot, its environment, and the forces on it beside gravity.

Fields are arrays with any leading batch dims, (*batch, core...), SI units. The public functions of `limbsweep` also
take DataArrays. Missing values default to zero; a missing pose defaults to the reference pose.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypedDict, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import real_numbers, shown
from robots.criteria.elasticity import Elasticity
from robots.data_classes import dataclass, fields
from robots.model import Robot
from robots.parameter_errors import nearest
from robots.types import LoadAxes
from tasks.features.friction.inputs import Friction

GRAVITY = (0.0, 0.0, -9.81)

Timed = ArrayLike | Callable[[float], ArrayLike]
"""An array with any leading batch dims, or, for `simulate`, a function of time [s] that gives one."""

Acting = ArrayLike | Callable[..., ArrayLike]
"""Forces (*batch, actuator): an array; for `simulate` a function of time [s], or one of time (*batch,) and the state.

The state of a chain is q and qd (*batch, freedom). The state of a parallel robot is position (*batch, 3), rotation
(*batch, 3, 3) and twist (*batch, 6) of its platform."""


@runtime_checkable
class ServoLike(Protocol):
    """A controller that acts once in each step of `simulate`: that of `limbsweep.servo`."""

    def loop(self, samples: int, step: float, gravity: ArrayLike, start: float = 0.0) -> Any:
        """Return the controller of a number of samples from the first step on, at the time `start` [s]."""


@dataclass(frozen=True)
class WoundActing:
    """Command of a robot's motors with an inductance, and the function that adds currents to equations of motion."""

    robot: Robot
    command: Acting | ServoLike
    through: Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class SuppliedActing:
    """Forces of a robot's motors on a supply, as a function of time and state."""

    robot: Robot
    forces: Callable[..., ArrayLike]

    @property
    def __signature__(self) -> inspect.Signature:
        """The arguments of the function."""
        return inspect.signature(self.forces)

    def __call__(self, *seen: np.ndarray) -> ArrayLike:
        """Return the forces at a time and state."""
        return self.forces(*seen)


class Record:
    """Named values of a call, none of which changes; `prefix` tells its fields from those of other records."""

    prefix: ClassVar[str] = ""

    def present(self) -> dict[str, Any]:
        """Return the values that are not absent, by name."""
        named = {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, kw_only=True, eq=False)
class State(Record):
    """State of a robot: pose and twist of a platform, or positions and rates of joints of a chain.

    For a parallel robot, the state of its platform: position (*batch, 3) [m]; rotation (*batch, 3, 3); twist (*batch,
    6) as (angular, linear) of the reference point; all in world axes, relative to the base; at least one of them. The
    platform does not move along components of the twist that `Platform.mobility` does not name. For a chain, the state
    of its independent joints: positions q and rates qd (*batch, freedom) [rad or m]; q is required. Their order is
    `Mechanism.freedoms`, the order of the tree. Forces and other values of actuators have the order
    `Mechanism.actuators`, which may differ.

    time (*batch,) [s], for a robot whose own loads change with time, see `robots.loads`; memory (*batch, joint with
    friction), the state of friction laws with a state (absent: relaxed bristles, stiction at rest).

        >>> ls.State(q=[0.1, 0.2, 0.3]).present()
        {'q': [0.1, 0.2, 0.3]}
    """

    position: ArrayLike | None = None
    rotation: ArrayLike | None = None
    twist: ArrayLike | None = None
    q: ArrayLike | None = None
    qd: ArrayLike | None = None
    time: ArrayLike | None = None
    memory: ArrayLike | None = None

    @property
    def moving(self) -> Moving:
        """Parts of the motion by name, without time and memory."""
        parts = self.present()
        return cast(Moving, {name: parts[name] for name in Moving.__annotations__ if name in parts})


@dataclass(frozen=True, kw_only=True, eq=False)
class Motion(State):
    """Motion of a robot: a state, and acceleration (*batch, 6), the time derivative of the twist, or of joints qdd.

    The motion of a base in the world has only a rotation, from axes of the base to axes of the world, and a twist and
    an acceleration of its origin in axes of the world; for `simulate` these may be functions of time.

        >>> robot = ls.robots.build("planar_3r")
        >>> ls.inverse_dynamics(robot, ls.Motion(q=[0.1, 0.2, 0.3], qdd=[1.0, 0.0, 0.0])).force.shape
        (3,)
    """

    acceleration: ArrayLike | None = None
    qdd: ArrayLike | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Environment(Record):
    """Surroundings of a robot: gravity (3,) [m/s^2] in axes of the world, and the motion of the base (absent: none).

    All other inputs and results are relative to the base and in its axes.

        >>> robot = ls.robots.build("planar_3r")
        >>> falling = ls.Environment(base=ls.Motion(acceleration=[0.0, 0.0, 0.0, 0.0, 0.0, -9.81]))
        >>> ls.inverse_dynamics(robot, ls.Motion(q=[0.1, 0.2, 0.3]), environment=falling).force
        array([0., 0., 0.])
    """

    gravity: ArrayLike = GRAVITY
    base: Motion | None = None

    def __post_init__(self) -> None:
        if self.base is None:
            return
        check_record("base", self.base, Motion)
        if strange := [name for name in self.base.present() if name not in BASE_PARTS]:
            raise ValueError(f"base: got {strange[0]}; expected {', '.join(BASE_PARTS)}: a base turns and accelerates")

    @property
    def base_parts(self) -> dict[str, Any]:
        """Motion of the base by name of its parts; empty for a base at rest."""
        return {} if self.base is None else self.base.present()


@dataclass(frozen=True, kw_only=True, eq=False)
class Forces(Record):
    """Forces on a robot beside gravity, and the rule that shares them where statics leaves a choice.

    actuator (*batch, actuator) [N m or N]: forces of actuators, for functions with this input; for `simulate` also a
    servo. load (*batch, 6): external (moment, force) on the platform at its reference point, in the axes `load_axes`,
    "world" or "platform". friction of joints: see `tasks.features.friction.inputs`.

    weights (actuator,), for a robot with more actuators than freedoms: frictionless forces have the least sum of weight
    times square; absent: one each. elasticity of joints and links: it determines reactions that an overconstrained
    mechanism leaves open, and friction that depends on them.

        >>> robot = ls.robots.build("five_bar")
        >>> pull = ls.Forces(load=[0.0, 0.0, 0.0, 0.0, 0.0, -10.0])
        >>> ls.inverse_dynamics(robot, position=[0.05, 0.0, -0.6], forces=pull).force.shape
        (2,)
    """

    actuator: Acting | ServoLike | WoundActing | None = None
    load: Timed | None = None
    load_axes: LoadAxes = "world"
    friction: Friction = None
    weights: ArrayLike | None = None
    elasticity: Elasticity | None = None


@dataclass(frozen=True)
class FixedSteps:
    """Constant steps of a simulation: `step` [s], and `steps` of them from the time `start` [s] on.

    Every n-th is kept, the start included. method: one of `tasks.dynamics.step_methods.METHODS`, or
    `spanning_tree`, which goes through singular points; absent: `rosenbrock` where there are bristles, else `rk4`.
    Raises ValueError for numbers that are not above zero.
    """

    step: float
    steps: int
    every: int = 1
    method: str | None = None
    start: float = 0.0

    def __post_init__(self) -> None:
        if not self.step > 0 or min(self.steps, self.every) < 1:
            got = f"{self.step!r}, {self.steps!r}, {self.every!r}"
            raise ValueError(f"step, steps, every: got {got}; expected all above zero")


@dataclass(frozen=True)
class AdaptiveSteps:
    """Adaptive steps with a relative (`rtol`) and absolute (`atol`) error, and the `times` (kept,) [s] of results.

    balance: largest error of the energy balance for the status OK, relative to the largest energy or work in it;
    absent: `tasks.dynamics.simulate.BALANCE`. solver: one of `tasks.dynamics.simulate.SOLVERS`; absent: Radau for
    friction that is smooth but may be stiff, else DOP853, which needs a quarter of the time if bristles are not stiff.
    Raises ValueError for times that do not ascend.
    """

    times: ArrayLike
    rtol: float = 1e-10
    atol: float = 1e-12
    balance: float | None = None
    solver: str | None = None

    def __post_init__(self) -> None:
        instants = self.instants
        if instants.ndim != 1 or len(instants) < 2 or not (np.diff(instants) > 0).all():
            raise ValueError(f"times: got {self.times!r}; expected at least two, ascending")

    @property
    def instants(self) -> np.ndarray:
        """The times as an array."""
        return np.asarray(self.times, dtype=float)


CRAWLING, WAY_ON = 20_000, 1e-3
"""Evaluations in which a case has to advance by this share of the whole time; a slower case ends."""


class Effort:
    """Evaluations of a case that lasts so long [s], and whether they lead anywhere."""

    def __init__(self, whole: float):
        self.whole, self.evaluations = whole, 0
        self._mark = 0, -np.inf

    def crawls(self, time: float) -> bool:
        """Return whether the case has hardly advanced in its last evaluations."""
        if time >= self._mark[1] + WAY_ON * self.whole:
            self._mark = self.evaluations, time
        return self.evaluations > self._mark[0] + CRAWLING


class Moving(TypedDict, total=False):
    """Motion of a robot by name of its parts, see `State` and `Motion`."""

    position: ArrayLike | None
    rotation: ArrayLike | None
    twist: ArrayLike | None
    acceleration: ArrayLike | None
    q: ArrayLike | None
    qd: ArrayLike | None
    qdd: ArrayLike | None


class MotionKeywords(Moving, total=False):
    """Short form of a call: the fields of a `Motion`, and gravity, as keywords.

    Kinematics and dynamics have the same keywords. Gravity has no effect on results of kinematics.
    """

    time: ArrayLike | None
    memory: ArrayLike | None
    gravity: ArrayLike


class DrivenKeywords(TypedDict, total=False):
    """Short form of a simulation: fields of a `State` and of `Forces`, gravity and the motion of the base."""

    position: ArrayLike | None
    rotation: ArrayLike | None
    twist: ArrayLike | None
    q: ArrayLike | None
    qd: ArrayLike | None
    memory: ArrayLike | None
    load: Timed | None
    load_axes: LoadAxes | None
    friction: Friction
    elasticity: Elasticity | None
    gravity: ArrayLike
    base_rotation: Timed | None
    base_twist: Timed | None
    base_acceleration: Timed | None


BASE_PARTS: Mapping[str, tuple[int, ...]] = {"rotation": (3, 3), "twist": (6,), "acceleration": (6,)}
"""Parts of the motion of a base, with the shape of one sample."""
STANDING = Environment()
NO_FORCES = Forces()


def gravity_vector(gravity: ArrayLike) -> np.ndarray:
    """Return gravity (3,) [m/s^2]. Raises ValueError for another shape."""
    try:
        result = real_numbers(gravity)
    except (TypeError, ValueError):
        raise ValueError(f"gravity: got {shown(gravity)}; expected (3,), a vector of the world [m/s^2]") from None
    if result.shape != (3,):
        raise ValueError(f"gravity: got an array of shape {result.shape}; expected (3,), a vector of the world [m/s^2]")
    return result


TIMELESS = ("time", "memory")
"""Keywords of a motion that functions of one instant without friction do not depend on."""


def long_form(
    motion: State | None, environment: Environment, short: MotionKeywords, unused: Sequence[str] = ()
) -> tuple[Motion, Environment]:
    """Return motion and environment of a call, from its records or from their short form.

    unused: keywords that have no effect on the function and are refused; a record may have them. Raises TypeError for
    an unknown keyword, ValueError for both forms of the same argument, and for an object that is no record.
    """
    parts = dict(cast("dict[str, Any]", short))
    for name in parts:
        if name not in _SHORT:
            raise TypeError(f"{name}: no argument has this name; {_advice(name)}")
        if name in unused and parts[name] is not None:
            raise ValueError(f"{name}: got it, on which the result does not depend; leave it out")
    check_record("environment", environment, Environment)
    if "gravity" in parts:
        if environment is not STANDING:
            raise ValueError("gravity: got it beside an environment; expected it in limbsweep.Environment")
        environment = Environment(gravity=gravity_vector(parts.pop("gravity")))
    if motion is None:
        return Motion(**parts), environment
    check_record("motion", motion, State)
    if parts:
        rule = "expected it in the motion, such as limbsweep.Motion(position=..., acceleration=...), or all as keywords"
        raise ValueError(f"{next(iter(parts))}: got it beside a motion; {rule}")
    return motion if isinstance(motion, Motion) else Motion(**motion.present()), environment


_SHORT = tuple(MotionKeywords.__annotations__)
_IN_RECORDS = {**dict.fromkeys((field.name for field in fields(Forces)), "Forces"), "base": "Environment"}


def _advice(name: str) -> str:
    if name in _IN_RECORDS:
        return f"expected {name} in limbsweep.{_IN_RECORDS[name]}"
    return nearest(name, _SHORT)


def records_of(force: Acting | ServoLike, short: DrivenKeywords) -> tuple[State, Forces, Environment]:
    """Return the records of a simulation from its short form. Raises TypeError for a keyword that is no part of it."""
    parts = {name: part for name, part in short.items() if part is not None}
    for name in parts:
        if name not in DrivenKeywords.__annotations__:
            raise TypeError(f"{name}: no argument has this name; {nearest(name, DrivenKeywords.__annotations__)}")
    base = {name: parts.pop(f"base_{name}") for name in BASE_PARTS if f"base_{name}" in parts}
    surroundings = {"gravity": parts.pop("gravity")} if "gravity" in parts else {}
    state = {field.name: parts.pop(field.name) for field in fields(State) if field.name in parts}
    environment = Environment(**cast(Any, surroundings), base=Motion(**cast(Any, base)) if base else None)
    return State(**cast(Any, state)), Forces(actuator=force, **cast(Any, parts)), environment


def check_record(name: str, value: object, kind: type[object]) -> None:
    """Raise ValueError for an argument that is no record of a kind."""
    if not isinstance(value, kind):
        got = repr(value) if isinstance(value, str) else f"an object of type {type(value).__name__}"
        raise ValueError(f"{name}: got {got}; expected a limbsweep.{kind.__name__}")
