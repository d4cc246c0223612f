"""A robot family whose links grow with temperature: how much warmer they are is a parameter of the family.

A free body of one temperature grows by the factor 1 + a dT along all of its lines. Its joints and its centre of mass
move by this factor, its inertia grows by the square of the factor, and its mass stays. Joint variables are zero where
they were before, so that drives and sensors read the same. Leads of screws stay.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from functools import cached_property

from robots.arguments import check_arguments
from robots.criteria.selection import link_names, once, platform_link
from robots.data_classes import dataclass, field, replace
from robots.limits import Place, select
from robots.loads.wrapped import ExtendedDescription, LimbGroups, extended
from robots.model import PLATFORM, Closure, Family, Frame, Inertia, Instance, Limb, Link, Mechanism, Robot
from robots.parameter_errors import ParameterError
from robots.parameters import Parameter
from robots.types import BASE, Number, Vector

TEMPERATURE = "link_temperature"
PARAMETER = Parameter(TEMPERATURE, "K", 0.0, -200.0, 400.0, "of links above that at which they were measured")
LARGEST = 1e-3
"""Largest coefficient of expansion [1/K] of a solid body."""
ON_BASE, ON_PLATFORM = "base", "platform"
"""Names of parts that grow and are no links."""

Rates = tuple[tuple[int, float], ...]
"""Coefficients of expansion [1/K] of links of a limb by their number, of BASE and PLATFORM by theirs."""


@dataclass(frozen=True, eq=False)
class WarmedDescription(ExtendedDescription):
    """A family with the temperature of its links as a parameter.

    `limbs` has the coefficients of each group of limbs.
    """

    limbs: LimbGroups[Rates] = field(kw_only=True)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the robot, the parameters, and the coefficients of expansion."""
        grown = (self.limbs.items, self.limbs.sources, self.limbs.groups, self.limbs.names)
        return hashlib.sha256(repr((super().digest, grown)).encode()).hexdigest()

    def changed(self, whole: Mechanism, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism at the temperature of its links."""
        warmer = values[TEMPERATURE]

        def shares(rates: Rates) -> dict[int, Number]:
            return {body: 1.0 + rate * warmer for body, rate in rates}

        split = self.limbs.split(whole, lambda limb, rates: _grown_limb(limb, shares(rates)))
        instances = tuple(
            _grown_mounts(instance, shares(self.limbs.items[instance.limb])) for instance in split.instances
        )
        body = whole.platform
        body = replace(body, inertia=_grown_inertia(body.inertia, shares(self.limbs.items[0]).get(PLATFORM)))
        return replace(split, instances=instances, platform=body)


def _grown_mounts(instance: Instance, shares: Mapping[int, Number]) -> Instance:
    base, platform = (
        _grown_frame(instance.base, shares.get(BASE)),
        _grown_frame(instance.platform, shares.get(PLATFORM)),
    )
    return replace(instance, base=base, platform=platform)


def _grown_limb(limb: Limb, shares: Mapping[int, Number]) -> Limb:
    links = tuple(_grown_link(link, shares.get(link.parent), shares.get(i)) for i, link in enumerate(limb.links))
    loops, tips = (tuple(_grown_closure(cut, shares) for cut in cuts) for cuts in (limb.loops, limb.tips))
    return replace(limb, links=links, loops=loops, tips=tips)


def _grown_link(link: Link, parent: Number | None, growth: Number | None) -> Link:
    return replace(link, placement=_grown_frame(link.placement, parent), inertia=_grown_inertia(link.inertia, growth))


def _grown_closure(cut: Closure, shares: Mapping[int, Number]) -> Closure:
    frame_a, frame_b = _grown_frame(cut.frame_a, shares.get(cut.a)), _grown_frame(cut.frame_b, shares.get(cut.b))
    return replace(cut, frame_a=frame_a, frame_b=frame_b)


def _grown_frame(frame: Frame, share: Number | None) -> Frame:
    return frame if share is None else replace(frame, position=_times(frame.position, share))


def _grown_inertia(inertia: Inertia, share: Number | None) -> Inertia:
    if share is None:
        return inertia
    x, y, z = (_times(row, share * share) for row in inertia.tensor)
    return Inertia(inertia.mass, _times(inertia.centre, share), (x, y, z))


def _times(vector: Vector, share: Number) -> Vector:
    """Multiply numbers by a factor; zeros stay exact, so that programs leave them out."""
    x, y, z = (x if isinstance(x, float | int) and x == 0.0 else x * share for x in vector)
    return (x, y, z)


def warmed(family: Family, expansion: Mapping[str, float]) -> WarmedDescription:
    """Return the family with the parameter `link_temperature` [K], default zero: its reference is as measured.

    expansion: coefficients [1/K] under `all` links, names and patterns of links, `base` and `platform`. Raises
    ParameterError.
    """
    mechanism = family.reference
    if family.signals or mechanism.has_forces:
        raise ParameterError(f"{family.name} has loads; expected a robot without loads; add its loads after its growth")
    rates, beside = _rates(mechanism, expansion)
    for k, instance in enumerate(mechanism.instances):
        for drive in mechanism.limbs[instance.limb].drives:
            if not drive.constant and (beside or any(limb == k for limb, _ in rates)):
                raise ParameterError(
                    f"the position of drive {drive.name} is a function of joints, and it is unknown how that grows; "
                    "expected growth of limbs whose drives have constant ratios"
                )
    growths = [
        tuple(sorted((i, rate) for (k, i), rate in rates.items() if k == limb))
        for limb in range(len(mechanism.instances))
    ]
    groups = LimbGroups.of(mechanism, [(*beside, *table) for table in growths])
    return WarmedDescription(*extended(family, (PARAMETER,)), base=family, limbs=groups)


def _rates(mechanism: Mechanism, expansion: Mapping[str, float]) -> tuple[dict[Place, float], Rates]:
    """Return the coefficients of the links, and of base and platform. Raises ParameterError."""
    rates: dict[Place, float] = {}
    beside: list[tuple[int, float]] = []
    for pattern, rate in expansion.items():
        if not (math.isfinite(rate) and abs(rate) <= LARGEST):
            raise ParameterError(
                f"expansion {pattern}: got {rate!r}; expected a number from {-LARGEST:g} to {LARGEST:g}"
            )
        names, bodies = link_names(mechanism), {ON_BASE: BASE, ON_PLATFORM: PLATFORM}
        if pattern in bodies and not any(name.split(".")[-1] == pattern for name in names):
            plate = platform_link(mechanism)
            if pattern == ON_PLATFORM and mechanism.is_chain and plate is None:
                raise ParameterError("expansion platform: got a platform of a chain; expected links, or base")
            if pattern == ON_PLATFORM and plate is not None:
                once(rates, "expansion", pattern, {(0, plate): rate})
            else:
                beside.append((bodies[pattern], rate))
        else:
            once(rates, "expansion", pattern, dict.fromkeys(select(names, pattern, "link"), rate))
    if not rates and not beside:
        raise ParameterError("expansion: got none; expected coefficients of links, base or platform")
    return rates, tuple(sorted(beside))


@check_arguments
def with_warm_links(robot: Robot, *, expansion: Mapping[str, float], temperature: float = 0.0) -> Robot:
    """Return the robot with links that grow with `temperature` [K] above the temperature of their measurement.

    expansion: coefficients [1/K] under `all`, names and patterns of links, `base` and `platform`; parts without a
    coefficient keep their size. `link_temperature` is a parameter of the result. Joint variables keep their zero
    positions, so that positions of actuators agree with readings of sensors. Raises ParameterError.

        >>> cold = ls.robots.build("delta_3rr2rrr")
        >>> warm = ls.robots.with_warm_links(cold, expansion={"arm": 23e-6, "rod_*": 1e-6}, temperature=30.0)
        >>> q = [ls.actuator_positions(robot, position=[0.0, 0.0, -0.9]).position for robot in (cold, warm)]
        >>> (1e3 * (q[1] - q[0])).round(3)  # [mrad] to hold the platform in its place
        array([0.252, 0.252, 0.252])
    """
    return Robot.of(warmed(robot.family, expansion).family, {**robot.values, TEMPERATURE: temperature})
