"""Numbers of a sweep's limits as parameters, so that a study gives the remaining share and the cost of each.

Each number is multiplied by a parameter of its own, whose value is 1: a torque limit, or half of the range of a joint
about its middle. Limits of controllers, such as the largest force of a drive, are parameters already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from applications.studies.problem import DesignProblem
from pipeline.sweep.model import Sweep
from robots.controllers import parameter_of
from robots.data_classes import replace
from robots.expressions.expression import parse
from robots.formulas import Formula, names_of
from robots.joint_kinds import JOINT_KINDS, Units
from robots.limits import Capacity, JointLimit, Limits, joints
from robots.loads.wrapped import varied
from robots.model import Mechanism
from robots.parameters import LARGEST, Parameter
from robots.quantities import Need, needs

PREFIX = "limit_scale_"
"""Beginning of the names of the parameters; more underscores where a robot has such a parameter."""
UNLIMITED = 1e9
"""Factor that removes a limit."""
MARGINS: Mapping[str, tuple[Need, str]] = {
    **dict.fromkeys(("force", "velocity", "power"), ("actuator limits", "actuator_margin")),
    **dict.fromkeys(("current", "voltage"), ("supply", "supply_margin")),
    "rated_current": ("rated currents", "thermal_margin"),
    **dict.fromkeys(("acceleration", "jerk"), ("path limits", "")),
}
"""Need of quantities for each limit of actuators, and the metric of its margin; empty without one."""
OF_JOINTS: Mapping[str, tuple[Need, str]] = {
    "range": ("joint ranges", "limit_margin"),
    "velocity": ("joint rates", "velocity_margin"),
}
OF_DRIVES: Mapping[str, str] = {"force_limit": "peak_force", "rate_limit": ""}
"""Limits of controllers, with the metric of the used share of each."""
WITHOUT_UNIT = {"power": "W", "current": "A", "voltage": "V", "rated_current": "A"}


class LimitNumber(NamedTuple):
    """Number of the limits: its parameter, its words, its ends in SI with their unit, its need and metric of a margin.

    With `on_paths` it is one that fastest motions along paths keep, with `is_swept` one that swept parameters decide.
    value: of the parameter. places: the actuators of a controller's limit, on which all metrics of simulations depend.
    """

    parameter: str
    words: str
    ends: tuple[float, ...]
    unit: str
    need: Need
    margin: str
    on_paths: bool
    is_swept: bool
    value: float = 1.0
    places: tuple[int, ...] = ()

    @property
    def fails(self) -> bool:
        """Return whether samples beyond it fail."""
        return self.need == "joint ranges"

    def decides(self, metrics: Sequence[str]) -> bool:
        """Return whether one of some metrics follows from the number."""
        if self.places:
            return True
        every = {need for metric in metrics for need in needs(metric)}
        return self.need in every or (self.on_paths and "path limits" in every)


def scaled_limits(sweep: Sweep, design: Mapping[str, object]) -> tuple[Sweep, tuple[LimitNumber, ...]]:
    """Return the sweep with a parameter for each number of its limits, and these as they are for a design by name."""
    groups, of_drives = [*_of_actuators(sweep), *_of_joints(sweep)], tuple(_of_controller(sweep))
    if not groups:
        return sweep, of_drives
    prefix, names = PREFIX, {parameter.name for parameter in sweep.family.parameters}
    while any(name.startswith(prefix) for name in names):
        prefix += "_"
    limits, numbers, constants = sweep.limits, [], sweep.parameters
    constants |= {name: float(x) for name, x in design.items() if name in constants and isinstance(x, int | float)}
    actuators, ranges = dict(limits.actuators), dict(limits.joints)
    for k, (key, places, words, unit, (need, margin)) in enumerate(groups):
        name = f"{prefix}{k}"
        scale = Formula.of(parse(name, "number"), {name: 1.0})
        target: dict[Any, Any] = actuators if isinstance(places[0], int) else ranges
        ends = _ends(target[places[0]], key)
        for place in places:
            target[place] = _scaled(target[place], key, scale)
        own_ends = tuple(float(end(constants)) if isinstance(end, Formula) else float(end) for end in ends)
        on_paths = need not in ("joint ranges", "rated currents")
        is_swept = bool({*names_of(ends)} & {*sweep.design.names})
        numbers.append(LimitNumber(name, words, own_ends, unit, need, margin, on_paths, is_swept))
    more = [Parameter(number.parameter, "1", 1.0, 0.0, LARGEST, "factor of a limit") for number in numbers]
    changed = sweep.with_sections(limits=Limits(ranges, actuators))
    return replace(changed, description=varied(sweep.family, more)), (*numbers, *of_drives)


def spares(problem: DesignProblem, numbers: Sequence[LimitNumber]) -> dict[str, float]:
    """Return the least share that is left of each number, by its parameter, at the constants of a problem.

    Of each the margin is computed with all others out of reach. Numbers without a margin are left out, and those of
    which more is left than of others that are no numbers of the sweep, such as the voltage of a motor's own supply. Of
    the largest force of a drive what the largest commanded force leaves counts; it is nothing where the drive cut one.
    """
    of_drives = [number for number in numbers if number.places and number.margin]
    largest = problem.by_actuator(OF_DRIVES["force_limit"]) if of_drives else np.zeros(0)
    free = {number.parameter: 1.0 - largest[[*number.places]].max() / number.value for number in of_drives}
    measured = [number for number in numbers if number.margin and not number.places]
    if not measured:
        return free
    names = [number.parameter for number in measured]
    scales = np.full((len(measured) + 1, len(names)), UNLIMITED)
    scales[range(len(measured)), [names.index(number.parameter) for number in measured]] = 1.0
    values = replace(problem, bounds=dict.fromkeys(names, (0.0, UNLIMITED))).values(
        scales, [*dict.fromkeys(number.margin for number in measured)]
    )
    margins = {number.parameter: values[number.margin][[k, -1]] for k, number in enumerate(measured)}
    return free | {name: float(margin) for name, (margin, without) in margins.items() if margin < without}


def _scaled(limit: Capacity | JointLimit, key: str, scale: Formula) -> Capacity | JointLimit:
    if isinstance(limit, JointLimit) and key == "range":
        middle, half = 0.5 * (limit.low + limit.high), 0.5 * (limit.high - limit.low)
        return replace(limit, low=middle - half * scale, high=middle + half * scale)
    return replace(limit, **{key: getattr(limit, key) * scale})


def _ends(limit: Capacity | JointLimit, key: str) -> tuple[float, ...]:
    return (limit.low, limit.high) if isinstance(limit, JointLimit) and key == "range" else (getattr(limit, key),)


Group = tuple[str, list[Any], str, str, tuple[Need, str]]
"""Key of a limit, places that have the same number, words, unit, and what `MARGINS` has of it."""


def _of_actuators(sweep: Sweep) -> Iterator[Group]:
    mechanism = sweep.family.reference
    units = [JOINT_KINDS[kind].units for kind in mechanism.actuator_kinds]
    for key, about in MARGINS.items():
        if key in ("current", "voltage") and not mechanism.motors:
            continue
        for places in _equal(sweep, sweep.limits.actuators, key):
            who = _of_whom(mechanism, places)
            yield key, places, f"{key.replace('_', ' ')} of {who}", _unit(key, units[places[0]]), about


def _of_joints(sweep: Sweep) -> Iterator[Group]:
    table = {joint.place: (name, joint) for name, joint in joints(sweep.family.reference).items()}
    driven = [place for place, (_, joint) in table.items() if joint.driven]
    for key, about in OF_JOINTS.items():
        for places in _equal(sweep, sweep.limits.joints, key):
            names, units = [table[place][0] for place in places], JOINT_KINDS[table[places[0]][1].kind].units
            who = "all actuated joints" if sorted(places) == sorted(driven) else f"joint {_listed(names)}"
            yield key, places, f"{key} of {who}", units.position if key == "range" else units.rate, about


def _of_controller(sweep: Sweep) -> Iterator[LimitNumber]:
    """Yield the limits of a controller that are constants, each once for the actuators that have it."""
    axes, mechanism = sweep.simulation, sweep.family.reference
    if axes is None:
        return
    for key, margin in OF_DRIVES.items():
        names = [parameter_of([*axes.gain_parameters], key, actuator) for actuator in mechanism.actuators]
        for name in dict.fromkeys(name for name in names if axes.fixed.get(name, LARGEST) < LARGEST):
            places, value = tuple(k for k, other in enumerate(names) if other == name), axes.fixed[name]
            who = _of_whom(mechanism, places)
            unit = axes.gain_parameters[name].unit
            yield LimitNumber(name, f"{key.replace('_', ' ')} of {who}", (value,), unit, "controller", margin,
                              on_paths=False, is_swept=False, value=value, places=places)  # fmt: skip


def _of_whom(mechanism: Mechanism, places: Sequence[int]) -> str:
    """Return actuators in words."""
    names = [mechanism.actuators[place] for place in places]
    return "all actuators" if len(names) == len(mechanism.actuators) else _listed(names)


def _equal(sweep: Sweep, limits: Mapping[Any, Capacity | JointLimit], key: str) -> list[list[Any]]:
    """Return the places with the same finite number."""
    result: dict[tuple[float, ...], list[Any]] = {}
    for place, limit in sorted(limits.items()):
        ends = _ends(limit, key)
        if np.isfinite(ends).all():
            result.setdefault(ends, []).append(place)
    return list(result.values())


def _listed(names: Sequence[str]) -> str:
    """Return names of joints or actuators in words: without limbs where limbs share them, the first two of many.

    Numbers of joints are no names, so that limbs stay.
    """
    bare = list(dict.fromkeys(name.split(".", 1)[-1] for name in names))
    shown = bare if len(bare) < len(names) and not any(name.isdigit() for name in bare) else list(names)
    text = " and ".join(name.replace("_", " ") for name in shown[:2])
    return text if len(shown) < 3 else f"{text.replace(' and ', ', ')} and {len(shown) - 2} more"


def _unit(key: str, units: Units) -> str:
    return WITHOUT_UNIT.get(key) or {"force": units.force, "velocity": units.rate}.get(
        key, units.acceleration if key == "acceleration" else units.acceleration.replace("^2", "^3")
    )
