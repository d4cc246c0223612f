"""Elasticity of the parts of a robot: actuators as springs, joints and links by compliances. Plain data, all in SI.

A part that is not named is rigid. The mathematics, and the places of the beams of a link, are in `tasks.features`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.criteria.selection import joint_names, link_names, of_parts
from robots.data_classes import dataclass, field
from robots.formulas import ordered
from robots.limits import Place, actuator_numbers
from robots.model import Mechanism
from robots.parameter_errors import ParameterError


@check_arguments
@dataclass(frozen=True)
class Beam:
    """A straight prismatic beam by its compliances per length; bending and shear about two principal axes.

    axial 1/EA [1/N]; torsion 1/GJ and bending (1/EI_1, 1/EI_2) [1/(N m^2)]; shear (1/kGA_1, 1/kGA_2) [1/N], zero for
    a beam of Euler and Bernoulli. The first value of a pair is for deflection along `across`, a vector in the axes of
    the link. Without `across` both values of a pair are equal. Raises ParameterError for invalid numbers.

        >>> tube = ls.robots.Beam.tube(0.03, 70e9, inner=0.026)  # [m], [Pa]
    """

    axial: float
    torsion: float
    bending: tuple[float, float]
    shear: tuple[float, float] = (0.0, 0.0)
    across: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("axial", "torsion", "bending", "shear"):
            values = np.ravel(np.asarray(getattr(self, name), dtype=float))
            if not (np.isfinite(values) & (values >= 0)).all():
                raise ParameterError(f"{name}: got {getattr(self, name)!r}; expected finite compliances, zero or more")
        if self.across is None and (self.bending[0] != self.bending[1] or self.shear[0] != self.shear[1]):
            raise ParameterError("across: absent; expected the direction of the first axis, as the axes differ")
        if self.across is not None and not 0.0 < math.hypot(*self.across) < math.inf:
            raise ParameterError(f"across: got {self.across!r}; expected a direction, not of length zero")

    @classmethod
    def tube(cls, outer: float, young: float, *, inner: float = 0.0, poisson: float = 0.3, shear: float = 0.0) -> Beam:
        """Return a round tube or rod of these diameters [m], Young's modulus [Pa] and Poisson's ratio.

        shear: coefficient of Timoshenko, about 0.9 of a rod and 0.5 of a thin tube; 0: no flexibility in shear.
        """
        _positive(outer=outer, young=young)
        if not 0.0 <= inner < outer:
            raise ParameterError(f"inner: got {inner!r}; expected zero or more, below outer, {outer!r}")
        area = math.pi / 4.0 * (outer * outer - inner * inner)
        second = math.pi / 64.0 * (outer**4 - inner**4)
        return cls._of(area, (second, second), 2.0 * second, _moduli(young, poisson), shear)

    @classmethod
    def box(
        cls,
        width: float,
        height: float,
        young: float,
        across: Sequence[float],
        *,
        wall: float | None = None,
        poisson: float = 0.3,
        shear: float = 0.0,
    ) -> Beam:
        """Return a rectangular profile; `height` [m] is along `across` in the axes of the link, `width` normal to it.

        wall: thickness of a hollow profile [m], absent: solid. Torsion: of a hollow one by Bredt's second formula, of
        a solid one by the series of Saint-Venant in the approximation of Roark, Table 10.7. shear: coefficient of
        Timoshenko, 5/6 of a solid one; 0: no flexibility in shear.
        """
        _positive(width=width, height=height, young=young)
        short, long = ordered(width, height)
        if wall is not None and not 0.0 < wall < 0.5 * short:
            raise ParameterError(f"wall: got {wall!r}; expected above 0 and below half of {short!r}")
        w, h = (width - 2.0 * wall, height - 2.0 * wall) if wall is not None else (0.0, 0.0)
        second = (width * height**3 - w * h**3) / 12.0, (height * width**3 - h * w**3) / 12.0
        if wall is None:
            ratio = short / long
            torsion = long * short**3 * (1.0 / 3.0 - 0.21 * ratio * (1.0 - ratio**4 / 12.0))
        else:
            torsion = 2.0 * wall * ((width - wall) * (height - wall)) ** 2 / (width + height - 2.0 * wall)
        x, y, z = map(float, across)
        return cls._of(width * height - w * h, second, torsion, _moduli(young, poisson), shear, (x, y, z))

    @classmethod
    def _of(
        cls,
        area: float,
        second: tuple[float, float],
        torsion: float,
        moduli: tuple[float, float],
        shear: float,
        across: tuple[float, float, float] | None = None,
    ) -> Beam:
        young, rigidity = moduli
        if not 0.0 <= shear <= 1.0:
            raise ParameterError(f"shear: got {shear!r}; expected a coefficient from 0 to 1")
        sheared = 1.0 / (shear * rigidity * area) if shear else 0.0
        bending = 1.0 / (young * second[0]), 1.0 / (young * second[1])
        return cls(1.0 / (young * area), 1.0 / (rigidity * torsion), bending, (sheared, sheared), across)

    @property
    def numbers(self) -> tuple[float, ...]:
        """Its numbers in the order of its fields, `across` last: 4 without it, 9 with it."""
        if self.across is None:
            return self.axial, self.torsion, self.bending[0], self.shear[0]
        return self.axial, self.torsion, *self.bending, *self.shear, *self.across


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not 0.0 < value < math.inf:
            raise ParameterError(f"{name}: got {value!r}; expected a finite number above zero")


def _moduli(young: float, poisson: float) -> tuple[float, float]:
    if not -1.0 < poisson <= 0.5:
        raise ParameterError(f"poisson: got {poisson!r}; expected above -1 and at most 0.5")
    return young, young / (2.0 * (1.0 + poisson))


@check_arguments
@dataclass(frozen=True)
class LinkCompliance:
    """A compliance (6, 6) of (turn, shift) over (moment, force), in the axes of a link: of every arm of that link.

    >>> spring = ls.robots.LinkCompliance.of_stiffness(np.diag([1e4, 1e4, 1e4, 1e7, 1e7, 1e7]))
    """

    compliance: tuple[tuple[float, ...], ...]

    @classmethod
    def of_stiffness(cls, matrix: ArrayLike) -> LinkCompliance:
        """Return the compliance from a stiffness (6, 6), (moment, force) over (turn, shift). Raises ParameterError."""
        stiffness = _symmetric("matrix", matrix)
        if np.linalg.eigvalsh(stiffness)[0] <= 0.0:
            raise ParameterError("matrix: got a matrix that is not positive definite; expected a stiffness")
        inverse = np.linalg.inv(stiffness)
        return cls(tuple(map(tuple, (0.5 * (inverse + inverse.T)).tolist())))

    @property
    def numbers(self) -> tuple[float, ...]:
        """The lower triangle, row by row: 21."""
        return tuple(self.compliance[i][j] for i in range(6) for j in range(i + 1))


def _symmetric(name: str, matrix: ArrayLike) -> np.ndarray:
    values = np.asarray(matrix, dtype=float)
    if values.shape != (6, 6) or not np.isfinite(values).all():
        raise ParameterError(f"{name}: got an array of shape {values.shape}; expected 6 rows of 6 finite numbers")
    scale = np.sqrt(np.abs(np.diag(values)))
    if (np.abs(values - values.T) > 1e-9 * np.outer(scale, scale)).any():
        raise ParameterError(f"{name}: got a matrix that is not symmetric; expected a symmetric one")
    return values


@check_arguments
@dataclass(frozen=True)
class Elasticity:
    """Compliances of actuators [rad/(N m) or m/N] and of joints (6,), and beams or compliances of links.

    Compliances of joints are about, then along, the axes of the frame that moves with their child; for a cut joint the
    axes of its frame a. A value along the own freedom of a joint has no effect. Keys: actuators by number, joints and
    links by number of the limb and number in `Limb.joints` or `Limb.links`. If joints and links are all rigid,
    compliance counts along the freedoms alone.

        >>> robot = ls.robots.build("five_bar")
        >>> tube = ls.robots.Beam.tube(0.03, 70e9, inner=0.026)
        >>> soft = ls.robots.Elasticity.of(robot.mechanism, actuators={"all": 2e4}, links={"all": tube})
    """

    actuators: Mapping[int, float] = field(default_factory=dict)
    joints: Mapping[Place, tuple[float, ...]] = field(default_factory=dict)
    links: Mapping[Place, Beam | LinkCompliance] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        *,
        actuators: Mapping[str, float] | None = None,
        joints: Mapping[str, Sequence[float]] | None = None,
        links: Mapping[str, Beam | LinkCompliance] | None = None,
    ) -> Elasticity:
        """Return the elasticity from stiffnesses under names and patterns: `all`, `arm`, `limb1.arm`, `rod_*`.

        actuators [N m/rad or N/m]; joints: six, [N m/rad] about and [N/m] along the axes of the joint's frame, infinite
        where rigid; links: `Beam` or `LinkCompliance`. Each is selected once. Raises ParameterError.
        """
        springs = of_parts("actuators", actuators, actuator_numbers(mechanism), "actuator", _check_stiffness)
        bearings = of_parts("joints", joints, joint_names(mechanism), "joint", _check_stiffnesses)
        return cls(
            {number: 1.0 / stiffness for number, stiffness in springs.items()},
            {place: tuple(1.0 / stiffness for stiffness in six) for place, six in bearings.items()},
            of_parts("links", links, link_names(mechanism), "link"),
        )

    @property
    def actuators_alone(self) -> bool:
        """Return whether only the actuators are elastic, so that all joints and links are rigid."""
        return not self.joints and not self.links


def _check_stiffness(name: str, value: float) -> None:
    if not value > 0.0:
        raise ParameterError(f"{name}: got {value!r}; expected a stiffness above zero")


def _check_stiffnesses(name: str, six: Sequence[float]) -> None:
    if len(six) != 6 or not all(k > 0.0 for k in six):
        raise ParameterError(f"{name}: got {list(six)!r}; expected 6 stiffnesses above zero, infinite where rigid")
