"""Sensor readings predicted by a geometry, and their derivatives: poses of the platform, joints, bodies.

The pose for given actuator positions is solved limb by limb. Its derivative follows from the implicit function
theorem: J dx = dz - dA/dp dp, with A the positions of the actuators at a pose, z their zeros, J rows of the
Jacobian. Partial derivatives by parameters are finite differences of two steps, which have to agree. Source: Merlet
2006, chapter 10.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from applications.identification.estimation.calibration.geometry import Geometry
from robots.data_classes import dataclass
from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot
from robots.parameter_errors import ParameterError
from robots.types import TWIST
from tasks.dynamics.inverse import body_motion, inverse_kinematics
from tasks.dynamics.records import Motion

STEPS = 50
MATCHED = 1e-11
"""Change of a pose [m, rad] at which it is taken."""
STEP = 1e-5
"""Step of differences by parameters, relative to their values, or to 0.1 where these are smaller."""
AGREE = 1e-5
"""Difference of the derivatives of two steps, relative to the largest, up to which they agree."""


@dataclass(frozen=True)
class Reading:
    """Readings at actuator positions: position (pose, 3), rotation (pose, 3, 3), joints (pose, joint).

    `joints` are the joints with sensors of their own. Slopes are derivatives by the values of the geometry: of
    position (pose, 3, value), of the rotation in world axes (pose, 3, value), of joints (pose, joint, value).
    """

    position: np.ndarray
    rotation: np.ndarray
    joints: np.ndarray
    position_slope: np.ndarray
    turn_slope: np.ndarray
    joint_slope: np.ndarray


@dataclass(frozen=True)
class Reader:
    """Reader of a geometry: `sensors` are joints that have one, (limb, joint); `body` of a chain, absent: the last."""

    geometry: Geometry
    sensors: tuple[tuple[int, int], ...] = ()
    body: str | None = None

    def read(self, values: np.ndarray, actuators: np.ndarray, near: Reading | None = None) -> Reading:
        """Return the reading at actuator positions from sensors (pose, actuator); near: a reading of close values.

        Raises ParameterError for poses that cannot be reached.
        """
        if self.geometry.robot.mechanism.is_chain:
            return self._of_chain(values, actuators)
        return self._of_platform(values, actuators, near)

    def _of_chain(self, values: np.ndarray, actuators: np.ndarray) -> Reading:
        mechanism = self.geometry.robot.mechanism
        if tuple(mechanism.freedoms) != tuple(mechanism.actuators) or self.sensors:
            raise ParameterError(
                f"{self.geometry.robot.name}: its sensors are not the coordinates of its motion; expected a chain "
                "driven in its independent joints, with no others measured"
            )
        bodies = [link.body for link in mechanism.limbs[0].links]
        number = len(bodies) - 1 if self.body is None else bodies.index(self.body)

        def pose(trial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            motion = body_motion(self.geometry.robots(trial)[0], q=actuators + self.geometry.zero_of(trial))
            return motion.limbs[0][number].position, motion.limbs[0][number].rotation

        position, rotation = pose(values)
        _require_solved(self.geometry.robot, np.isfinite(position).all(axis=1))

        def moved(trial: np.ndarray) -> np.ndarray:
            trial_position, turned = pose(trial)
            return np.concatenate([trial_position - position, _turn(turned, rotation)], axis=1)

        slopes = [_slope(moved, values, k) for k in range(len(values))]
        both = np.stack(slopes, axis=2) if slopes else np.zeros((len(position), 6, 0))
        nothing = np.zeros((len(position), 0))
        return Reading(position, rotation, nothing, both[:, :3], both[:, 3:], np.zeros((*nothing.shape, len(values))))

    def _of_platform(self, values: np.ndarray, actuators: np.ndarray, near: Reading | None) -> Reading:
        mechanism, count = self.geometry.robot.mechanism, len(actuators)
        free = [TWIST.index(name) for name in mechanism.platform.mobility]
        target = actuators + self.geometry.zero_of(values)
        if target.shape[1] != len(free) or any(limb.drives for limb in mechanism.limbs):
            raise ParameterError(
                f"{self.geometry.robot.name}: got {target.shape[1]} actuators for {len(free)} freedoms, or drives; "
                "expected as many joints with motors as freedoms"
            )
        home = mechanism.platform.home
        position = np.tile(np.asarray(home.position, dtype=float), (count, 1)) if near is None else near.position.copy()
        rotation = (
            np.tile(np.asarray(home.rotation, dtype=float), (count, 1, 1)) if near is None else near.rotation.copy()
        )
        for _ in range(STEPS):
            joints, rates = self._joints(values, position, rotation, free)
            gap = _near_zero(target - self._actuated(joints), mechanism.actuator_kinds)
            jacobian = self._actuated_rates(rates)
            _require_solved(self.geometry.robot, np.isfinite(gap).all(axis=1) & np.isfinite(jacobian).all(axis=(1, 2)))
            step = np.zeros((count, 6))
            step[:, free] = np.linalg.solve(jacobian, gap[..., None])[..., 0]
            # a long step may leave the workspace
            step *= np.minimum(1.0, 0.2 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
            position = position + step[:, 3:]
            rotation = Rotation.from_rotvec(step[:, :3]).as_matrix() @ rotation
            if np.abs(step).max() < MATCHED:
                break
        _require_solved(self.geometry.robot, np.abs(step).max(axis=1) < 1e-9)
        joints, rates = self._joints(values, position, rotation, free)
        slopes = self._slopes(values, position, rotation)
        zeros = np.zeros((count, target.shape[1], len(values)))
        if self.geometry.zeros:
            zeros[:, :, len(values) - target.shape[1] :] = np.eye(target.shape[1])
        inner = np.linalg.solve(self._actuated_rates(rates), zeros - self._actuated(slopes))
        twist = np.zeros((count, 6, len(values)))
        twist[:, free] = inner
        measured = [joints[limb][:, joint] for limb, joint in self.sensors]
        of_joints = [
            slopes[limb][:, joint] + np.einsum("pf,pfv->pv", rates[limb][:, joint], inner)
            for limb, joint in self.sensors
        ]
        nothing = np.zeros((count, 0))
        return Reading(
            position,
            rotation,
            np.stack(measured, axis=1) if measured else nothing,
            twist[:, 3:],
            twist[:, :3],
            np.stack(of_joints, axis=1) if of_joints else np.zeros((count, 0, len(values))),
        )

    def _joints(
        self, values: np.ndarray, position: np.ndarray, rotation: np.ndarray, free: list[int]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return each limb's joints (pose, joint), and their rates per unit of each freedom (pose, joint, freedom)."""
        units = np.zeros((len(free), 1, 6))
        units[np.arange(len(free)), 0, free] = 1.0
        positions, rates = [], []
        joints_of_limb: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for limb, robot in enumerate(self.geometry.robots(values)):
            if id(robot) not in joints_of_limb:
                twist = np.broadcast_to(units, (len(free), len(position), 6))
                moving = Motion(**self._pose(robot, position, rotation), twist=twist)
                solved = inverse_kinematics(robot, moving)
                joints_of_limb[id(robot)] = solved.position[0], solved.velocity
            positions.append(joints_of_limb[id(robot)][0][:, limb])
            rates.append(np.moveaxis(joints_of_limb[id(robot)][1][:, :, limb], 0, 2))
        return positions, rates

    def _pose(self, robot: Robot, position: np.ndarray, rotation: np.ndarray) -> dict[str, np.ndarray]:
        turns = {"wx", "wy", "wz"} & set(robot.mechanism.platform.mobility)
        return {"position": position, "rotation": rotation} if turns else {"position": position}

    def _slopes(self, values: np.ndarray, position: np.ndarray, rotation: np.ndarray) -> list[np.ndarray]:
        """Return each limb's derivatives of its joints by the values at these poses (pose, joint, value)."""
        result = []
        for limb in range(len(self.geometry.robot.mechanism.instances)):

            def joints(trial: np.ndarray, limb: int = limb) -> np.ndarray:
                robot = self.geometry.robots(trial)[limb]
                solved = inverse_kinematics(robot, Motion(**self._pose(robot, position, rotation)))
                return np.asarray(solved.position[:, limb])

            slope = np.zeros((*joints(values).shape, len(values)))
            for k, _ in self.geometry.of_limb(limb):
                slope[:, :, k] = _slope(joints, values, k)
            result.append(slope)
        return result

    def _actuated(self, limbs: list[np.ndarray]) -> np.ndarray:
        """Return the rows of the actuators among the joints of all limbs (pose, joint, ...)."""
        mechanism = self.geometry.robot.mechanism
        rows = []
        for k, instance in enumerate(mechanism.instances):
            limb = mechanism.limbs[instance.limb]
            rows += [limbs[k][:, limb.index(joint)] for joint in limb.actuated]
        return np.stack(rows, axis=1)

    def _actuated_rates(self, rates: list[np.ndarray]) -> np.ndarray:
        return self._actuated(rates)


def _slope(function: Callable[[np.ndarray], np.ndarray], values: np.ndarray, number: int) -> np.ndarray:
    """Return the derivative by a value: differences of fourth order. Raises ParameterError if two steps differ."""
    size = STEP * max(abs(float(values[number])), 0.1)
    unit = np.eye(len(values))[number] * size
    near, far = ((function(values + k * unit) - function(values - k * unit)) / (2.0 * k * size) for k in (1, 2))
    largest = max(float(np.nanmax(np.abs(near), initial=0.0)), 1e-3)
    if not float(np.nanmax(np.abs(near - far), initial=0.0)) <= AGREE * largest:
        raise ParameterError(
            "geometry: derivatives by differences of two steps do not agree; expected poses away from singular ones; "
            "leave out those near the edge of the workspace"
        )
    return np.asarray((4.0 * near - far) / 3.0)


def _turn(rotation: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return the rotation vectors (pose, 3), world axes, that turn `of` into `rotation` (pose, 3, 3)."""
    return np.asarray(Rotation.from_matrix(rotation @ np.swapaxes(of, -1, -2)).as_rotvec())


def turn(rotation: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return the rotation vectors (pose, 3), world axes, that turn `of` into `rotation` (pose, 3, 3)."""
    return _turn(rotation, of)


def _near_zero(gap: np.ndarray, kinds: tuple[str, ...]) -> np.ndarray:
    """Return the differences of joints; for joints that turn, within half a turn."""
    turning = np.array([JOINT_KINDS[kind].periodic for kind in kinds])
    return np.where(turning, gap - 2.0 * np.pi * np.round(gap / (2.0 * np.pi)), gap)


def _require_solved(robot: Robot, solved: np.ndarray) -> None:
    if not solved.all():
        raise ParameterError(
            f"pose {int(np.argmin(solved)) + 1}: {robot.name} cannot be there with its geometry; expected positions of "
            "its actuators in their order; look at units, signs and zeros"
        )
