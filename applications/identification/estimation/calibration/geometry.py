"""The geometry of a robot as a vector: lengths and angles of each limb of its own, and the zeros of its actuators.

A limb's joints depend on the platform's pose and on its own geometry alone. So the robot with the parameters of one
limb gives that limb's joints, and limbs may differ although a family describes them once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from robots.data_classes import dataclass
from robots.model import Robot
from robots.parameter_errors import ParameterError, nearest

GEOMETRIC = ("m", "deg", "rad", "1")
"""Units of parameters that may say where joints are."""
ZERO = "zero"


@dataclass(frozen=True)
class Geometry:
    """Unknown geometry of a robot: family parameters by name, of each limb or `shared` by all limbs; `zeros`.

    The zero of an actuator [rad or m] is added to the reading of its sensor. Values are a vector in the order of
    `names`. Raises ParameterError for unknown parameters.
    """

    robot: Robot
    parameters: tuple[str, ...]
    zeros: bool = True
    shared: bool = False

    def __post_init__(self) -> None:
        names = [p.name for p in self.robot.family.parameters if p.unit in GEOMETRIC]
        for name in self.parameters:
            if name not in names:
                raise ParameterError(
                    f"parameters: got {name!r}; expected a length or an angle of {self.robot.name}; "
                    f"{nearest(name, names)}"
                )

    @cached_property
    def is_alone(self) -> bool:
        """Return whether a parameter is one number: shared by all limbs, or of a robot with a single limb."""
        return self.shared or len(self.robot.mechanism.instances) == 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the values."""
        limbs = [""] if self.is_alone else [f"{instance.name}." for instance in self.robot.mechanism.instances]
        zeros = [f"{name}.{ZERO}" for name in self.robot.mechanism.actuators] if self.zeros else []
        return (*(f"{limb}{name}" for limb in limbs for name in self.parameters), *zeros)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Units of the values."""
        units = {p.name: p.unit for p in self.robot.family.parameters}
        limb_units = [units[name] for name in self.parameters] * (1 if self.is_alone else self._limbs)
        kinds = self.robot.mechanism.actuator_kinds
        return (*limb_units, *("m" if kind == "prismatic" else "rad" for kind in kinds if self.zeros))

    @cached_property
    def nominal(self) -> np.ndarray:
        """Values of the robot as it is described; zeros of actuators are 0."""
        limb_values = [float(self.robot.values[name]) for name in self.parameters] * (
            1 if self.is_alone else self._limbs
        )
        return np.array([*limb_values, *([0.0] * len(self.robot.mechanism.actuators) if self.zeros else [])])

    @property
    def _limbs(self) -> int:
        return len(self.robot.mechanism.instances)

    def zero_of(self, values: np.ndarray) -> np.ndarray:
        """Return the zeros of the actuators (actuator,)."""
        count = len(self.robot.mechanism.actuators)
        return np.asarray(values[len(values) - count :]) if self.zeros else np.zeros(count)

    def robots(self, values: np.ndarray) -> list[Robot]:
        """Return the robot of each limb with its parameters; the same robot if they are shared."""
        count = len(self.parameters)
        rows = [values[:count]] if self.is_alone else [values[k * count : (k + 1) * count] for k in range(self._limbs)]
        robots = [self._with(dict(zip(self.parameters, row.tolist(), strict=True))) for row in rows]
        return robots * self._limbs if self.is_alone else robots

    def _with(self, changes: Mapping[str, float]) -> Robot:
        return Robot(self.robot.family, {**self.robot.values, **changes})

    def of_limb(self, limb: int) -> Iterator[tuple[int, str]]:
        """Return the numbers and names of the parameters that the joints of a limb depend on."""
        start = 0 if self.is_alone else limb * len(self.parameters)
        return ((start + k, name) for k, name in enumerate(self.parameters))

    def calibrated(self, values: Sequence[float]) -> Robot:
        """Return the robot with these values, one number per parameter. Raises ParameterError for several numbers."""
        if not self.is_alone:
            raise ParameterError(
                "shared: limbs have parameters of their own, which the robot has none for; expected shared: true"
            )
        return self.robots(np.asarray(values, dtype=float))[0]
