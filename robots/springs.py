"""Forces on bodies from outside the mechanism: records of a limb and of a platform, in numbers or symbols.

Loads as a user declares them, with parameters and motions over time, are in `robots.loads`; the wrenches are computed
by `tasks.mechanics.recursion`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

from robots.data_classes import dataclass, fields, replace
from robots.types import BASE, IDENTITY, ZERO, Matrix, Number, Vector

Element = TypeVar("Element", "AppliedWrench", "Spring", "JointSpring", "AppliedWrench | Spring")

Acts = Literal["both", "pull", "push"]
"""Ways in which a spring acts."""


@dataclass(frozen=True)
class ForceLaw:
    """A number of a load that follows from the state of the limb: a function of numbers and of the state, by name.

    `values` are the numbers that it needs. `names` are the quantities of the state that it needs: `q_JOINT` and
    `qd_JOINT` of joints of the limb [rad or m, rad/s or m/s], `q` and `qd` of the joint of a joint spring, and the
    length `s` and its rate `sd` of a spring between points [m, m/s].
    """

    function: Callable[[Mapping[str, Number]], Number]
    values: tuple[tuple[str, Number], ...]
    names: tuple[str, ...]

    def __call__(self, state: Callable[[str], Number]) -> Number:
        """Return the number for a state, a function of the names of its quantities."""
        return self.function({**dict(self.values), **{name: state(name) for name in self.names}})


@dataclass(frozen=True)
class AppliedWrench:
    """A moment [N m] and a force [N] at a point of a body, which is given in its frame [m].

    `body` is a number in `Limb.links`, without meaning for a platform. Components are in the axes of the base, or with
    `turning` in the axes of the body.
    """

    body: int
    point: Vector
    moment: Vector
    force: Vector
    turning: bool = False


@dataclass(frozen=True)
class Spring:
    """The pull of a spring on a point of a body, in its frame, towards a point `anchor` of another one [m].

    `other`: the link of the same limb that has the anchor, in its frame, or the base, in the frame of the robot. A
    spring between two links is two of these. It pulls with preload + stiffness (length - rest_length) + damping (rate
    of the length): [N], [N/m], [m], [N s/m]. Without `damped` velocity does not matter. `acts`: both ways, or
    one-sided: it pulls alone, where it is longer than its rest length (a rope), or pushes alone, where it is shorter (a
    stop).
    """

    body: int
    point: Vector = ZERO
    anchor: Vector = ZERO
    stiffness: Number = 0.0
    rest_length: Number = 0.0
    damping: Number = 0.0
    preload: Number = 0.0
    damped: bool = False
    other: int = BASE
    acts: Acts = "both"

    def reaction(self) -> Spring:
        """Return the element that acts on the other body."""
        return replace(self, body=self.other, point=self.anchor, other=self.body, anchor=self.point)


@dataclass(frozen=True)
class Bushing:
    """Six springs and dampers between a frame of a body and a frame of another one, in the axes of the second.

    The first frame is at `point` of the body and has `axes` (columns, in the body's axes); the second is at `anchor` of
    `other`, the base or a link of the same limb, and has `anchor_axes`. Along them act `stiffness` [N/m] and `damping`
    [N s/m], about them `turn_stiffness` [N m/rad] and `turn_damping` [N m s/rad] on the rotation vector between both
    frames. With `reacts` the element is the reaction on the body of the second frame: `body`, `point` and `axes` then
    describe the second frame, and `other` has the first frame.
    """

    body: int
    point: Vector = ZERO
    axes: Matrix = IDENTITY
    anchor: Vector = ZERO
    anchor_axes: Matrix = IDENTITY
    stiffness: Vector = ZERO
    damping: Vector = ZERO
    turn_stiffness: Vector = ZERO
    turn_damping: Vector = ZERO
    damped: bool = False
    turning: bool = False
    other: int = BASE
    reacts: bool = False

    def reaction(self) -> Bushing:
        """Return the element that acts on the other body."""
        return replace(
            self, body=self.other, point=self.anchor, axes=self.anchor_axes, other=self.body, anchor=self.point,
            anchor_axes=self.axes, reacts=True,
        )  # fmt: skip


ForceElement = AppliedWrench | Spring | Bushing


def laws_of(element: ForceElement | JointSpring) -> dict[str, ForceLaw]:
    """Return the numbers of an element that follow from the state, by field; of vectors none."""
    values = ((entry.name, getattr(element, entry.name)) for entry in fields(element))
    return {name: value for name, value in values if isinstance(value, ForceLaw)}


def state_names(element: ForceElement | JointSpring) -> set[str]:
    """Return the names of the quantities of the state that the numbers of an element need."""
    vectors = (element.moment, element.force) if isinstance(element, AppliedWrench) else ()
    numbers = [x for vector in vectors for x in vector if isinstance(x, ForceLaw)]
    return {name for law in (*numbers, *laws_of(element).values()) for name in law.names}


def state_with(of_load: Mapping[str, Number], of_joints: Callable[[str], Number]) -> Callable[[str], Number]:
    """Return the state as a function of names: quantities of the load itself, else of joints."""
    return lambda name: of_load[name] if name in of_load else of_joints(name)


def at_state(element: Element, state: Callable[[str], Number]) -> Element:
    """Return an element with its numbers at a state, a function of the names of its quantities."""
    if not state_names(element):
        return element
    numbers: dict[str, Number] = {name: law(state) for name, law in laws_of(element).items()}
    if isinstance(element, AppliedWrench):
        for name in ("moment", "force"):
            vector = getattr(element, name)
            numbers[name] = tuple(x(state) if isinstance(x, ForceLaw) else x for x in vector)
    return replace(element, **numbers)


@dataclass(frozen=True)
class JointSpring:
    """A spring along joints of a tree: it acts on the sum of ratios times positions beyond `rest_position`.

    With the sum s [rad or m] it acts with `force` - (stiffness s + damping s'). Within a `backlash` of this width
    around `rest_position` it acts with `force` alone; beyond it, s counts from the end of the backlash. `ratios`: by
    index of the joint.
    """

    ratios: tuple[tuple[int, Number], ...]
    stiffness: Number = 0.0
    damping: Number = 0.0
    rest_position: Number = 0.0
    backlash: Number = 0.0
    force: Number = 0.0
