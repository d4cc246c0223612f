"""Metrics of a robot's pose: conditioning, margins, manipulability, effective mass, from J_IK and the mass matrix.

J_IK (actuator, freedom) turns rates of the freedoms into rates of the actuators, so its singular values are actuator
rates per platform rate. If a platform translates and turns, rotations count by the displacement of a point at a
characteristic length from its reference point, so that all freedoms have the same unit.

Where a limb is singular, J_IK has no bound; where the platform is singular, J_IK loses rank. Its least singular value
is its distance to the nearest matrix without full rank (Eckart and Young). The inverse of its largest singular value is
this distance for its inverse. Both are divided by the root mean square of the singular values at the reference pose of
the same design, so margins have no unit, and do not depend on size and gears.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from robots.dims import SPACE, mechanism_sizes
from robots.model import Mechanism
from robots.quantities import QUANTITIES
from robots.status import Status
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array, sqrt, where
from tasks.mathematics.systems import inverse, singular_values
from tasks.stages.metrics.margins import least

ANGULAR = ("wx", "wy", "wz")


UNREACHED = (Status.NOT_REACHABLE, Status.WRONG_BRANCH, Status.NOT_CONVERGED, Status.LOOP_OPEN)
"""Statuses that the geometry alone decides: some joint has no position."""
OF_THE_PLATFORM = (
    Status.ILL_CONDITIONED,
    Status.PLATFORM_SINGULAR,
    Status.SINGULARITY_CROSSED,
    Status.CONSTRAINT_SINGULAR,
)
"""Statuses that J_IK gives to a sample whose limbs are all OK."""


@dataclass(frozen=True)
class Equation:
    """The equations of motion at one instant, world units: J_IK (actuator, freedom), rates of the freedoms, terms.

    `terms` are the requested terms by name, see `tasks.stages.terms`.
    """

    jacobian: Array
    speed: Array
    terms: Mapping[str, Array]

    @property
    def mass(self) -> Array:
        """The mass matrix (freedom, freedom), the identity if it is not requested."""
        return self.terms.get("mass", np.eye(self.jacobian.shape[1]))

    @property
    def kinetic_energy(self) -> Scalar:
        """Half of V^T M V."""
        energy: Scalar = (self.speed @ (self.mass @ self.speed)) * 0.5
        return energy

    @cached_property
    def forward(self) -> Array | None:
        """J_FK (freedom, actuator); None with more actuators than freedoms."""
        actuators, freedoms = self.jacobian.shape
        return inverse(self.jacobian) if actuators == freedoms else None

    @property
    def forward_jacobian(self) -> Array:
        """J_FK, NaN where it does not exist."""
        return self._unless_redundant(lambda forward: forward, *self.jacobian.shape[::-1])

    @property
    def actuator_mass(self) -> Array:
        """J_FK^T M J_FK (actuator, actuator), hybrid-limb paper, Eq. (117)."""
        actuators = len(self.jacobian)
        return self._unless_redundant(lambda forward: forward.T @ (self.mass @ forward), actuators, actuators)

    @property
    def coriolis_coefficients(self) -> Array:
        """D_ijk (freedom, freedom, freedom): the derivatives of C_ij by v_k, made symmetric in j and k."""
        count = self.jacobian.shape[1]
        slopes = np.reshape(self.terms["coriolis_slope"], (count, count, count))
        return array((slopes + slopes.transpose(0, 2, 1)) * 0.5)

    @property
    def actuator_coriolis_force(self) -> Array:
        """C_a q' (actuator,), Eq. (118): J_FK' q' = -J_FK J_IK' V."""

        def of(forward: Array) -> Array:
            turning = self.mass @ (forward @ (self.terms["jacobian_rate"] @ self.speed))
            return array(forward.T @ (self.terms["coriolis"] @ self.speed - turning))

        return self._unless_redundant(of, len(self.jacobian))

    @property
    def actuator_gravity_force(self) -> Array:
        """J_FK^T times gravity's forces (actuator,), Eq. (119)."""
        return self._unless_redundant(lambda forward: forward.T @ self.terms["gravity_force"], len(self.jacobian))

    def _unless_redundant(self, of: Callable[[Array], Array], *shape: int) -> Array:
        return np.full(shape, np.nan) if self.forward is None else of(self.forward)

    @property
    def centre_of_mass(self) -> Array:
        """The centre of mass of all bodies (3,) [m]."""
        moment = self.terms["mass_moment"]
        return array(moment[1:] / moment[0])


@dataclass(frozen=True)
class Posture:
    """A robot at one instant: J_IK and mass matrix in common units, and the status.

    `equation` has both in world units, and further terms for quantities. `solved` is the status without limits of
    joints; `scale` are the divisors of the freedoms; `found` has the results of features by name.
    """

    jacobian: Array
    mass: Array
    status: Scalar
    solved: Scalar
    scale: np.ndarray
    equation: Equation
    found: Mapping[str, Any]

    @property
    def velocity(self) -> Array:
        """Velocities of the actuators."""
        return self.equation.jacobian @ self.equation.speed

    @cached_property
    def rate(self) -> Scalar:
        """Number that singular values of J_IK are compared with: their root mean square at the reference pose."""
        if "reference" not in self.found:
            return 1.0
        entries = array(self.found["reference"] / self.scale)
        return sqrt(sum(x * x for x in entries.ravel()) * (1.0 / entries.shape[1]))

    @property
    def failed(self) -> Any:
        """Return whether the sample is not OK."""
        return self.status > 0.5

    @property
    def reached(self) -> Scalar:
        """1 where all joints have found a place, else 0."""
        result: Scalar = 1.0
        for code in UNREACHED:
            result = where(abs(self.status - float(code)) < 0.5, 0.0, result)
        return result

    @cached_property
    def rates(self) -> list[Scalar]:
        """Singular values of J_IK."""
        return singular_values(self.jacobian)

    @cached_property
    def masses(self) -> list[Scalar]:
        """Eigenvalues of the mass matrix: it is symmetric and positive, so they are its singular values."""
        return singular_values(self.mass)

    def unless_failed(self, value: Scalar) -> Scalar:
        """Return the value, NaN for a failed sample."""
        return where(self.failed, np.nan, value)

    def unless_unsolved(self, value: Scalar) -> Scalar:
        """Return the value, NaN for a sample that failed for other reasons than limits."""
        return where(self.solved > 0.5, np.nan, value)

    def where_limbs_solve(self, value: Scalar) -> Scalar:
        """Return the value, NaN for a sample that failed for other reasons than the platform's J_IK."""
        solves: Scalar = 1.0
        for code in OF_THE_PLATFORM:
            solves = where(abs(self.solved - float(code)) < 0.5, 0.0, solves)
        return where(self.solved * solves > 0.5, np.nan, value)

    @property
    def stiffness(self) -> Any:
        """The robot's stiffness. Raises ValueError for a robot without elasticity."""
        if "stiffness" not in self.found:
            raise ValueError("elasticity: absent; expected the elasticity of parts of the robot")
        return self.found["stiffness"]

    @property
    def platform_margin(self) -> Scalar:
        """Distance of J_IK from a loss of rank, about 1 at the reference pose."""
        return extremes(self.rates)[0] / self.rate

    @property
    def limb_margin(self) -> Scalar:
        """Distance of the inverse of J_IK from a loss of rank."""
        return self.rate / extremes(self.rates)[1]


def _as_it_is(value: np.ndarray, samples: int, freedoms: int) -> np.ndarray:
    return value


def _mean(total: np.ndarray, samples: int, freedoms: int) -> np.ndarray:
    return total / samples


@dataclass(frozen=True)
class PoseMetric:
    """Metric of a pose: quantity to reduce over time, and the final formula.

    `finish` takes the reduced value, the number of samples and the number of freedoms.
    """

    of: Callable[[Posture], Scalar]
    finish: Callable[[np.ndarray, int, int], np.ndarray] = _as_it_is


def extremes(values: list[Scalar]) -> tuple[Scalar, Scalar]:
    """Return the least and the largest of some numbers."""
    low = high = values[0]
    for value in values[1:]:
        low, high = where(value < low, value, low), where(value > high, value, high)
    return low, high


def _condition(p: Posture) -> Scalar:
    low, high = extremes(p.rates)
    return high / low


def _product(values: list[Scalar]) -> Scalar:
    result: Scalar = 1.0
    for value in values:
        result = result * value
    return result


METRICS: Mapping[str, PoseMetric] = {
    "condition": PoseMetric(lambda p: p.unless_failed(_condition(p))),
    "dexterity": PoseMetric(lambda p: where(p.failed, 0.0, 1.0 / _condition(p)), _mean),
    "usable_share": PoseMetric(lambda p: where(p.failed, 0.0, 1.0), _mean),
    "reachable_share": PoseMetric(lambda p: p.reached, _mean),
    "usable_volume": PoseMetric(lambda p: where(p.failed, 0.0, 1.0), _mean),
    "reachable_volume": PoseMetric(lambda p: p.reached, _mean),
    "limit_margin": PoseMetric(lambda p: p.unless_unsolved(p.found.get("margin", 1.0))),
    "velocity_margin": PoseMetric(lambda p: p.unless_unsolved(p.found.get("rate_margin", 1.0))),
    "platform_singularity_margin": PoseMetric(lambda p: p.unless_failed(p.platform_margin)),
    "limb_singularity_margin": PoseMetric(lambda p: p.unless_failed(p.limb_margin)),
    "singularity_margin": PoseMetric(lambda p: p.unless_failed(least([p.platform_margin, p.limb_margin]))),
    "least_regularity": PoseMetric(lambda p: p.where_limbs_solve(p.found["regularity"])),
    "least_constraint_regularity": PoseMetric(lambda p: p.where_limbs_solve(p.found["constraint_regularity"])),
    # Yoshikawa's measure of the forward Jacobian, its n-th root so that robots can be compared
    "manipulability": PoseMetric(
        lambda p: p.unless_failed(_product(p.rates)), lambda x, samples, freedoms: x ** (-1.0 / freedoms)
    ),
    "least_effective_mass": PoseMetric(lambda p: p.unless_failed(extremes(p.masses)[0])),
    "largest_effective_mass": PoseMetric(lambda p: p.unless_failed(extremes(p.masses)[1])),
    "largest_effective_inertia": PoseMetric(
        lambda p: p.unless_failed(extremes(list(np.diagonal(p.equation.actuator_mass)))[1])
    ),
    "least_stiffness": PoseMetric(lambda p: p.unless_failed(1.0 / extremes(p.stiffness.translation)[1])),
    "largest_stiffness": PoseMetric(lambda p: p.unless_failed(1.0 / extremes(p.stiffness.translation)[0])),
    "least_turning_stiffness": PoseMetric(lambda p: p.unless_failed(1.0 / extremes(p.stiffness.rotation)[1])),
    "deflection": PoseMetric(lambda p: p.unless_failed(p.stiffness.deflection)),
    # 1 / omega^2 is reduced, as roots of it are taken once for a case
    "lowest_frequency": PoseMetric(
        lambda p: p.unless_failed(p.stiffness.softness), lambda x, samples, freedoms: 1.0 / (2.0 * np.pi * np.sqrt(x))
    ),
    "position_deviation": PoseMetric(lambda p: p.unless_failed(p.stiffness.position_error)),
    "turn_deviation": PoseMetric(lambda p: p.unless_failed(p.stiffness.turn_error)),
    "thermal_shift": PoseMetric(lambda p: p.unless_failed(p.stiffness.thermal_shift)),
    "clearance_shift": PoseMetric(lambda p: p.unless_failed(p.stiffness.clearance_shift)),
    "clearance_turn": PoseMetric(lambda p: p.unless_failed(p.stiffness.clearance_turn)),
    "clearance": PoseMetric(lambda p: p.unless_unsolved(p.found["clearance"])),
    "failed_samples": PoseMetric(lambda p: where(p.failed, 1.0, 0.0)),
    "worst_status": PoseMetric(lambda p: p.status),
}
"""Metrics of a case that do not depend on friction; see the rows of the same names in `robots.quantities`.

Dexterity is the mean of 1 / condition over all samples, with zero for a failed sample: over a workspace the global
conditioning index of Gosselin and Angeles (1991) times its usable share. Volumes are shares of the volume of a
workspace. Manipulability is the least value over time, in units of platform rate per actuator rate. Margins to limits
are negative beyond the limits; see `tasks.stages.metrics.margins`.
"""

SERIES: Mapping[str, Callable[[Posture], Any]] = {
    "actuator_velocity": lambda p: p.velocity,
    "inverse_jacobian": lambda p: p.equation.jacobian,
    "inverse_jacobian_rate": lambda p: p.equation.terms["jacobian_rate"],
    "mass_matrix": lambda p: p.equation.mass,
    "coriolis_matrix": lambda p: p.equation.terms["coriolis"],
    "coriolis_force": lambda p: p.equation.terms["coriolis"] @ p.equation.speed,
    "coriolis_coefficients": lambda p: p.equation.coriolis_coefficients,
    "load_force": lambda p: p.equation.terms["load_force"],
    "gravity_force": lambda p: p.equation.terms["gravity_force"],
    "actuator_mass": lambda p: p.equation.actuator_mass,
    "effective_inertia": lambda p: np.diagonal(p.equation.actuator_mass),
    "forward_jacobian": lambda p: p.equation.forward_jacobian,
    "actuator_coriolis_force": lambda p: p.equation.actuator_coriolis_force,
    "actuator_gravity_force": lambda p: p.equation.actuator_gravity_force,
    "centre_of_mass": lambda p: p.equation.centre_of_mass,
    "momentum": lambda p: p.equation.terms["momentum"],
    "kinetic_energy": lambda p: p.equation.kinetic_energy,
    "potential_energy": lambda p: p.equation.terms["potential"],
}
"""Time series of a posture, with the dims of its row except the dims of cases and time.

A sample that is not OK is NaN in the results. Equations: hybrid-limb paper, (107) to (117).
"""


def series_shape(mechanism: Mechanism, name: str) -> tuple[int, ...]:
    """Return the shape of one sample in a time series of a posture."""
    sizes = SPACE | mechanism_sizes(mechanism)
    return tuple(sizes[dim] for dim in QUANTITIES[name].dims if dim in sizes)


def characteristic_length(mechanism: Mechanism) -> float:
    """Return the RMS distance of the platform's joints from its reference point [m]; 1 if they are all there.

    The length of the reference robot is taken for all designs, so that designs can be compared.
    """
    squares = []
    for each in mechanism.instances:
        turn, shift = np.array(each.platform.rotation, dtype=float), np.array(each.platform.position, dtype=float)
        for tip in mechanism.limbs[each.limb].tips:
            place = shift + turn @ np.array(tip.frame_b.position, dtype=float)
            squares.append(float(place @ place))
    return float(np.sqrt(np.mean(squares))) if squares and max(squares) > 0 else 1.0


def weights(mechanism: Mechanism) -> np.ndarray:
    """Return the divisors of the freedoms of J_IK that bring all of them to m, (freedom,)."""
    length = characteristic_length(mechanism)
    return np.array([length if name in ANGULAR and not mechanism.is_chain else 1.0 for name in mechanism.freedoms])


def posture(
    mechanism: Mechanism, equation: Equation, status: Scalar, solved: Scalar, found: Mapping[str, Any]
) -> Posture:
    """Return a posture from the equations of motion in world units; arguments as the fields of `Posture`."""
    scale = weights(mechanism)
    jacobian, mass = array(equation.jacobian / scale), array(equation.mass / np.outer(scale, scale))
    return Posture(jacobian, mass, status, solved, scale, equation, found)
