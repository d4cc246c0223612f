"""The pose of the platform that belongs to actuator positions, on the assembly branch of a guess; of designs, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.geometry import AXES
from robots.model import Robot
from tasks.dynamics.designs import NO_FRICTION, RobotDesigns, outcome, request_of, series_of
from tasks.dynamics.inputs import moving_input, rotations
from tasks.dynamics.pose_search import ForwardKinematics, SolvedPoses, found_poses
from tasks.dynamics.records import STANDING, TIMELESS, MotionKeywords, Moving, State, long_form
from tasks.kernels.kernel import checked, common_batch
from tasks.kernels.keys import Indexed, Key
from tasks.mechanics.families import structure_of
from tasks.stages.metrics.poses import ANGULAR
from tasks.stages.stages import stages


@check_arguments
def forward_kinematics(
    robot: Robot, guess: State | None = None, *, actuator_position: ArrayLike, **short: Unpack[MotionKeywords]
) -> ForwardKinematics:
    """Compute the pose of the platform for actuator positions (*batch, actuator) [rad or m], from a guess.

    guess, or position and rotation as keywords: absent, the reference pose.

    Angles of joints count modulo full turns, angles of drives do not. The pose is on the assembly branch of the guess:
    the platform can reach it from the guess without passing a singularity. Of several such poses, the result is the one
    to which Newton's method leads. Samples without such a pose, or without convergence, hold NaN and have the status
    NOT_CONVERGED. Raises ValueError for shapes that do not fit. Source: hybrid-limb paper, Eq. (114).

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> angles = ls.actuator_positions(robot, position=[0.0, 0.1, -0.9]).position
        >>> ls.forward_kinematics(robot, actuator_position=angles).position.round(6) + 0.0
        array([ 0. ,  0.1, -0.9])
    """
    home, (near, _) = robot.mechanism.platform.home, long_form(guess, STANDING, short, TIMELESS)
    actuators = robot.mechanism.actuators
    target = checked("actuator_position", actuator_position, (len(actuators),), actuators)
    start = checked("position", home.position if near.position is None else near.position, (3,), AXES)
    turned = checked("rotation", home.rotation if near.rotation is None else near.rotation, (3, 3))
    turned = rotations("rotation", turned)
    batch = common_batch(
        {"actuator_position": target.shape[:-1], "position": start.shape[:-1], "rotation": turned.shape[:-2]}
    )

    moving_input(robot, Moving(position=start, rotation=turned))  # refuses guesses that the platform cannot take
    start = np.where(np.isfinite(turned).all(axis=(-1, -2))[..., None], start, np.nan)

    def flat(values: np.ndarray, *core: int) -> np.ndarray:
        return np.broadcast_to(values, (*batch, *core)).reshape(1, -1, *core)

    target, start, turned = flat(target, target.shape[-1]), flat(start, 3), flat(turned, 3, 3)
    pose = platform_poses(RobotDesigns.of(robot, timed=True), target, start, turned)
    return ForwardKinematics(
        pose.position.reshape(*batch, 3), pose.rotation.reshape(*batch, 3, 3), pose.status.reshape(batch)
    )


def solved_poses(designs: RobotDesigns, motion: Mapping[str, np.ndarray]) -> SolvedPoses:
    """Return actuator positions (design, sample, actuator), J_IK (..., actuator, freedom), status (design, sample)."""
    run = list(stages(request_of(designs.family, ("actuator_position",), NO_FRICTION)))
    structure, packed = structure_of(designs.family), designs.packed(motion)
    samples = next(iter(motion.values())).shape[1]
    counts = [part.stop - part.start for part in structure.driven]
    keys: dict[Key, int] = {Indexed("actuator_position", k): count for k, count in enumerate(counts)}
    keys |= {Indexed("jacobian", k): count * structure.freedoms for k, count in enumerate(counts)}
    keys[outcome(run)] = 1
    series = series_of(designs.inputs(packed, NO_FRICTION), run, keys, len(designs), samples)
    position, jacobian = (
        np.moveaxis(np.concatenate([series[Indexed(name, k)] for k in range(len(counts))], axis=1), 1, 2)
        for name in ("actuator_position", "jacobian")
    )
    status = series[outcome(run)][:, 0]
    return SolvedPoses(position, jacobian.reshape(len(designs), samples, -1, structure.freedoms), status)


class _DesignPoses:
    """Inverse kinematics of samples of many designs, design after design; see `PoseSolver`."""

    def __init__(self, designs: RobotDesigns, count: int):
        self.designs, self.count, self.mechanism = designs, count, designs.family.reference

    def solve(self, samples: np.ndarray, position: np.ndarray, rotation: np.ndarray) -> SolvedPoses:
        """Compute actuator positions and J_IK: the last sample of a design fills up where others have more."""
        numbers, first, counts = np.unique(samples // self.count, return_index=True, return_counts=True)
        along = np.arange(counts.max())
        places = first[:, None] + np.minimum(along, counts[:, None] - 1)
        some = self.designs if len(numbers) == len(self.designs) else self.designs.taken(numbers)
        motion = {"position": position[places], "rotation": rotation[places]}
        return SolvedPoses(*(values[along < counts[:, None]] for values in solved_poses(some, motion)))

    def scale(self, samples: np.ndarray) -> np.ndarray:
        """Return the divisors of the freedoms of J_IK (n, freedom)."""
        turns = [name in ANGULAR for name in self.mechanism.freedoms]
        lengths = self.designs.lengths[samples // self.count] if any(turns) else np.ones(len(samples))
        return np.where(turns, lengths[:, None], 1.0)

    def size(self, samples: np.ndarray) -> np.ndarray:
        """Return the size of each sample's robot (n,) [m]."""
        return self.designs.sizes[samples // self.count]


def platform_poses(
    designs: RobotDesigns, actuator_position: np.ndarray, position: np.ndarray, rotation: np.ndarray
) -> ForwardKinematics:
    """Return the poses of platforms (design, sample, ...) for actuator positions (design, sample, actuator).

    position, rotation (design or 1, sample, ...): guesses. As `forward_kinematics` of each design.
    """
    shape = actuator_position.shape[:2]
    near, turned = np.broadcast_to(position, (*shape, 3)), np.broadcast_to(rotation, (*shape, 3, 3))
    flat = near.reshape(-1, 3), turned.reshape(-1, 3, 3), actuator_position.reshape(-1, actuator_position.shape[2])
    pose = found_poses(_DesignPoses(designs, shape[1]), *flat)
    return ForwardKinematics(*(values.reshape(*shape, *values.shape[1:]) for values in pose))
