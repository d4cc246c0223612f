"""Groups of joints with friction: the joints of a group share a law, the origin of the normal load, and parameters.

A group has the parameters of its law, then the parameters of its load. Plain data; the mathematics is in
`tasks.features.friction.joints`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from robots.data_classes import dataclass
from robots.dims import FRICTION
from robots.friction.laws import LAWS
from robots.limits import MOTOR, JointPlace, matches, places
from robots.model import Mechanism
from robots.parameter_errors import ParameterError, nearest
from robots.parameters import LARGEST, Parameter
from robots.quantities import Quantity
from robots.types import JointKind

Value = TypeVar("Value")

_SMALL = 1e-9
_PRELOAD = "normal torque or force that is always there"

LOADS: Mapping[str, tuple[Parameter, ...]] = {
    "constant": (),
    "preload": (Parameter("preload", "N m or N", 1.0, 0.0, LARGEST, _PRELOAD),),
    "reaction": (
        Parameter("friction_arm", "m", 0.01, _SMALL, LARGEST, "R_n: arm of the force along a revolute axis"),
        Parameter("pin_radius", "m", 0.01, _SMALL, LARGEST, "R_p: radius of the pin of a revolute joint"),
        Parameter("bending_arm", "m", 0.05, _SMALL, LARGEST, "R_b: distance of the bearings that take a moment"),
        Parameter("preload", "N m or N", 0.0, 0.0, LARGEST, _PRELOAD),
    ),
    "gear": (Parameter("efficiency", "1", 1.0, 1e-3, 1.0, "share of the power that its gear passes on, either way"),),
}
"""Sources of the normal load of a joint, and their parameters. Constant: 1, so that parameters are forces.

Gear, for actuators alone: the law is the friction of the motor, with normal load 1, and a gear behind it loses a share
of the power. An actuator that drives needs 1 / efficiency times the power that reaches the robot. An actuator that is
driven receives the share efficiency of the robot's power.
"""


SELECTIONS = ("actuated", "passive", "all")


@dataclass(frozen=True)
class FrictionGroup:
    """Joints with the same friction law; `parameters` are the names of its parameters in order, `name` may be empty."""

    name: str
    law: str
    load: str
    places: tuple[JointPlace, ...]
    parameters: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse gears whose friction at rest no law of a sharp sign decides. Raises ParameterError."""
        bends = self.remembers and not LAWS[self.law].sticks
        if self.load == "gear" and (bends or "width" in self.parameters):
            what = "a width" if "width" in self.parameters else f"law {self.law}, whose bristles give way at rest"
            raise ParameterError(
                f"load: got gear with {what}; expected a law without bristles and without width: a gear holds at rest"
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of its parameters in the axes of a sweep: behind the name of the group, where it has one."""
        return tuple(f"{self.name}_{name}" if self.name else name for name in self.parameters)

    @property
    def remembers(self) -> bool:
        """Return whether the friction at an instant depends on the motion before it."""
        return LAWS[self.law].state > 0

    @property
    def sticks(self) -> bool:
        """Return whether the joints stick (zero velocity, friction below its bound)."""
        return (LAWS[self.law].sticks or self.load == "gear") and "width" not in self.parameters

    @property
    def stiff(self) -> bool:
        """Return whether the friction is smooth in time, but changes fast near zero velocity."""
        return LAWS[self.law].dry and not self.sticks

    def of_law(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return the `values` of its parameters without the parameters of its load."""
        of_load = {parameter.name for parameter in LOADS[self.load]}
        return {name: value for name, value in values.items() if name not in of_load}


def kinds(mechanism: Mechanism, group: FrictionGroup) -> Iterator[JointKind]:
    """Yield the kinds of the joints and drives of a friction group."""
    for place in group.places:
        limb = mechanism.limbs[mechanism.instances[place.limb].limb]
        if place.joint == MOTOR:
            yield mechanism.actuator_kinds[place.actuator]
        else:
            yield limb.joint_kinds[place.joint].name


def settles(groups: Iterable[FrictionGroup]) -> bool:
    """Return whether friction and reactions of passive joints depend on each other.

    A sample may then fail by friction.
    """
    return any(place.actuator < 0 for group in groups if group.load == "reaction" for place in group.places)


def varies(quantity: Quantity, groups: Iterable[FrictionGroup]) -> bool:
    """Return whether a quantity of a robot changes with the friction of these groups.

    Only a quantity that changes has the dim `friction`.
    """
    if FRICTION not in quantity.dims or quantity.varies == "with friction":
        return FRICTION in quantity.dims
    if quantity.varies == "where friction settles":
        return settles(groups)
    return any(place.actuator < 0 for group in groups for place in group.places)


def group_parameters(law: str, load: str, options: Iterable[str] = ()) -> tuple[Parameter, ...]:
    """Return the parameters of a group: of the law with those `options`, then of the load."""
    return (*LAWS[law].inputs(options), *LOADS[load])


def select(mechanism: Mechanism, selection: str | Sequence[str], load: str = "constant") -> tuple[JointPlace, ...]:
    """Return the selected joints: `actuated`, `passive`, `all`, or names and patterns such as `limb_1.*` and `*.elbow`.

    A name without limb selects the joint of that name in every limb. Only joints with one variable have friction. In a
    robot with drives, `actuated` selects the motors, and all joints are passive. Raises ParameterError for a selection
    without joints, for joints with several variables that are named in full, for motors with the `load` reaction, and
    for joints without actuator with the `load` gear.
    """
    result = _selected(places(mechanism), selection)
    if load == "gear" and any(place.actuator < 0 for place in result):
        raise ParameterError(
            f"load: got gear for {selection!r}, which has passive joints among it; expected actuators alone, such as "
            "'actuated'; give passive joints a group of their own"
        )
    if load == "reaction" and any(place.joint == MOTOR for place in result):
        raise ParameterError(
            f"load: got reaction for {selection!r}, which has motors among it; expected constant or preload, as the "
            "load on the bearings of a drive is not known; name passive joints, or give motors a group of their own"
        )
    return result


def _selected(
    joint_places: Mapping[str, tuple[JointPlace, bool]], selection: str | Sequence[str]
) -> tuple[JointPlace, ...]:
    if isinstance(selection, str) and selection in SELECTIONS:
        kinds = {"actuated": (True,), "passive": (False,), "all": (True, False)}[selection]
        return tuple(place for place, simple in joint_places.values() if simple and (place.actuator >= 0) in kinds)
    result: dict[JointPlace, None] = {}
    for pattern in [selection] if isinstance(selection, str) else selection:
        hits = {name: place for name, place in joint_places.items() if matches(name, pattern)}
        if not hits:
            raise ParameterError(f"no joint is called {pattern!r}; {nearest(pattern, (*SELECTIONS, *joint_places))}")
        if not any(simple for _, simple in hits.values()):
            raise ParameterError(f"joint {pattern!r} has several variables; friction laws are for joints with one")
        result |= dict.fromkeys(place for place, simple in hits.values() if simple)
    return tuple(result)
