"""Motion of a robot from the recorded positions of its actuators, and motion of actuators from that of a robot.

Poses of a recording are solved from the reference pose on: some one after another, the others from the nearest of
these.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from applications.identification.estimation.encoders import ActuatorMotion, finite, measured_poses, motions_through
from applications.identification.estimation.machines.preparation import Prepared
from applications.identification.estimation.states import Motions
from robots.model import Robot
from robots.parameter_errors import ParameterError
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.inputs import present
from tasks.dynamics.inverse import actuator_positions, inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import Moving

HOPELESS = 4
"""Poses that cannot be solved, at least, before a recording is refused where these are most of those tried."""
UNREACHED = 0.2
"""Share of the samples tried that may be no poses: a recording that touches the end of the workspace."""
ALL = "no sample is a pose"
LEGS = 100
"""Poses of a recording that are solved first; the others start from the nearest of them."""
SAME = 1e-8
"""Difference of two solutions of one pose [m, rad]; poses of two assemblies are further apart."""


def is_direct(robot: Robot) -> bool:
    """Return whether the actuator positions are the coordinates of the motion: a chain driven in its joints."""
    mechanism = robot.mechanism
    return (
        mechanism.is_chain
        and not any(limb.drives for limb in mechanism.limbs)
        and tuple(mechanism.freedoms) == tuple(mechanism.actuators)
    )


def robot_motion(robot: Robot, recording: Prepared) -> Moving:
    """Return the motion of a robot whose actuators move as recorded, from the reference pose on.

    Raises ParameterError where they do not give its motion, and where no sample can be solved.
    """
    if is_direct(robot):
        return {"q": recording.position, "qd": recording.velocity, "qdd": recording.acceleration}
    mechanism = robot.mechanism
    if len(mechanism.actuators) != len(mechanism.freedoms):
        raise ParameterError(
            f"{recording.name}: {robot.name} has {len(mechanism.actuators)} actuators and {len(mechanism.freedoms)} "
            "freedoms, so that their positions do not give its motion; expected as many of both"
        )
    motions = motions_through(_by_name(robot, _poses(robot, recording)), (slice(None),), recording.step)
    if not np.logical_and.reduce([finite(values[0]) for values in motions.values()]).any():
        raise unreachable(robot, recording)
    return cast("Moving", {name: values[0] for name, values in motions.items()})


def unreachable(robot: Robot, recording: Prepared, which: str = ALL) -> ParameterError:
    """Return the error of positions that no pose of the robot has."""
    return ParameterError(
        f"{recording.name}: {which} that {robot.name} can reach from its reference pose; expected "
        "positions of its actuators in their order; look at units, signs and offsets of zero"
    )


def _poses(robot: Robot, recording: Prepared) -> np.ndarray:
    """Return the joints of a chain, or position and rotation of a platform (samples, ...), from the reference pose on.

    Raises ParameterError where too many samples of a platform are no poses.
    """
    target = recording.position
    anchors = _anchors(len(target))
    near = _from_the_first(robot, target[anchors])
    if near is None:
        near = _one_by_one(robot, recording, target[anchors])
    return _solved(robot, target, near[_nearest(anchors, len(target))])


def _solved(robot: Robot, target: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the poses (samples, ...) whose actuators are at `target`, each from a pose near it; else NaN."""
    poses = measured_poses(RobotDesigns.of(robot), target[None], _by_name(robot, near))
    return np.concatenate([values.reshape(len(target), -1) for values in poses.values()], axis=1)


def _by_name(robot: Robot, poses: np.ndarray) -> Motions:
    """Return poses (samples, ...) as a motion of one design: of a chain, or of a platform."""
    if robot.mechanism.is_chain:
        return {"q": poses[None]}
    return {"position": poses[None, :, :3], "rotation": poses[:, 3:].reshape(1, -1, 3, 3)}


def _home(robot: Robot) -> np.ndarray:
    """Return the reference pose (1, ...)."""
    if robot.mechanism.is_chain:
        return np.zeros((1, len(robot.mechanism.freedoms)))
    home = robot.mechanism.platform.home
    return np.concatenate([np.ravel(home.position), np.ravel(home.rotation)]).astype(float)[None]


def _from_the_first(robot: Robot, target: np.ndarray) -> np.ndarray | None:
    """Return the poses of samples, all from that of the first; None where each from the one before is another one."""
    first = _solved(robot, target[:1], _home(robot))
    if not np.isfinite(first).all():
        return None
    poses = _solved(robot, target, np.repeat(first, len(target), axis=0))
    if not np.isfinite(poses).all():
        return None
    following = _solved(robot, target[1:], poses[:-1])
    return poses if np.allclose(following, poses[1:], rtol=0.0, atol=SAME) else None


def _one_by_one(robot: Robot, recording: Prepared, target: np.ndarray) -> np.ndarray:
    """Return the poses of samples, each from the last one that there is. Raises ParameterError for a platform."""
    poses, near, failed = [], _home(robot), 0
    for row in range(len(target)):
        pose = _solved(robot, target[row : row + 1], near)
        if np.isfinite(pose).all():
            near = pose
        elif not robot.mechanism.is_chain:
            failed += 1
            # each of them takes long, and all samples would
            if failed >= HOPELESS and failed > min(0.5 * (row + 1), UNREACHED * len(target)):
                which = f"{failed} of the {row + 1} samples tried are no poses" if failed <= row else ALL
                raise unreachable(robot, recording, which)
        poses.append(near[0])
    return np.array(poses)


def _anchors(samples: int) -> np.ndarray:
    return np.unique(np.linspace(0, samples - 1, min(LEGS, samples)).astype(int))


def _nearest(anchors: np.ndarray, samples: int) -> np.ndarray:
    """Return the number of the nearest anchor for every sample."""
    middles = 0.5 * (anchors[1:] + anchors[:-1])
    return np.searchsorted(middles, np.arange(samples))


def actuator_motion(robot: Robot, moving: Moving) -> ActuatorMotion:
    """Return the actuators' position, velocity, acceleration along a motion; without acceleration of drives: zero."""
    if is_direct(robot):
        q, qd, qdd = (np.asarray(present(moving)[name]) for name in ("q", "qd", "qdd"))
        return q, qd, qdd
    position = actuator_positions(robot, **moving).position
    velocity = inverse_dynamics(robot, **moving).velocity
    mechanism = robot.mechanism
    if any(limb.drives for limb in mechanism.limbs):
        return position, velocity, np.zeros_like(velocity)
    joints = inverse_kinematics(robot, **moving).acceleration
    acceleration = [
        joints[..., k, mechanism.limbs[instance.limb].index(joint)]
        for k, instance in enumerate(mechanism.instances)
        for joint in mechanism.limbs[instance.limb].actuated
    ]
    return position, velocity, np.stack(acceleration, axis=-1)
