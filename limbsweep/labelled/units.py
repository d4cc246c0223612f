"""Units of DataArrays: values are converted from the attribute `units` to SI, and impossible units are refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pipeline.documents.units import SPELLINGS, UNITS, Unit, check_unit, conversion, unit_name
from robots.controllers import coordinate_turns
from robots.joint_kinds import JOINT_KINDS
from robots.model import Mechanism
from robots.parameter_errors import nearest
from robots.parameters import EITHER

if TYPE_CHECKING:
    from collections.abc import Hashable

    from xarray import DataArray

ORDERS = {
    "": (),
    "/s": ("/s", " s-1", " s^-1", " s**-1"),
    "/s^2": ("/s^2", "/s2", "/s**2", " s-2", " s^-2", " s**-2"),
    "/s^3": ("/s^3", "/s3", "/s**3", " s-3", " s^-3", " s**-3"),
}
"""Spellings of derivatives by time."""

_NAMES = {spelling: UNITS[name] for name, spellings in SPELLINGS.items() for spelling in (name, *spellings)}
_NAMES |= {name: unit for name, unit in UNITS.items() if unit.si in ("m", "rad", "s", "N", "N m", "1")}
_NAMES |= {unit: Unit(unit, unit) for unit in ("A", "V", "W")}
_NAMES |= {"mA": Unit("mA", "A", divisor=1e3), "kW": Unit("kW", "W", 1e3)}
RPM = Unit("rpm", "rad/s", 2.0 * math.pi, 60.0)


def _along(mechanism: Mechanism, angle: str, length: str) -> list[str]:
    """Return the units of the joints of a chain, in order."""
    return [angle if turns else length for turns in coordinate_turns(mechanism, "joint").values()]


def _of_actuators(mechanism: Mechanism, angle: str, length: str) -> list[str]:
    return [angle if JOINT_KINDS[kind].turns else length for kind in mechanism.actuator_kinds]


def _of_joints(mechanism: Mechanism, angle: str, length: str) -> list[str]:
    """Return the units of the joints of all limbs, each once."""
    turning = {kind.turns for limb in mechanism.limbs for kind in limb.joint_kinds}
    return [angle if turns else length for turns in sorted(turning)]


COMPONENTS: dict[str, Callable[[Mechanism], list[str]]] = {
    "position": lambda _: ["m"] * 3,
    "rotation": lambda _: ["1"] * 3,
    "twist": lambda _: ["rad/s"] * 3 + ["m/s"] * 3,
    "acceleration": lambda _: ["rad/s^2"] * 3 + ["m/s^2"] * 3,
    "load": lambda _: ["N m"] * 3 + ["N"] * 3,
    "q": lambda mechanism: _along(mechanism, "rad", "m"),
    "qd": lambda mechanism: _along(mechanism, "rad/s", "m/s"),
    "qdd": lambda mechanism: _along(mechanism, "rad/s^2", "m/s^2"),
    "actuator": lambda mechanism: _of_actuators(mechanism, "N m", "N"),
    "actuator_position": lambda mechanism: _of_actuators(mechanism, "rad", "m"),
    "change": lambda mechanism: COMPONENTS["qdd" if mechanism.is_chain else "acceleration"](mechanism),
    "actuator_velocity": lambda mechanism: _of_actuators(mechanism, "rad/s", "m/s"),
    "actuator_acceleration": lambda mechanism: _of_actuators(mechanism, "rad/s^2", "m/s^2"),
    "actuator_jerk": lambda mechanism: _of_actuators(mechanism, "rad/s^3", "m/s^3"),
    "actuator_power": lambda mechanism: ["W"] * len(mechanism.actuators),
    "current": lambda mechanism: ["A"] * len(mechanism.actuators),
    "joint_position": lambda mechanism: _of_joints(mechanism, "rad", "m"),
    "joint_velocity": lambda mechanism: _of_joints(mechanism, "rad/s", "m/s"),
    "joint_acceleration": lambda mechanism: _of_joints(mechanism, "rad/s^2", "m/s^2"),
    "time": lambda _: ["s"],
}
"""SI unit of each component of an argument; joints of all limbs have one, or both."""

OF_ACTUATORS = {"force": "actuator"}
OF_ACTUATORS |= {name: f"actuator_{name}" for name in ("velocity", "acceleration", "power", "jerk")}
"""Rows of `COMPONENTS` of arguments that have a number for each actuator."""


def in_si(
    name: str, value: DataArray, dim: Hashable | None, mechanism: Mechanism, quantity: str | None = None
) -> DataArray:
    """Return a DataArray in SI units, converted from its attribute `units`; without the attribute it is in SI.

    dim: of the components, in the order of the mechanism. quantity: a row of `COMPONENTS`; default: that of the name.
    Units are one for all components, one for each, or for wrenches and twists one of the angular and one of the linear
    part. Raises ValueError for units that are unknown, or of another quantity.
    """
    row = COMPONENTS.get(quantity or name.removeprefix("base_"))
    text = value.attrs.get("units")
    if row is None or text is None:
        return value
    wanted = row(mechanism)
    units = _spread(str(text), len(wanted))
    if units is None:
        raise ValueError(f"{name}: got {len(str(text).split(', '))} units, {text!r}; expected one, or {len(wanted)}")
    found = [_unit(name, str(text), unit, [si]) for unit, si in zip(units, wanted, strict=True)]
    if name.startswith("joint_") and len({(unit.factor, unit.divisor) for unit in found}) > 1:
        raise ValueError(f"{name}: got units {text!r}; expected units of {EITHER.join(wanted)}")
    if all(unit.factor == unit.divisor for unit in found):
        return value
    return (
        value
        * _factors(value, dim, [unit.factor for unit in found])
        / _factors(value, dim, [unit.divisor for unit in found])
    )


def _factors(value: DataArray, dim: Hashable | None, factors: Sequence[float]) -> float | DataArray:
    if len({*factors}) == 1 or dim is None:
        return factors[0]
    import xarray as xr

    return xr.DataArray(np.array(factors), dims=[dim])


def _spread(text: str, count: int) -> list[str] | None:
    """Return the unit of each component; None if there are too few or too many."""
    parts = text.split(", ")
    if len(parts) == 1 or len(parts) == count:
        return parts * (count // len(parts))
    return [parts[0]] * 3 + [parts[1]] * 3 if (len(parts), count) == (2, 6) else None


def number_in_si(name: str, value: DataArray, *si: str) -> DataArray:
    """Return a DataArray in SI units, converted from its attribute `units`: these of SI, or one that measures the same.

    Raises ValueError for units that are unknown, or of another quantity, and for several that are not of SI.
    """
    text = value.attrs.get("units")
    if text is None:
        return value
    unit, *others = (_unit(name, str(text), part, si) for part in str(text).split(", "))
    if any((other.factor, other.divisor) != (unit.factor, unit.divisor) for other in others):
        raise ValueError(f"{name}: got units {text!r}; expected one, or those of SI")
    return value if unit.factor == unit.divisor else value * unit.factor / unit.divisor


def parameter_in_si(name: str, value: DataArray, wanted: str) -> DataArray:
    """Return values of a parameter in its unit, converted from their attribute `units`. Raises ValueError."""
    text = value.attrs.get("units")
    if text is None or text == wanted:
        return value
    if problem := check_unit(unit_name(str(text)), wanted):
        raise ValueError(f"parameters: {name}: got units {text!r}; expected {problem[0]}. {problem[1]}")
    unit = conversion(unit_name(str(text)), wanted)
    return value if unit.factor == unit.divisor else value * unit.factor / unit.divisor


def _unit(name: str, text: str, alternatives: str, si: Sequence[str]) -> Unit:
    """Return the unit among alternatives (`rad or m`) of the same quantity as one in `si`. Raises ValueError."""
    found = [_known(name, text, part) for part in alternatives.split(EITHER)]
    for unit in found:
        if unit.si in si:
            return unit
    raise ValueError(f"{name}: got units {text!r}; expected units of {EITHER.join(si)}")


def _known(name: str, text: str, spelling: str) -> Unit:
    if spelling == "rpm":
        return RPM
    for order, endings in ORDERS.items():
        for ending in endings or ("",):
            base = _NAMES.get(spelling.removesuffix(ending)) if spelling.endswith(ending) else None
            if base is not None:
                return Unit(spelling, base.si + order, base.factor, base.divisor)
    raise ValueError(f"{name}: got units {text!r}; {nearest(spelling, _spellings())}")


def _spellings() -> Iterable[str]:
    return [name for name in _NAMES if name] + ["rpm"] + [f"{name}/s" for name in ("rad", "deg", "m", "mm")]
