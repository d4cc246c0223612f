"""A robot whose loads change over time as it is at one instant: what changes are parameters of the family."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from robots.loads.family import signal_values
from robots.loads.wrapped import ExtendedDescription
from robots.model import Family, Mechanism, Robot
from robots.parameters import Parameter, ParameterError
from robots.types import Number


@dataclass(frozen=True, eq=False)
class FrozenDescription(ExtendedDescription):
    """A family whose signals are parameters, by the same names."""

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """The mechanism for values of the parameters: floats, arrays or symbols."""
        assert self.base is not None
        return self.base.assemble(values)

    @property
    def family(self) -> Family:
        """The family; one for all equal descriptions of a process, so that kernels are compiled once."""
        return _family(self)


@functools.lru_cache(maxsize=64)
def _family(description: FrozenDescription) -> Family:
    assert description.base is not None
    return replace(description.base, parameters=description.parameters, assemble=description, signals=())


def at_time(robot: Robot, time: float) -> Robot:
    """The robot with the loads of one time [s], which stay as they are there.

    It is a robot like any other, with constant loads, for functions that take no time: `forward_dynamics`,
    `linearisation`, `equations_of_motion`, `c_code`. All instants are of one family, so kernels are compiled once.
    `simulate` and `accelerate` know the time and need none of it. A robot whose loads do not change is given back as it
    is. Raises ParameterError for a time that is not finite.

        >>> grasped = {"part": ls.robots.ObjectLoad("link_3", 2.0, start=0.5)}
        >>> arm = ls.robots.with_loads(ls.robots.build("planar_3r"), grasped)
        >>> state = {"q": np.zeros(3), "force": [10.0, 0.0, 0.0]}
        >>> free, holding = (ls.forward_dynamics(ls.robots.at_time(arm, t), **state)[0] for t in (0.0, 0.5))
        >>> bool(abs(holding) < abs(free))
        True
    """
    family = robot.family
    if not math.isfinite(time):
        raise ParameterError(f"time: got {time!r}; expected a finite number [s]")
    if not family.signals:
        return robot
    more = [
        Parameter(name, "s" if name == "t" else "", 0.0, text="of loads, at one instant") for name in family.signals
    ]
    description = FrozenDescription(
        family.name, family.title, family.source, (*family.parameters, *more), (), family.reference, base=family
    )
    values = dict(zip(family.signals, map(float, signal_values(family, time)), strict=True))
    return Robot.of(description.family, {**robot.values, **values})
