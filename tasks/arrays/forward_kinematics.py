"""The pose of the platform that belongs to actuator positions, by Newton's method from a guess."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.arrays.inverse import actuator_positions, inverse_dynamics
from tasks.kernels.batches import checked, common_batch

STEPS = 60
SETTLED = 1e-9  # step [m, rad] after which a quadratic method is exact to rounding
MATCHED = 1e-10  # actuator positions count as met up to this [m, rad], relative where they are large


class ForwardKinematics(NamedTuple):
    """Platform position (*batch, 3), rotation (*batch, 3, 3), and status (*batch)."""

    position: np.ndarray
    rotation: np.ndarray
    status: np.ndarray


def forward_kinematics(
    robot: Robot,
    *,
    actuator_position: ArrayLike,
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> ForwardKinematics:
    """Pose of the platform for actuator positions (*batch, actuator) [rad or m], from a guess (absent: reference pose).

    Angles of joints count modulo full turns, those of drives do not. Finds the assembly that the guess leads to; a step
    out of the workspace is halved until it is not. Samples that do not settle hold NaN and have status NOT_CONVERGED.
    Raises ValueError for shapes that do not fit. Source: hybrid-limb paper, Eq. (114).
    """
    home = robot.mechanism.platform.home
    wanted = checked("actuator_position", actuator_position, (len(robot.mechanism.actuators),))
    start = checked("position", home.position if position is None else position, (3,))
    turned = checked("rotation", home.rotation if rotation is None else rotation, (3, 3))
    batch = common_batch(
        {"actuator_position": wanted.shape[:-1], "position": start.shape[:-1], "rotation": turned.shape[:-2]}
    )

    def flat(values: np.ndarray, *core: int) -> np.ndarray:
        return np.broadcast_to(values, (*batch, *core)).reshape(-1, *core)

    search = _Search(robot, flat(start, 3), flat(turned, 3, 3), flat(wanted, wanted.shape[-1]))
    for _ in range(STEPS):
        if not search.advance():
            break
    p = np.where(search.found[:, None], search.position, np.nan)
    r = np.where(search.found[:, None, None], search.rotation, np.nan)
    status = np.where(search.found, Status.OK, Status.NOT_CONVERGED).astype(np.int8)
    return ForwardKinematics(p.reshape(*batch, 3), r.reshape(*batch, 3, 3), status.reshape(batch))


class _Search:
    """Samples on their way to the pose that is wanted, each independent of the others."""

    def __init__(self, robot: Robot, position: np.ndarray, rotation: np.ndarray, wanted: np.ndarray):
        self.robot, self.position, self.rotation, self.wanted = robot, position.copy(), rotation.copy(), wanted
        mechanism = robot.mechanism
        self.freedoms = [TWIST.index(name) for name in mechanism.platform.mobility]
        limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
        # a turn of a motor behind a gear leads elsewhere
        turns = [JOINT_KINDS[kind].periodic and not limb.drives for limb in limbs for kind in limb.actuator_kinds]
        self.turns = np.array(turns)
        self.before = position.copy(), rotation.copy()  # where the last step started, inside the workspace
        self.step = np.full((len(position), 6), np.nan)
        self.found, self.lost = np.zeros((2, len(position)), dtype=bool)

    def advance(self) -> bool:
        """One step of all samples that are neither found nor lost; whether there were any."""
        moving = np.flatnonzero(~(self.found | self.lost))
        if not len(moving):
            return False
        p, r = self.position[moving], self.rotation[moving]
        solved = inverse_dynamics(self.robot, position=p, rotation=r, full=True)
        gap = self.wanted[moving] - actuator_positions(self.robot, position=p, rotation=r)
        gap = np.where(self.turns, gap - 2 * np.pi * np.round(gap / (2 * np.pi)), gap)
        good = (solved.status == Status.OK) & np.isfinite(gap).all(axis=-1)
        met = (np.abs(gap) <= MATCHED * np.maximum(1.0, np.abs(self.wanted[moving]))).all(axis=-1)
        self.found[moving] = good & met & (np.abs(self.step[moving]).max(axis=-1) < SETTLED)
        self._accept(moving[good], solved.jacobian[good], gap[good])
        self._retreat(moving[~good])
        return True

    def _accept(self, chosen: np.ndarray, jacobian: np.ndarray, gap: np.ndarray) -> None:
        """A Newton step from where these samples are."""
        self.before[0][chosen], self.before[1][chosen] = self.position[chosen], self.rotation[chosen]
        step = np.zeros((len(chosen), 6))
        step[:, self.freedoms] = (np.linalg.pinv(jacobian) @ gap[..., None])[..., 0]
        self.step[chosen] = step
        self._move(chosen)

    def _retreat(self, chosen: np.ndarray) -> None:
        """Half the step that led these samples out of the workspace; a guess outside of it is lost."""
        self.step[chosen] *= 0.5
        self.lost[chosen] |= np.isnan(self.step[chosen]).any(axis=-1)
        self._move(chosen)

    def _move(self, chosen: np.ndarray) -> None:
        step = self.step[chosen]
        self.position[chosen] = self.before[0][chosen] + step[:, 3:]
        self.rotation[chosen] = Rotation.from_rotvec(step[:, :3]).as_matrix() @ self.before[1][chosen]
