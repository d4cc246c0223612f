"""Errors of the parts of a robot: what moves its platform although its actuators stand where they should.

Plain data, all in SI. Errors are independent of each other, in each limb by itself; growth with temperature is certain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robots.criteria.elasticity import once
from robots.criteria.selection import joint_names, link_names, select
from robots.limits import Place, select_actuators
from robots.model import Mechanism
from robots.parameters import ParameterError

FLANKS = 0.5
"""Standard deviation of a play of width 1, of which one flank or the other touches."""
STEP = 1.0 / math.sqrt(12.0)
"""That of a value that is rounded to steps of 1."""


@dataclass(frozen=True)
class Errors:
    """Variances, by number of actuators, and by number of the limb and in `Limb.joints` or `Limb.links`.

    joints and links (6,): of turns [rad^2] and shifts [m^2]. Those of a joint are in the axes of the frame that moves
    with its child, of a cut joint in its frame a; those of a link are from the hub of an arm to its end, in the axes of
    the link. lengths: of arms along themselves [m^2]; growth: strain of links with temperature.

        >>> robot = ls.robots.build("five_bar")
        >>> play = ls.robots.Errors.of(robot.mechanism, backlash={"all": 1e-4}, lengths={"all": 2e-5})
    """

    actuators: Mapping[int, float] = field(default_factory=dict)
    joints: Mapping[Place, tuple[float, ...]] = field(default_factory=dict)
    links: Mapping[Place, tuple[float, ...]] = field(default_factory=dict)
    lengths: Mapping[Place, float] = field(default_factory=dict)
    growth: Mapping[Place, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        *,
        resolution: Mapping[str, float] | None = None,
        backlash: Mapping[str, float] | None = None,
        joints: Mapping[str, Sequence[float]] | None = None,
        links: Mapping[str, Sequence[float]] | None = None,
        lengths: Mapping[str, float] | None = None,
        expansion: Mapping[str, float] | None = None,
        warming: float = 0.0,
    ) -> Errors:
        """From standard deviations under names and patterns, such as `all`, `arm`, `limb1.arm`.

        resolution: step of the actuators' encoders, and backlash: width of their play, both [rad or m], of which the
        standard deviations are 1 / sqrt(12) and a half; joints and links: three turns [rad], three shifts [m]; lengths
        [m]; expansion [1/K] of links that are `warming` [K] hotter than where they were measured. A tolerance of +- t
        that three standard deviations fill is t / 3. Each is selected once for its kind. Raises ParameterError.
        """
        driven: dict[int, float] = {}
        for name, table, share in (("resolution", resolution, STEP), ("backlash", backlash, FLANKS)):
            own: dict[int, float] = {}
            for pattern, value in (table or {}).items():
                _check(f"{name} {pattern}", (value,))
                hits = select_actuators(mechanism, pattern)
                once(own, name, pattern, dict.fromkeys(hits, (share * value) ** 2))
            for actuator, variance in own.items():
                driven[actuator] = driven.get(actuator, 0.0) + variance
        bearings: dict[Place, tuple[float, ...]] = {}
        bodies: dict[Place, tuple[float, ...]] = {}
        for kind, sixes, names, into in (
            ("joint", joints, joint_names(mechanism), bearings),
            ("link", links, link_names(mechanism), bodies),
        ):
            for pattern, six in (sixes or {}).items():
                _check(f"{kind}s {pattern}", six, 6)
                places = select(names, pattern, kind)
                once(into, f"{kind}s", pattern, dict.fromkeys(places, tuple(x * x for x in six)))
        long: dict[Place, float] = {}
        for pattern, value in (lengths or {}).items():
            _check(f"lengths {pattern}", (value,))
            places = select(link_names(mechanism), pattern, "link")
            once(long, "lengths", pattern, dict.fromkeys(places, value * value))
        if not math.isfinite(warming):
            raise ParameterError(f"warming: got {warming!r}; expected a finite difference of temperature")
        strains: dict[Place, float] = {}
        for pattern, value in (expansion or {}).items():
            _check(f"expansion {pattern}", (value,))
            places = select(link_names(mechanism), pattern, "link")
            once(strains, "expansion", pattern, dict.fromkeys(places, value * warming))
        return cls(driven, bearings, bodies, long, strains)

    def alone(self, kind: str, key: int | Place) -> Errors:
        """One entry of one field, and nothing else."""
        table: dict[str, Any] = {kind: {key: getattr(self, kind)[key]}}
        return Errors(**table)


def _check(name: str, values: Sequence[float], count: int = 1) -> None:
    if len(values) != count or not all(0.0 <= x < math.inf for x in values):
        expected = "a finite number, zero or more" if count == 1 else f"{count} finite numbers, zero or more"
        raise ParameterError(f"{name}: got {list(values)!r}; expected {expected}")
