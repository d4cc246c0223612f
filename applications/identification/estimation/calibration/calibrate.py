"""Kinematic calibration: a robot's geometry from measured poses and redundant sensors, by nonlinear least squares.

The rank of the identification Jacobian decides which values the poses can tell apart; its observability indices measure
how well. Sources: Mooring, Roth and Driels 1991; Merlet, Parallel Robots, 2006; Sun and Hollerbach 2008, for the
indices and their names.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from applications.identification.estimation.base import BaseParameters, from_matrix
from applications.identification.estimation.calibration.geometry import Geometry
from applications.identification.estimation.calibration.readings import Reader, Reading, turn
from robots.data_classes import dataclass, field
from robots.limits import places
from robots.model import Robot
from robots.parameter_errors import ParameterError, nearest

STEPS = 30
SETTLED = 1e-3
"""Change of values over their deviations at which they are taken."""
TOLERANCE = 1e-7
"""New part of a column of the identification Jacobian below which it is a combination of others."""
FRAME = ("frame.x", "frame.y", "frame.z", "frame.rx", "frame.ry", "frame.rz")
"""Names of the pose of the robot in the measurement frame: displacement [m] and rotation [rad]."""


@dataclass(frozen=True)
class Poses:
    """Measurements of one robot: actuators (pose, actuator) from their sensors, and further measurements.

    position (pose, 3) [m] and rotation (pose, 3, 3) of the platform, or of a body of a chain; joints (pose, joint) of
    joints with sensors of their own, by `sensors`, names such as `limb_1.2`. Each with its standard deviation.
    """

    actuators: np.ndarray
    position: np.ndarray | None = None
    rotation: np.ndarray | None = None
    joints: np.ndarray | None = None
    sensors: tuple[str, ...] = ()
    position_deviation: float = 1e-4
    rotation_deviation: float = 1e-3
    joint_deviation: float = 1e-4
    name: str = "poses"


@dataclass(frozen=True)
class Calibration:
    """Values of a geometry, and how well poses tell them.

    names, units, nominal, values, deviations (kept,): the estimated values, or combinations where poses cannot tell
    values apart; whole: all values of the geometry, then of the frame, with nominal values where none was estimated;
    before, after: root mean squares of residuals by kind of measurement, of the poses for training; unused: of those
    for validation; observability: the indices O1 to O5 of the scaled Jacobian; chance is that of weighted residuals, 1
    where deviations of sensors are right.
    """

    geometry: Geometry
    base: BaseParameters
    units: tuple[str, ...]
    nominal: np.ndarray
    whole: np.ndarray
    deviations: np.ndarray
    before: dict[str, float]
    after: dict[str, float]
    unused: dict[str, float]
    observability: dict[str, float]
    condition: float
    weighted: float
    steps: int = 0
    untold: tuple[str, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """Text of each estimated value: its parameter, and the parameters that are grouped with it."""
        return self.base.groupings

    @property
    def values(self) -> np.ndarray:
        """Estimated values (kept,) with the meaning in `names`: combinations where poses cannot tell values apart."""
        return self.base.of(self.whole)

    def robot(self) -> Robot:
        """Return the calibrated robot. Raises ParameterError where limbs have parameters of their own."""
        return self.geometry.calibrated(self.whole[: len(self.geometry.names)].tolist())


Rows = tuple[Reading, np.ndarray, np.ndarray]
"""Reading, residuals (rows,) and slopes (rows, value) of measurements at one geometry."""


def calibrate(
    geometry: Geometry, poses: Poses, *, frame: bool = False, body: str | None = None, unused: Sequence[Poses] = ()
) -> Calibration:
    """Estimate the geometry of a robot from poses; frame: and where it stands in the frame of the measuring device.

    Raises ParameterError for measurements that do not fit or cannot be reached, and where Gauss and Newton's steps do
    not settle.
    """
    problem = _Problem(geometry, frame, body)
    values = problem.nominal.copy()
    reading, residuals, slopes = problem.rows(values, poses)
    before = problem.errors(values, reading, poses)
    base = from_matrix(slopes * problem.sizes, problem.names, TOLERANCE)
    kept = list(base.independent)
    if len(residuals) <= len(kept):
        raise ParameterError(
            f"{poses.name}: {len(residuals)} measured numbers for {len(kept)} values; expected more; give more poses"
        )
    steps, values, (reading, residuals, slopes) = _settled(problem, poses, kept, values, (reading, residuals, slopes))
    deviations = _step(slopes[:, kept], residuals)[1]
    weighted = float(np.sqrt(residuals @ residuals / (len(residuals) - len(kept))))
    indices, condition = _observability(slopes[:, kept] * problem.sizes[kept], len(poses.actuators))
    fixed: dict[str, float] = {}
    for part in unused:
        residual = problem.rows(values, part)[0]
        fixed |= {f"{part.name} {key}": value for key, value in problem.errors(values, residual, part).items()}
    return Calibration(
        geometry=geometry,
        base=_in_units(base, problem.sizes),
        units=tuple(problem.units[k] for k in kept),
        nominal=_in_units(base, problem.sizes).of(problem.nominal),
        whole=values,
        deviations=deviations * max(weighted, 1.0),
        before=before,
        after=problem.errors(values, reading, poses),
        unused=fixed,
        observability=indices,
        condition=condition,
        weighted=weighted,
        steps=steps,
        untold=tuple(name for k, name in enumerate(problem.names) if not base.groups[:, k].any()),
    )


def _settled(
    problem: _Problem, poses: Poses, kept: list[int], values: np.ndarray, rows: Rows
) -> tuple[int, np.ndarray, Rows]:
    """Return the number of Gauss and Newton's steps, and values and rows at the end. Raises ParameterError."""
    for steps in range(1, STEPS + 1):
        reading, residuals, slopes = rows
        change, deviations = _step(slopes[:, kept], residuals)
        share = 1.0
        while True:
            trial = values.copy()
            trial[kept] += share * change
            there = _rows_at(problem, trial, poses, reading)
            if there is not None and np.linalg.norm(there[1]) <= np.linalg.norm(residuals) * (1.0 + 1e-9):
                break
            share *= 0.5
            if share < 1e-4:
                raise ParameterError(
                    f"{poses.name}: no step makes residuals smaller; expected measurements of this robot, in its "
                    "units; look at columns, units and the frame"
                )
        values, rows = trial, there
        if (np.abs(share * change) <= SETTLED * deviations + 1e-13 * problem.sizes[kept]).all():
            return steps, values, rows
    raise ParameterError(f"{poses.name}: the geometry did not settle within {STEPS} steps; give other poses")


def _rows_at(problem: _Problem, values: np.ndarray, poses: Poses, reading: Reading) -> Rows | None:
    """Return the rows of a geometry; None where the robot does not reach the poses."""
    try:
        return problem.rows(values, poses, reading)
    except ParameterError:
        return None


def _in_units(base: BaseParameters, sizes: np.ndarray) -> BaseParameters:
    """Return the groupings for the values, in place of the groupings for values over their sizes."""
    groups = base.groups * sizes[list(base.independent)][:, None] / sizes
    return BaseParameters(base.independent, groups, base.names, base.margin)


def _step(slopes: np.ndarray, residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the step of least squares, and standard deviations for residuals of size one."""
    lengths = np.linalg.norm(slopes, axis=0)
    q, r = np.linalg.qr(slopes / lengths)
    inverse = np.linalg.solve(r, np.eye(len(r)))
    return inverse @ (q.T @ residuals) / lengths, np.linalg.norm(inverse, axis=1) / lengths


def _observability(slopes: np.ndarray, poses: int) -> tuple[dict[str, float], float]:
    """Return indices O1 (Borm, Menq), O2 (Driels, Pathre), O3 (Nahvi), O4 (Nahvi, Hollerbach), O5; the condition."""
    singular = np.linalg.svd(slopes / np.sqrt(poses), compute_uv=False)
    first, last = float(singular[0]), float(singular[-1])
    indices = {
        "O1": float(np.exp(np.mean(np.log(singular)))),
        "O2": last / first,
        "O3": last,
        "O4": last**2 / first,
        "O5": float(1.0 / np.sum(1.0 / singular)),
    }
    return indices, first / last


class _Problem:
    """Residuals over deviations, and their slopes, for the values of a geometry and a frame."""

    def __init__(self, geometry: Geometry, frame: bool, body: str | None):
        self.geometry, self.frame, self.body = geometry, frame, body
        self.names = (*geometry.names, *(FRAME if frame else ()))
        self.units = (*geometry.units, *(("m",) * 3 + ("rad",) * 3 if frame else ()))
        self.nominal = np.concatenate([geometry.nominal, np.zeros(6 if frame else 0)])
        # a millimetre, a milliradian: usual errors of machines, so that indices compare like with like
        self.sizes = np.array([np.rad2deg(1e-3) if unit == "deg" else 1e-3 for unit in self.units])

    def _sensors(self, poses: Poses) -> tuple[tuple[int, int], ...]:
        places_of_robot = places(self.geometry.robot.mechanism)
        result = []
        for name in poses.sensors:
            if name not in places_of_robot:
                raise ParameterError(
                    f"{poses.name}: got a sensor of {name!r}; expected a joint of {self.geometry.robot.name}; "
                    f"{nearest(name, places_of_robot)}"
                )
            place = places_of_robot[name][0]
            result.append((place.limb, place.joint))
        return tuple(result)

    def rows(self, values: np.ndarray, poses: Poses, near: Reading | None = None) -> Rows:
        """Return the reading, residuals (rows,), slopes (rows, value). Raises ParameterError."""
        count = len(self.geometry.names)
        reader = Reader(self.geometry, self._sensors(poses), self.body)
        reading = reader.read(values[:count], poses.actuators, near)
        away, slopes = [], []
        place, turned = self._placed(values, reading)
        wide = np.zeros((len(poses.actuators), 3, len(values)))
        if poses.position is not None:
            slope = wide.copy()
            slope[:, :, :count] = self._frame(values)[1] @ reading.position_slope
            if self.frame:
                slope[:, :, count : count + 3] = np.eye(3)
                slope[:, :, count + 3 :] = -_skew(place - values[count : count + 3])
            away.append((poses.position - place) / poses.position_deviation)
            slopes.append(slope / poses.position_deviation)
        if poses.rotation is not None:
            slope = wide.copy()
            slope[:, :, :count] = self._frame(values)[1] @ reading.turn_slope
            if self.frame:
                slope[:, :, count + 3 :] = np.eye(3)
            away.append(turn(poses.rotation, turned) / poses.rotation_deviation)
            slopes.append(slope / poses.rotation_deviation)
        if poses.joints is not None:
            slope = np.zeros((*poses.joints.shape, len(values)))
            slope[:, :, :count] = reading.joint_slope
            away.append(self._joint_gap(poses, reading) / poses.joint_deviation)
            slopes.append(slope / poses.joint_deviation)
        if not away:
            raise ParameterError(f"{poses.name}: nothing was measured; expected position, rotation or joints")
        residuals = np.concatenate([part.ravel() for part in away])
        if not np.isfinite(residuals).all():
            raise ParameterError(f"{poses.name}: got values that are not finite; expected measured poses; cut them out")
        return reading, residuals, np.concatenate([part.reshape(-1, len(values)) for part in slopes])

    def _frame(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the displacement (3,) and rotation (3, 3) of the robot in the measuring frame."""
        if not self.frame:
            return np.zeros(3), np.eye(3)
        return values[-6:-3], np.asarray(Rotation.from_rotvec(values[-3:]).as_matrix())

    def _placed(self, values: np.ndarray, reading: Reading) -> tuple[np.ndarray, np.ndarray]:
        shift, turned = self._frame(values)
        return shift + reading.position @ turned.T, turned @ reading.rotation

    def _joint_gap(self, poses: Poses, reading: Reading) -> np.ndarray:
        assert poses.joints is not None
        mechanism, gap = self.geometry.robot.mechanism, poses.joints - reading.joints
        for k, (limb, joint) in enumerate(self._sensors(poses)):
            kind = mechanism.limbs[mechanism.instances[limb].limb].joint_kinds[joint]
            if kind.periodic:
                gap[:, k] -= 2.0 * np.pi * np.round(gap[:, k] / (2.0 * np.pi))
        return gap

    def errors(self, values: np.ndarray, reading: Reading, poses: Poses) -> dict[str, float]:
        """Return the RMS residuals by measured quantity: position [m], rotation and joints [rad]."""
        place, turned = self._placed(values, reading)
        parts = {}
        if poses.position is not None:
            parts["position"] = poses.position - place
        if poses.rotation is not None:
            parts["rotation"] = turn(poses.rotation, turned)
        if poses.joints is not None:
            parts["joints"] = self._joint_gap(poses, reading)
        return {name: float(np.sqrt(np.mean(part**2))) for name, part in parts.items()}


def _skew(vectors: np.ndarray) -> np.ndarray:
    """Return the cross-product matrices (pose, 3, 3) of vectors (pose, 3)."""
    x, y, z = vectors.T
    zero = np.zeros_like(x)
    return np.stack([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
